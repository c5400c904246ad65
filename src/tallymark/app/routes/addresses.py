"""E-mail addresses: of the user, and of people who sign up with one."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tallymark.app.domain import addresses, outbox
from tallymark.app.domain.errors import FormError
from tallymark.app.http.errors import invalid_form
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form, redirect
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.people import ConfirmEmailPage, EmailPage, NoticePage
from tallymark.app.routes.accounts import sign_up_page
from tallymark.app.store.models import AddressConfirmation, User

router = APIRouter()


@router.post("/sign-up/email")
async def sign_up_by_email(request: Request, context: ContextDep) -> Response:
    """Ask for a link to sign up. The answer does not say whether there is an account with the address."""
    context.require("sign up and in")
    return await handle_form(request, context, _sign_up_by_email)


def _sign_up_by_email(context: RequestContext, form: ParsedForm) -> Response:
    try:
        addresses.request_sign_up(context.service, form.values.get("email", ""))
    except FormError as error:
        return sign_up_page(context, {"email": form.values.get("email", "")}, error.errors)
    text = "A mail with a link to continue your sign-up is on its way. The link works once, within 24 hours."
    return context.page("notice.html", NoticePage(context.shell("Check your mail"), text))


@router.get("/account/email")
def email(context: ContextDep) -> Response:
    """The address of the user."""
    context.require("have an account")
    return _email_page(context)


def _email_page(
    context: RequestContext, values: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> Response:
    user = context.signed_in_user()
    with context.service.database.reading() as session:
        confirmation = session.get(AddressConfirmation, user.id)
    waiting = confirmation.email if confirmation is not None and confirmation.expires > context.now else ""
    shown = {"mail_results": "1" if user.mail_results else "", **(values or {})}
    refused = "" if context.settings.smtp else outbox.NO_MAIL
    shell = context.shell("E-mail", shown, errors)
    view = EmailPage(shell, user.email or "", waiting, user.password is not None, refused)
    return context.page("email.html", view, 422 if errors else 200)


@router.post("/account/email")
async def change_email(request: Request, context: ContextDep) -> Response:
    """Change or remove the address, or choose which mails to get."""
    context.require("have an account")
    return await handle_form(request, context, _change_email)


def _change_email(context: RequestContext, form: ParsedForm) -> Response:
    action, user = form.values.get("action", ""), context.signed_in_user()
    if action == "address":
        typed, password = form.values.get("email", ""), form.values.get("old", "")
        try:
            addresses.request_address(context.service, user, typed, password)
        except FormError as error:
            return _email_page(context, {"email": typed}, error.errors)
    elif action == "results":
        addresses.set_mail_results(context.service, user, wanted=form.values.get("mail_results") == "1")
    elif action == "remove":
        addresses.remove_address(context.service, user)
    else:
        raise invalid_form()
    return redirect("/account/email", "" if action == "address" else "saved")


@router.get("/account/email/confirm")
def confirm_form(context: ContextDep, secret: str = "") -> Response:
    """The form that confirms an address: programs that follow the links of mails do not send it."""
    context.require("sign up and in")
    return _confirm_page(context, secret)


def _confirm_page(context: RequestContext, secret: str, errors: Mapping[str, str] | None = None) -> Response:
    with context.service.database.reading() as session:
        found = addresses.find_confirmation(session, context.service, secret)
        user = None if found is None else session.get(User, found.user_id)
    shell = context.shell("Confirm your address", {}, errors)
    if found is None or user is None:
        view = ConfirmEmailPage(shell, "", "", "", addresses.INVALID_CONFIRMATION)
    else:
        view = ConfirmEmailPage(shell, secret, found.email, user.name)
    return context.page("confirm_email.html", view, 422 if errors else 200)


@router.post("/account/email/confirm")
async def confirm(request: Request, context: ContextDep) -> Response:
    """Confirm an address."""
    context.require("sign up and in")
    return await handle_form(request, context, _confirm)


def _confirm(context: RequestContext, form: ParsedForm) -> Response:
    secret = form.values.get("secret", "")
    try:
        addresses.confirm_address(context.service, secret)
    except FormError as error:
        return _confirm_page(context, secret, error.errors)
    return redirect("/account/email" if context.user else "/sign-in", "address-confirmed")
