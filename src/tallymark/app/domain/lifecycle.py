"""The life of a challenge: draft, published, closed, private part revealed; and the steps from one to the next.

A step is confirmed on a page that says what it changes. It is checked again under the lock of the challenge, so of two
organisers who press at once, one takes the step.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import delete, exists, func, select
from sqlalchemy.orm import Session

from tallymark.app.domain import audit, leaderboards
from tallymark.app.domain.challenges import is_over, is_revealed
from tallymark.app.domain.errors import ConflictError, NotFoundError
from tallymark.app.domain.versions import current_version, lock_challenge
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, CheckedFile, Member, Quota, Submission, Team, User, Version

STEPS = ("publish", "delete", "close", "reopen", "reveal", "hide")


class Audience(NamedTuple):
    """Whom a step affects: teams without baselines, those with scores, and all submissions and queued ones."""

    teams: int
    scored_teams: int
    submissions: int
    queued: int


def count_audience(session: Session, challenge: Challenge) -> Audience:
    """Whom a step affects."""
    of_challenge = Submission.challenge_id == challenge.id
    participants = select(Team.id).where(Team.challenge_id == challenge.id, Team.baseline.is_(False))
    scored = exists().where(Submission.team_id == Team.id, Submission.state == "scored")

    def count(query: object) -> int:
        return session.scalar(select(func.count()).select_from(query)) or 0  # type: ignore[arg-type]

    return Audience(
        count(participants.subquery()),
        count(participants.where(scored).subquery()),
        count(select(Submission.id).where(of_challenge).subquery()),
        count(select(Submission.id).where(of_challenge, Submission.state == "queued").subquery()),
    )


def available_steps(session: Session, challenge: Challenge, now: datetime) -> list[str]:
    """The steps that a challenge can take now."""
    if challenge.published is None:
        has_submissions = session.scalar(select(exists().where(Submission.challenge_id == challenge.id)))
        return ["publish"] if has_submissions else ["publish", "delete"]
    if not is_over(challenge, now):
        return ["close"]
    steps = ["reopen"] if challenge.closed is not None else []
    version = current_version(session, challenge)
    if version is not None and version.public is not None:
        steps.insert(0, "hide" if is_revealed(challenge, now) else "reveal")
    return steps


def obstacle(challenge: Challenge, step: str, now: datetime) -> str:
    """What must be changed before a step can be taken; empty if nothing."""
    passed = challenge.deadline is not None and now >= challenge.deadline
    if step == "publish" and passed:
        return "The deadline has passed. Set a later one, or none, before you publish the challenge."
    if step == "reopen" and passed:
        return "The deadline has passed. Set a later one to reopen the challenge."
    return ""


def take_step(service: Service, user: User, challenge: Challenge, step: str) -> None:
    """Take a step, if the challenge still can."""
    with service.database.writing() as session:
        now, locked = service.now(), lock_challenge(session, challenge.id)
        if locked is None:
            raise NotFoundError()
        link = ("Edit the challenge", f"/organise/{locked.slug}")
        if step not in available_steps(session, locked, now):
            raise ConflictError("The state of this challenge has changed meanwhile.", "Look at it again.", link)
        if reason := obstacle(locked, step, now):
            raise ConflictError(reason, "", link)
        if step == "delete":
            _delete(session, locked)
            audit.record(session, service, user, "delete", subject=locked.title, slug=locked.slug)
            return
        if step == "publish":
            locked.published = now
        elif step == "close":
            locked.closed = now
        elif step == "reopen":
            locked.closed = locked.revealed = None
        elif step == "reveal":
            locked.revealed = now
        else:  # hide, also where closing has revealed it
            locked.reveal, locked.revealed = "organiser", None
        leaderboards.mark_changed(session, locked.id)
        audit.record(session, service, user, step, locked)
    service.work_available.set()


def _delete(session: Session, draft: Challenge) -> None:
    """Delete a draft, with the teams of its organisers. Files stay: other challenges may have the same ones."""
    teams = select(Team.id).where(Team.challenge_id == draft.id)
    session.execute(delete(Quota).where(Quota.team_id.in_(teams)))
    for table in (Member, Team, CheckedFile, Version):
        session.execute(delete(table).where(table.challenge_id == draft.id))
    session.execute(delete(Challenge).where(Challenge.id == draft.id))
