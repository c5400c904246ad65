"""Baselines: entries of the organisers, which are ranked and marked. Their files take no quota.

A baseline is a team without members, or one that an organiser has made by joining. To withdraw it disqualifies its
files, so that it can be restored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO, NamedTuple

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from tallymark.app.domain import audit, leaderboards
from tallymark.app.domain.accounts import check_name, name_key
from tallymark.app.domain.challenges import is_over
from tallymark.app.domain.checks import check_file
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.domain.submissions import queue_file, score_if_claimed
from tallymark.app.domain.teams import create_team
from tallymark.app.domain.versions import current_version, lock_challenge
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, Submission, Team, User

_WITHDRAWN = "Withdrawn by the organisers"


class Baseline(NamedTuple):
    """A baseline, how many files it has, and whether it was withdrawn."""

    team: Team
    files: int
    withdrawn: bool


def list_baselines(session: Session, challenge: Challenge) -> Sequence[Baseline]:
    """The baselines of a challenge, by name."""
    withdrawn = func.count().filter(Submission.disqualified == _WITHDRAWN)
    query = select(Team, func.count(Submission.id), withdrawn).outerjoin(Submission, Submission.team_id == Team.id)
    query = query.where(Team.challenge_id == challenge.id, Team.baseline).group_by(Team.id).order_by(Team.key)
    return [Baseline(team, files, files > 0 and gone == files) for team, files, gone in session.execute(query)]


def add_baseline(service: Service, by: User, challenge: Challenge, name: str, stream: BinaryIO, file_name: str) -> str:
    """Submit a file as a baseline, a new one or another file of an existing one; the key of the submission.

    A file with problems raises its `Rejection`, and nothing is stored.
    """
    key = name_key(check_name(name, "baseline"))
    with service.database.reading() as session:
        version = current_version(session, challenge)
    if version is None:
        raise NotFoundError()
    check_file(service, version, stream)
    file = service.files.store_stream(stream)
    with service.database.writing() as session:
        locked = lock_challenge(session, challenge.id)
        version = None if locked is None else current_version(session, locked)
        if locked is None or version is None:
            raise NotFoundError()
        if is_over(locked, service.now()):
            raise FormError({"": "The challenge is over, so no entry can be added to its leaderboards."})
        team = session.scalar(select(Team).where(Team.challenge_id == challenge.id, Team.key == key))
        if team is None:
            team = create_team(session, service, locked, name, baseline=True)
        elif not team.baseline:
            raise FormError({"baseline": "A team has this name. Choose another."})
        submission = queue_file(session, service, locked, version, team.id, by, file, file_name)
        audit.record(session, service, by, "baseline", challenge, f"{submission.file_name} of {team.name}")
    score_if_claimed(service, submission)
    return submission.key


def set_withdrawn(service: Service, by: User, challenge: Challenge, team_id: int, *, withdrawn: bool) -> None:
    """Take all files of a baseline off the leaderboards, or undo that. Files that were disqualified before stay so."""
    with service.database.writing() as session:
        lock_challenge(session, challenge.id)
        team = session.get(Team, team_id)
        if team is None or team.challenge_id != challenge.id or not team.baseline:
            raise NotFoundError()
        before, after = (None, _WITHDRAWN) if withdrawn else (_WITHDRAWN, None)
        files = (Submission.team_id == team.id) & Submission.disqualified.is_not_distinct_from(before)
        changed = session.scalars(update(Submission).where(files).values(disqualified=after).returning(Submission.id))
        if not changed.all():
            state = "withdrawn" if withdrawn else "ranked"
            raise FormError({"": f"This baseline is {state} already, or has no files."})
        leaderboards.mark_changed(session, challenge.id)
        audit.record(
            session, service, by, "withdraw baseline" if withdrawn else "restore baseline", challenge, team.name
        )
    leaderboards.update_leaderboards(service, challenge.id)
