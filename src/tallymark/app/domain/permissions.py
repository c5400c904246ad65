"""Permissions: who may do what, in one table for all routes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from tallymark.app.domain.errors import NotFoundError, SignInRequiredError
from tallymark.app.store.models import Challenge, Member, Organiser, Submission, User, Version


class Actor(NamedTuple):
    """Who acts: a user, None if nobody is signed in; their team in the challenge, and if they organise or own it."""

    user: User | None
    team_id: int | None = None
    organises: bool = False
    owns: bool = False


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


def _may_create(actor: Actor, _: Resource) -> bool:
    return actor.user is not None and actor.user.organiser


def _operator(actor: Actor, _: Resource) -> bool:
    return actor.user is not None and actor.user.operator


def _may_invite(actor: Actor, resource: Resource) -> bool:
    return _may_create(actor, resource) or _operator(actor, resource)


def _organises(actor: Actor, _: Resource) -> bool:
    return actor.organises


def _owns(actor: Actor, _: Resource) -> bool:
    return actor.owns


def _can_see(actor: Actor, resource: Resource) -> bool:
    return resource.published or actor.organises


def _can_join(actor: Actor, resource: Resource) -> bool:
    return _signed_in(actor, resource) and _can_see(actor, resource)


def _member(actor: Actor, _: Resource) -> bool:
    return actor.team_id is not None


def _member_of_visible(actor: Actor, resource: Resource) -> bool:
    return _member(actor, resource) and _can_see(actor, resource)


def _may_download(actor: Actor, resource: Resource) -> bool:
    challenge = resource.challenge
    is_open = challenge is not None and challenge.data_for == "everyone"
    return _can_see(actor, resource) and (is_open or actor.team_id is not None or actor.organises)


def _own_team(actor: Actor, resource: Resource) -> bool:
    return resource.published and actor.team_id is not None and actor.team_id == resource.team_id


def _own_team_or_organises(actor: Actor, resource: Resource) -> bool:
    return _own_team(actor, resource) or actor.organises


PERMISSIONS: dict[str, PermissionRule] = {
    "analyse a file": _anyone,
    "sign up and in": _anyone,
    "see challenges": _anyone,
    "see a challenge": _can_see,
    "see a leaderboard": _can_see,
    "take a sample": _can_see,
    "download data": _may_download,
    "have an account": _signed_in,
    "join a challenge": _can_join,
    "submit a file": _member,
    "see own submissions": _member,
    "choose finals": _member,
    "manage own team": _member_of_visible,
    "see a submission": _own_team_or_organises,
    "invite others": _may_invite,
    "invite organisers": _operator,
    "manage accounts": _operator,
    "create a challenge": _may_create,
    "organise a challenge": _organises,
    "own a challenge": _owns,
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
    """A user, with their team in a challenge, and whether they organise or own it."""
    if user is None or challenge is None:
        return Actor(user)
    team = select(Member.team_id).where(Member.challenge_id == challenge.id, Member.user_id == user.id)
    organiser = session.get(Organiser, (challenge.id, user.id))
    return Actor(user, session.scalar(team), organiser is not None, organiser is not None and organiser.owner)


def resource_of(challenge: Challenge, version: Version | None, submission: Submission | None = None) -> Resource:
    """A challenge, which everybody can see once it is published, or a submission to it."""
    published = version is not None and challenge.published is not None
    return Resource(challenge, published, None if submission is None else submission.team_id)
