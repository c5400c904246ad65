"""Accounts: names, passwords, sign-ins and invitations. Secrets are stored only as hashes."""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, exists, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tallymark.app.domain.errors import FormError
from tallymark.app.service import Service
from tallymark.app.store.database import lock_accounts
from tallymark.app.store.models import Identity, Invitation, PasswordReset, SignIn, User
from tallymark.submissions.look_alikes import skeleton

MIN_PASSWORD_LENGTH = 10
_MAX_PASSWORD_LENGTH = 1000
_MAX_NAME_LENGTH = 40
_INVITATION_LIFETIME = timedelta(days=14)
_HASHER = PasswordHasher()
_DUMMY_HASH = _HASHER.hash("nobody has this password")  # so that an unknown name takes as long as a known one
DELETED_NAME = "deleted account"
# Printable characters that nobody sees: Unicode's Default_Ignorable_Code_Point, and the blank Braille pattern.
_INVISIBLE_RANGES = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0100, 0xE01EF),
)
INVITATION_REQUIRED = "Sign-up is by invitation only. Ask the organisers for a link."
_WRONG_SIGN_IN = "Wrong name or password."
INVALID_INVITATION = "This invitation is invalid, used or expired. Ask for a new link."


def hash_secret(secret: str) -> str:
    """The hash of a random secret, which needs no salt: the secret is too long to guess."""
    return hashlib.sha256(secret.encode()).hexdigest()


