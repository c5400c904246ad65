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

from tallymark.app.domain import checks, idempotency, quota
from tallymark.app.domain.challenges import accepts_submissions, challenge_state, is_over
from tallymark.app.domain.errors import ConflictError, NotFoundError
from tallymark.app.domain.scoring import process_submission, retry_or_fail
from tallymark.app.domain.versions import current_version, lock_challenge, queue_rescoring, record_file
from tallymark.app.service import Service
from tallymark.app.store.files import StoredContent
from tallymark.app.store.models import Challenge, Member, Submission, Team, User, Version
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
    upload: idempotency.Upload | None = None,
) -> str:
    """Store a submission with its quota, and score it at once if it is small enough; returns its key.

    `checked` is the hash of the token of a checked file, which is used up. An `upload` that is repeated returns the key
    of its first submission.
    """
    with service.database.reading() as session:
        earlier = None if upload is None else idempotency.find_submission(session, user, upload)
        if earlier is not None:
            return earlier
        reason = refusal_reason(session, service, challenge, team_id)
    if reason:
        raise ConflictError(reason)
    file, today = service.files.store_stream(stream), quota.day_of(service.now())
    key = new_key()
    with service.database.writing() as session:
        locked = lock_challenge(session, challenge.id, shared=True)
        version = None if locked is None else current_version(session, locked)
        if locked is None or version is None:
            raise NotFoundError()
        if upload is not None and not idempotency.claim_key(session, service, user, upload, key):
            earlier = idempotency.find_submission(session, user, upload)
            assert earlier is not None  # it has just kept this one from being stored
            return earlier
        members = session.scalars(select(Member.user_id).where(Member.team_id == team_id)).all()
        is_member = user.id in members or not members  # teams of the example challenge have no members
        if not is_member or session.get(Team, team_id) is None:  # they left, or it merged meanwhile
            raise ConflictError("Your team has changed. Reload the page and try again.")
        if checked is not None and not checks.consume_token(session, service, user, locked, checked):
            raise checks.token_not_found(locked)
        reason = refusal_reason(session, service, locked, team_id)
        if reason or not quota.take(session, team_id, today, locked.quota, locked.total_quota):
            raise ConflictError(reason or f"Your team has used all {locked.quota} submissions of today.")
        submission = queue_file(session, service, locked, version, team_id, user, file, name, note, key=key, day=today)
    score_if_claimed(service, submission)
    return submission.key


def new_key() -> str:
    """The key of a submission, which is in its address."""
    return secrets.token_urlsafe(12)


def queue_file(
    session: Session,
    service: Service,
    challenge: Challenge,
    version: Version,
    team_id: int,
    user: User,
    file: StoredContent,
    name: str,
    note: str = "",
    *,
    key: str | None = None,
    day: str | None = None,
) -> Submission:
    """Store the row of a submission, which is its place in the queue. A small file is claimed by this process."""
    now, at_once = service.now(), file.size <= service.settings.direct_bytes
    record_file(session, file, now)
    submission = Submission(
        key=key or new_key(),
        challenge_id=challenge.id,
        version_id=version.id,
        team_id=team_id,
        user_id=user.id,
        file=file.hash,
        file_name=clean_file_name(name),
        note=printable(note.strip())[:_MAX_NOTE_LENGTH],
        created=now,
        late=is_over(challenge, now),
        state="queued",
        work="score",
        claimed_by=service.instance_id if at_once else None,
        claimed=now if at_once else None,
        attempts=1 if at_once else 0,
        day=day,
    )
    session.add(submission)
    session.flush()
    queue_rescoring(session, challenge, submission.id)
    if at_once:
        service.in_progress.add(submission.id)  # before the worker can see it
    return submission


def score_if_claimed(service: Service, submission: Submission) -> None:
    """Score a queued file at once if it is small enough, after its transaction; else wake the worker."""
    if submission.claimed_by is not None:
        try:
            process_submission(service, submission.id)
        except Exception:  # it stays in the queue
            _LOG.exception("a submission could not be scored at once", extra={"facts": {"submission": submission.id}})
            retry_or_fail(service, submission.id)
        finally:
            service.in_progress.discard(submission.id)
    service.work_available.set()


def clean_file_name(name: str) -> str:
    """The last part of the path that a client gives as the name of its file, without unprintable characters."""
    base = PurePath(name.replace("\\", "/")).name
    return printable(base)[:120] or "submission"
