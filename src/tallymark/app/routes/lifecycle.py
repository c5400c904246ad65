"""Steps in the life of a challenge: the page that says what a step changes, and the step itself."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response
from sqlalchemy.orm import Session

from tallymark.app.domain.challenges import find_challenge
from tallymark.app.domain.errors import NotFoundError
from tallymark.app.domain.lifecycle import available_steps, count_audience, obstacle, take_step
from tallymark.app.domain.permissions import resource_of
from tallymark.app.http.request_context import ContextDep, RequestContext, redirect
from tallymark.app.pages.lifecycle import step_page
from tallymark.app.store.models import Challenge, Version

router = APIRouter()
_FLASHES = {
    "publish": "published",
    "delete": "deleted",
    "close": "closed",
    "reopen": "reopened",
    "reveal": "revealed",
    "hide": "hidden",
}


def _find(session: Session, context: RequestContext, slug: str) -> tuple[Challenge, Version]:
    context.require("have an account")
    challenge, version = find_challenge(session, slug)
    context.require("organise a challenge", session, resource_of(challenge, version))
    if version is None:
        raise NotFoundError()
    return challenge, version


@router.get("/organise/{slug}/steps/{step}")
def confirm(slug: str, step: str, context: ContextDep) -> Response:
    """What a step publishes or changes, and a button that takes it."""
    with context.service.database.reading() as session:
        challenge, version = _find(session, context, slug)
        if step not in available_steps(session, challenge, context.now):
            link = ("Edit the challenge", f"/organise/{slug}")
            raise NotFoundError("The challenge cannot take this step now.", "Look at its state.", link)
        shell = context.shell(challenge.title)
        audience, reason = count_audience(session, challenge), obstacle(challenge, step, context.now)
        return context.page("step.html", step_page(shell, challenge, version, step, audience, context.now, reason))


@router.post("/organise/{slug}/steps/{step}")
def take(slug: str, step: str, context: ContextDep) -> Response:
    """Take a step."""
    with context.service.database.reading() as session:
        challenge, _ = _find(session, context, slug)
    if step not in _FLASHES:
        raise NotFoundError()
    take_step(context.service, context.signed_in_user(), challenge, step)
    return redirect("/organise" if step == "delete" else f"/organise/{slug}", _FLASHES[step])
