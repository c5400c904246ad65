"""Submissions: checking and submitting a file, results, a team's own submissions and its choice."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session, joinedload, selectinload
from starlette.concurrency import run_in_threadpool

from tallymark.app.domain import idempotency
from tallymark.app.domain.checks import check_file
from tallymark.app.domain.errors import ConflictError, FormError
from tallymark.app.domain.results import Result, Visibility, load_result, submission_state, visibility
from tallymark.app.domain.submissions import clean_file_name, refusal_reason, submit_file
from tallymark.app.domain.teams import choose_finals
from tallymark.app.http.api_context import ApiContext, ReadDep, SubmitDep, handle_upload, read_json
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.routes.api.cursors import Cursor, Limit, decode_cursor, make_page
from tallymark.app.routes.api.models import (
    CheckResult,
    ClassScores,
    Counts,
    FileProblem,
    Finals,
    FinalsRequest,
    Page,
    Score,
    Standing,
    SubmissionFacts,
    SubmissionSummary,
)
from tallymark.app.routes.api.openapi import describe, file_body, json_body
from tallymark.app.routes.submissions import find_submission, require_membership
from tallymark.app.store.models import Challenge, StoredScore, Submission, Version
from tallymark.submissions.public_private import PRIVATE, PUBLIC

router = APIRouter(prefix="/api/v1")
_FILE = "submission"
_NOTE = "A note for the list of submissions, up to 200 characters."
FileName = Annotated[str, Query(max_length=1000, description="The name of the file, where it is the whole body.")]
_Note = Annotated[str, Query(max_length=1000, description=_NOTE)]
_Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[!-~]+$",
        description="A random text of the client. An upload with the same key and the same file is one submission.",
    ),
]


@router.post("/challenges/{slug}/check", openapi_extra=describe(body=file_body(_FILE, {})))
async def check(slug: str, request: Request, context: SubmitDep, file_name: FileName = "") -> CheckResult:
    """Check a file as submitting it would. This costs nothing, and nothing is stored."""
    _, version, _ = await run_in_threadpool(_membership, slug, "submit a file", context)
    return await handle_upload(request, context, _FILE, file_name, partial(_check, context, version))


def _membership(slug: str, action: str, context: ApiContext) -> tuple[Challenge, Version, int]:
    context.require("have an account")
    with context.service.database.reading() as session:
        return require_membership(session, context, slug, action)


def _check(context: ApiContext, version: Version, form: ParsedForm) -> CheckResult:
    return CheckResult.model_validate(check_file(context.service, version, form.stream(_FILE)).to_dict())


@router.post(
    "/challenges/{slug}/submissions",
    status_code=201,
    openapi_extra=describe(body=file_body(_FILE, {"note": _NOTE})),
)
async def submit(
    slug: str,
    request: Request,
    response: Response,
    context: SubmitDep,
    idempotency_key: _Key = None,
    file_name: FileName = "",
    note: _Note = "",
) -> SubmissionFacts:
    """Submit a file. A file with problems is refused with all of them, and costs nothing. A small file is scored before
    the answer; poll the submission of a larger one until it is not pending."""
    await run_in_threadpool(_membership, slug, "submit a file", context)  # before anything is read
    submit = partial(_submit, slug, idempotency_key, note, context)
    submission = await handle_upload(request, context, _FILE, file_name, submit)
    response.headers["Location"] = f"/api/v1/submissions/{submission.key}"
    return submission


def _submit(slug: str, once: str | None, note: str, context: ApiContext, form: ParsedForm) -> SubmissionFacts:
    user, stream, note = context.signed_in_user(), form.stream(_FILE), form.values.get("note", note)
    with context.service.database.reading() as session:
        challenge, version, team_id = require_membership(session, context, slug, "submit a file")
        upload = None if once is None else idempotency.identify_upload(once, challenge, stream, note)
        key = None if upload is None else idempotency.find_submission(session, user, upload)
        refused = refusal_reason(session, context.service, challenge, team_id)
    if key is None:
        if refused:
            raise ConflictError(refused)
        check_file(context.service, version, stream)
        name = clean_file_name(form.files[_FILE].filename or "")
        key = submit_file(context.service, user, challenge, team_id, stream, name, note, upload=upload)
    with context.service.database.reading() as session:
        submission = session.scalars(select(Submission).where(Submission.key == key)).one()
        return _facts(session, context, submission, is_organiser=False)


@router.get("/challenges/{slug}/submissions")
def own_submissions(slug: str, context: ReadDep, limit: Limit = 50, cursor: Cursor = "") -> Page[SubmissionSummary]:
    """The submissions of the user's team, the newest first."""
    challenge, version, team_id = _membership(slug, "see own submissions", context)
    of_team = (Submission.challenge_id == challenge.id) & (Submission.team_id == team_id)
    visible = visibility(challenge, version, context.now, is_organiser=False)
    return submission_page(context, of_team, visible, limit, cursor)


