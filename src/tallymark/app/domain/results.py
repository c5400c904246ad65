"""The result of a submission, and what a reader may see of it.

What participants may see is decided here, when a result is read and not when it is stored: the organiser can change
it at any time. Everything shown comes from what scoring stored in challenge mode; outcomes of single rows and the split
never leave the server.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tallymark.app.domain.challenges import is_over
from tallymark.app.domain.leaderboards import Standing, find_standing
from tallymark.app.store.models import Challenge, Submission, Version


class Visibility(NamedTuple):
    """Which details of scores a reader may see."""

    intervals: bool
    classes: bool
    counts: bool
    private_part: bool


def visibility(challenge: Challenge, version: Version, now: datetime, *, is_organiser: bool) -> Visibility:
    """What a reader may see: organisers everything; participants what the challenge shows, and the private part once
    the challenge is over."""
    return Visibility(
        intervals=is_organiser or challenge.shows_intervals,
        classes=is_organiser or challenge.shows_classes,
        counts=is_organiser or challenge.shows_counts,
        private_part=version.public is not None and (is_organiser or is_over(challenge, now)),
    )


class Result(NamedTuple):
    """A submission as one reader may see it."""

    submission: Submission
    visible: Visibility
    standing: Standing | None
    """Its place on the leaderboard, once it is scored."""
    ahead: int
    """How many submissions wait before it, while it is queued."""
    is_organiser: bool = False

    @property
    def state(self) -> str:
        """The state of the submission, which is "scoring" while it is queued and claimed."""
        return submission_state(self.submission)

    @property
    def intervals_pending(self) -> bool:
        """Whether the reader waits for intervals that are still being computed."""
        return self.state == "scored" and self.submission.work == "intervals" and self.visible.intervals


def submission_state(submission: Submission) -> str:
    """The state of a submission, which is "scoring" while it is queued and claimed."""
    return "scoring" if submission.state == "queued" and submission.claimed_by is not None else submission.state


def load_result(session: Session, submission: Submission, now: datetime, *, is_organiser: bool) -> Result:
    """The result of a submission as a reader may see it."""
    return Result(
        submission,
        visibility(submission.challenge, submission.version, now, is_organiser=is_organiser),
        find_standing(session, submission) if submission.state == "scored" and not submission.disqualified else None,
        _count_ahead(session, submission) if submission_state(submission) == "queued" else 0,
        is_organiser,
    )


def _count_ahead(session: Session, submission: Submission) -> int:
    earlier = (Submission.work == "score") & (Submission.created < submission.created)
    return session.scalar(select(func.count()).select_from(Submission).where(earlier)) or 0
