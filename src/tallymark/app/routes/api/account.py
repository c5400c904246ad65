"""The user of a token."""

from __future__ import annotations

from fastapi import APIRouter

from tallymark.app.http.api_context import ReadDep
from tallymark.app.routes.api.models import Me, TokenFacts

router = APIRouter(prefix="/api/v1")


@router.get("/me")
def me(context: ReadDep) -> Me:
    """The user of the token, and what the token may do."""
    context.require("have an account")
    user, token = context.signed_in_user(), context.token
    assert token is not None
    facts = TokenFacts(name=token.name, scopes=token.scopes, expires=token.expires)
    return Me(name=user.name, organiser=user.organiser, operator=user.operator, token=facts)
