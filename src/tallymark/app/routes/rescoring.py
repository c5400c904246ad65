"""For the organisers of a challenge: what a new version would change, and applying or discarding it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from tallymark.app.domain import rescoring
from tallymark.app.domain.errors import FormError
from tallymark.app.domain.versions import candidate_version, current_version
from tallymark.app.http.errors import invalid_form
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form, redirect
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.rescoring import RescoringPage, rescoring_page
from tallymark.app.routes.organiser_submissions import find_organised
from tallymark.app.store.models import Challenge, User

router = APIRouter()
_ACTIONS = {
    "apply": (rescoring.apply_candidate, "applied"),
    "discard": (rescoring.discard_candidate, "discarded"),
}


@router.get("/organise/{slug}/rescoring")
def preview(slug: str, context: ContextDep) -> Response:
    """What a new version would change."""
    challenge, _ = find_organised(context, slug)
    return _rescoring_page(context, challenge)


def _rescoring_page(context: RequestContext, challenge: Challenge, errors: Mapping[str, str] | None = None) -> Response:
    shell = context.shell(f"Re-scoring of {challenge.title}", {}, errors)
    with context.service.database.reading() as session:
        current, candidate = current_version(session, challenge), candidate_version(session, challenge)
        if current is None or candidate is None:
            view = RescoringPage(shell, challenge.slug, challenge.title, "")
        else:
            progress = rescoring.progress(session, candidate)
            view = rescoring_page(
                shell,
                challenge.slug,
                challenge.title,
                current,
                candidate,
                session.get_one(User, candidate.created_by).name,
                progress,
                None if progress.queued else rescoring.preview(session, current, candidate),
                context.now,
            )
    return context.page("rescoring.html", view, 422 if errors else 200)


@router.post("/organise/{slug}/rescoring")
async def decide(slug: str, request: Request, context: ContextDep) -> Response:
    """Apply a new version, or discard it."""
    challenge, _ = await run_in_threadpool(find_organised, context, slug)  # before anything is read
    return await handle_form(request, context, partial(_decide, challenge))


def _decide(challenge: Challenge, context: RequestContext, form: ParsedForm) -> Response:
    action, number = form.values.get("action", ""), form.values.get("version", "")
    if action not in _ACTIONS or not (number.isascii() and number.isdigit() and len(number) < 10):
        raise invalid_form()
    change, flash = _ACTIONS[action]
    try:
        change(context.service, context.signed_in_user(), challenge, int(number))
    except FormError as error:
        return _rescoring_page(context, challenge, error.errors)
    return redirect(f"/organise/{challenge.slug}/rescoring", flash)
