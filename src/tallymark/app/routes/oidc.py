"""Sign-in with an OpenID provider, and connecting an account with it."""

from __future__ import annotations

import hmac

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from tallymark.app.domain import accounts, oidc
from tallymark.app.domain.errors import ConflictError, FormError, NotFoundError
from tallymark.app.http.request_context import (
    SESSION_COOKIE,
    ContextDep,
    RequestContext,
    local_path,
    redirect,
    set_session_cookie,
)
from tallymark.app.pages.people import ProviderPage
from tallymark.app.routes.accounts import start_page

router = APIRouter()
COOKIE = "tallymark-oidc"
_MINUTES = 10


def link_token(request: Request) -> str:
    """What only pages of this session know: a link of another site cannot connect an account."""
    return accounts.hash_secret("connect " + request.cookies.get(SESSION_COOKIE, ""))


@router.get("/sign-in/oidc")
def start(request: Request, context: ContextDep, next: str = "/", invitation: str = "", connect: str = "") -> Response:
    """Send the browser to the provider."""
    context.require("sign up and in")
    if not context.settings.oidc_issuer:
        raise NotFoundError()
    if connect and (context.user is None or not hmac.compare_digest(connect.encode(), link_token(request).encode())):
        raise ConflictError("The account could not be connected.", "Try again from your account.")
    secret = oidc.new_secret()
    response = RedirectResponse(oidc.authorization_url(context.service, secret), 303)
    purpose = (
        f"c{context.signed_in_user().id}" if connect else f"i{invitation}" if invitation else f"n{local_path(next)}"
    )
    response.set_cookie(
        COOKIE,
        f"{secret}|{purpose[:500].encode().hex()}",
        max_age=60 * _MINUTES,
        path="/sign-in/oidc",
        secure=context.settings.url.startswith("https://"),
        httponly=True,
        samesite="lax",
    )
    return response


@router.get("/sign-in/oidc/callback")
def callback(request: Request, context: ContextDep, state: str = "", code: str = "") -> Response:
    """Sign in, sign up or connect the account, by the answer of the provider."""
    context.require("sign up and in")
    secret, _, packed = request.cookies.get(COOKIE, "").partition("|")
    identity = oidc.verify_answer(context.service, secret, state, code)
    try:
        purpose = bytes.fromhex(packed).decode()
    except ValueError:
        raise ConflictError("The sign-in failed.", "Start it again.") from None
    response = _answer(context, identity, purpose)
    response.delete_cookie(COOKIE, path="/sign-in/oidc")
    return response


def _answer(context: RequestContext, identity: oidc.VerifiedIdentity, purpose: str) -> Response:
    kind, text = purpose[:1], purpose[1:]
    if kind == "c":
        if context.user is None or str(context.user.id) != text:
            raise ConflictError("You were signed out meanwhile.", "Sign in, and connect your account again.")
        oidc.link(context.service, context.user, identity)
        return redirect("/account/provider", "connected")
    invitation = text if kind == "i" else ""
    user, is_new = oidc.sign_in(context.service, identity, invitation)
    try:
        secret = accounts.create_sign_in(context.service, user)
    except FormError as error:  # the account is disabled
        raise ConflictError(str(error)) from None
    target = start_page(context, user, invitation) if is_new or invitation else local_path(text)
    return set_session_cookie(redirect(target, "welcome"), context, secret)


@router.get("/account/provider")
def provider(request: Request, context: ContextDep) -> Response:
    """Whether the account is connected with the provider."""
    context.require("have an account")
    if not context.settings.oidc_issuer:
        raise NotFoundError()
    with context.service.database.reading() as session:
        linked = oidc.is_linked(session, context.signed_in_user())
    name = context.settings.provider_name
    view = ProviderPage(context.shell(f"Sign-in with {name}"), name, linked, link_token(request))
    return context.page("provider.html", view)


@router.post("/account/provider")
def disconnect(context: ContextDep) -> Response:
    """End the sign-in with the provider."""
    context.require("have an account")
    oidc.unlink(context.service, context.signed_in_user())
    return redirect("/account", "disconnected")
