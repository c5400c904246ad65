"""Submissions: the form, what came of a file, its report, and a team's own history with its final choice."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tallymark.app.domain import results
from tallymark.app.domain.challenges import find, is_over
from tallymark.app.domain.checks import CheckInProgress, PassedCheck, check_and_keep, open_checked
from tallymark.app.domain.errors import FieldError, RequestError, not_found
from tallymark.app.domain.permissions import resource_of
from tallymark.app.domain.submissions import clean_file_name, quota_status, refusal_reason, submit_file
from tallymark.app.domain.teams import choose_finals
from tallymark.app.domain.versions import metrics_of
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form, redirect
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.formatting import direction_arrow, format_score, page_time
from tallymark.app.pages.pagination import paginate
from tallymark.app.pages.problems import problem_list
from tallymark.app.pages.shell import ProblemSection
from tallymark.app.pages.submissions import CheckSummary, MySubmissionRow, MySubmissionsPage, SubmitPage
from tallymark.app.store.models import Challenge, Submission, Version
from tallymark.errors import Rejection
from tallymark.rendering.page import to_page

router = APIRouter()
_TOLD = {
    "queued": "waiting",
    "scoring": "being scored",
    "scored": "scored",
    "rejected": "rejected",
    "failed": "not scored",
}
_PAGE = 100


def _own(session: Session, context: RequestContext, slug: str, action: str) -> tuple[Challenge, Version, int]:
    """A challenge that one takes part in, its version and one's team."""
    found, version = find(session, slug)
    resource = resource_of(found, version)
    if context.user is not None and version is not None:
        context.may("see a challenge", session, resource)
        if context.may("join a challenge", session, resource).team_id is None:
            there = ("To the challenge", f"/challenges/{slug}")
            raise RequestError(403, "You do not take part in this challenge yet.", "Join it on its page.", there)
    actor = context.may(action, session, resource)
    if version is None or actor.team_id is None:
        raise not_found()
    return found, version, actor.team_id


@router.get("/challenges/{slug}/submit")
def form(slug: str, context: ContextDep) -> Response:
    """The form for a file."""
    return _form(context, slug)


def _form(
    context: RequestContext,
    slug: str,
    status: int = 200,
    *,
    error: str = "",
    problems: ProblemSection | None = None,
    checked: CheckSummary | None = None,
) -> Response:
    with context.service.database.reading() as session:
        found, _, team_id = _own(session, context, slug, "submit a file")
        late = "What is sent now is scored and marked as late, and not ranked." if is_over(found, context.now) else ""
        view = SubmitPage(
            context.shell(f"Submit to {found.title}", {}, {"submission": error} if error else {}),
            slug,
            found.title,
            quota_status(session, context.service, found, team_id).cost,
            refusal_reason(session, context.service, found, team_id),
            context.upload_limit,
            context.settings.upload_bytes,
            late,
            problems,
            checked,
        )
    return context.page("submit.html", view, status)


@router.post("/challenges/{slug}/submit")
async def submit(slug: str, request: Request, context: ContextDep) -> Response:
    """Check a file and show what is wrong with it, or submit one that was checked and go to its result."""
    context.may("have an account")  # before anything is read
    return await handle_form(request, context, partial(_submit, slug), files=1)


def _submit(slug: str, context: RequestContext, sent: ParsedForm) -> Response:
    with context.service.database.reading() as session:
        found, version, team_id = _own(session, context, slug, "submit a file")
        refused = refusal_reason(session, context.service, found, team_id)
    if "submission" in sent.files:
        return _form(context, slug, 409) if refused else _check(context, found, version, sent)
    if "token" not in sent.texts:
        return _form(context, slug, 422, error="Choose a file.")
    user, note = context.person(), sent.texts.get("note", "")
    with open_checked(context.service, user, found, sent.texts["token"]) as held:
        key = submit_file(context.service, user, found, team_id, held.stream, held.file_name, note, held.secret)
    return redirect(f"/submissions/{key}")


def _check(context: RequestContext, challenge: Challenge, version: Version, sent: ParsedForm) -> Response:
    """Check a file, which costs nothing, and keep it where it has no problems."""
    name, stream = clean_file_name(sent.files["submission"].filename or ""), sent.stream("submission")
    try:
        passed = check_and_keep(context.service, context.person(), challenge, version, stream, name)
    except CheckInProgress:
        told = "Another file of yours is being checked. Wait until that is done, then check this one."
        return _form(context, challenge.slug, 409, error=told)
    except Rejection as error:
        problems = problem_list(error, f"{name} cannot be submitted: it")
        return _form(context, challenge.slug, 422, problems=problems)
    return _form(context, challenge.slug, checked=_checked(name, passed))


