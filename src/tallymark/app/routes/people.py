"""Sign-up, sign-in, and one's own account."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import func, select

from tallymark.app.domain import accounts
from tallymark.app.http.errors import FieldError, RequestError
from tallymark.app.http.request_context import (
    COOKIE,
    RequestContext,
    Visiting,
    answer_form,
    local_path,
    redirect,
    remember,
)
from tallymark.app.http.uploads import Sent
from tallymark.app.pages.formatting import many, moment
from tallymark.app.pages.people import AccountPage, InvitationRow, SignInPage, SignUpPage
from tallymark.app.pages.shell import SelectOption
from tallymark.app.store.models import Invitation as Invited
from tallymark.app.store.models import SignIn

router = APIRouter()
_ROLES = [
    SelectOption("participant", "A participant", "Takes part in challenges."),
    SelectOption("organiser", "An organiser", "Makes challenges, sees all submissions, and invites others."),
]
_MOST_INVITATIONS = 20


@router.get("/sign-in")
def sign_in_form(visit: Visiting, next: str = "/") -> Response:
    """The form to sign in."""
    visit.may("sign up and in")
    return _sign_in_page(visit, {"next": local_path(next)})


def _sign_in_page(
    visit: RequestContext, values: Mapping[str, str], errors: Mapping[str, str] | None = None
) -> Response:
    shown = {"name": values.get("name", "")}
    may_sign_up = visit.settings.sign_up == "open"
    view = SignInPage(visit.shell("Sign in", shown, errors), local_path(values.get("next", "/")), may_sign_up)
    return visit.page("sign_in.html", view, 422 if errors else 200)


@router.post("/sign-in")
async def sign_in(request: Request, visit: Visiting) -> Response:
    """Sign in."""
    visit.may("sign up and in")
    return await answer_form(request, visit, _sign_in)


def _sign_in(visit: RequestContext, sent: Sent) -> Response:
    try:
        secret = accounts.sign_in(visit.service, sent.texts.get("name", ""), sent.texts.get("password", ""))
    except FieldError as error:
        return _sign_in_page(visit, sent.texts, error.errors)
    return remember(redirect(local_path(sent.texts.get("next", "/"))), visit, secret)


@router.get("/sign-up")
def sign_up_form(visit: Visiting, invitation: str = "") -> Response:
    """The form to sign up."""
    visit.may("sign up and in")
    return _sign_up_page(visit, {"invitation": invitation})


def _sign_up_page(
    visit: RequestContext, values: Mapping[str, str], errors: Mapping[str, str] | None = None
) -> Response:
    invitation, refused, invited = values.get("invitation", ""), "", ""
    if invitation:
        with visit.service.database.reading() as session:
            held = accounts.valid_invitation(session, visit.service, invitation)
        if held is None:
            refused = accounts.NOT_INVITED
        else:
            role = "an organiser" if held.organiser else "a participant"
            invited = f"You are invited to be {role}."
    elif visit.settings.sign_up != "open":
        refused = "One signs up here by invitation. Ask those who run the challenge for a link."
    shell = visit.shell("Sign up", {"name": values.get("name", "")}, errors)
    view = SignUpPage(shell, accounts.LEAST_PASSWORD, invitation, invited, refused)
    return visit.page("sign_up.html", view, 422 if errors else 200)


@router.post("/sign-up")
async def sign_up(request: Request, visit: Visiting) -> Response:
    """Sign up, and be signed in."""
    visit.may("sign up and in")
    return await answer_form(request, visit, _sign_up)


def _sign_up(visit: RequestContext, sent: Sent) -> Response:
    given = [sent.texts.get(name, "") for name in ("name", "password", "again", "invitation")]
    try:
        user = accounts.sign_up(visit.service, *given)
    except FieldError as error:
        return _sign_up_page(visit, sent.texts, error.errors)
    secret = accounts.new_sign_in(visit.service, user)
    return remember(redirect("/organise" if user.organiser else "/challenges", "welcome"), visit, secret)


@router.post("/sign-out")
def sign_out(request: Request, visit: Visiting) -> Response:
    """Sign out."""
    accounts.sign_out(visit.service, request.cookies.get(COOKIE, ""))
    answer = redirect("/", "signed-out")
    answer.delete_cookie(COOKIE)
    return answer


@router.get("/account")
def account(visit: Visiting) -> Response:
    """One's own account."""
    visit.may("have an account")
    return _account_page(visit)


def _account_page(visit: RequestContext, errors: Mapping[str, str] | None = None, link: str = "") -> Response:
    user = visit.person()
    with visit.service.database.reading() as session:
        devices = session.scalar(select(func.count()).select_from(SignIn).where(SignIn.user_id == user.id)) or 0
        asked = select(Invited).where(Invited.created_by == user.id).order_by(Invited.created.desc())
        invitations = session.scalars(asked.limit(_MOST_INVITATIONS)).all()
    view = AccountPage(
        visit.shell("Your account", {}, errors),
        user.name,
        "organiser" if user.organiser else "participant",
        moment(user.created, visit.now),
        f"Signed in on {many(devices, 'device')}",
        accounts.LEAST_PASSWORD,
        user.organiser,
        _ROLES if user.organiser else (),
        link,
        [_invitation(visit, each) for each in invitations],
    )
    return visit.page("account.html", view, 422 if errors else 200)


def _invitation(visit: RequestContext, held: Invited) -> InvitationRow:
    state = "used" if held.used is not None else "open" if held.expires > visit.now else "over"
    role = "organiser" if held.organiser else "participant"
    return InvitationRow(role, moment(held.created, visit.now), moment(held.expires, visit.now), state)


@router.post("/account")
async def change(request: Request, visit: Visiting) -> Response:
    """Change the password, sign out everywhere, or invite somebody."""
    visit.may("have an account")
    return await answer_form(request, visit, _change)


def _change(visit: RequestContext, sent: Sent) -> Response:
    action, user = sent.texts.get("action", ""), visit.person()
    if action == "password":
        given = [sent.texts.get(name, "") for name in ("old", "password", "again")]
        try:
            accounts.change_password(visit.service, user, *given)
        except FieldError as error:
            return _account_page(visit, error.errors)
        return remember(redirect("/account", "password"), visit, accounts.new_sign_in(visit.service, user))
    if action == "everywhere":
        accounts.sign_out_everywhere(visit.service, user)
        return redirect("/sign-in", "signed-out")
    if action == "invite":
        visit.may("invite others")
        organiser = sent.texts.get("role") == "organiser"
        secret = accounts.invite(visit.service, user, organiser=organiser)
        return _account_page(visit, link=f"{visit.settings.address}/sign-up?invitation={secret}")
    raise RequestError(400, "The form could not be read.", "Go back, and send it again.")
