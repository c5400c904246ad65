"""The tokens of an account: created, listed and revoked."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tallymark.app.domain import tokens
from tallymark.app.domain.errors import FormError
from tallymark.app.http.errors import invalid_form
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form, redirect
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.tokens import TokensPage, scope_choices, token_row

router = APIRouter()


@router.get("/account/tokens")
def token_list(context: ContextDep) -> Response:
    """The tokens of the user."""
    context.require("have an account")
    return _tokens_page(context)


def _tokens_page(
    context: RequestContext,
    values: Mapping[str, str] | None = None,
    chosen: Collection[str] = tokens.DEFAULT_SCOPES,
    errors: Mapping[str, str] | None = None,
    new_token: str = "",
) -> Response:
    user = context.signed_in_user()
    with context.service.database.reading() as session:
        scopes = scope_choices(tokens.allowed_scopes(session, user), chosen)
        rows = [token_row(each, context.now) for each in tokens.list_tokens(session, user)]
    shell = context.shell("Tokens", values or {"days": str(tokens.DEFAULT_DAYS)}, errors)
    view = TokensPage(shell, scopes, rows, new_token, context.settings.address)
    return context.page("tokens.html", view, 422 if errors else 200)


@router.post("/account/tokens")
async def change(request: Request, context: ContextDep) -> Response:
    """Create a token or revoke one."""
    context.require("have an account")
    return await handle_form(request, context, _change)


def _change(context: RequestContext, form: ParsedForm) -> Response:
    action, user = form.values.get("action", ""), context.signed_in_user()
    if action == "create":
        chosen, fields = form.lists.get("scope", []), [form.values.get(name, "") for name in ("name", "days")]
        try:
            secret = tokens.create_token(context.service, user, fields[0], chosen, fields[1].strip())
        except FormError as error:
            return _tokens_page(context, form.values, chosen, error.errors)
        return _tokens_page(context, new_token=secret)
    if action == "revoke":
        tokens.revoke_token(context.service, user, form.values.get("token", ""))
        return redirect("/account/tokens", "revoked")
    raise invalid_form()