def submission_page(
    context: ApiContext, which: ColumnElement[bool], visible: Visibility, limit: int, cursor: str
) -> Page[SubmissionSummary]:
    """A part of the submissions of a challenge, the newest first."""
    before = decode_cursor(cursor)
    query = select(Submission).where(which).order_by(Submission.id.desc()).limit(limit + 1)
    loaded = (joinedload(Submission.team), joinedload(Submission.challenge), joinedload(Submission.version))
    query = query.options(*loaded, selectinload(Submission.scores))
    if before is not None:
        query = query.where(Submission.id < before[0])
    with context.service.database.reading() as session:
        rows = session.scalars(query).all()
        return make_page(rows, limit, lambda row: [row.id], lambda row: SubmissionSummary(**_summary(row, visible)))


def _summary(submission: Submission, visible: Visibility) -> dict[str, Any]:
    parts = [PUBLIC, *[PRIVATE] * visible.private_part] if submission.state == "scored" else []
    return {
        "key": submission.key,
        "challenge": submission.challenge.slug,
        "team": submission.team.name,
        "file_name": submission.file_name,
        "note": submission.note,
        "created": submission.created,
        "state": submission_state(submission),
        "late": submission.late,
        "final": submission.final,
        "version": submission.version.number,
        "scores": {part: score_list(submission, part, visible) for part in parts},
    }


def score_list(
    submission: Submission, part: str, visible: Visibility, metrics: Collection[str] | None = None
) -> list[Score]:
    """The scores of a submission on a part, of some metrics or all."""
    return [
        _score(each, intervals=visible.intervals)
        for each in submission.scores
        if each.part == part and (metrics is None or each.name in metrics)
    ]


def _score(score: StoredScore, *, intervals: bool) -> Score:
    lo, hi = (score.lo, score.hi) if intervals else (None, None)
    return Score(metric=score.name, value=score.value, lo=lo, hi=hi)


@router.get("/submissions/{key}")
def submission(key: str, context: ReadDep) -> SubmissionFacts:
    """A submission with its scores, or its problems."""
    with context.service.database.reading() as session:
        submission, actor = find_submission(session, context, key)
        return _facts(session, context, submission, is_organiser=actor.organises)


def _facts(session: Session, context: ApiContext, submission: Submission, *, is_organiser: bool) -> SubmissionFacts:
    result = load_result(session, submission, context.now, is_organiser=is_organiser)
    facts = submission.facts or {}
    scored, rejected = submission.state == "scored", submission.state == "rejected"
    return SubmissionFacts(
        **_summary(submission, result.visible),
        ahead=result.ahead,
        pending=submission.state == "queued" or result.intervals_pending,
        counts=_counts(facts, result.visible) if scored else None,
        classes=_classes(facts) if scored and result.visible.classes and facts.get("classes") else None,
        warnings=facts.get("warnings") or [] if scored else [],
        standing=_standing(result),
        problems=[FileProblem(**each) for each in facts.get("problems", [])] if rejected else [],
        total_problems=facts.get("total", 0) if rejected else 0,
        stopped=bool(facts.get("stopped")) and rejected,
    )


def _counts(facts: dict[str, Any], visible: Visibility) -> Counts:
    shown = {name: facts.get(name) for name in ("compared", "missing", "extra")}
    hidden = {name: facts.get(name) if visible.counts else None for name in ("correct", "incorrect")}
    return Counts(**shown, **hidden)


def _classes(facts: dict[str, Any]) -> list[ClassScores]:
    return [
        ClassScores(
            label=str(each["class"]),
            precision=each["precision"],
            recall=each["recall"],
            f1=each["fscore"],
            support=each["support"],
        )
        for each in facts["classes"]
    ]


def _standing(result: Result) -> Standing | None:
    standing = result.standing
    if standing is None:
        return None
    ranks = standing.ranks
    return Standing(
        place=standing.place,
        total=standing.total,
        best_rank=ranks.best,
        worst_rank=ranks.worst,
        is_own=standing.submission_id == result.submission.id,
    )


@router.put("/challenges/{slug}/finals", openapi_extra=describe(body=json_body(FinalsRequest)))
async def finals(slug: str, request: Request, context: SubmitDep) -> Finals:
    """Select the submissions that count in the private part, instead of those selected before."""
    challenge, _, team_id = await run_in_threadpool(_membership, slug, "choose finals", context)
    wanted = await read_json(request, FinalsRequest)
    keys = list(dict.fromkeys(wanted.submissions))
    try:
        await run_in_threadpool(choose_finals, context.service, challenge, team_id, keys)
    except FormError as error:
        raise FormError({"submissions": error.errors["final"]}) from None
    return Finals(submissions=keys)
