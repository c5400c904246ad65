"""For organisers: their challenges, settings, answers and submissions."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request, Response
from sqlalchemy import select
from starlette.concurrency import run_in_threadpool

from tallymark.app.domain import challenges
from tallymark.app.domain.drafts import parse_draft
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.domain.lifecycle import take_step
from tallymark.app.domain.results import visibility
from tallymark.app.domain.versions import current_version
from tallymark.app.http.api_context import ApiContext, OrganiseDep, handle_upload, read_json
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.routes.api.cursors import Cursor, Limit
from tallymark.app.routes.api.models import (
    ChallengeSettings,
    Page,
    SettingsRequest,
    SubmissionSummary,
    VersionFacts,
)
from tallymark.app.routes.api.openapi import describe, file_body, json_body
from tallymark.app.routes.api.submissions import submission_page
from tallymark.app.routes.organise import answers as answers_of_part
from tallymark.app.routes.organise import challenge_fields, find_organised
from tallymark.app.store.models import Challenge, Submission, Version

router = APIRouter(prefix="/api/v1/organise")
_ANSWERS = "answers"
_FIELDS = {
    "title": "Needed, as task, metrics, quota, finals, late, split and missing are.",
    "slug": "The address; by default from the title.",
    "note": "A note on the answers.",
}
_SWITCHES = ("show_intervals", "show_classes", "show_counts")  # absent from the fields where they are off


@router.post(
    "/challenges",
    status_code=201,
    openapi_extra=describe(body=file_body(_ANSWERS, {"title": _FIELDS["title"], "slug": _FIELDS["slug"]}, alone=False)),
)
async def create(request: Request, response: Response, context: OrganiseDep) -> ChallengeSettings:
    """Create a challenge from the fields of its form and its answers."""
    context.require("create a challenge")
    created = await handle_upload(request, context, _ANSWERS, "", partial(_create, context))
    response.headers["Location"] = f"/api/v1/organise/challenges/{created.slug}"
    return created


def _create(context: ApiContext, form: ParsedForm) -> ChallengeSettings:
    draft = parse_draft(form.values)
    user = context.signed_in_user()
    return _settings(context, challenges.create_challenge(context.service, user, draft, form.stream(_ANSWERS)))


def _settings(context: ApiContext, challenge: Challenge) -> ChallengeSettings:
    with context.service.database.reading() as session:
        challenge, _ = challenges.find_challenge(session, challenge.slug)  # as it is now
        newest_first = select(Version).where(Version.challenge_id == challenge.id).order_by(Version.number.desc())
        versions = session.scalars(newest_first).all()
    return ChallengeSettings(
        slug=challenge.slug,
        state=challenges.challenge_state(challenge, context.now),
        fields=challenge_fields(challenge, versions[0]),
        versions=[
            VersionFacts(number=each.number, created=each.created, note=each.note, rows=each.rows, answers=each.answers)
            for each in versions
        ],
    )


@router.get("/challenges/{slug}")
def settings(slug: str, context: OrganiseDep) -> ChallengeSettings:
    """The settings of a challenge and the versions of its answers."""
    return _settings(context, find_organised(context, slug))


@router.patch("/challenges/{slug}", openapi_extra=describe(body=json_body(SettingsRequest)))
async def edit(slug: str, request: Request, context: OrganiseDep) -> ChallengeSettings:
    """Change settings; others stay. A change of how files are scored makes a new version, and scores all again."""
    challenge = await run_in_threadpool(find_organised, context, slug)
    wanted = await read_json(request, SettingsRequest)
    return await run_in_threadpool(_edit, context, challenge, wanted.fields)


def _edit(context: ApiContext, challenge: Challenge, wanted: dict[str, str]) -> ChallengeSettings:
    fields = _settings(context, challenge).fields
    unknown = {name: "There is no such field." for name in wanted if name not in (*fields, *_SWITCHES)}
    if wanted.get("slug", challenge.slug) != challenge.slug:
        unknown["slug"] = "The address of a challenge cannot change."
    if unknown:
        raise FormError(unknown)
    user, draft = context.signed_in_user(), parse_draft({**fields, **wanted})
    challenges.update_challenge(context.service, user, challenge, draft)
    return _settings(context, challenge)


@router.post("/challenges/{slug}/close")
def close(slug: str, context: OrganiseDep) -> ChallengeSettings:
    """Close a challenge: it accepts no submissions."""
    return _take_step(slug, context, "close")


@router.post("/challenges/{slug}/reopen")
def reopen(slug: str, context: OrganiseDep) -> ChallengeSettings:
    """Open a closed challenge again, and hide the scores of the private part."""
    return _take_step(slug, context, "reopen")


def _take_step(slug: str, context: ApiContext, step: str) -> ChallengeSettings:
    challenge = find_organised(context, slug)
    take_step(context.service, context.signed_in_user(), challenge, step)
    return _settings(context, challenge)


@router.post("/challenges/{slug}/answers", openapi_extra=describe(body=file_body(_ANSWERS, {"note": _FIELDS["note"]})))
async def replace_answers(slug: str, request: Request, context: OrganiseDep) -> ChallengeSettings:
    """Replace the answers: this makes a new version, and scores all submissions again."""
    challenge = await run_in_threadpool(find_organised, context, slug)
    return await handle_upload(request, context, _ANSWERS, "", partial(_replace_answers, context, challenge))


def _replace_answers(context: ApiContext, challenge: Challenge, form: ParsedForm) -> ChallengeSettings:
    user, note = context.signed_in_user(), form.values.get("note", "")
    challenges.replace_answers(context.service, user, challenge, form.stream(_ANSWERS), note)
    return _settings(context, challenge)


@router.get(
    "/challenges/{slug}/answers/{part}",
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
def answers(slug: str, part: str, context: OrganiseDep) -> Response:
    """The answers of a part, public or private; without parts, all are public."""
    return answers_of_part(slug, part, context)


@router.get("/challenges/{slug}/submissions")
def submissions(slug: str, context: OrganiseDep, limit: Limit = 50, cursor: Cursor = "") -> Page[SubmissionSummary]:
    """The submissions of all teams, the newest first."""
    challenge = find_organised(context, slug)
    with context.service.database.reading() as session:
        version = current_version(session, challenge)
    if version is None:
        raise NotFoundError()
    visible = visibility(challenge, version, context.now, is_organiser=True)
    return submission_page(context, Submission.challenge_id == challenge.id, visible, limit, cursor)
