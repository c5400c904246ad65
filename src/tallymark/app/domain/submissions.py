"""Submissions: what a team has left of its day, and how a file is taken in."""

from __future__ import annotations

import logging
import secrets
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import BinaryIO, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tallymark.app.domain import checks
from tallymark.app.domain.challenges import accepts_submissions, challenge_state, is_over
from tallymark.app.domain.errors import RequestError, not_found
from tallymark.app.domain.scoring import process_submission, retry_or_fail
from tallymark.app.domain.versions import current_version, lock_challenge, record_file
from tallymark.app.service import Service
from tallymark.app.store.database import dialect_insert
from tallymark.app.store.models import Challenge, Quota, Submission, User
from tallymark.rendering.text import printable

_MOST_REJECTED = 100  # files a team and day that cost nothing
_MOST_NOTE = 200
_LOG = logging.getLogger("tallymark.app")


class QuotaStatus(NamedTuple):
    """What a team has left today."""

    used: int
    most: int

    @property
    def left(self) -> int:
        """How many more submissions count today."""
        return max(self.most - self.used, 0)

    def __str__(self) -> str:
        return f"{self.used} of {self.most} used today, resets 00:00 UTC"

    @property
    def cost(self) -> str:
        """What the next one will be."""
        return f"{min(self.used + 1, self.most)} of {self.most} today, resets 00:00 UTC"


def quota_status(session: Session, service: Service, challenge: Challenge, team_id: int) -> QuotaStatus:
    """What a team has left today."""
    held = session.get(Quota, (team_id, _day(service.now())))
    return QuotaStatus(0 if held is None else held.used, challenge.quota)


def refusal_reason(session: Session, service: Service, challenge: Challenge, team_id: int) -> str:
    """Why a team can hand nothing in now; empty where it can."""
    now = service.now()
    state = challenge_state(challenge, now)
    if state == "soon":
        return "This challenge is not open yet."
    if not accepts_submissions(challenge, now):
        return "This challenge is closed: nothing is taken any more."
    if not quota_status(session, service, challenge, team_id).left:
        return f"All {challenge.quota} submissions of today are used. The next day begins at 00:00 UTC."
    if _rejected_today(session, team_id, now) >= _MOST_REJECTED:
        return f"{_MOST_REJECTED} files were rejected within a day. Check them with `tallymark check` first."
    return ""


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
    """Take a file in, and score it at once where it is small enough; the key of the submission.

    `checked` is the secret of a file that was checked, which is used up.
    """
    with service.database.reading() as session:
        refused = refusal_reason(session, service, challenge, team_id)
    if refused:
        raise RequestError(409, refused)
    kept = service.files.store_stream(stream)
    now, key = service.now(), secrets.token_urlsafe(12)
    direct = kept.size <= service.settings.direct_bytes
    with service.database.writing() as session:
        held = lock_challenge(session, challenge.id, shared=True)
        version = None if held is None else current_version(session, held)
        if held is None or version is None:
            raise not_found()
        if checked is not None and not checks.consume_token(session, service, user, held, checked):
            raise checks.token_not_found(held)
        refused = refusal_reason(session, service, held, team_id)
        if refused or not _take_quota(session, team_id, _day(now), held.quota):
            raise RequestError(409, refused or f"All {held.quota} submissions of today are used.")
        record_file(session, kept, now)
        submission = Submission(
            key=key,
            challenge_id=held.id,
            version_id=version.id,
            team_id=team_id,
            user_id=user.id,
            file=kept.hash,
            file_name=clean_file_name(name),
            note=printable(note.strip())[:_MOST_NOTE],
            created=now,
            late=is_over(held, now),
            state="queued",
            work="score",
            claimed_by=service.name if direct else None,
            claimed=now if direct else None,
            attempts=1 if direct else 0,
            day=_day(now),
        )
        session.add(submission)
        session.flush()
        made = submission.id
        if direct:
            service.busy.add(made)  # before the worker can see it
    if direct:
        try:
            process_submission(service, made)
        except Exception:  # it stays in the queue
            _LOG.exception("a submission could not be scored at once", extra={"facts": {"submission": made}})
            retry_or_fail(service, made)
        finally:
            service.busy.discard(made)
    service.wake.set()
    return key


def _take_quota(session: Session, team_id: int, day: str, most: int) -> bool:
    """Count one more, in one statement: of two at once that would be the last, one is refused."""
    added = dialect_insert(session)(Quota).values(team_id=team_id, day=day, used=1)
    counted = added.on_conflict_do_update(
        index_elements=[Quota.team_id, Quota.day], set_={"used": Quota.used + 1}, where=Quota.used < most
    )
    return session.execute(counted.returning(Quota.used)).first() is not None


def _rejected_today(session: Session, team_id: int, now: datetime) -> int:
    since = now - timedelta(days=1)
    asked = (
        (Submission.team_id == team_id) & (Submission.created > since) & Submission.state.in_(("rejected", "failed"))
    )
    return session.scalar(select(func.count()).select_from(Submission).where(asked)) or 0


def _day(now: datetime) -> str:
    return now.date().isoformat()


def clean_file_name(name: str) -> str:
    """The last part of a name, whatever a client calls its file."""
    plain = PurePath(name.replace("\\", "/")).name
    return printable(plain)[:120] or "submission"
