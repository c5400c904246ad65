"""New passwords: asking for a link, and using one that was mailed or that an operator made."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tallymark.app.domain import password_resets
from tallymark.app.domain.accounts import MIN_PASSWORD_LENGTH
from tallymark.app.domain.errors import FormError
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form, redirect
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.people import ForgotPage, NoticePage, ResetPage

router = APIRouter()
_ASKED = (
    "If there is an account with this name or address, and its address is confirmed, a mail with a link is on its way."
)


@router.get("/forgot-password")
def forgot_form(context: ContextDep) -> Response:
    """The form to ask for a link."""
    context.require("sign up and in")
    return _forgot_page(context)


def _forgot_page(
    context: RequestContext, values: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> Response:
    refused = "" if context.settings.smtp else "This server does not send e-mail. Ask its operator for a link."
    view = ForgotPage(context.shell("Forgot your password?", values, errors), refused)
    return context.page("forgot.html", view, 422 if errors else 200)


@router.post("/forgot-password")
async def forgot(request: Request, context: ContextDep) -> Response:
    """Ask for a link. The answer does not say whether there is an account."""
    context.require("sign up and in")
    return await handle_form(request, context, _forgot)


def _forgot(context: RequestContext, form: ParsedForm) -> Response:
    try:
        password_resets.request_reset(context.service, form.values.get("account", ""))
    except FormError as error:
        return _forgot_page(context, form.values, error.errors)
    return context.page("notice.html", NoticePage(context.shell("Check your mail"), _ASKED))


@router.get("/reset")
def reset_form(context: ContextDep, secret: str = "") -> Response:
    """The form to set a new password."""
    context.require("sign up and in")
    return _reset_page(context, secret)


def _reset_page(context: RequestContext, secret: str, errors: Mapping[str, str] | None = None) -> Response:
    with context.service.database.reading() as session:
        user = password_resets.find_reset(session, context.service, secret)
    name, refused = (user.name, "") if user is not None else ("", password_resets.INVALID_RESET)
    shell, may_ask = context.shell("Set a new password", {}, errors), context.settings.smtp is not None
    view = ResetPage(shell, secret, name, MIN_PASSWORD_LENGTH, refused, may_ask)
    return context.page("reset.html", view, 422 if errors else 200)


@router.post("/reset")
async def reset(request: Request, context: ContextDep) -> Response:
    """Set a new password by a link."""
    context.require("sign up and in")
    return await handle_form(request, context, _reset)


def _reset(context: RequestContext, form: ParsedForm) -> Response:
    secret, password, again = (form.values.get(name, "") for name in ("secret", "password", "again"))
    try:
        password_resets.redeem_reset(context.service, secret, password, again)
    except FormError as error:
        return _reset_page(context, secret, error.errors)
    return redirect("/sign-in", "reset")
