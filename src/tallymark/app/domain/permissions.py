"""Who may do what: one table, which every route asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from tallymark.app.domain.errors import RequestError, not_found
from tallymark.app.store.models import Challenge, Member, Submission, User, Version


class Actor(NamedTuple):
    """Who asks: nobody in particular, or somebody who is signed in; and their team, where it is about a challenge."""

    user: User | None
    team_id: int | None = None


class Resource(NamedTuple):
    """What is asked for: a challenge, whether it can be seen by all, and the team that something belongs to."""

    challenge: Challenge | None = None
    published: bool = False
    team_id: int | None = None


Rule = Callable[[Actor, Resource], bool]


def _anyone(_: Actor, __: Resource) -> bool:
    return True


def _signed_in(actor: Actor, _: Resource) -> bool:
    return actor.user is not None


def _organiser(actor: Actor, _: Resource) -> bool:
    return actor.user is not None and actor.user.organiser


def _sees(actor: Actor, resource: Resource) -> bool:
    return resource.published or _organiser(actor, resource)


def _joins(actor: Actor, resource: Resource) -> bool:
    return _signed_in(actor, resource) and _sees(actor, resource)


def _member(actor: Actor, _: Resource) -> bool:
    return actor.team_id is not None


def _own(actor: Actor, resource: Resource) -> bool:
    return actor.team_id is not None and actor.team_id == resource.team_id


def _own_or_organiser(actor: Actor, resource: Resource) -> bool:
    return _own(actor, resource) or _organiser(actor, resource)


PERMISSIONS: dict[str, Rule] = {
    "analyse a file": _anyone,
    "sign up and in": _anyone,
    "see challenges": _anyone,
    "see a challenge": _sees,
    "see a leaderboard": _sees,
    "take a sample": _sees,
    "have an account": _signed_in,
    "join a challenge": _joins,
    "submit a file": _member,
    "see own submissions": _member,
    "choose finals": _member,
    "see a submission": _own_or_organiser,
    "see what is hidden": _organiser,
    "invite others": _organiser,
    "create a challenge": _organiser,
    "organise a challenge": _organiser,
}


def require(action: str, actor: Actor, resource: Resource | None = None) -> None:
    """Refuse an action: strangers are asked to sign in, others learn no more than that there is nothing for them."""
    if PERMISSIONS[action](actor, resource or Resource()):
        return
    if actor.user is None:
        raise RequestError(401, "Sign in to see this page.", "Then you come back here.")
    raise not_found()


def find_actor(session: Session, user: User | None, challenge: Challenge | None) -> Actor:
    """Somebody, with their team in a challenge."""
    if user is None or challenge is None:
        return Actor(user)
    found = select(Member.team_id).where(Member.challenge_id == challenge.id, Member.user_id == user.id)
    return Actor(user, session.scalar(found))


def resource_of(challenge: Challenge, version: Version | None, submission: Submission | None = None) -> Resource:
    """A challenge, which all may see once it has answers, or a submission to it."""
    return Resource(challenge, version is not None, None if submission is None else submission.team_id)