def name_key(name: str) -> str:
    """A name without differences of case and form, by which names are unique."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def check_name(name: str, field: str = "name") -> str:
    """A name as it is displayed; raises `FormError` for an invalid one."""
    displayed = " ".join(unicodedata.normalize("NFC", name).split())
    if not 2 <= len(displayed) <= _MAX_NAME_LENGTH:
        raise FormError({field: f"Use 2 to {_MAX_NAME_LENGTH} characters."})
    if not all(map(_is_visible, displayed)):
        raise FormError({field: "Remove invisible characters, such as zero-width spaces and direction marks."})
    if len({_direction(character) for character in displayed} - {""}) > 1:
        raise FormError({field: "Use letters of one direction: those read left to right, or right to left."})
    if skeleton(displayed) == skeleton(DELETED_NAME):
        raise FormError({field: "This name is reserved. Choose another."})
    return displayed


def _is_visible(character: str) -> bool:
    return character.isprintable() and not any(first <= ord(character) <= last for first, last in _INVISIBLE_RANGES)


def _direction(character: str) -> str:
    """The direction of a letter; empty for digits, spaces and signs."""
    return {"L": "left to right", "R": "right to left", "AL": "right to left"}.get(
        unicodedata.bidirectional(character), ""
    )


def check_look_alikes(name: str, taken: Iterable[str], field: str = "name") -> None:
    """Raise `FormError` for a name that people would read as one that is taken."""
    looks = skeleton(name)
    if any(skeleton(other) == looks for other in taken):
        noun = "team name" if field == "team" else "name"
        raise FormError({field: f"This {noun} is taken. Choose one that does not look like another."})


def check_name_is_free(session: Session, name: str) -> None:
    """Raise `FormError` unless a new account may have this name; until the transaction ends, no other one gets it."""
    lock_accounts(session)
    check_look_alikes(name, session.scalars(select(User.name).where(User.deleted.is_(None))))


def check_password(password: str, again: str, name: str) -> None:
    """Raise `FormError` for a password that is easy to guess, or that differs from its repetition."""
    if not MIN_PASSWORD_LENGTH <= len(password) <= _MAX_PASSWORD_LENGTH:
        raise FormError({"password": f"Use {MIN_PASSWORD_LENGTH} to {_MAX_PASSWORD_LENGTH:,} characters."})
    if len(set(password)) < 4 or name_key(password) == name_key(name):
        raise FormError({"password": "Too easy to guess. Use a few unrelated words."})
    if _is_common(password):
        raise FormError({"password": "Many people use this password or one like it. Use a few unrelated words."})
    if password != again:
        raise FormError({"again": "The two passwords differ."})


def _is_common(password: str) -> bool:
    """Whether a password is a common one, in any case, perhaps with digits and signs around it."""
    key = name_key(password)
    start, end = 0, len(key)
    while start < end and not key[start].isalpha():
        start += 1
    while end > start and not key[end - 1].isalpha():
        end -= 1
    return not _common_passwords().isdisjoint({key, key[start:end]})


@cache
def _common_passwords() -> frozenset[str]:
    lines = files("tallymark.app.domain").joinpath("common_passwords.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("# "))


def sign_up(service: Service, name: str, password: str, again: str, invitation: str) -> User:
    """A new user, by invitation or where sign-up is open to all."""
    displayed = check_name(name)
    check_password(password, again, displayed)
    if not invitation and service.settings.sign_up != "open":
        raise FormError({"": INVITATION_REQUIRED})
    hashed = hash_password(service, password)
    now = service.now()
    try:
        with service.database.writing() as session:
            invited = find_valid_invitation(session, service, invitation) if invitation else None
            if invitation and invited is None:
                raise FormError({"": INVALID_INVITATION})
            check_name_is_free(session, displayed)
            user = User(
                name=displayed,
                key=name_key(displayed),
                password=hashed,
                organiser=invited is not None and invited.organiser,
                operator=invited is not None and invited.first,
                created=now,
                **confirmed_address(session, invited),
            )
            session.add(user)
            session.flush()
            if invited is not None:
                use_invitation(session, invited, user, now)
            return user
    except IntegrityError:
        raise FormError({"name": "This name is taken. Choose another."}) from None


def find_valid_invitation(session: Session, service: Service, secret: str) -> Invitation | None:
    """The invitation of a link, if it can still be used."""
    invitation = session.scalar(select(Invitation).where(Invitation.secret == hash_secret(secret)))
    if invitation is None or invitation.uses >= invitation.max_uses or invitation.revoked is not None:
        return None
    return invitation if invitation.expires > service.now() else None


def confirmed_address(session: Session, invitation: Invitation | None) -> dict[str, str]:
    """The columns of the address that an invitation confirms: only who reads its mail has the link. An address of
    another account stays there."""
    if invitation is None or invitation.mail is None or not invitation.email:
        return {}
    key = invitation.email.lower()
    taken = session.scalar(select(User.id).where(User.email_key == key))
    return {} if taken is not None else {"email": invitation.email, "email_key": key}


def use_invitation(session: Session, invitation: Invitation, user: User, now: datetime) -> None:
    """Count a use, in one statement: of several at once, as many succeed as are left."""
    left = (Invitation.id == invitation.id) & (Invitation.uses < Invitation.max_uses) & Invitation.revoked.is_(None)
    used = update(Invitation).where(left).values(uses=Invitation.uses + 1, used=now, used_by=user.id)
    if session.scalar(used.returning(Invitation.id)) is None:
        raise FormError({"": INVALID_INVITATION})


def create_invitation(service: Service, by: User | None, *, organiser: bool) -> str:
    """The secret of a new invitation. Only its hash is stored."""
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
    """The secret of an invitation for the first organiser; None if there is one. Earlier invitations expire."""
    with service.database.writing() as session:
        has_identity = exists().where(Identity.user_id == User.id)
        can_sign_in = User.organiser & (User.password.is_not(None) | has_identity)
        if session.scalar(select(func.count()).select_from(User).where(can_sign_in)):
            return None
        session.execute(delete(Invitation).where(Invitation.first & Invitation.used.is_(None)))
    return create_invitation(service, None, organiser=True)


def password_matches(service: Service, hashed: str | None, password: str) -> bool:
    """Whether a password is correct. Without a hash, the check takes the same time."""
    try:
        with service.hashing_slots:
            return _HASHER.verify(hashed or _DUMMY_HASH, password[:_MAX_PASSWORD_LENGTH]) and hashed is not None
    except (VerificationError, InvalidHashError):
        return False


def sign_in(service: Service, name: str, password: str) -> str:
    """The secret of a new sign-in, for the cookie of a browser."""
    with service.database.reading() as session:
        user = session.scalar(select(User).where(User.key == name_key(" ".join(name.split()))))
    if not password_matches(service, None if user is None else user.password, password) or user is None:
        raise FormError({"": _WRONG_SIGN_IN})
    return create_sign_in(service, user, checked=True)


def create_sign_in(service: Service, user: User, *, checked: bool = False) -> str:
    """The secret of a new sign-in. With `checked`, the password that was checked must be the present one."""
    secret, now = secrets.token_urlsafe(32), service.now()
    with service.database.writing() as session:
        current = session.get_one(User, user.id, with_for_update=True)
        if current.disabled is not None or current.deleted is not None:
            raise FormError({"": "This account is disabled. Ask the operator of this site."})
        if checked and current.password != user.password:  # changed meanwhile, which ends all sign-ins
            raise FormError({"": _WRONG_SIGN_IN})
        session.execute(delete(SignIn).where(SignIn.expires <= now))
        expires = now + timedelta(days=service.settings.session_days)
        session.add(SignIn(secret=hash_secret(secret), user_id=user.id, created=now, expires=expires))
    return secret


def find_signed_in_user(session: Session, service: Service, secret: str | None) -> User | None:
    """The user of a sign-in, by its secret."""
    if not secret:
        return None
    sign_in = session.get(SignIn, hash_secret(secret))
    if sign_in is None or sign_in.expires <= service.now() or sign_in.user.disabled is not None:
        return None
    return sign_in.user


def sign_out(service: Service, secret: str) -> None:
    """End a sign-in."""
    with service.database.writing() as session:
        session.execute(delete(SignIn).where(SignIn.secret == hash_secret(secret)))


def sign_out_everywhere(service: Service, user: User) -> None:
    """End all sign-ins of a user."""
    with service.database.writing() as session:
        session.execute(delete(SignIn).where(SignIn.user_id == user.id))


def change_password(service: Service, user: User, old: str, password: str, again: str) -> None:
    """Change a password, which ends all sign-ins."""
    if not password_matches(service, user.password, old):
        raise FormError({"old": "Wrong password."})
    check_password(password, again, user.name)
    hashed = hash_password(service, password)
    with service.database.writing() as session:
        set_password(session, user.id, hashed)


def hash_password(service: Service, password: str) -> str:
    """The hash of a password, which takes a while on purpose."""
    with service.hashing_slots:
        return _HASHER.hash(password)


def set_password(session: Session, user_id: int, hashed: str | None) -> None:
    """Store the hash of a password, which ends all sign-ins and links for a new password."""
    session.execute(update(User).where(User.id == user_id).values(password=hashed))
    session.execute(delete(SignIn).where(SignIn.user_id == user_id))
    session.execute(delete(PasswordReset).where(PasswordReset.user_id == user_id))
