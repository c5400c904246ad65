"""Announcements: organisers post and delete them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from tallymark.app.domain.announcements import (
    MAX_LENGTH,
    delete_announcement,
    list_announcements,
    post_announcement,
)
from tallymark.app.domain.challenges import find_challenge
from tallymark.app.domain.errors import FormError
from tallymark.app.domain.permissions import resource_of
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form, redirect
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.materials import AnnouncementsPage, announcement_card
from tallymark.app.routes.organise import parse_key
from tallymark.app.store.models import Challenge

router = APIRouter()


def _find(context: RequestContext, slug: str) -> Challenge:
    context.require("have an account")
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        context.require("organise a challenge", session, resource_of(challenge, version))
    return challenge


@router.get("/organise/{slug}/announcements")
def announcements(slug: str, context: ContextDep) -> Response:
    """The announcements, and a form for a new one."""
    return _page(context, _find(context, slug))


def _page(
    context: RequestContext,
    challenge: Challenge,
    values: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    with context.service.database.reading() as session:
        cards = [announcement_card(each, context.now) for each in list_announcements(session, challenge)]
    shell = context.shell(f"Announcements of {challenge.title}", values, errors)
    view = AnnouncementsPage(shell, challenge.slug, challenge.title, cards, MAX_LENGTH)
    return context.page("announcements.html", view, 422 if errors else 200)


@router.post("/organise/{slug}/announcements")
async def change(slug: str, request: Request, context: ContextDep) -> Response:
    """Post or delete an announcement."""
    challenge = await run_in_threadpool(_find, context, slug)
    return await handle_form(request, context, partial(_change, challenge))


def _change(challenge: Challenge, context: RequestContext, form: ParsedForm) -> Response:
    user, path = context.signed_in_user(), f"/organise/{challenge.slug}/announcements"
    if "delete" in form.values:
        delete_announcement(context.service, user, challenge, parse_key(form.values["delete"]))
        return redirect(path, "announcement-deleted")
    try:
        post_announcement(context.service, user, challenge, form.values.get("text", ""))
    except FormError as error:
        return _page(context, challenge, form.values, error.errors)
    return redirect(path, "announced")