def _checked(name: str, passed: PassedCheck) -> CheckSummary:
    rows = passed.found.rows
    _, *notes = str(passed.found).splitlines()
    return CheckSummary(passed.token, f"{name}: no problems found, {rows:,} row{'s' * (rows != 1)}", notes)


def _submission(session: Session, context: RequestContext, key: str) -> Submission:
    held = session.scalar(select(Submission).where(Submission.key == key))
    if held is None:
        raise not_found()
    context.may("see a submission", session, resource_of(held.challenge, held.version, held))
    return held


@router.get("/submissions/{key}")
def result(key: str, context: ContextDep) -> Response:
    """What came of a file."""
    with context.service.database.reading() as session:
        held = _submission(session, context, key)
        return context.page("result.html", results.page(session, context, held))


@router.get("/submissions/{key}/report")
def report(key: str, context: ContextDep) -> Response:
    """The same as a file that needs nothing else."""
    with context.service.database.reading() as session:
        held = _submission(session, context, key)
        if held.state != "scored":
            raise not_found()
        page = to_page(results.document(session, context, held))
    name = {"Content-Disposition": f'attachment; filename="{held.challenge.slug}-{held.key[:6]}.html"'}
    return Response(page, media_type="text/html", headers=name)


@router.get("/challenges/{slug}/mine")
def mine(slug: str, context: ContextDep, page: int = 1) -> Response:
    """A team's own submissions."""
    return _mine(context, slug, page)


def _mine(
    context: RequestContext,
    slug: str,
    page: int,
    errors: Mapping[str, str] | None = None,
    ticked: Collection[str] | None = None,
) -> Response:
    with context.service.database.reading() as session:
        found, version, team_id = _own(session, context, slug, "see own submissions")
        own = (Submission.challenge_id == found.id) & (Submission.team_id == team_id)
        count = session.scalar(select(func.count()).select_from(Submission).where(own)) or 0
        start, pages = paginate(count, page, _PAGE, f"/challenges/{slug}/mine", "submission")
        asked = select(Submission).where(own).order_by(Submission.created.desc(), Submission.id.desc())
        held = session.scalars(asked.offset(start).limit(_PAGE)).all()
        chosen = session.scalar(select(func.count()).select_from(Submission).where(own & Submission.final)) or 0
        metrics = metrics_of(version)
        view = MySubmissionsPage(
            context.shell(f"My submissions to {found.title}", {}, errors),
            slug,
            found.title,
            str(quota_status(session, context.service, found, team_id)),
            [f"{key} {direction_arrow(item)}" for key, item in metrics.items()],
            [_row(context, each, metrics, ticked) for each in held],
            _finals(found, version, chosen),
            version.public is not None and not is_over(found, context.now),
            not refusal_reason(session, context.service, found, team_id),
            pages,
        )
    return context.page("my_submissions.html", view, 422 if errors else 200)


def _row(
    context: RequestContext, held: Submission, metrics: Mapping[str, Any], ticked: Collection[str] | None
) -> MySubmissionRow:
    public = {each.name: each.value for each in held.scores if each.part == "public"}
    scores = [format_score(item, public.get(key)) for key, item in metrics.items()] if held.state == "scored" else []
    state = "scoring" if held.state == "queued" and held.claimed_by is not None else held.state
    able = held.state == "scored" and not held.late
    return MySubmissionRow(
        held.key,
        held.file_name,
        held.note,
        page_time(held.created, context.now),
        state,
        _TOLD[state],
        scores,
        held.late,
        held.final if ticked is None else held.key in ticked,
        able,
    )


def _finals(challenge: Challenge, version: Version, chosen: int) -> str:
    if version.public is None:
        return "Your best submission counts: there is nothing to choose."
    return (
        f"Choose up to {challenge.finals} to be ranked on the private part in the end; {chosen} "
        f"{'is' if chosen == 1 else 'are'} chosen. If you choose none, your best in public counts."
    )


@router.post("/challenges/{slug}/mine")
async def choose(slug: str, request: Request, context: ContextDep) -> Response:
    """Choose the submissions that count in the end."""
    context.may("have an account")
    return await handle_form(request, context, partial(_choose, slug))


def _choose(slug: str, context: RequestContext, sent: ParsedForm) -> Response:
    with context.service.database.reading() as session:
        found, _, team_id = _own(session, context, slug, "choose finals")
    ticked = sent.lists.get("final", [])
    try:
        choose_finals(context.service, found, team_id, ticked, sent.lists.get("shown", []))
    except FieldError as error:
        return _mine(context, slug, 1, {"": error.errors["final"]}, ticked)
    return redirect(f"/challenges/{slug}/mine", "chosen")
