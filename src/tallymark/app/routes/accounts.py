"""Sign-up, sign-in, and the account of a user."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import func, select

from tallymark.app.domain import accounts
from tallymark.app.domain.errors import FormError
from tallymark.app.domain.invitations import invitation_state, invited_to
from tallymark.app.domain.permissions import find_actor, is_allowed, resource_of
from tallymark.app.domain.versions import current_version
from tallymark.app.http.errors import invalid_form
from tallymark.app.http.request_context import (
    SESSION_COOKIE,
    ContextDep,
    RequestContext,
    handle_form,
    local_path,
    redirect,
    set_session_cookie,
)
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.accounts import AccountPage, InvitationRow, SignInPage, SignUpPage
from tallymark.app.pages.formatting import page_time, pluralize
from tallymark.app.pages.shell import SelectOption
from tallymark.app.store.models import Challenge, Invitation, SignIn, User

router = APIRouter()
_ROLES = [
    SelectOption("participant", "Participant", "Takes part in challenges."),
    SelectOption("organiser", "Organiser", "Creates challenges, sees their submissions and invites participants."),
]
_MAX_INVITATIONS = 20


@router.get("/sign-in")
def sign_in_form(context: ContextDep, next: str = "/") -> Response:
    """The form to sign in."""
    context.require("sign up and in")
    return _sign_in_page(context, {"next": local_path(next)})


def _sign_in_page(
    context: RequestContext, values: Mapping[str, str], errors: Mapping[str, str] | None = None
) -> Response:
    kept = {"name": values.get("name", "")}
    may_sign_up = context.settings.sign_up == "open" or bool(context.settings.domains)
    view = SignInPage(
        context.shell("Sign in", kept, errors),
        local_path(values.get("next", "/")),
        may_sign_up,
        context.settings.provider_name,
    )
    return context.page("sign_in.html", view, 422 if errors else 200)


@router.post("/sign-in")
async def sign_in(request: Request, context: ContextDep) -> Response:
    """Sign in."""
    context.require("sign up and in")
    return await handle_form(request, context, _sign_in)


def _sign_in(context: RequestContext, form: ParsedForm) -> Response:
    try:
        secret = accounts.sign_in(context.service, form.values.get("name", ""), form.values.get("password", ""))
    except FormError as error:
        return _sign_in_page(context, form.values, error.errors)
    return set_session_cookie(redirect(local_path(form.values.get("next", "/"))), context, secret)


@router.get("/sign-up")
def sign_up_form(context: ContextDep, invitation: str = "") -> Response:
    """The form to sign up."""
    context.require("sign up and in")
    return sign_up_page(context, {"invitation": invitation})


def sign_up_page(
    context: RequestContext, values: Mapping[str, str], errors: Mapping[str, str] | None = None
) -> Response:
    """The page to sign up, with what an invitation says."""
    invitation, refused, invited, following = values.get("invitation", ""), "", "", ""
    if invitation:
        with context.service.database.reading() as session:
            valid = accounts.find_valid_invitation(session, context.service, invitation)
            challenge = invited_to(session, invitation)
        if valid is None:
            refused = accounts.INVALID_INVITATION
        else:
            role = "an organiser" if valid.organiser else "a participant"
            invited = f"You are invited as {role}."
            if challenge is not None:
                invited, following = (
                    f"You are invited to the challenge “{challenge.title}”.",
                    _challenge_path(challenge),
                )
    elif context.settings.sign_up != "open":
        refused = accounts.INVITATION_REQUIRED
    domains = "" if invitation else " or ".join(context.settings.domains)
    if domains:
        refused = ""
    may_use_provider = context.settings.sign_up != "invitation" or bool(invitation and not refused)
    provider = context.settings.provider_name if may_use_provider else ""
    shell = context.shell("Sign up", {name: values.get(name, "") for name in ("name", "email")}, errors)
    view = SignUpPage(shell, accounts.MIN_PASSWORD_LENGTH, invitation, invited, refused, following, provider, domains)
    return context.page("sign_up.html", view, 422 if errors else 200)


@router.post("/sign-up")
async def sign_up(request: Request, context: ContextDep) -> Response:
    """Sign up, and be signed in."""
    context.require("sign up and in")
    return await handle_form(request, context, _sign_up)


def _sign_up(context: RequestContext, form: ParsedForm) -> Response:
    fields = [form.values.get(name, "") for name in ("name", "password", "again", "invitation")]
    try:
        user = accounts.sign_up(context.service, *fields)
    except FormError as error:
        return sign_up_page(context, form.values, error.errors)
    secret = accounts.create_sign_in(context.service, user)
    target = start_page(context, user, fields[-1])
    return set_session_cookie(redirect(target, "welcome"), context, secret)


def start_page(context: RequestContext, user: User, invitation: str) -> str:
    """Where a new user goes: to the challenge that they were invited to, if they can see it."""
    with context.service.database.reading() as session:
        challenge = invited_to(session, invitation)
        if challenge is not None:
            resource = resource_of(challenge, current_version(session, challenge))
            if is_allowed("see a challenge", find_actor(session, user, challenge), resource):
                return _challenge_path(challenge)
    return "/organise" if user.organiser else "/challenges"


def _challenge_path(challenge: Challenge) -> str:
    return f"/challenges/{challenge.slug}"


@router.post("/sign-out")
def sign_out(request: Request, context: ContextDep) -> Response:
    """Sign out."""
    accounts.sign_out(context.service, request.cookies.get(SESSION_COOKIE, ""))
    response = redirect("/", "signed-out")
    response.delete_cookie(SESSION_COOKIE)
    return response


@router.get("/account")
def account(context: ContextDep) -> Response:
    """The account of the user."""
    context.require("have an account")
    return _account_page(context)


def _account_page(context: RequestContext, errors: Mapping[str, str] | None = None, link: str = "") -> Response:
    user = context.signed_in_user()
    with context.service.database.reading() as session:
        devices = session.scalar(select(func.count()).select_from(SignIn).where(SignIn.user_id == user.id)) or 0
        own = select(Invitation).where(Invitation.created_by == user.id)
        newest_first = own.order_by(Invitation.created.desc())
        invitations = session.scalars(newest_first.limit(_MAX_INVITATIONS)).all()
    view = AccountPage(
        context.shell("Your account", {}, errors),
        user.name,
        "operator" if user.operator else "organiser" if user.organiser else "participant",
        page_time(user.created, context.now),
        f"Signed in on {pluralize(devices, 'device')}",
        accounts.MIN_PASSWORD_LENGTH,
        user.organiser or user.operator,
        _ROLES if user.operator else _ROLES[:1],
        link,
        [_invitation_row(context, each) for each in invitations],
        context.settings.provider_name,
    )
    return context.page("account.html", view, 422 if errors else 200)


def _invitation_row(context: RequestContext, invitation: Invitation) -> InvitationRow:
    state = invitation_state(invitation, context.now)
    role = "organiser" if invitation.organiser else "participant"
    return InvitationRow(
        role, page_time(invitation.created, context.now), page_time(invitation.expires, context.now), state
    )


@router.post("/account")
async def change(request: Request, context: ContextDep) -> Response:
    """Change the password, sign out everywhere, or create an invitation."""
    context.require("have an account")
    return await handle_form(request, context, _change)


def _change(context: RequestContext, form: ParsedForm) -> Response:
    action, user = form.values.get("action", ""), context.signed_in_user()
    if action == "password":
        fields = [form.values.get(name, "") for name in ("old", "password", "again")]
        try:
            accounts.change_password(context.service, user, *fields)
        except FormError as error:
            return _account_page(context, error.errors)
        return set_session_cookie(
            redirect("/account", "password"), context, accounts.create_sign_in(context.service, user)
        )
    if action == "everywhere":
        accounts.sign_out_everywhere(context.service, user)
        return redirect("/sign-in", "signed-out")
    if action == "invite":
        context.require("invite others")
        organiser = form.values.get("role") == "organiser"
        if organiser:
            context.require("invite organisers")
        secret = accounts.create_invitation(context.service, user, organiser=organiser)
        return _account_page(context, link=f"{context.settings.address}/sign-up?invitation={secret}")
    raise invalid_form()
