"""The organisers of a challenge: its owner, who adds and removes co-organisers and can pass the challenge on."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, delete, exists, select, update
from sqlalchemy.orm import Session

from tallymark.app.domain import audit
from tallymark.app.domain.accounts import name_key
from tallymark.app.domain.errors import FormError
from tallymark.app.domain.versions import lock_challenge
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, Member, Organiser, User


def organises_any(session: Session, user: User) -> bool:
    """Whether a user organises a challenge."""
    return bool(session.scalar(select(exists().where(Organiser.user_id == user.id))))


def list_organisers(session: Session, challenge: Challenge) -> Sequence[Organiser]:
    """The organisers of a challenge, the owner first."""
    of_challenge = select(Organiser).join(Organiser.user).where(Organiser.challenge_id == challenge.id)
    return session.scalars(of_challenge.order_by(Organiser.owner.desc(), User.name)).all()


def add_organiser(service: Service, by: User, challenge: Challenge, name: str) -> None:
    """Make a user a co-organiser, by their name."""
    with service.database.writing() as session:
        lock_challenge(session, challenge.id)
        user = _find_user(session, name)
        if session.get(Organiser, (challenge.id, user.id)) is not None:
            raise FormError({"organiser": f"{user.name} organises this challenge already."})
        if session.scalar(select(exists().where(Member.challenge_id == challenge.id, Member.user_id == user.id))):
            raise FormError({"organiser": f"{user.name} takes part in this challenge, so they cannot organise it."})
        session.add(Organiser(challenge_id=challenge.id, user_id=user.id, created=service.now()))
        audit.record(session, service, by, "add organiser", challenge, user.name)


def remove_organiser(service: Service, by: User, challenge: Challenge, name: str) -> None:
    """End what a co-organiser may do. The owner stays."""
    with service.database.writing() as session:
        lock_challenge(session, challenge.id)
        organiser = _find_organiser(session, challenge, name)
        if organiser.owner:
            raise FormError({"organiser": "The owner cannot be removed. Transfer the challenge first."})
        session.execute(delete(Organiser).where(_row(challenge, organiser.user_id)))
        audit.record(session, service, by, "remove organiser", challenge, organiser.user.name)


def transfer_challenge(service: Service, by: User, challenge: Challenge, name: str) -> None:
    """Make a co-organiser the owner; the former owner stays a co-organiser."""
    with service.database.writing() as session:
        lock_challenge(session, challenge.id)
        organiser = _find_organiser(session, challenge, name)
        session.execute(update(Organiser).where(Organiser.challenge_id == challenge.id).values(owner=False))
        session.execute(update(Organiser).where(_row(challenge, organiser.user_id)).values(owner=True))
        audit.record(session, service, by, "transfer", challenge, organiser.user.name)


def _row(challenge: Challenge, user_id: int) -> ColumnElement[bool]:
    return (Organiser.challenge_id == challenge.id) & (Organiser.user_id == user_id)


def _find_user(session: Session, name: str) -> User:
    user = session.scalar(select(User).where(User.key == name_key(" ".join(name.split()))))
    if user is None or user.disabled is not None:
        raise FormError({"organiser": "No account has this name. Ask them for the name they sign in with."})
    return user


def _find_organiser(session: Session, challenge: Challenge, name: str) -> Organiser:
    organiser = session.get(Organiser, (challenge.id, _find_user(session, name).id))
    if organiser is None:
        raise FormError({"organiser": "They do not organise this challenge."})
    return organiser
