"""For organisers: the list of challenges, a new challenge, and changes to an existing one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import BinaryIO

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from tallymark.app.domain import challenges
from tallymark.app.domain.drafts import ChallengeDraft, parse_draft
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.domain.kept_files import Kept, discard_kept, find_kept, keep_file, open_kept
from tallymark.app.domain.lifecycle import available_steps
from tallymark.app.domain.organisers import add_organiser, list_organisers, remove_organiser, transfer_challenge
from tallymark.app.domain.permissions import resource_of
from tallymark.app.domain.submissions import clean_file_name
from tallymark.app.domain.versions import current_version, part_as_csv
from tallymark.app.http.errors import invalid_form
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form, redirect
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.formatting import TASK_NAMES, optional_page_time, page_time
from tallymark.app.pages.lifecycle import step_links
from tallymark.app.pages.metric_picker import asks_for_picker, metric_picker, picked_values
from tallymark.app.pages.organise import (
    AnswersVersion,
    EditPage,
    OrganisedChallenge,
    OrganisePage,
    OrganiserRow,
    error_links,
)
from tallymark.app.pages.problems import problem_section
from tallymark.app.pages.shell import Link, ProblemSection, SelectOption
from tallymark.app.store.models import Challenge, Organiser, Submission, Team, Version
from tallymark.errors import Rejection
from tallymark.submissions.public_private import PRIVATE, PUBLIC

router = APIRouter()
_TASKS = [
    SelectOption("labels", TASK_NAMES["labels"], "A class for each row, such as cat or dog."),
    SelectOption("numbers", TASK_NAMES["numbers"], "A number for each row, such as a price."),
    SelectOption("probabilities", TASK_NAMES["probabilities"], "Of the positive class, or a column per class."),
    SelectOption(
        "ranking", TASK_NAMES["ranking"], "A score for each row; higher scores rank first within their query."
    ),
]
_MISSING = [
    SelectOption("count", "Counts as incorrect", "For labels only; in other tasks the file is always rejected."),
    SelectOption("reject", "The file is rejected"),
]
_SPLITS = [
    SelectOption("none", "None", "All rows are public."),
    SelectOption("column", "By a column of the answers", "It contains public or private in each row."),
    SelectOption("seeded", "Random", "A share of the rows is public, drawn with a seed."),
]
_LATE = [
    SelectOption("refuse", "No submissions"),
    SelectOption("mark", "Submissions are scored and marked as late, but not ranked"),
]
_REVEAL = [
    SelectOption("organiser", "When you reveal it", "Once the challenge is over, in a step of its own."),
    SelectOption("closing", "As soon as the challenge is over"),
]
_DATA_FOR = [
    SelectOption("everyone", "For all who see the challenge"),
    SelectOption("members", "Only for those who have joined it"),
]
_ORGANISER_ACTIONS = {
    "add organiser": (add_organiser, "organiser-added"),
    "remove organiser": (remove_organiser, "organiser-removed"),
    "transfer": (transfer_challenge, "transferred"),
}
_DEFAULTS = {
    "task": "labels",
    "id_column": "row_id",
    "label_column": "label",
    "metrics": "",
    "quota": "5",
    "finals": "2",
    "split_share": "30",
    "show_intervals": "1",
}


@router.get("/organise")
def organise(context: ContextDep) -> Response:
    """The challenges that the user organises."""
    if not context.organises:
        context.require("create a challenge")
    with context.service.database.reading() as session:
        own = select(Challenge).join(Organiser, Organiser.challenge_id == Challenge.id)
        own = own.where(Organiser.user_id == context.signed_in_user().id)
        newest_first = session.scalars(own.order_by(Challenge.created.desc())).all()
        view = OrganisePage(
            context.shell("Organise"),
            [_organised_challenge(session, context, each) for each in newest_first],
            context.signed_in_user().organiser,
        )
    return context.page("organise.html", view)


def _organised_challenge(session: Session, context: RequestContext, challenge: Challenge) -> OrganisedChallenge:
    version = current_version(session, challenge)
    submitted = Submission.challenge_id == challenge.id
    teams = session.scalar(select(func.count()).select_from(Team).where(Team.challenge_id == challenge.id)) or 0
    submissions = session.scalar(select(func.count()).select_from(Submission).where(submitted)) or 0
    is_pending = submitted & Submission.work.is_not(None)
    pending = session.scalar(select(func.count()).select_from(Submission).where(is_pending)) or 0
    return OrganisedChallenge(
        challenge.slug,
        challenge.title,
        challenges.challenge_state(challenge, context.now),
        optional_page_time(challenge.deadline, context.now),
        f"{teams:,}",
        f"{submissions:,}",
        f"{pending:,}",
        "none" if version is None else f"version {version.number}",
    )


@router.get("/organise/new")
def new_form(context: ContextDep) -> Response:
    """The form for a new challenge."""
    context.require("create a challenge")
    return _edit_page(context, None, _DEFAULTS)


@router.post("/organise/new")
async def create(request: Request, context: ContextDep) -> Response:
    """Create a challenge with its answers."""
    context.require("create a challenge")
    return await handle_form(request, context, _create, max_files=1)


def _create(context: RequestContext, form: ParsedForm) -> Response:
    values, errors = _picked_values(form)
    if asks_for_picker(values):
        return _edit_page(context, None, values, kept=_keep_answers(context, form))
    try:
        with _open_answers(context, form) as stream:
            if stream is None:
                errors["answers"] = "Choose a file."
            draft = _parse_draft(values, errors)
            assert stream is not None
            created = challenges.create_challenge(context.service, context.signed_in_user(), draft, stream)
    except FormError as error:
        return _edit_page(context, None, values, error.errors, kept=_keep_answers(context, form))
    except Rejection as error:
        return _edit_page(context, None, values, problems=problem_section(error))
    discard_kept(context.service, context.signed_in_user())
    return redirect(f"/organise/{created.slug}", "published" if draft.publish else "created")


def _picked_values(form: ParsedForm) -> tuple[dict[str, str], dict[str, str]]:
    """The fields of the form with its metrics as one text, and the errors of the metrics."""
    values, error = picked_values(form.values, form.lists)
    return values, {"metrics": error} if error else {}


def _parse_draft(values: Mapping[str, str], errors: dict[str, str]) -> ChallengeDraft:
    """The draft of a form; raises all of its errors, with those that are known already."""
    try:
        draft = parse_draft(values)
    except FormError as error:
        raise FormError({**error.errors, **errors}) from None
    if errors:
        raise FormError(errors)
    return draft


@contextmanager
def _open_answers(context: RequestContext, form: ParsedForm) -> Iterator[BinaryIO | None]:
    """The answers of a form: the file that was chosen, else the one that is kept; None without either."""
    if "answers" in form.files:
        yield form.stream("answers")
        return
    with open_kept(context.service, context.signed_in_user(), form.values.get("answers_token", "")) as stream:
        yield stream


def _keep_answers(context: RequestContext, form: ParsedForm) -> Kept | None:
    """Keep the answers of a form that is shown again."""
    user = context.signed_in_user()
    if "answers" in form.files:
        name = clean_file_name(form.files["answers"].filename or "")
        return keep_file(context.service, user, form.stream("answers"), name)
    return find_kept(context.service, user, form.values.get("answers_token", ""))


@router.get("/organise/{slug}")
def edit_form(slug: str, context: ContextDep) -> Response:
    """The form for an existing challenge."""
    return _edit_page(context, find_organised(context, slug))


def find_organised(context: RequestContext, slug: str) -> Challenge:
    """A challenge that the user organises."""
    context.require("have an account")
    with context.service.database.reading() as session:
        challenge, version = challenges.find_challenge(session, slug)
        context.require("organise a challenge", session, resource_of(challenge, version))
    return challenge


@router.get("/organise/{slug}/answers/{part}")
def answers(slug: str, part: str, context: ContextDep) -> Response:
    """The answers of a part, to reproduce its scores on the command line."""
    context.require("have an account")
    with context.service.database.reading() as session:
        challenge, version = challenges.find_challenge(session, slug)
        context.require("organise a challenge", session, resource_of(challenge, version))
    if version is None or part not in (PUBLIC, PRIVATE) or (part == PRIVATE and version.public is None):
        raise NotFoundError()
    headers = {"Content-Disposition": f'attachment; filename="{slug}-{part}-answers.csv"'}
    return Response(part_as_csv(context.service, version, part), media_type="text/csv", headers=headers)


@router.post("/organise/{slug}")
async def change(slug: str, request: Request, context: ContextDep) -> Response:
    """Change a challenge, replace its answers, or change who organises it."""
    challenge = await run_in_threadpool(find_organised, context, slug)  # before anything is read
    return await handle_form(request, context, partial(_change, challenge), max_files=1)


def _change(challenge: Challenge, context: RequestContext, form: ParsedForm) -> Response:
    slug, action = challenge.slug, form.values.get("action", "")
    path = f"/organise/{slug}"
    values, wrong = _picked_values(form)
    if action == "save" and asks_for_picker(values):
        return _edit_page(context, challenge, values)
    try:
        if action == "save":
            draft = _parse_draft({**values, "slug": slug}, wrong)
            added = challenges.update_challenge(context.service, context.signed_in_user(), challenge, draft)
            return redirect(path, "saved") if added is None else _redirect_to_version(path, added)
        if action == "answers":
            if "answers" not in form.files:
                raise FormError({"answers": "Choose a file."})
            note = form.values.get("answers_note", "")
            added = challenges.replace_answers(
                context.service, context.signed_in_user(), challenge, form.stream("answers"), note
            )
            return _redirect_to_version(path, added)
        if action in _ORGANISER_ACTIONS:
            _require_owner(context, challenge)
            change, flash = _ORGANISER_ACTIONS[action]
            change(context.service, context.signed_in_user(), challenge, form.values.get("organiser", ""))
            return redirect(path, flash)
    except (FormError, Rejection) as error:
        shown = values if action == "save" else None
        errors, problems = (error.errors, None) if isinstance(error, FormError) else (None, problem_section(error))
        return _edit_page(context, challenge, shown, errors, problems, form.values.get("answers_note", ""))
    raise invalid_form()


def _redirect_to_version(path: str, version: Version) -> Response:
    """To the challenge if a new version is current, to its preview if it is a candidate."""
    return redirect(f"{path}/rescoring", "candidate") if version.state == "candidate" else redirect(path, "version")


def _require_owner(context: RequestContext, challenge: Challenge) -> None:
    with context.service.database.reading() as session:
        context.require("own a challenge", session, resource_of(challenge, current_version(session, challenge)))


def _edit_page(
    context: RequestContext,
    challenge: Challenge | None,
    values: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    problems: ProblemSection | None = None,
    note: str = "",
    kept: Kept | None = None,
) -> Response:
    versions: list[Version] = []
    organisers: list[Organiser] = []
    steps: list[str] = []
    if challenge is not None:
        with context.service.database.reading() as session:
            organisers = list(list_organisers(session, challenge))
            steps = available_steps(session, challenge, context.now)
            applied = (Version.challenge_id == challenge.id) & Version.state.in_(("current", "past"))
            newest_first = select(Version).where(applied).order_by(Version.number.desc())
            versions = list(session.scalars(newest_first))
    fields = values if values is not None or challenge is None else challenge_fields(challenge, versions[0])
    fields = {**(fields or {}), "answers_note": note}  # kept when the file beside it is rejected
    title = "Create challenge" if challenge is None else challenge.title
    view = EditPage(
        context.shell(title, fields, errors),
        "" if challenge is None else challenge.slug,
        title,
        _TASKS,
        _MISSING,
        _SPLITS,
        _LATE,
        context.upload_limit,
        "soon" if challenge is None else challenges.challenge_state(challenge, context.now),
        [_version_row(context, each, versions[0]) for each in versions],
        problems,
        [] if challenge is None else _part_links(challenge, versions[0]),
        [OrganiserRow(each.user.name, each.owner, page_time(each.created, context.now)) for each in organisers],
        any(each.owner and context.user is not None and each.user_id == context.user.id for each in organisers),
        _REVEAL,
        [] if challenge is None else step_links(challenge, steps),
        metric_picker(fields),
        error_links(errors or {}),
        "" if kept is None else kept.token,
        "" if kept is None else kept.file_name,
        _DATA_FOR,
    )
    return context.page("edit.html", view, 422 if errors or problems else 200)


def _part_links(challenge: Challenge, version: Version) -> list[Link]:
    path = f"/organise/{challenge.slug}/answers"
    if version.public is None:
        return [Link("the answers", f"{path}/public")]
    return [Link(f"the answers of the {part} part", f"{path}/{part}") for part in (PUBLIC, PRIVATE)]


def _version_row(context: RequestContext, version: Version, current: Version) -> AnswersVersion:
    return AnswersVersion(
        f"version {version.number}",
        f"{version.rows:,}",
        page_time(version.created, context.now),
        version.answers[:12],
        version is current,
        version.note,
    )


def challenge_fields(challenge: Challenge, version: Version) -> dict[str, str]:
    """A challenge as the fields of its form."""
    split = version.split
    values = {
        **{
            name: getattr(challenge, name)
            for name in ("title", "slug", "summary", "rules", "late", "reveal", "data_for")
        },
        **{name: str(getattr(challenge, name)) for name in ("quota", "finals")},
        "team_size": "" if challenge.team_size is None else str(challenge.team_size),
        "opens": _local_time(challenge.opens),
        "deadline": _local_time(challenge.deadline),
        **{name: getattr(version, name) for name in ("task", "id_column", "label_column", "query_column", "missing")},
        "classes": ", ".join(version.classes or ()),
        "positive": version.positive or "",
        "metrics": ", ".join(version.metrics),
        "split": split["kind"],
        "split_column": split.get("column", ""),
        "split_share": _percent(split["share"]) if "share" in split else "",
        "split_seed": str(split.get("seed", "")),
    }
    if challenge.total_quota is not None:
        values["total_quota"] = str(challenge.total_quota)
    if challenge.must_accept:
        values["must_accept"] = "1"
    for name in ("intervals", "classes", "counts"):
        if getattr(challenge, f"shows_{name}"):
            values[f"show_{name}"] = "1"
    return values


def parse_key(text: str) -> int:
    """The number of a row from an address or a form."""
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise NotFoundError()
    return int(text)


def _percent(share: float) -> str:
    """The shortest percentage that is read back as the same share."""
    percent = 100 * share
    texts = [f"{percent:.{decimals}f}" for decimals in range(16)]
    texts += map(repr, (percent, math.nextafter(percent, 0), math.nextafter(percent, 100)))
    return next(text for text in texts if float(text) / 100 == share)


def _local_time(time: datetime | None) -> str:
    """A time as the value of a datetime-local field."""
    return "" if time is None else time.strftime("%Y-%m-%dT%H:%M")
