"""The tokens of an account."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from tallymark.app.domain.tokens import SCOPES
from tallymark.app.pages.formatting import optional_page_time, page_time
from tallymark.app.pages.shell import PageTime, Shell
from tallymark.app.store.models import Token


class ScopeChoice(NamedTuple):
    """A scope that a new token may have."""

    value: str
    hint: str
    chosen: bool


class TokenRow(NamedTuple):
    """A token of the user. Its secret is shown once, when it is created."""

    key: str
    """The id that the form to revoke it sends."""
    name: str
    scopes: str
    created: PageTime
    used: PageTime | None
    expires: PageTime
    expired: bool = False


class TokensPage(NamedTuple):
    """`/account/tokens` (tokens.html).

    Its forms send `action`: "create" (with `name`, `days` and any number of `scope`) or "revoke" (with `token`).
    """

    shell: Shell
    scopes: Sequence[ScopeChoice]
    tokens: Sequence[TokenRow] = ()
    new_token: str = ""
    server: str = ""
    """The address of the app, for the command that uses a new token."""


def scope_choices(allowed: Collection[str], chosen: Collection[str]) -> list[ScopeChoice]:
    """The scopes that a user may choose."""
    return [ScopeChoice(name, hint, name in chosen) for name, hint in SCOPES.items() if name in allowed]


def token_row(token: Token, now: datetime) -> TokenRow:
    """A token in the list."""
    return TokenRow(
        str(token.id),
        token.name,
        ", ".join(token.scopes),
        page_time(token.created, now),
        optional_page_time(token.used, now),
        page_time(token.expires, now),
        token.expires <= now,
    )
