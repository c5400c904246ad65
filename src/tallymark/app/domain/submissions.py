"""Submissions: when a team may submit, and the transaction that stores a file.

A submission is a row, and the row is its place in the queue. It is stored in one transaction with its quota, before
it is scored. Whoever claims it scores it: the request itself if the file is small, else the worker. Claims of a dead
process expire.
"""

from __future__ import annotations

import logging
import secrets
from pathlib import PurePath
from typing import BinaryIO

from sqlalchemy import select
from sqlalchemy.orm import Session

from tallymark.app.domain import checks, quota
from tallymark.app.domain.challenges import accepts_submissions, challenge_state, is_over
from tallymark.app.domain.errors import ConflictError, NotFoundError
from tallymark.app.domain.scoring import process_submission, retry_or_fail
from tallymark.app.domain.versions import current_version, lock_challenge, record_file
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, Member, Submission, Team, User
from tallymark.rendering.text import printable

_MAX_NOTE_LENGTH = 200
_LOG = logging.getLogger("tallymark.app")


def refusal_reason(session: Session, service: Service, challenge: Challenge, team_id: int) -> str:
    """Why a team cannot submit now; empty if it can."""
    now = service.now()
    if challenge_state(challenge, now) == "soon":
        return "This challenge is not open yet."
    if not accepts_submissions(challenge, now):
        return "This challenge is closed and accepts no submissions."
    return quota.exceeded(session, challenge, team_id, now)


def submit_file(
    service: Service,
    user: User,
    challenge: Challenge,
    team_id: int,
    stream: BinaryIO,
    name: str,
    note: str,
    checked: str | None = None,
) -> str:
    """Store a submission with its quota, and score it at once if it is small enough; returns its key.

    `checked` is the hash of the token of a checked file, which is used up.
    """
    with service.database.reading() as session:
        reason = refusal_reason(session, service, challenge, team_id)
    if reason:
        raise ConflictError(reason)
    file = service.files.store_stream(stream)
    now, key = service.now(), secrets.token_urlsafe(12)
    today, at_once = quota.day_of(now), file.size <= service.settings.direct_bytes
    with service.database.writing() as session:
        locked = lock_challenge(session, challenge.id, shared=True)
        version = None if locked is None else current_version(session, locked)
        if locked is None or version is None:
            raise NotFoundError()
        members = session.scalars(select(Member.user_id).where(Member.team_id == team_id)).all()
        is_member = user.id in members or not members  # teams of the example challenge have no members
        if not is_member or session.get(Team, team_id) is None:  # they left, or it merged meanwhile
            raise ConflictError("Your team has changed. Reload the page and try again.")
        if checked is not None and not checks.consume_token(session, service, user, locked, checked):
            raise checks.token_not_found(locked)
        reason = refusal_reason(session, service, locked, team_id)
        if reason or not quota.take(session, team_id, today, locked.quota):
            raise ConflictError(reason or f"Your team has used all {locked.quota} submissions of today.")
        record_file(session, file, now)
        submission = Submission(
            key=key,
            challenge_id=locked.id,
            version_id=version.id,
            team_id=team_id,
            user_id=user.id,
            file=file.hash,
            file_name=clean_file_name(name),
            note=printable(note.strip())[:_MAX_NOTE_LENGTH],
            created=now,
            late=is_over(locked, now),
            state="queued",
            work="score",
            claimed_by=service.instance_id if at_once else None,
            claimed=now if at_once else None,
            attempts=1 if at_once else 0,
            day=today,
        )
        session.add(submission)
        session.flush()
        submission_id = submission.id
        if at_once:
            service.in_progress.add(submission_id)  # before the worker can see it
    if at_once:
        try:
            process_submission(service, submission_id)
        except Exception:  # it stays in the queue
            _LOG.exception("a submission could not be scored at once", extra={"facts": {"submission": submission_id}})
            retry_or_fail(service, submission_id)
        finally:
            service.in_progress.discard(submission_id)
    service.work_available.set()
    return key


def clean_file_name(name: str) -> str:
    """The last part of the path that a client gives as the name of its file, without unprintable characters."""
    base = PurePath(name.replace("\\", "/")).name
    return printable(base)[:120] or "submission"
