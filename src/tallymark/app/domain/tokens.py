"""Tokens: what programs send instead of a password, under /api only. They are shown once and stored as hashes.

A token narrows what its user may do to its scopes, and never widens it: every request is also checked against the
permissions that the user has then.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from datetime import timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from tallymark.app.domain.accounts import hash_secret
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.domain.organisers import organises_any
from tallymark.app.service import Service
from tallymark.app.store.models import Token, User

SCOPES = {
    "read": "See challenges, leaderboards and your own submissions.",
    "submit": "Join challenges, check and submit files, select final submissions.",
    "organise": "Create and change your challenges, and see all of their submissions and answers.",
    "operate": "Manage accounts.",
}
"""The scopes, and what each allows if its user may do it."""
DEFAULT_SCOPES = ("read", "submit")
DEFAULT_DAYS = 90
_MAX_DAYS = 365
_MAX_TOKENS = 50  # of a user
_MAX_NAME_LENGTH = 60
_PREFIX = "tallymark_"  # by which people and scanners recognise a leaked token
_USE_INTERVAL = timedelta(minutes=1)  # between updates of the last use, which are writes


def allowed_scopes(session: Session, user: User) -> list[str]:
    """The scopes that are of any use to a user."""
    organises = user.organiser or organises_any(session, user)
    return [*DEFAULT_SCOPES, *["organise"] * organises, *["operate"] * user.operator]


def create_token(service: Service, user: User, name: str, scopes: Collection[str], days: str) -> str:
    """Create a token that expires after some days; returns its secret, of which only the hash is stored."""
    secret, now, errors = _PREFIX + secrets.token_urlsafe(32), service.now(), {}
    name = " ".join(name.split())
    if not 1 <= len(name) <= _MAX_NAME_LENGTH or not name.isprintable():
        errors["name"] = f"Use 1 to {_MAX_NAME_LENGTH} printable characters, such as the name of the program."
    is_number = days.isascii() and days.isdigit() and len(days) <= 4
    if not is_number or not 1 <= int(days) <= _MAX_DAYS:
        errors["days"] = f"Enter a whole number from 1 to {_MAX_DAYS}."
    with service.database.writing() as session:
        allowed = allowed_scopes(session, user)
        if not scopes or not set(scopes) <= set(allowed):
            errors["scopes"] = f"Choose at least one of {', '.join(allowed)}."
        count = session.scalar(select(func.count()).select_from(Token).where(Token.user_id == user.id)) or 0
        if count >= _MAX_TOKENS:
            errors[""] = f"You have {count} tokens, which is the limit. Revoke one that is not used any more."
        if errors:
            raise FormError(errors)
        token = Token(
            user_id=user.id,
            name=name,
            secret=hash_secret(secret),
            scopes=[each for each in allowed if each in scopes],
            created=now,
            expires=now + timedelta(days=int(days)),
        )
        session.add(token)
    return secret


def list_tokens(session: Session, user: User) -> Sequence[Token]:
    """The tokens of a user, newest first."""
    return session.scalars(select(Token).where(Token.user_id == user.id).order_by(Token.id.desc())).all()


def revoke_token(service: Service, user: User, token_id: str) -> None:
    """Delete a token of a user, by its id in a form."""
    if not token_id.isascii() or not token_id.isdigit() or len(token_id) > 9:
        raise NotFoundError()
    own = (Token.id == int(token_id)) & (Token.user_id == user.id)
    with service.database.writing() as session:
        if session.scalar(delete(Token).where(own).returning(Token.id)) is None:
            raise NotFoundError()


def find_token(service: Service, secret: str) -> Token | None:
    """The token with this secret, if it and its user are still valid; notes its use."""
    now = service.now()
    with service.database.reading() as session:
        token = session.scalar(select(Token).where(Token.secret == hash_secret(secret)))
    if token is None or token.expires <= now or token.user.disabled is not None or token.user.deleted is not None:
        return None
    if token.used is None or token.used <= now - _USE_INTERVAL:
        with service.database.writing() as session:
            session.execute(update(Token).where(Token.id == token.id).values(used=now))
    return token
