"""Submissions: checking and submitting a file, its result and report, and a team's own submissions with its choice."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from tallymark.app.domain.challenges import accepts_submissions, find_challenge, is_over
from tallymark.app.domain.checks import CheckInProgress, check_and_keep, open_checked
from tallymark.app.domain.errors import ForbiddenError, FormError, NotFoundError
from tallymark.app.domain.leaderboards import Leaderboard, find_standing
from tallymark.app.domain.permissions import Actor, resource_of
from tallymark.app.domain.quota import quota_status
from tallymark.app.domain.results import load_result, visibility
from tallymark.app.domain.submissions import clean_file_name, refusal_reason, submit_file
from tallymark.app.domain.teams import choose_finals
from tallymark.app.domain.versions import metrics_of
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form, redirect
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.leaderboard import part_path
from tallymark.app.pages.pagination import paginate
from tallymark.app.pages.problems import problem_section
from tallymark.app.pages.result import result_document, result_page, standing_summary
from tallymark.app.pages.shell import ProblemSection
from tallymark.app.pages.submissions import (
    CheckSummary,
    MySubmissionsPage,
    SubmitPage,
    check_summary,
    describe_outcome,
    describe_selection,
    my_submission_row,
    score_headings,
)
from tallymark.app.store.models import Challenge, Submission, Version
from tallymark.errors import Rejection
from tallymark.rendering.html_page import to_page
from tallymark.submissions.public_private import PRIVATE, PUBLIC

router = APIRouter()
_PAGE_SIZE = 100


def require_membership(
    session: Session, context: RequestContext, slug: str, action: str
) -> tuple[Challenge, Version, int]:
    """A challenge that the user takes part in, its version, and the id of their team."""
    challenge, version = find_challenge(session, slug)
    resource = resource_of(challenge, version)
    if context.user is not None and version is not None:
        context.require("see a challenge", session, resource)
        if context.require("join a challenge", session, resource).team_id is None:
            link = ("Go to the challenge", f"/challenges/{slug}")
            raise ForbiddenError("You have not joined this challenge.", "Join it on its page.", link)
    actor = context.require(action, session, resource)
    if version is None or actor.team_id is None:
        raise NotFoundError()
    return challenge, version, actor.team_id


@router.get("/challenges/{slug}/submit")
def submit_form(slug: str, context: ContextDep) -> Response:
    """The form for a file."""
    return _submit_page(context, slug)


def _submit_page(
    context: RequestContext,
    slug: str,
    status: int = 200,
    *,
    error: str = "",
    problems: ProblemSection | None = None,
    checked: CheckSummary | None = None,
) -> Response:
    with context.service.database.reading() as session:
        challenge, _, team_id = require_membership(session, context, slug, "submit a file")
        over = is_over(challenge, context.now)
        view = SubmitPage(
            shell=context.shell(f"Submit to {challenge.title}", {}, {"submission": error} if error else {}),
            slug=slug,
            title=challenge.title,
            quota=quota_status(session, challenge, team_id, context.now).next_submission,
            refused=refusal_reason(session, context.service, challenge, team_id),
            upload_limit=context.upload_limit,
            upload_bytes=context.settings.upload_bytes,
            late="The deadline has passed. Submissions are scored and marked as late, but not ranked." if over else "",
            problems=problems,
            checked=checked,
        )
    return context.page("submit.html", view, status)


@router.post("/challenges/{slug}/submit")
async def submit(slug: str, request: Request, context: ContextDep) -> Response:
    """Check a file and show its problems, or submit one that was checked and go to its result."""
    context.require("have an account")  # before anything is read
    return await handle_form(request, context, partial(_submit, slug), max_files=1)


def _submit(slug: str, context: RequestContext, form: ParsedForm) -> Response:
    with context.service.database.reading() as session:
        challenge, version, team_id = require_membership(session, context, slug, "submit a file")
        refused = refusal_reason(session, context.service, challenge, team_id)
    if "submission" in form.files:
        return _submit_page(context, slug, 409) if refused else _check(context, challenge, version, form)
    if "token" not in form.values:
        return _submit_page(context, slug, 422, error="Choose a file.")
    user, note = context.signed_in_user(), form.values.get("note", "")
    with open_checked(context.service, user, challenge, form.values["token"]) as file:
        key = submit_file(context.service, user, challenge, team_id, file.stream, file.file_name, note, file.secret)
    return redirect(f"/submissions/{key}")


def _check(context: RequestContext, challenge: Challenge, version: Version, form: ParsedForm) -> Response:
    """Check a file, which is free, and keep it where it has no problems."""
    name, stream = clean_file_name(form.files["submission"].filename or ""), form.stream("submission")
    try:
        passed = check_and_keep(context.service, context.signed_in_user(), challenge, version, stream, name)
    except CheckInProgress:
        error = "Another file of yours is being checked. Wait for it to finish, then check this one."
        return _submit_page(context, challenge.slug, 409, error=error)
    except Rejection as rejection:
        problems = problem_section(rejection, f"{name} cannot be submitted: it")
        return _submit_page(context, challenge.slug, 422, problems=problems)
    return _submit_page(context, challenge.slug, checked=check_summary(name, passed.check, passed.token))


def find_submission(session: Session, context: RequestContext, key: str) -> tuple[Submission, Actor]:
    """A submission, and its reader."""
    submission = session.scalar(select(Submission).where(Submission.key == key))
    if submission is None:
        raise NotFoundError()
    resource = resource_of(submission.challenge, submission.version, submission)
    return submission, context.require("see a submission", session, resource)


@router.get("/submissions/{key}")
def result(key: str, context: ContextDep) -> Response:
    """The result of a submission."""
    with context.service.database.reading() as session:
        submission, actor = find_submission(session, context, key)
        result = load_result(session, submission, context.now, is_organiser=actor.organises)
        shell = context.shell(submission.file_name)
        return context.page("result.html", result_page(shell, result, context.now, context.settings.resamples))


@router.get("/submissions/{key}/report")
def report(key: str, context: ContextDep) -> Response:
    """The result as a self-contained file."""
    with context.service.database.reading() as session:
        submission, actor = find_submission(session, context, key)
        if submission.state != "scored":
            raise NotFoundError()
        result = load_result(session, submission, context.now, is_organiser=actor.organises)
        page = to_page(result_document(result, context.now, context.settings.resamples))
    file_name = f"{submission.challenge.slug}-{submission.key[:6]}.html"
    headers = {"Content-Disposition": f'attachment; filename="{file_name}"'}
    return Response(page, media_type="text/html", headers=headers)


@router.get("/challenges/{slug}/mine")
def my_submissions(slug: str, context: ContextDep, page: int = 1) -> Response:
    """A team's own submissions."""
    return _my_submissions_page(context, slug, page)


