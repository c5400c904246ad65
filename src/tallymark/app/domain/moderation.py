"""What organisers do with one submission: retry, disqualify, give its quota back. The audit log has each action."""

from __future__ import annotations

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from tallymark.app.domain import audit, leaderboards, quota
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.domain.versions import lock_challenge, queue_rescoring
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, Submission, User
from tallymark.rendering.text import printable

MAX_REASON = 300


def find_submission(session: Session, challenge: Challenge, key: str) -> Submission:
    """A submission to a challenge, by its key."""
    submission = session.scalar(select(Submission).where(_is(challenge, key)))
    if submission is None:
        raise NotFoundError()
    return submission


def retry(service: Service, by: User, challenge: Challenge, key: str) -> None:
    """Put a failed submission back into the queue, with all attempts. It costs no quota: its failure gave that back."""
    with service.database.writing() as session:
        submission = _lock(session, challenge, key)
        if submission.state != "failed":
            raise FormError({"": f"Only failed submissions can be retried; this one is {submission.state}."})
        submission.state, submission.work, submission.attempts = "queued", "score", 0
        submission.claimed_by = submission.claimed = submission.finished = submission.facts = None
        queue_rescoring(session, challenge, submission.id)
        audit.record(session, service, by, "retry", challenge, subject_of(submission), key=key)
    service.work_available.set()


def disqualify(service: Service, by: User, challenge: Challenge, key: str, reason: str) -> None:
    """Take a submission off the leaderboards, for a reason that its team reads."""
    reason = printable(" ".join(reason.split()))
    if not 3 <= len(reason) <= MAX_REASON:
        raise FormError({"reason": f"Give a reason of 3 to {MAX_REASON} characters. The team reads it."})
    with service.database.writing() as session:
        submission = _lock(session, challenge, key)
        if submission.disqualified is not None:
            raise FormError({"": "This submission is disqualified already. Undo that first to change the reason."})
        submission.disqualified = reason
        leaderboards.mark_changed(session, challenge.id)
        audit.record(session, service, by, "disqualify", challenge, subject_of(submission), key=key, reason=reason)
    leaderboards.update_leaderboards(service, challenge.id)


def requalify(service: Service, by: User, challenge: Challenge, key: str) -> None:
    """Undo a disqualification. If the team has selected other final submissions meanwhile, its selection stays."""
    with service.database.writing() as session:
        submission = _lock(session, challenge, key)
        if submission.disqualified is None:
            raise FormError({"": "This submission is not disqualified."})
        submission.disqualified = None
        session.flush()
        selected = (Submission.team_id == submission.team_id) & Submission.final & Submission.disqualified.is_(None)
        count = session.scalar(select(func.count()).select_from(Submission).where(selected)) or 0
        if submission.final and count > submission.challenge.finals:
            submission.final = False
        leaderboards.mark_changed(session, challenge.id)
        audit.record(session, service, by, "requalify", challenge, subject_of(submission), key=key)
    leaderboards.update_leaderboards(service, challenge.id)


def refund(service: Service, by: User, challenge: Challenge, key: str) -> None:
    """Give back the unit of quota that a submission took, on the day on which it was sent."""
    with service.database.writing() as session:
        submission = _lock(session, challenge, key)
        if submission.day is None:
            raise FormError({"": "This submission does not count against the quota, so there is nothing to give back."})
        day = submission.day
        quota.give_back(session, submission)
        audit.record(session, service, by, "refund", challenge, subject_of(submission), key=key, day=day)


def subject_of(submission: Submission) -> str:
    """A submission in the audit log."""
    return f"{submission.file_name} of {submission.team.name}"


def _is(challenge: Challenge, key: str) -> ColumnElement[bool]:
    return (Submission.challenge_id == challenge.id) & (Submission.key == key)


def _lock(session: Session, challenge: Challenge, key: str) -> Submission:
    lock_challenge(session, challenge.id)
    submission = session.scalar(select(Submission).where(_is(challenge, key)).with_for_update(of=Submission))
    if submission is None:
        raise NotFoundError()
    return submission
