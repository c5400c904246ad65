"""Who may do what: one table, which every route asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from tallymark.app.http.errors import RequestError, not_found
from tallymark.app.store.models import Challenge, Member, Submission, User, Version


class Actor(NamedTuple):
    """Who asks: nobody in particular, or somebody who is signed in; and their team, where it is about a challenge."""

    user: User | None
    team_id: int | None = None


class Subject(NamedTuple):
    """What is asked for: a challenge, whether it can be seen by all, and the team that something belongs to."""

    challenge: Challenge | None = None
    published: bool = False
    team_id: int | None = None


Rule = Callable[[Actor, Subject], bool]


def _anyone(_: Actor, __: Subject) -> bool:
    return True


def _signed_in(actor: Actor, _: Subject) -> bool:
    return actor.user is not None


def _organiser(actor: Actor, _: Subject) -> bool:
    return actor.user is not None and actor.user.organiser


def _sees(actor: Actor, subject: Subject) -> bool:
    return subject.published or _organiser(actor, subject)


def _joins(actor: Actor, subject: Subject) -> bool:
    return _signed_in(actor, subject) and _sees(actor, subject)


def _member(actor: Actor, _: Subject) -> bool:
    return actor.team_id is not None


def _own(actor: Actor, subject: Subject) -> bool:
    return actor.team_id is not None and actor.team_id == subject.team_id


def _own_or_organiser(actor: Actor, subject: Subject) -> bool:
    return _own(actor, subject) or _organiser(actor, subject)


MAY: dict[str, Rule] = {
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


def require(action: str, actor: Actor, subject: Subject | None = None) -> None:
    """Refuse an action: strangers are asked to sign in, others learn no more than that there is nothing for them."""
    if MAY[action](actor, subject or Subject()):
        return
    if actor.user is None:
        raise RequestError(401, "Sign in to see this page.", "Then you come back here.")
    raise not_found()


def actor_in(session: Session, user: User | None, challenge: Challenge | None) -> Actor:
    """Somebody, with their team in a challenge."""
    if user is None or challenge is None:
        return Actor(user)
    found = select(Member.team_id).where(Member.challenge_id == challenge.id, Member.user_id == user.id)
    return Actor(user, session.scalar(found))


def subject_of(challenge: Challenge, version: Version | None, submission: Submission | None = None) -> Subject:
    """A challenge, which all may see once it has answers, or a submission to it."""
    return Subject(challenge, version is not None, None if submission is None else submission.team_id)
