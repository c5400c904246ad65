"""Permissions: who may do what, in one table for all routes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from tallymark.app.domain.errors import NotFoundError, SignInRequiredError
from tallymark.app.store.models import Challenge, Member, Submission, User, Version


class Actor(NamedTuple):
    """Who acts: a user, None if nobody is signed in; and their team in the challenge."""

    user: User | None
    team_id: int | None = None


class Resource(NamedTuple):
    """What is acted on: a challenge, whether everybody can see it, and the team that a submission belongs to."""

    challenge: Challenge | None = None
    published: bool = False
    team_id: int | None = None


PermissionRule = Callable[[Actor, Resource], bool]


def _anyone(_: Actor, __: Resource) -> bool:
    return True


def _signed_in(actor: Actor, _: Resource) -> bool:
    return actor.user is not None


def _organiser(actor: Actor, _: Resource) -> bool:
    return actor.user is not None and actor.user.organiser


def _can_see(actor: Actor, resource: Resource) -> bool:
    return resource.published or _organiser(actor, resource)


def _can_join(actor: Actor, resource: Resource) -> bool:
    return _signed_in(actor, resource) and _can_see(actor, resource)


def _member(actor: Actor, _: Resource) -> bool:
    return actor.team_id is not None


def _own_team(actor: Actor, resource: Resource) -> bool:
    return actor.team_id is not None and actor.team_id == resource.team_id


def _own_team_or_organiser(actor: Actor, resource: Resource) -> bool:
    return _own_team(actor, resource) or _organiser(actor, resource)


PERMISSIONS: dict[str, PermissionRule] = {
    "analyse a file": _anyone,
    "sign up and in": _anyone,
    "see challenges": _anyone,
    "see a challenge": _can_see,
    "see a leaderboard": _can_see,
    "take a sample": _can_see,
    "have an account": _signed_in,
    "join a challenge": _can_join,
    "submit a file": _member,
    "see own submissions": _member,
    "choose finals": _member,
    "see a submission": _own_team_or_organiser,
    "see what is hidden": _organiser,
    "invite others": _organiser,
    "create a challenge": _organiser,
    "organise a challenge": _organiser,
}


def is_allowed(action: str, actor: Actor, resource: Resource | None = None) -> bool:
    """Whether an actor may do something."""
    return PERMISSIONS[action](actor, resource or Resource())


def require(action: str, actor: Actor, resource: Resource | None = None) -> None:
    """Raise unless it is allowed: visitors are asked to sign in, users get "not found"."""
    if is_allowed(action, actor, resource):
        return
    if actor.user is None:
        raise SignInRequiredError("Sign in to see this page.", "You will return here afterwards.")
    raise NotFoundError()


def find_actor(session: Session, user: User | None, challenge: Challenge | None) -> Actor:
    """A user, with their team in a challenge."""
    if user is None or challenge is None:
        return Actor(user)
    team = select(Member.team_id).where(Member.challenge_id == challenge.id, Member.user_id == user.id)
    return Actor(user, session.scalar(team))


def resource_of(challenge: Challenge, version: Version | None, submission: Submission | None = None) -> Resource:
    """A challenge, which everybody can see once it has answers, or a submission to it."""
    return Resource(challenge, version is not None, None if submission is None else submission.team_id)
