"""The result of a submission, and what a reader may see of it.

What participants may see is decided here, when a result is read and not when it is stored: the organiser can change
it at any time. Everything shown comes from what scoring stored in challenge mode; outcomes of single rows and the split
never leave the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tallymark.app.domain.challenges import is_revealed
from tallymark.app.domain.leaderboards import Leaderboard, Standing, find_standing
from tallymark.app.store.models import Challenge, Submission, Version
from tallymark.submissions.public_private import PUBLIC


class Visibility(NamedTuple):
    """Which details of scores a reader may see."""

    intervals: bool
    classes: bool
    counts: bool
    private_part: bool


def visibility(challenge: Challenge, version: Version, now: datetime, *, is_organiser: bool) -> Visibility:
    """What a reader may see: organisers everything; participants what the challenge shows, and the private part once
    it is revealed."""
    return Visibility(
        intervals=is_organiser or challenge.shows_intervals,
        classes=is_organiser or challenge.shows_classes,
        counts=is_organiser or challenge.shows_counts,
        private_part=version.public is not None and (is_organiser or is_revealed(challenge, now)),
    )


class BaselineScores(NamedTuple):
    """The name of a baseline and its scores on the public part by metric."""

    team: str
    scores: Mapping[str, float]


class Result(NamedTuple):
    """A submission as one reader may see it."""

    submission: Submission
    visible: Visibility
    standing: Standing | None
    """The place of its team on the public leaderboard, once it is scored."""
    ahead: int
    """How many submissions wait before it, while it is queued."""
    baseline: BaselineScores | None = None
    """The best baseline of the leaderboard; None where there is none, and for submissions of its team."""
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
    is_scored = submission.state == "scored"
    return Result(
        submission,
        visibility(submission.challenge, submission.version, now, is_organiser=is_organiser),
        find_standing(session, Leaderboard(submission.challenge_id, PUBLIC), submission.team_id)
        if is_scored and not submission.disqualified
        else None,
        _count_ahead(session, submission) if submission_state(submission) == "queued" else 0,
        _find_baseline(session, submission) if is_scored else None,
        is_organiser,
    )


def _find_baseline(session: Session, submission: Submission) -> BaselineScores | None:
    entry = Leaderboard(submission.challenge_id, PUBLIC).best_baseline(session)
    if entry is None or entry.team_id == submission.team_id or entry.submission.version_id != submission.version_id:
        return None
    scores = {score.name: score.value for score in entry.submission.scores if score.part == PUBLIC}
    return BaselineScores(entry.team.name, {name: value for name, value in scores.items() if value is not None})


def _count_ahead(session: Session, submission: Submission) -> int:
    earlier = (Submission.work == "score") & (Submission.created < submission.created)
    return session.scalar(select(func.count()).select_from(Submission).where(earlier)) or 0
