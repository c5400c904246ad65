"""Challenges: made, changed, closed, and where in time they are."""

from __future__ import annotations

from datetime import datetime
from typing import BinaryIO

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tallymark.app.domain import leaderboards
from tallymark.app.domain.drafts import ChallengeDraft
from tallymark.app.domain.errors import FieldError, not_found
from tallymark.app.domain.versions import (
    add_version,
    current_version,
    lock_challenge,
    prepare_version,
    scoring_config_of,
)
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, Submission, User, Version


def create(service: Service, user: User, draft: ChallengeDraft, answers: BinaryIO) -> Challenge:
    """A new challenge with its first version."""
    made = prepare_version(service, draft.scoring, answers)
    try:
        with service.database.writing() as session:
            challenge = Challenge(
                slug=draft.slug, **draft.texts, **draft.rules, created_by=user.id, created=service.now()
            )
            session.add(challenge)
            session.flush()
            add_version(session, service, challenge, user, made)
            return challenge
    except IntegrityError:
        raise FieldError({"slug": "Another challenge has this address. Take another."}) from None


def change(service: Service, user: User, challenge: Challenge, draft: ChallengeDraft) -> bool:
    """New texts and rules; where it is scored in another way, a new version, and whether there is one."""
    with service.database.reading() as session:
        held = current_version(session, challenge)
    made = None
    if held is not None and scoring_config_of(held) != draft.scoring:
        with service.files.path(held.answers).open("rb") as stream:
            made = prepare_version(service, draft.scoring, stream)
    with service.database.writing() as session:
        lock_challenge(session, challenge.id)
        session.execute(update(Challenge).where(Challenge.id == challenge.id).values(**draft.texts, **draft.rules))
        _update_lateness(session, challenge.id, draft.rules["deadline"])
        leaderboards.mark_changed(session, challenge.id)
        if made is not None:
            add_version(session, service, challenge, user, made, after=held)
    service.wake.set()
    return made is not None


def replace_answers(service: Service, user: User, challenge: Challenge, answers: BinaryIO, note: str = "") -> None:
    """A new version with other answers."""
    with service.database.reading() as session:
        held = current_version(session, challenge)
    if held is None:
        raise not_found()
    made = prepare_version(service, scoring_config_of(held), answers)
    with service.database.writing() as session:
        add_version(session, service, challenge, user, made, note.strip()[:200], after=held)
    service.wake.set()


def _update_lateness(session: Session, challenge_id: int, deadline: datetime | None) -> None:
    """What came in time, by a deadline that may have moved."""
    late = False if deadline is None else Submission.created >= deadline
    session.execute(update(Submission).where(Submission.challenge_id == challenge_id).values(late=late))


def find(session: Session, slug: str) -> tuple[Challenge, Version | None]:
    """The challenge at an address, and its newest version."""
    challenge = session.scalar(select(Challenge).where(Challenge.slug == slug))
    if challenge is None:
        raise not_found()
    return challenge, current_version(session, challenge)


def is_over(challenge: Challenge, now: datetime) -> bool:
    """Whether nothing counts any more, and the private part is told."""
    return challenge.closed is not None or (challenge.deadline is not None and now >= challenge.deadline)


def challenge_state(challenge: Challenge, now: datetime) -> str:
    """Whether a challenge is "soon" to open, "open" or "closed"."""
    if is_over(challenge, now):
        return "closed"
    return "soon" if challenge.opens is not None and now < challenge.opens else "open"


def accepts_submissions(challenge: Challenge, now: datetime) -> bool:
    """Whether something can be handed in: in time, or late where that is taken."""
    state = challenge_state(challenge, now)
    return state == "open" or (state == "closed" and challenge.closed is None and challenge.late == "mark")


def close(service: Service, challenge: Challenge, *, closed: bool) -> None:
    """Close a challenge, or open it again."""
    with service.database.writing() as session:
        held = lock_challenge(session, challenge.id)
        if held is None:
            raise not_found()
        if not closed and held.deadline is not None and service.now() >= held.deadline:
            raise FieldError({"deadline": "The deadline has passed: set a later one, and the challenge is open again."})
        held.closed = service.now() if closed else None
        leaderboards.mark_changed(session, challenge.id)
    service.wake.set()
