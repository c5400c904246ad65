"""The quota: how many submissions a team has per day, from midnight to midnight UTC.

`take` counts one more in the transaction that stores the submission (`submissions.submit_file`). `give_back` undoes it
in the transaction that stores a rejection or a failure (`scoring`), so nothing is counted twice or lost. Rejected files
do not count, but a team can have at most a hundred of them in 24 hours.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from tallymark.app.store.database import dialect_insert
from tallymark.app.store.models import Challenge, Quota, Submission, Team

_MAX_REJECTED = 100  # files of a team in 24 hours


class QuotaStatus(NamedTuple):
    """How many submissions a team has used today, of how many; and in all, where that is limited too."""

    used: int
    limit: int
    used_in_all: int = 0
    total: int | None = None

    @property
    def remaining(self) -> int:
        """How many submissions are left today."""
        left = self.limit - self.used if self.total is None else min(self.limit - self.used, self.remaining_in_all)
        return max(left, 0)

    @property
    def remaining_in_all(self) -> int:
        """How many are left of the total."""
        return 0 if self.total is None else max(self.total - self.used_in_all, 0)

    def __str__(self) -> str:
        return f"{self.used} of {self.limit} submissions used today; resets at 00:00 UTC{self._in_all}"

    @property
    def next_submission(self) -> str:
        """The number of today's next submission, in words."""
        number = min(self.used + 1, self.limit)
        return f"submission {number} of {self.limit} today; resets at 00:00 UTC{self._in_all}"

    @property
    def _in_all(self) -> str:
        return "" if self.total is None else f"; {self.used_in_all} of {self.total} used in all"


def quota_status(session: Session, challenge: Challenge, team_id: int, now: datetime) -> QuotaStatus:
    """The quota of a team today."""
    row = session.get(Quota, (team_id, day_of(now)))
    used_in_all = 0 if challenge.total_quota is None else _count_used(session, team_id)
    return QuotaStatus(0 if row is None else row.used, challenge.quota, used_in_all, challenge.total_quota)


def exceeded(session: Session, challenge: Challenge, team_id: int, now: datetime) -> str:
    """Why a team has no submission left; empty if it has one."""
    status = quota_status(session, challenge, team_id, now)
    if status.total is not None and not status.remaining_in_all:
        return f"Your team has used all {status.total} submissions of this challenge."
    if not status.remaining:
        return f"Your team has used all {challenge.quota} submissions of today. The quota resets at 00:00 UTC."
    if _count_rejected(session, team_id, now) >= _MAX_REJECTED:
        return f"{_MAX_REJECTED} files were rejected within 24 hours. Check files with `tallymark check` first."
    return ""


def take(session: Session, team_id: int, day: str, limit: int, total: int | None = None) -> bool:
    """Count one more submission, in one statement: of two at once that would be the last, one is refused. With a total,
    the team is locked, so that those of other days stay as they are."""
    if total is not None:
        session.get(Team, team_id, with_for_update=True)
        limit = min(limit, total - _count_used(session, team_id, Quota.day != day))
        if limit < 1:
            return False
    first = dialect_insert(session)(Quota).values(team_id=team_id, day=day, used=1)
    counted = first.on_conflict_do_update(
        index_elements=[Quota.team_id, Quota.day], set_={"used": Quota.used + 1}, where=Quota.used < limit
    )
    return session.execute(counted.returning(Quota.used)).first() is not None


def give_back(session: Session, submission: Submission) -> None:
    """Undo what a submission took, on the day on which it was sent; a second time does nothing."""
    if submission.day is not None:
        used = (Quota.team_id == submission.team_id) & (Quota.day == submission.day) & (Quota.used > 0)
        session.execute(update(Quota).where(used).values(used=Quota.used - 1))
        submission.day = None


def day_of(now: datetime) -> str:
    """The day on which a submission counts."""
    return now.date().isoformat()


def _count_used(session: Session, team_id: int, *days: ColumnElement[bool]) -> int:
    """How many submissions of a team count, on all days or on some."""
    return session.scalar(select(func.sum(Quota.used)).where(Quota.team_id == team_id, *days)) or 0


def _count_rejected(session: Session, team_id: int, now: datetime) -> int:
    since = now - timedelta(days=1)
    rejected = (
        (Submission.team_id == team_id) & (Submission.created > since) & Submission.state.in_(("rejected", "failed"))
    )
    return session.scalar(select(func.count()).select_from(Submission).where(rejected)) or 0
