"""Challenges: created, changed, closed, and whether they are open now."""

from __future__ import annotations

from datetime import datetime
from typing import BinaryIO

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tallymark.app.domain import audit, leaderboards
from tallymark.app.domain.drafts import ChallengeDraft
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.domain.versions import (
    add_version,
    current_version,
    lock_challenge,
    prepare_version,
    scoring_config_of,
)
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, Organiser, Submission, User, Version


def create_challenge(service: Service, user: User, draft: ChallengeDraft, answers: BinaryIO) -> Challenge:
    """Create a challenge with its first version."""
    prepared = prepare_version(service, draft.scoring, answers)
    try:
        with service.database.writing() as session:
            challenge = Challenge(
                slug=draft.slug, **draft.texts, **draft.rules, created_by=user.id, created=service.now()
            )
            session.add(challenge)
            session.flush()
            session.add(Organiser(challenge_id=challenge.id, user_id=user.id, owner=True, created=service.now()))
            add_version(session, service, challenge, user, prepared)
            audit.record(session, service, user, "create", challenge)
            return challenge
    except IntegrityError:
        raise FormError({"slug": "This address is taken. Choose another."}) from None


def update_challenge(service: Service, user: User, challenge: Challenge, draft: ChallengeDraft) -> Version | None:
    """Change texts and rules, and add a version if scoring changes; the new version."""
    with service.database.reading() as session:
        version = current_version(session, challenge)
    prepared = added = None
    if version is not None and scoring_config_of(version) != draft.scoring:
        with service.files.path(version.answers).open("rb") as stream:
            prepared = prepare_version(service, draft.scoring, stream)
    with service.database.writing() as session:
        lock_challenge(session, challenge.id)
        session.execute(update(Challenge).where(Challenge.id == challenge.id).values(**draft.texts, **draft.rules))
        _update_lateness(session, challenge.id, draft.rules["deadline"])
        leaderboards.mark_changed(session, challenge.id)
        if prepared is not None:
            added = add_version(session, service, challenge, user, prepared, after=version)
        audit.record(session, service, user, "edit", challenge, new_version=prepared is not None)
    service.work_available.set()
    return added


def replace_answers(service: Service, user: User, challenge: Challenge, answers: BinaryIO, note: str = "") -> Version:
    """Add a version with other answers."""
    with service.database.reading() as session:
        version = current_version(session, challenge)
    if version is None:
        raise NotFoundError()
    prepared = prepare_version(service, scoring_config_of(version), answers)
    with service.database.writing() as session:
        added = add_version(session, service, challenge, user, prepared, note.strip()[:200], after=version)
        audit.record(session, service, user, "answers", challenge, note.strip()[:200])
    service.work_available.set()
    return added


def _update_lateness(session: Session, challenge_id: int, deadline: datetime | None) -> None:
    """Mark late submissions anew, since the deadline may have moved."""
    late = False if deadline is None else Submission.created >= deadline
    session.execute(update(Submission).where(Submission.challenge_id == challenge_id).values(late=late))


def find_challenge(session: Session, slug: str) -> tuple[Challenge, Version | None]:
    """The challenge at an address, and its current version."""
    challenge = session.scalar(select(Challenge).where(Challenge.slug == slug))
    if challenge is None:
        raise NotFoundError()
    return challenge, current_version(session, challenge)


def is_over(challenge: Challenge, now: datetime) -> bool:
    """Whether submissions no longer count and the private part is shown."""
    return challenge.closed is not None or (challenge.deadline is not None and now >= challenge.deadline)


def challenge_state(challenge: Challenge, now: datetime) -> str:
    """Whether a challenge is "soon" to open, "open" or "closed"."""
    if is_over(challenge, now):
        return "closed"
    return "soon" if challenge.opens is not None and now < challenge.opens else "open"


def accepts_submissions(challenge: Challenge, now: datetime) -> bool:
    """Whether files can be submitted: in time, or late if the challenge marks late submissions."""
    state = challenge_state(challenge, now)
    return state == "open" or (state == "closed" and challenge.closed is None and challenge.late == "mark")


def set_closed(service: Service, user: User, challenge: Challenge, *, closed: bool) -> None:
    """Close a challenge, or reopen it."""
    with service.database.writing() as session:
        locked = lock_challenge(session, challenge.id)
        if locked is None:
            raise NotFoundError()
        if not closed and locked.deadline is not None and service.now() >= locked.deadline:
            raise FormError({"deadline": "The deadline has passed. Set a later one to reopen the challenge."})
        locked.closed = service.now() if closed else None
        leaderboards.mark_changed(session, challenge.id)
        audit.record(session, service, user, "close" if closed else "reopen", challenge)
    service.work_available.set()
