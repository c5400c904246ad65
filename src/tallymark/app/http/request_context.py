"""The context of a request: the app, the user and the time, and the page that answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, NamedTuple
from urllib.parse import quote

from anyio import to_thread
from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy.orm import Session

from tallymark.app.domain.accounts import find_signed_in_user
from tallymark.app.domain.organisers import organises_any
from tallymark.app.domain.permissions import Actor, Resource, find_actor, require
from tallymark.app.http.uploads import ParsedForm, read_form
from tallymark.app.pages.formatting import format_bytes
from tallymark.app.pages.rendering import render
from tallymark.app.pages.shell import Flash, Form, Link, Person, Shell
from tallymark.app.service import Service
from tallymark.app.settings import AppSettings
from tallymark.app.store.models import Challenge, User

SESSION_COOKIE = "tallymark"
FLASHES = {  # messages after a redirect, by a word in the query of its address
    "joined": ("good", "You have joined. You can submit now."),
    "left": ("note", "You have left the team."),
    "merge-requested": ("good", "The other team was asked. One of its members has to accept."),
    "merged": ("good", "The teams are one now."),
    "saved": ("good", "Saved."),
    "version": ("good", "Saved as a new version."),
    "candidate": ("good", "Saved as a new version. The leaderboard stays as it is until you apply it."),
    "baseline-withdrawn": ("note", "The baseline is withdrawn and no longer ranked."),
    "baseline-restored": ("good", "The baseline is ranked again."),
    "applied": ("good", "The new version is applied. The leaderboard shows its scores."),
    "discarded": ("note", "The new version is discarded. Nothing has changed."),
    "created": ("good", "Draft created. Only its organisers see it until you publish it."),
    "published": ("good", "Published. Others can see the challenge now."),
    "closed": ("note", "The challenge is closed."),
    "reopened": ("good", "The challenge is open again."),
    "revealed": ("good", "The private part is revealed."),
    "hidden": ("note", "The private part is hidden."),
    "deleted": ("note", "The draft is deleted."),
    "announced": ("good", "Posted. It is on the page of the challenge."),
    "announcement-deleted": ("note", "The announcement is deleted."),
    "data-added": ("good", "Uploaded."),
    "data-deleted": ("note", "The file is deleted. Nobody can download it any more."),
    "organiser-added": ("good", "They can organise this challenge now."),
    "organiser-removed": ("note", "They can no longer organise this challenge."),
    "transferred": ("good", "The challenge has a new owner. You are still a co-organiser."),
    "chosen": ("good", "Selection saved."),
    "retried": ("good", "The submission is in the queue again."),
    "disqualified": ("note", "The submission is disqualified. Its team sees the reason."),
    "requalified": ("good", "The submission can be ranked again."),
    "refunded": ("good", "The quota is given back."),
    "revoked": ("note", "The token is revoked."),
    "address-confirmed": ("good", "Your e-mail address is confirmed."),
    "connected": ("good", "Your account is connected."),
    "disconnected": ("note", "Your account is no longer connected."),
    "invitations-queued": ("good", "The invitations are being sent."),
    "invitation-revoked": ("note", "Invitation revoked. Its link no longer works."),
    "password": ("good", "Password changed. You were signed out on all other devices."),
    "reset": ("good", "Password changed. Sign in with the new one."),
    "account-deleted": ("note", "The account was deleted."),
    "signed-out": ("note", "You are signed out."),
    "welcome": ("good", "Welcome. You are signed in."),
}


class RequestContext:
    """One request: the service, the user, and the time."""

    def __init__(self, request: Request, service: Service, user: User | None, *, organises: bool = False) -> None:
        self.request = request
        self.service = service
        self.user = user
        self.organises = organises  # a challenge, or may create one
        self.now: datetime = service.now()

    @property
    def settings(self) -> AppSettings:
        """The settings of the app."""
        return self.service.settings

    @property
    def upload_limit(self) -> str:
        """The largest size of a file, in words."""
        return format_bytes(self.settings.upload_bytes)

    def require(self, action: str, session: Session | None = None, resource: Resource | None = None) -> Actor:
        """The user as an actor if they may do this; else raises."""
        challenge: Challenge | None = None if resource is None else resource.challenge
        actor = Actor(self.user) if session is None else find_actor(session, self.user, challenge)
        require(action, actor, resource)
        return actor

    def signed_in_user(self) -> User:
        """The user, in a route that requires one."""
        assert self.user is not None
        return self.user

    def shell(
        self,
        title: str,
        values: Mapping[str, str] | None = None,
        errors: Mapping[str, str] | None = None,
    ) -> Shell:
        """The frame of a page: its title, navigation, messages, and the values and errors of its form."""
        path = self.request.url.path
        links = [("Analyse", "/analyse"), ("Challenges", "/challenges")]
        person = None
        if self.user is not None:
            links += [("Organise", "/organise")] * self.organises
            links += [("Operate", "/operate")] * self.user.operator
            person = Person(self.user.name, "organiser" if self.organises else "participant")
        flash = FLASHES.get(self.request.query_params.get("said", ""))
        return Shell(
            title,
            path,
            person,
            [Link(text, target, path == target or path.startswith(f"{target}/")) for text, target in links],
            [Flash(*flash)] if flash and self.request.method == "GET" else [],
            Form(values or {}, errors or {}),
        )

    def page(self, template: str, view: NamedTuple, status: int = 200) -> HTMLResponse:
        """The response with a page."""
        return HTMLResponse(render(template, view), status)


def request_context(request: Request) -> RequestContext:
    """The context of a request, with the user of its cookie."""
    service: Service = request.app.state.service
    secret = request.cookies.get(SESSION_COOKIE)
    user, organises = None, False
    if secret:
        with service.database.reading() as session:
            user = find_signed_in_user(session, service, secret)
            organises = user is not None and (user.organiser or organises_any(session, user))
    return RequestContext(request, service, user, organises=organises)


ContextDep = Annotated[RequestContext, Depends(request_context)]


async def handle_form(
    request: Request,
    context: RequestContext,
    handler: Callable[[RequestContext, ParsedForm], Response],
    *,
    max_files: int = 0,
    max_bytes: int = 0,
) -> Response:
    """Read a form, and run its handler in a thread: a few at a time, while others wait without a thread."""
    form = await read_form(request, max_files, max_bytes or context.settings.upload_bytes)
    try:
        return await to_thread.run_sync(handler, context, form, limiter=request.app.state.form_limiter)
    finally:
        form.close()


def redirect(path: str, flash: str = "") -> RedirectResponse:
    """A redirect after a form, with the key of a message to show there."""
    return RedirectResponse(f"{path}?said={flash}" if flash else path, 303)


def local_path(path: str) -> str:
    """A path within the app as it is; the front page for any other address."""
    is_local = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return quote(path, safe="/?=&-_.~") if is_local else "/"


def set_session_cookie(response: Response, context: RequestContext, secret: str) -> Response:
    """The response with the cookie of a sign-in."""
    response.set_cookie(
        SESSION_COOKIE,
        secret,
        max_age=86_400 * context.settings.session_days,
        secure=context.settings.url.startswith("https://"),
        httponly=True,
        samesite="lax",
    )
    return response
