"""A visit: one request with who makes it, and the page that answers it."""

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
from tallymark.app.domain.permissions import PERMISSIONS, Actor, Resource, find_actor, require
from tallymark.app.http.uploads import ParsedForm, format_bytes, read_form
from tallymark.app.pages.rendering import render
from tallymark.app.pages.shell import Flash, Form, Link, Person, Shell
from tallymark.app.service import Service
from tallymark.app.settings import AppSettings
from tallymark.app.store.models import Challenge, User

SESSION_COOKIE = "tallymark"
FLASHES = {  # what a page that was gone to may say, by a word in its address
    "joined": ("good", "You take part. Your first submission can be sent now."),
    "saved": ("good", "Saved."),
    "version": ("good", "Saved as a new version: every submission is being scored again."),
    "created": ("good", "The challenge is there. Others can see it now."),
    "closed": ("note", "The challenge is closed."),
    "reopened": ("good", "The challenge is open again."),
    "chosen": ("good", "Your choice is saved."),
    "password": ("good", "Your password is changed. You were signed out everywhere else."),
    "signed-out": ("note", "You are signed out."),
    "welcome": ("good", "Welcome. You are signed in."),
}


class RequestContext:
    """One request: the service, who asks, and the time."""

    def __init__(self, request: Request, service: Service, user: User | None) -> None:
        self.request = request
        self.service = service
        self.user = user
        self.now: datetime = service.now()

    @property
    def settings(self) -> AppSettings:
        """The settings of the app."""
        return self.service.settings

    @property
    def upload_limit(self) -> str:
        """How large a file may be."""
        return format_bytes(self.settings.upload_bytes)

    def may(self, action: str, session: Session | None = None, resource: Resource | None = None) -> Actor:
        """Who asks, if they may do this; else a page says no."""
        challenge: Challenge | None = None if resource is None else resource.challenge
        actor = Actor(self.user) if session is None else find_actor(session, self.user, challenge)
        require(action, actor, resource)
        return actor

    @property
    def is_organiser(self) -> bool:
        """Whether who asks may see what participants do not."""
        return PERMISSIONS["see what is hidden"](Actor(self.user), Resource())

    def person(self) -> User:
        """Who is signed in, where a route has asked for it."""
        assert self.user is not None
        return self.user

    def shell(
        self,
        title: str,
        values: Mapping[str, str] | None = None,
        errors: Mapping[str, str] | None = None,
    ) -> Shell:
        """What surrounds a page."""
        path = self.request.url.path
        links = [("Analyse", "/analyse"), ("Challenges", "/challenges")]
        person = None
        if self.user is not None:
            links += [("Organise", "/organise")] * self.user.organiser
            person = Person(self.user.name, "organiser" if self.user.organiser else "participant")
        said = FLASHES.get(self.request.query_params.get("said", ""))
        told = [Flash(*said)] if said and self.request.method == "GET" else []
        return Shell(
            title,
            path,
            person,
            [Link(text, to, path == to or path.startswith(f"{to}/")) for text, to in links],
            told,
            Form(values or {}, errors or {}),
        )

    def page(self, template: str, view: NamedTuple, status: int = 200) -> HTMLResponse:
        """A page."""
        return HTMLResponse(render(template, view), status)


def request_context(request: Request) -> RequestContext:
    """The visit of a request."""
    service: Service = request.app.state.service
    secret = request.cookies.get(SESSION_COOKIE)
    user = None
    if secret:
        with service.database.reading() as session:
            user = find_signed_in_user(session, service, secret)
    return RequestContext(request, service, user)


ContextDep = Annotated[RequestContext, Depends(request_context)]


async def handle_form(
    request: Request, context: RequestContext, work: Callable[[RequestContext, ParsedForm], Response], *, files: int = 0
) -> Response:
    """Read a form, and have a thread answer it: a few at a time, while others wait without one."""
    sent = await read_form(request, files=files, most=context.settings.upload_bytes)
    try:
        return await to_thread.run_sync(work, context, sent, limiter=request.app.state.forms)
    finally:
        sent.close()


def redirect(path: str, said: str = "") -> RedirectResponse:
    """Go to a page after something was done."""
    return RedirectResponse(f"{path}?said={said}" if said else path, 303)


def local_path(path: str) -> str:
    """An address within the app; the front page where it is none."""
    plain = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return quote(path, safe="/?=&-_.~") if plain else "/"


def set_session_cookie(answer: Response, context: RequestContext, secret: str) -> Response:
    """Give a browser the secret of its sign-in."""
    answer.set_cookie(
        SESSION_COOKIE,
        secret,
        max_age=86_400 * context.settings.session_days,
        secure=context.settings.url.startswith("https://"),
        httponly=True,
        samesite="lax",
    )
    return answer
