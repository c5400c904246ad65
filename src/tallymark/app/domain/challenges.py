"""Challenges: created and changed, and their state now. `domain.lifecycle` has the steps from one state to the next."""

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
            challenge.published = service.now() if draft.publish else None
            session.add(challenge)
            session.flush()
            session.add(Organiser(challenge_id=challenge.id, user_id=user.id, owner=True, created=service.now()))
            add_version(session, service, challenge, user, prepared)
            audit.record(session, service, user, "create", challenge, published=draft.publish)
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
        locked = lock_challenge(session, challenge.id)
        if locked is None:
            raise NotFoundError()
        _check_hidden(locked, draft, service.now())
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


def _check_hidden(challenge: Challenge, draft: ChallengeDraft, now: datetime) -> None:
    """Refuse changes that would show the private part without a word, and forget the reveal of one that goes on."""
    kept = {name: getattr(challenge, name) for name in ("published", "closed", "revealed")}
    changed = Challenge(**kept, **draft.rules)
    if not is_over(changed, now):
        challenge.revealed = None
    elif is_revealed(changed, now) and not is_revealed(challenge, now):
        if is_over(challenge, now):
            text = "The challenge is over, so this would show the private part at once. Reveal it in a step of its own."
            raise FormError({"reveal": text})
        text = "This deadline has passed, so the private part would be shown at once. Close the challenge instead."
        raise FormError({"deadline": text})


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
    """Whether submissions no longer count."""
    return challenge.closed is not None or (challenge.deadline is not None and now >= challenge.deadline)


def is_revealed(challenge: Challenge, now: datetime) -> bool:
    """Whether everybody sees the private part: after the end, when an organiser has revealed it or closing does."""
    shown = challenge.reveal == "closing" or challenge.revealed is not None
    return challenge.published is not None and is_over(challenge, now) and shown


def challenge_state(challenge: Challenge, now: datetime) -> str:
    """Whether a challenge is a "draft", "soon" to open, "open" or "closed"."""
    return "draft" if challenge.published is None else state_once_published(challenge, now)


def state_once_published(challenge: Challenge, now: datetime) -> str:
    """The same for a draft as if it were published."""
    if is_over(challenge, now):
        return "closed"
    return "soon" if challenge.opens is not None and now < challenge.opens else "open"


def accepts_submissions(challenge: Challenge, now: datetime) -> bool:
    """Whether files can be submitted: in time, or late if the challenge marks late submissions. Organisers can try a
    draft."""
    state = challenge_state(challenge, now)
    return state in ("open", "draft") or (state == "closed" and challenge.closed is None and challenge.late == "mark")
