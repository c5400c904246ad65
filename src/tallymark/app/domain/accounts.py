"""People: names, passwords, sign-ins and invitations. Secrets are kept as hashes only."""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from datetime import timedelta

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tallymark.app.domain.errors import FieldError
from tallymark.app.service import Service
from tallymark.app.store.models import Invitation, SignIn, User

MIN_PASSWORD_LENGTH = 10
_MAX_PASSWORD_LENGTH = 1000
_MAX_NAME_LENGTH = 40
_INVITATION_LIFETIME = timedelta(days=14)
_HASHER = PasswordHasher()
_DUMMY_HASH = _HASHER.hash("nobody has this password")  # so that unknown names take as long as known ones
INVALID_INVITATION = "This invitation was used, has expired, or never was one. Ask for a new link."


def hash_secret(secret: str) -> str:
    """What is kept of a secret that is too long to be guessed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def name_key(name: str) -> str:
    """A name without what looks the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def check_name(name: str, what: str = "name") -> str:
    """A name as it is shown; raises what is wrong with it."""
    found = " ".join(unicodedata.normalize("NFC", name).split())
    if not 2 <= len(found) <= _MAX_NAME_LENGTH:
        raise FieldError({what: f"It must have 2 to {_MAX_NAME_LENGTH} characters; it has {len(found)}."})
    if not all(each.isprintable() for each in found):
        raise FieldError({what: "It must have characters that can be read, and no others."})
    return found


def check_password(password: str, again: str, name: str) -> None:
    """Refuse a password that is easily guessed, or typed in two ways."""
    if not MIN_PASSWORD_LENGTH <= len(password) <= _MAX_PASSWORD_LENGTH:
        raise FieldError({"password": f"It must have {MIN_PASSWORD_LENGTH} to {_MAX_PASSWORD_LENGTH:,} characters."})
    if len(set(password)) < 4 or name_key(password) == name_key(name):
        raise FieldError({"password": "It is too easily guessed. Take a few words that do not belong together."})
    if password != again:
        raise FieldError({"again": "The two passwords are not the same."})


def sign_up(service: Service, name: str, password: str, again: str, invitation: str) -> User:
    """A new person: by invitation, or where sign-up is open to all."""
    shown = check_name(name)
    check_password(password, again, shown)
    if not invitation and service.settings.sign_up != "open":
        raise FieldError({"": "One signs up here by invitation. Ask those who run the challenge for a link."})
    with service.hashing:
        hashed = _HASHER.hash(password)
    now = service.now()
    try:
        with service.database.writing() as session:
            held = find_valid_invitation(session, service, invitation) if invitation else None
            if invitation and held is None:
                raise FieldError({"": INVALID_INVITATION})
            user = User(
                name=shown,
                key=name_key(shown),
                password=hashed,
                organiser=held is not None and held.organiser,
                created=now,
            )
            session.add(user)
            session.flush()
            if held is not None:
                taken = (Invitation.id == held.id) & Invitation.used.is_(None)
                used = update(Invitation).where(taken).values(used=now, used_by=user.id).returning(Invitation.id)
                if session.scalar(used) is None:  # somebody was quicker
                    raise FieldError({"": INVALID_INVITATION})
            return user
    except IntegrityError:
        raise FieldError({"name": "Somebody has this name already. Take another."}) from None


def find_valid_invitation(session: Session, service: Service, secret: str) -> Invitation | None:
    """The invitation of a link, if it can still be used."""
    found = session.scalar(select(Invitation).where(Invitation.secret == hash_secret(secret)))
    return found if found is not None and found.used is None and found.expires > service.now() else None


def create_invitation(service: Service, by: User | None, *, organiser: bool) -> str:
    """The secret of a new invitation, which nobody can read again."""
    secret, now = secrets.token_urlsafe(32), service.now()
    with service.database.writing() as session:
        session.add(
            Invitation(
                secret=hash_secret(secret),
                organiser=organiser,
                first=by is None,
                created_by=None if by is None else by.id,
                created=now,
                expires=now + _INVITATION_LIFETIME,
            )
        )
    return secret


def create_first_invitation(service: Service) -> str | None:
    """A secret for the first organiser, as long as there is none; an earlier one is worth nothing any more."""
    with service.database.writing() as session:
        can_sign_in = User.organiser & User.password.is_not(None)
        if session.scalar(select(func.count()).select_from(User).where(can_sign_in)):
            return None
        session.execute(delete(Invitation).where(Invitation.first & Invitation.used.is_(None)))
    return create_invitation(service, None, organiser=True)


def _password_matches(service: Service, hashed: str | None, password: str) -> bool:
    """Whether a password is the right one, in the same time for those who have none."""
    try:
        with service.hashing:
            return _HASHER.verify(hashed or _DUMMY_HASH, password[:_MAX_PASSWORD_LENGTH]) and hashed is not None
    except (VerificationError, InvalidHashError):
        return False


def sign_in(service: Service, name: str, password: str) -> str:
    """The secret of a new sign-in, for the cookie of a browser."""
    with service.database.reading() as session:
        user = session.scalar(select(User).where(User.key == name_key(" ".join(name.split()))))
    if not _password_matches(service, None if user is None else user.password, password) or user is None:
        raise FieldError({"": "The name or the password is not right."})
    return create_sign_in(service, user)


def create_sign_in(service: Service, user: User) -> str:
    """A sign-in without asking for the password."""
    secret, now = secrets.token_urlsafe(32), service.now()
    with service.database.writing() as session:
        session.execute(delete(SignIn).where(SignIn.expires <= now))
        expires = now + timedelta(days=service.settings.session_days)
        session.add(SignIn(secret=hash_secret(secret), user_id=user.id, created=now, expires=expires))
    return secret


def find_signed_in_user(session: Session, service: Service, secret: str | None) -> User | None:
    """Who holds the secret of a sign-in."""
    if not secret:
        return None
    held = session.get(SignIn, hash_secret(secret))
    return held.user if held is not None and held.expires > service.now() else None


def sign_out(service: Service, secret: str) -> None:
    """End a sign-in."""
    with service.database.writing() as session:
        session.execute(delete(SignIn).where(SignIn.secret == hash_secret(secret)))


def sign_out_everywhere(service: Service, user: User) -> None:
    """End all sign-ins of somebody."""
    with service.database.writing() as session:
        session.execute(delete(SignIn).where(SignIn.user_id == user.id))


def change_password(service: Service, user: User, old: str, password: str, again: str) -> None:
    """A new password, which ends all sign-ins."""
    if not _password_matches(service, user.password, old):
        raise FieldError({"old": "This is not your password."})
    check_password(password, again, user.name)
    with service.hashing:
        hashed = _HASHER.hash(password)
    with service.database.writing() as session:
        session.execute(update(User).where(User.id == user.id).values(password=hashed))
        session.execute(delete(SignIn).where(SignIn.user_id == user.id))
