"""What operators do with accounts: roles, disabling, deleting, and links for a new password. At least one operator who
can sign in always remains. Without a user (`by=None`), the command line acts."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, delete, exists, func, select, update
from sqlalchemy.orm import Session, aliased

from tallymark.app.domain import audit, password_resets
from tallymark.app.domain.accounts import DELETED_NAME, name_key, set_password
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.domain.versions import lock_challenge
from tallymark.app.service import Service
from tallymark.app.store.database import lock_accounts
from tallymark.app.store.models import (
    AddressConfirmation,
    Challenge,
    CheckedFile,
    IdempotencyKey,
    Identity,
    Invitation,
    Member,
    Organiser,
    PasswordReset,
    QueuedMail,
    Submission,
    Team,
    TeamMerge,
    Token,
    User,
)

Role = Literal["organiser", "operator"]
RESET_LIFETIME = timedelta(hours=24)
STATES: dict[str, ColumnElement[bool]] = {
    "active": User.disabled.is_(None) & User.deleted.is_(None),
    "disabled": User.disabled.is_not(None) & User.deleted.is_(None),
    "deleted": User.deleted.is_not(None),
    "organisers": User.organiser.is_(True),
    "operators": User.operator.is_(True),
}
"""The filters of the list of accounts."""


def list_accounts(words: str = "", state: str = "") -> Select[Any]:
    """The accounts whose name contains the words, by name; deleted ones only where they are asked for."""
    accounts = select(User).where(STATES[state] if state else User.deleted.is_(None))
    if words:
        accounts = accounts.where(User.name.icontains(words, autoescape=True))
    return accounts.order_by(User.key)


def find_account(session: Session, name: str) -> User:
    """An account by its name; raises `FormError`."""
    user = session.scalar(select(User).where(User.key == name_key(" ".join(name.split()))))
    if user is None:
        raise FormError({"name": f"No account has the name {name!r}."})
    return user


def set_role(service: Service, by: User | None, user_id: int, role: Role, *, given: bool) -> None:
    """Give a role to an account, or end it. An organiser keeps the challenges that they organise."""
    with service.database.writing() as session:
        user = _lock_account(session, user_id)
        if getattr(user, role) == given:
            return
        if role == "operator" and not given:
            _require_another_operator(session, user)
        setattr(user, role, given)
        _record(session, service, by, f"{'make' if given else 'unmake'} {role}", user)


def disable_account(service: Service, by: User | None, user_id: int) -> None:
    """Keep somebody from signing in, and end all of their sign-ins."""
    with service.database.writing() as session:
        user = _lock_account(session, user_id)
        if user.disabled is not None:
            return
        _require_another_operator(session, user)
        user.disabled = service.now()
        set_password(session, user.id, user.password)
        _record(session, service, by, "disable account", user)


def enable_account(service: Service, by: User | None, user_id: int) -> None:
    """Let somebody sign in again, with the password that they had."""
    with service.database.writing() as session:
        user = _lock_account(session, user_id)
        if user.disabled is None:
            return
        user.disabled = None
        _record(session, service, by, "enable account", user)


def owned_challenges(session: Session, user_id: int) -> Sequence[Challenge]:
    """The challenges that a user owns, by title."""
    owned = select(Challenge).join(Organiser, Organiser.challenge_id == Challenge.id)
    owned = owned.where(Organiser.user_id == user_id, Organiser.owner)
    return session.scalars(owned.order_by(Challenge.title, Challenge.id)).all()


def delete_account(service: Service, by: User | None, user_id: int) -> None:
    """Remove the name, the password, the address and the texts of a user. Scores and places on leaderboards stay.

    A team whose only member they are loses its name as well. Challenges that they own must be transferred first.
    """
    with service.database.writing() as session:
        user = _lock_account(session, user_id)
        _require_another_operator(session, user)
        owned = owned_challenges(session, user.id)
        if owned:
            titles = ", ".join(challenge.title for challenge in owned)
            raise FormError({"": f"{user.name} owns challenges. Transfer them to someone else first: {titles}."})
        audit.replace_subject(session, user.name, DELETED_NAME)
        submitted = Submission.user_id == user.id
        for challenge_id in sorted(session.scalars(select(Submission.challenge_id).where(submitted).distinct())):
            lock_challenge(session, challenge_id)
        for team in session.scalars(_teams_of_one(user.id)):
            team.name, team.key, team.code = DELETED_NAME, f"deleted\n{team.id}", secrets.token_urlsafe(12)
        session.execute(update(Submission).where(submitted).values(note=""))
        session.execute(delete(Organiser).where(Organiser.user_id == user.id))
        session.execute(delete(Invitation).where(Invitation.created_by == user.id))
        session.execute(delete(TeamMerge).where(TeamMerge.requested_by == user.id))
        _delete_mails(session, user)
        for table in (CheckedFile, Token, IdempotencyKey, Identity, AddressConfirmation):
            session.execute(delete(table).where(table.user_id == user.id))
        set_password(session, user.id, None)
        user.email = user.email_key = None
        user.mail_results = False
        user.name, user.key, user.password = DELETED_NAME, f"deleted\n{user.id}", None  # no name contains a line break
        user.organiser = user.operator = False
        user.deleted = service.now()
        _record(session, service, by, "delete account", user)


def _delete_mails(session: Session, user: User) -> None:
    """Delete the mails that wait for a user, and the name and address on the invitation that was theirs."""
    confirmation = session.get(AddressConfirmation, user.id)
    held = {user.email, None if confirmation is None else confirmation.email} - {None}
    addresses = [address.lower() for address in held if address is not None]
    to_them = func.lower(QueuedMail.recipient).in_(addresses)
    to_them |= QueuedMail.facts["account"].as_string().in_([user.key, *addresses])
    session.execute(delete(QueuedMail).where(to_them))
    theirs = (Invitation.used_by == user.id) & (Invitation.max_uses == 1)
    theirs |= func.lower(Invitation.email).in_(addresses)
    session.execute(update(Invitation).where(theirs).values(name=None, email=None))


def _teams_of_one(user_id: int) -> Select[Any]:
    """The teams whose only member a user is."""
    other = aliased(Member)
    shared = exists().where(other.team_id == Member.team_id, other.user_id != user_id)
    return select(Team).join(Member, Member.team_id == Team.id).where(Member.user_id == user_id, ~shared)


def transfer_owned(service: Service, by: User | None, user_id: int, slug: str, name: str) -> None:
    """Make another account the owner of a challenge that a user owns; the user stays a co-organiser."""
    with service.database.writing() as session:
        challenge_id = session.scalar(select(Challenge.id).where(Challenge.slug == slug))
        challenge = None if challenge_id is None else lock_challenge(session, challenge_id)
        organiser = None if challenge is None else session.get(Organiser, (challenge.id, user_id))
        if challenge is None or organiser is None or not organiser.owner:
            raise NotFoundError()
        heir = session.scalar(select(User).where(User.key == name_key(" ".join(name.split()))))
        if heir is None or heir.disabled is not None:
            raise FormError({"heir": "No account that can sign in has this name."})
        if session.scalar(select(exists().where(Member.challenge_id == challenge.id, Member.user_id == heir.id))):
            raise FormError({"heir": f"{heir.name} takes part in this challenge, so they cannot organise it."})
        organiser.owner = False
        succeeding = session.get(Organiser, (challenge.id, heir.id))
        if succeeding is None:
            succeeding = Organiser(challenge_id=challenge.id, user_id=heir.id, created=service.now())
            session.add(succeeding)
        succeeding.owner = True
        audit.record(session, service, by, "transfer", challenge, heir.name)


def create_reset(service: Service, by: User | None, user_id: int) -> str:
    """The secret of a link with which a user sets a new password once. Earlier links of theirs expire."""
    with service.database.writing() as session:
        user = _lock_account(session, user_id)
        if user.disabled is not None:
            raise FormError({"": "This account is disabled. Enable it first."})
        session.execute(delete(PasswordReset).where(PasswordReset.user_id == user.id))
        secret = password_resets.create_reset(session, service, user, RESET_LIFETIME)
        _record(session, service, by, "create reset link", user)
    return secret


def _lock_account(session: Session, user_id: int) -> User:
    """An account that is not deleted, while no other transaction changes accounts."""
    lock_accounts(session)
    user = session.get(User, user_id, with_for_update=True)
    if user is None or user.deleted is not None:
        raise NotFoundError()
    return user


def _require_another_operator(session: Session, user: User) -> None:
    """Raise `FormError` for the last operator who can sign in."""
    able = User.operator & User.disabled.is_(None) & User.deleted.is_(None)
    others = session.scalar(select(func.count()).select_from(User).where(able & (User.id != user.id)))
    if user.operator and user.disabled is None and not others:
        raise FormError({"": f"{user.name} is the only operator. Make someone else an operator first."})


def _record(session: Session, service: Service, by: User | None, action: str, user: User) -> None:
    audit.record(session, service, by, action, subject=user.name, account=user.id)