def _my_submissions_page(
    context: RequestContext,
    slug: str,
    page: int,
    errors: Mapping[str, str] | None = None,
    selected: Collection[str] | None = None,
) -> Response:
    with context.service.database.reading() as session:
        challenge, version, team_id = require_membership(session, context, slug, "see own submissions")
        own = (Submission.challenge_id == challenge.id) & (Submission.team_id == team_id)
        count = session.scalar(select(func.count()).select_from(Submission).where(own)) or 0
        start, pages = paginate(count, page, _PAGE_SIZE, f"/challenges/{slug}/mine", "submission")
        newest_first = select(Submission).where(own).order_by(Submission.created.desc(), Submission.id.desc())
        submissions = session.scalars(newest_first.offset(start).limit(_PAGE_SIZE)).all()
        chosen = _count_chosen(session, own)
        over, refused = is_over(challenge, context.now), refusal_reason(session, context.service, challenge, team_id)
        # As any participant: an organiser's own team sees its private scores on the pages of its results until then.
        visible = visibility(challenge, version, context.now, is_organiser=False)
        parts = [PUBLIC, PRIVATE] if visible.private_part else [PUBLIC]
        decided = over and (version.public is None or visible.private_part)
        final = find_standing(session, Leaderboard(challenge.id, parts[-1]), team_id) if decided else None
        ranked = None if final is None else final.submission_id
        metrics = metrics_of(version)
        view = MySubmissionsPage(
            shell=context.shell(f"My submissions to {challenge.title}", {}, errors),
            slug=slug,
            title=challenge.title,
            quota=str(quota_status(session, challenge, team_id, context.now))
            if accepts_submissions(challenge, context.now)
            else refused,
            metrics=score_headings(version, parts),
            submissions=[
                my_submission_row(each, metrics, parts, context.now, selected, ranked) for each in submissions
            ],
            finals=describe_selection(challenge, version, chosen)
            if not over
            else describe_outcome(version, chosen, decided=decided, ranked=ranked is not None),
            may_choose=version.public is not None and not over,
            may_submit=not refused,
            pages=pages,
            standing=None if final is None else standing_summary(final),
            ranking=part_path(slug, parts[-1]),
        )
    return context.page("my_submissions.html", view, 422 if errors else 200)


def _count_chosen(session: Session, own: ColumnElement[bool]) -> int:
    chosen = own & Submission.final & Submission.disqualified.is_(None)
    return session.scalar(select(func.count()).select_from(Submission).where(chosen)) or 0


@router.post("/challenges/{slug}/mine")
async def choose(slug: str, request: Request, context: ContextDep) -> Response:
    """Choose the submissions that count in the end."""
    context.require("have an account")
    return await handle_form(request, context, partial(_choose, slug))


def _choose(slug: str, context: RequestContext, form: ParsedForm) -> Response:
    with context.service.database.reading() as session:
        challenge, _, team_id = require_membership(session, context, slug, "choose finals")
    selected = form.lists.get("final", [])
    try:
        choose_finals(context.service, challenge, team_id, selected, form.lists.get("shown", []))
    except FormError as error:
        return _my_submissions_page(context, slug, 1, {"": error.errors["final"]}, selected)
    return redirect(f"/challenges/{slug}/mine", "chosen")
