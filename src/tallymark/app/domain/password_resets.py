"""New passwords for those who forgot theirs, by a link that is mailed or handed over and works once.

Who asks learns nothing: whether there is an account is looked up when the mail is written (`mails`).
"""

from __future__ import annotations

import secrets
from datetime import timedelta

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from tallymark.app.domain import audit, outbox
from tallymark.app.domain.accounts import check_password, hash_password, hash_secret, name_key, set_password
from tallymark.app.domain.errors import FormError
from tallymark.app.service import Service
from tallymark.app.store.models import PasswordReset, User

RESET_LIFETIME = timedelta(hours=1)
INVALID_RESET = "This link is invalid, used or expired."


def request_reset(service: Service, typed: str) -> None:
    """Mail a link to the account with this name or address, if there is one; does the same if there is none."""
    if service.settings.smtp is None:
        raise FormError({"": outbox.NO_MAIL})
    key = name_key(" ".join(typed.split()))[:300]
    if not key:
        raise FormError({"account": "Enter the name of your account, or its e-mail address."})
    with service.database.writing() as session:
        if outbox.may_request(session, service, f"reset {key}"):
            outbox.enqueue(session, service, "reset", "", account=key)


def find_account(session: Session, service: Service, key: str) -> User | None:
    """The account to mail a reset to, by its name or address: in use, with a confirmed address, and not asked for too
    often."""
    matches = or_(User.key == key, User.email_key == key)
    in_use = User.email.is_not(None) & User.disabled.is_(None) & User.deleted.is_(None)
    user = session.scalar(select(User).where(matches, in_use).order_by(User.key == key))  # an address goes first
    if user is None:
        return None
    recent = (PasswordReset.user_id == user.id) & (PasswordReset.created > service.now() - timedelta(hours=1))
    count = session.scalar(select(func.count()).select_from(PasswordReset).where(recent)) or 0
    return user if count < 2 * outbox.MAX_REQUESTS else None


def create_reset(session: Session, service: Service, user: User, lifetime: timedelta = RESET_LIFETIME) -> str:
    """The secret of a link by which a user sets a new password. Only its hash is stored."""
    secret, now = secrets.token_urlsafe(32), service.now()
    session.execute(delete(PasswordReset).where(PasswordReset.expires <= now - timedelta(hours=1)))
    session.add(PasswordReset(secret=hash_secret(secret), user_id=user.id, created=now, expires=now + lifetime))
    return secret


def find_reset(session: Session, service: Service, secret: str) -> User | None:
    """The user of a link that can still be used."""
    reset = session.get(PasswordReset, hash_secret(secret))
    if reset is None or reset.expires <= service.now():
        return None
    user = session.get_one(User, reset.user_id)
    return user if user.disabled is None and user.deleted is None else None


def redeem_reset(service: Service, secret: str, password: str, again: str) -> User:
    """Set a new password, which ends all sign-ins and all other links of the user. The link then no longer works."""
    with service.database.reading() as session:
        user = find_reset(session, service, secret)
    if user is None:
        raise FormError({"": INVALID_RESET})
    check_password(password, again, user.name)
    hashed = hash_password(service, password)
    with service.database.writing() as session:
        current = session.get_one(User, user.id, with_for_update=True)  # first, as in all changes of an account
        link = (PasswordReset.secret == hash_secret(secret)) & (PasswordReset.expires > service.now())
        used = session.scalar(delete(PasswordReset).where(link).returning(PasswordReset.user_id))
        if used is None or current.disabled is not None or current.deleted is not None:  # used or disabled meanwhile
            raise FormError({"": INVALID_RESET})
        set_password(session, current.id, hashed)
        audit.record(session, service, current, "use reset link", subject=current.name, account=current.id)
    return current
