"""For the organisers of a challenge: its submissions, the file of each, and what can be done with one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response
from sqlalchemy import select
from starlette.concurrency import run_in_threadpool

from tallymark.app.domain import moderation
from tallymark.app.domain.baselines import add_baseline, list_baselines, set_withdrawn
from tallymark.app.domain.challenges import find_challenge
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.domain.permissions import resource_of
from tallymark.app.domain.submission_list import SubmissionFilter, count_submissions, list_submissions, parse_filter
from tallymark.app.domain.teams import member_names
from tallymark.app.http.errors import invalid_form
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form, redirect
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.formatting import format_bytes, pluralize
from tallymark.app.pages.organiser_submissions import (
    MARK_OPTIONS,
    SORT_OPTIONS,
    STATE_OPTIONS,
    BaselineRow,
    OrganiserSubmissionsPage,
    export_links,
    matches_sentence,
    organiser_submission_page,
    organiser_submission_row,
    score_headings,
    team_options,
)
from tallymark.app.pages.pagination import paginate
from tallymark.app.pages.problems import problem_section
from tallymark.app.pages.shell import ProblemSection
from tallymark.app.store.models import Challenge, StoredFile, Team, Version
from tallymark.errors import Rejection

router = APIRouter()
PAGE_SIZE = 100
_FILTER_FIELDS = ("q", "state", "mark", "team", "since", "until", "sort")
_ACTIONS = {
    "retry": (moderation.retry, "retried"),
    "requalify": (moderation.requalify, "requalified"),
    "refund": (moderation.refund, "refunded"),
}


def find_organised(context: RequestContext, slug: str) -> tuple[Challenge, Version]:
    """A challenge that the user organises, with its current version."""
    context.require("have an account")
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        context.require("organise a challenge", session, resource_of(challenge, version))
    if version is None:
        raise NotFoundError()
    return challenge, version


@router.get("/organise/{slug}/submissions")
def submissions(slug: str, context: ContextDep, page: int = 1) -> Response:
    """The submissions of a challenge, searched, filtered and sorted."""
    challenge, version = find_organised(context, slug)
    return _submissions_page(context, challenge, version, page)


def _submissions_page(
    context: RequestContext,
    challenge: Challenge,
    version: Version,
    page: int = 1,
    *,
    baseline: str = "",
    form_errors: Mapping[str, str] | None = None,
    problems: ProblemSection | None = None,
) -> Response:
    slug, request = challenge.slug, context.request
    values = {name: request.query_params.get(name, "") for name in _FILTER_FIELDS}
    if any("\0" in value for value in values.values()):
        raise NotFoundError()
    try:
        wanted, errors = parse_filter(values), {}
    except FormError as error:
        wanted, errors = SubmissionFilter(), error.errors
    errors |= form_errors or {}
    with context.service.database.reading() as session:
        matching = count_submissions(session, version, wanted)
        total = count_submissions(session, version, SubmissionFilter())
        path = f"/organise/{slug}/submissions"
        query = urlencode({name: value for name, value in values.items() if value})
        start, pages = paginate(matching, page, PAGE_SIZE, path, "submission", f"&{query}" if query else "")
        teams = select(Team.id, Team.name).where(Team.challenge_id == challenge.id).order_by(Team.key)
        view = OrganiserSubmissionsPage(
            shell=context.shell(f"Submissions to {challenge.title}", {**values, "baseline": baseline}, errors),
            slug=slug,
            title=challenge.title,
            sentence=matches_sentence(matching, total),
            states=STATE_OPTIONS,
            marks=MARK_OPTIONS,
            teams=team_options({row[0]: row[1] for row in session.execute(teams)}),
            sorts=SORT_OPTIONS,
            headings=score_headings(version),
            rows=[
                organiser_submission_row(each, version, context.now)
                for each in list_submissions(session, version, wanted, start, PAGE_SIZE)
            ],
            exports=export_links(slug, version),
            upload_limit=context.upload_limit,
            pages=pages,
            baselines=[
                BaselineRow(str(each.team.id), each.team.name, pluralize(each.files, "file"), each.withdrawn)
                for each in list_baselines(session, challenge)
            ],
            problems=problems,
        )
    return context.page("organiser_submissions.html", view, 422 if errors or problems else 200)


@router.post("/organise/{slug}/submissions")
async def change_baselines(slug: str, request: Request, context: ContextDep) -> Response:
    """Add a baseline, withdraw one or restore it."""
    challenge, version = await run_in_threadpool(find_organised, context, slug)  # before anything is read
    return await handle_form(request, context, partial(_change_baselines, challenge, version), max_files=1)


def _change_baselines(challenge: Challenge, version: Version, context: RequestContext, form: ParsedForm) -> Response:
    action, user, path = (
        form.values.get("action", ""),
        context.signed_in_user(),
        f"/organise/{challenge.slug}/submissions",
    )
    name, team = form.values.get("baseline", ""), form.values.get("team", "")
    try:
        if action == "baseline":
            if "submission" not in form.files:
                raise FormError({"submission": "Choose a file."})
            file_name, stream = form.files["submission"].filename or "", form.stream("submission")
            key = add_baseline(context.service, user, challenge, name, stream, file_name)
            return redirect(f"{path}/{key}")
        if action in ("withdraw", "restore") and team.isascii() and team.isdigit() and len(team) < 10:
            withdraws = action == "withdraw"
            set_withdrawn(context.service, user, challenge, int(team), withdrawn=withdraws)
            return redirect(path, "baseline-withdrawn" if withdraws else "baseline-restored")
    except FormError as error:
        return _submissions_page(context, challenge, version, baseline=name, form_errors=error.errors)
    except Rejection as error:
        problems = problem_section(error)
        return _submissions_page(context, challenge, version, baseline=name, problems=problems)
    raise invalid_form()


@router.get("/organise/{slug}/submissions/{key}")
def submission(slug: str, key: str, context: ContextDep) -> Response:
    """A submission, with what can be done with it."""
    challenge, _ = find_organised(context, slug)
    return _submission_page(context, challenge, key)


def _submission_page(
    context: RequestContext, challenge: Challenge, key: str, error: FormError | None = None, reason: str = ""
) -> Response:
    with context.service.database.reading() as session:
        found = moderation.find_submission(session, challenge, key)
        file = session.get_one(StoredFile, found.file)
        shell = context.shell(found.file_name, {"reason": reason}, {} if error is None else error.errors)
        members = member_names(session, found.team_id)
        size = format_bytes(file.size)
        view = organiser_submission_page(shell, found, members, size, moderation.MAX_REASON, context.now)
    return context.page("organiser_submission.html", view, 200 if error is None else 422)


@router.get("/organise/{slug}/submissions/{key}/file")
def submitted_file(slug: str, key: str, context: ContextDep) -> Response:
    """The file of a submission, as it was sent."""
    challenge, _ = find_organised(context, slug)
    with context.service.database.reading() as session:
        found = moderation.find_submission(session, challenge, key)
    path = context.service.files.path(found.file)
    if not path.is_file():
        raise NotFoundError("The file of this submission is missing on the server.", "Restore it from a backup.")
    return FileResponse(path, media_type="application/octet-stream", filename=found.file_name)


@router.post("/organise/{slug}/submissions/{key}")
async def act(slug: str, key: str, request: Request, context: ContextDep) -> Response:
    """Retry a submission, disqualify it or undo that, or give its quota back."""
    challenge, _ = await run_in_threadpool(find_organised, context, slug)  # before anything is read
    return await handle_form(request, context, partial(_act, challenge, key))


def _act(challenge: Challenge, key: str, context: RequestContext, form: ParsedForm) -> Response:
    action, user = form.values.get("action", ""), context.signed_in_user()
    try:
        if action == "disqualify":
            moderation.disqualify(context.service, user, challenge, key, form.values.get("reason", ""))
            flash = "disqualified"
        elif action in _ACTIONS:
            change, flash = _ACTIONS[action]
            change(context.service, user, challenge, key)
        else:
            raise invalid_form()
    except FormError as error:
        return _submission_page(context, challenge, key, error, form.values.get("reason", ""))
    return redirect(f"/organise/{challenge.slug}/submissions/{key}", flash)
