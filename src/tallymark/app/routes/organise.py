"""For organisers: their challenges, a new one, and one that there is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tallymark.app.domain import challenges
from tallymark.app.domain.drafts import read_draft
from tallymark.app.domain.errors import FieldError, RequestError, not_found
from tallymark.app.domain.permissions import resource_of
from tallymark.app.domain.versions import current_version, part_as_csv
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form, redirect
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.formatting import TASKS, optional_page_time, page_time
from tallymark.app.pages.organise import AnswersVersion, EditPage, OrganisedChallenge, OrganisePage
from tallymark.app.pages.problems import problem_list
from tallymark.app.pages.shell import Link, ProblemSection, SelectOption
from tallymark.app.store.models import Challenge, Submission, Team, Version
from tallymark.errors import Rejection
from tallymark.submissions.parts import PRIVATE, PUBLIC

router = APIRouter()
_TASKS = [
    SelectOption("labels", TASKS["labels"], "A class for each row, such as cat or dog."),
    SelectOption("numbers", TASKS["numbers"], "A number for each row, such as a price."),
    SelectOption(
        "probabilities", TASKS["probabilities"], "Of the positive class, or a column for each of the classes."
    ),
    SelectOption("ranking", TASKS["ranking"], "Scores by which the rows of each query are put in order."),
]
_MISSING = [
    SelectOption("count", "counts as wrong", "Where labels are predicted; elsewhere the file is always rejected."),
    SelectOption("reject", "makes the file be rejected"),
]
_SPLITS = [
    SelectOption("none", "None", "All rows are scored at once."),
    SelectOption("column", "By a column of the answers", "It says public or private in each row."),
    SelectOption("seeded", "Drawn by a seed", "A share of the rows is public, the same ones each time."),
]
_LATE = [
    SelectOption("refuse", "Nothing is taken"),
    SelectOption("mark", "Files are scored and marked as late, but not ranked"),
]
_FRESH = {
    "task": "labels",
    "id_column": "row_id",
    "label_column": "label",
    "metrics": "",
    "quota": "5",
    "finals": "2",
    "split_share": "30",
    "show_intervals": "1",
    "show_counts": "1",
}


@router.get("/organise")
def organise(context: ContextDep) -> Response:
    """All challenges, for those who run them."""
    context.may("organise a challenge")
    with context.service.database.reading() as session:
        found = session.scalars(select(Challenge).order_by(Challenge.created.desc())).all()
        view = OrganisePage(context.shell("Organise"), [_organised(session, context, each) for each in found])
    return context.page("organise.html", view)


def _organised(session: Session, context: RequestContext, challenge: Challenge) -> OrganisedChallenge:
    version = current_version(session, challenge)
    of_it = Submission.challenge_id == challenge.id
    teams = session.scalar(select(func.count()).select_from(Team).where(Team.challenge_id == challenge.id)) or 0
    sent = session.scalar(select(func.count()).select_from(Submission).where(of_it)) or 0
    waiting = of_it & Submission.work.is_not(None)
    waits = session.scalar(select(func.count()).select_from(Submission).where(waiting)) or 0
    return OrganisedChallenge(
        challenge.slug,
        challenge.title,
        challenges.challenge_state(challenge, context.now),
        optional_page_time(challenge.deadline, context.now),
        f"{teams:,}",
        f"{sent:,}",
        f"{waits:,}",
        "none" if version is None else f"version {version.number}",
    )


@router.get("/organise/new")
def new_form(context: ContextDep) -> Response:
    """The form for a new challenge."""
    context.may("create a challenge")
    return _edit(context, None, _FRESH)


@router.post("/organise/new")
async def create(request: Request, context: ContextDep) -> Response:
    """A new challenge, with its answers."""
    context.may("create a challenge")
    return await handle_form(request, context, _create, files=1)


def _create(context: RequestContext, sent: ParsedForm) -> Response:
    try:
        draft = read_draft(sent.texts)
        if "answers" not in sent.files:
            raise FieldError({"answers": "Choose a file."})
        made = challenges.create(context.service, context.person(), draft, sent.stream("answers"))
    except FieldError as error:
        return _edit(context, None, sent.texts, error.errors)
    except Rejection as error:
        return _edit(context, None, sent.texts, problems=problem_list(error))
    return redirect(f"/organise/{made.slug}", "created")


@router.get("/organise/{slug}")
def edit_form(slug: str, context: ContextDep) -> Response:
    """The form for a challenge that there is."""
    return _edit(context, _found(context, slug))


def _found(context: RequestContext, slug: str) -> Challenge:
    context.may("organise a challenge")
    with context.service.database.reading() as session:
        challenge, version = challenges.find(session, slug)
        context.may("organise a challenge", session, resource_of(challenge, version))
    return challenge


@router.get("/organise/{slug}/answers/{part}")
def answers(slug: str, part: str, context: ContextDep) -> Response:
    """The answers of a part, with which its scores can be had at the command line."""
    context.may("organise a challenge")
    with context.service.database.reading() as session:
        challenge, version = challenges.find(session, slug)
        context.may("organise a challenge", session, resource_of(challenge, version))
    if version is None or part not in (PUBLIC, PRIVATE) or (part == PRIVATE and version.public is None):
        raise not_found()
    name = {"Content-Disposition": f'attachment; filename="{slug}-{part}-answers.csv"'}
    return Response(part_as_csv(context.service, version, part), media_type="text/csv", headers=name)


@router.post("/organise/{slug}")
async def change(slug: str, request: Request, context: ContextDep) -> Response:
    """Change a challenge, give it other answers, close it or open it again."""
    context.may("organise a challenge")
    return await handle_form(request, context, partial(_change, slug), files=1)


def _change(slug: str, context: RequestContext, sent: ParsedForm) -> Response:
    challenge, action = _found(context, slug), sent.texts.get("action", "")
    place = f"/organise/{slug}"
    try:
        if action == "save":
            draft = read_draft({**sent.texts, "slug": slug})
            renewed = challenges.change(context.service, context.person(), challenge, draft)
            return redirect(place, "version" if renewed else "saved")
        if action == "answers":
            if "answers" not in sent.files:
                raise FieldError({"answers": "Choose a file."})
            note = sent.texts.get("answers_note", "")
            challenges.replace_answers(context.service, context.person(), challenge, sent.stream("answers"), note)
            return redirect(place, "version")
        if action in ("close", "reopen"):
            challenges.close(context.service, challenge, closed=action == "close")
            return redirect(place, "closed" if action == "close" else "reopened")
    except (FieldError, Rejection) as error:
        values = sent.texts if action == "save" else None
        errors, problems = (error.errors, None) if isinstance(error, FieldError) else (None, problem_list(error))
        return _edit(context, challenge, values, errors, problems, sent.texts.get("answers_note", ""))
    raise RequestError(400, "The form could not be read.", "Go back, and send it again.")


def _edit(
    context: RequestContext,
    challenge: Challenge | None,
    values: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    problems: ProblemSection | None = None,
    note: str = "",
) -> Response:
    versions: list[Version] = []
    if challenge is not None:
        with context.service.database.reading() as session:
            asked = select(Version).where(Version.challenge_id == challenge.id).order_by(Version.number.desc())
            versions = list(session.scalars(asked))
    given = values if values is not None or challenge is None else _values(challenge, versions[0])
    given = {**(given or {}), "answers_note": note}  # a file that is rejected does not cost what was written beside it
    title = "A new challenge" if challenge is None else challenge.title
    view = EditPage(
        context.shell(title, given, errors),
        "" if challenge is None else challenge.slug,
        title,
        _TASKS,
        _MISSING,
        _SPLITS,
        _LATE,
        context.upload_limit,
        "soon" if challenge is None else challenges.challenge_state(challenge, context.now),
        [_version(context, each, versions[0]) for each in versions],
        problems,
        [] if challenge is None else _parts(challenge, versions[0]),
    )
    return context.page("edit.html", view, 422 if errors or problems else 200)


def _parts(challenge: Challenge, version: Version) -> list[Link]:
    at = f"/organise/{challenge.slug}/answers"
    if version.public is None:
        return [Link("the answers", f"{at}/public")]
    return [Link(f"the answers of the {part} part", f"{at}/{part}") for part in (PUBLIC, PRIVATE)]


def _version(context: RequestContext, held: Version, newest: Version) -> AnswersVersion:
    made = page_time(held.created, context.now)
    return AnswersVersion(
        f"version {held.number}", f"{held.rows:,}", made, held.answers[:12], held is newest, held.note
    )


def _values(challenge: Challenge, version: Version) -> dict[str, str]:
    """A challenge as the fields of its form."""
    split = version.split
    values = {
        **{name: getattr(challenge, name) for name in ("title", "slug", "summary", "rules", "late")},
        **{name: str(getattr(challenge, name)) for name in ("quota", "finals")},
        "opens": _field(challenge.opens),
        "deadline": _field(challenge.deadline),
        **{name: getattr(version, name) for name in ("task", "id_column", "label_column", "query_column", "missing")},
        "classes": ", ".join(version.classes or ()),
        "positive": version.positive or "",
        "metrics": ", ".join(version.metrics),
        "split": split["kind"],
        "split_column": split.get("column", ""),
        "split_share": _percent(split["share"]) if "share" in split else "",
        "split_seed": str(split.get("seed", "")),
    }
    for name in ("intervals", "classes", "counts"):
        if getattr(challenge, f"shows_{name}"):
            values[f"show_{name}"] = "1"
    return values


def _percent(share: float) -> str:
    """The shortest number of percent that is read as the same share."""
    near = 100 * share
    texts = [f"{near:.{decimals}f}" for decimals in range(16)]
    texts += map(repr, (near, math.nextafter(near, 0), math.nextafter(near, 100)))
    return next(text for text in texts if float(text) / 100 == share)


def _field(at: datetime | None) -> str:
    return "" if at is None else at.strftime("%Y-%m-%dT%H:%M")
