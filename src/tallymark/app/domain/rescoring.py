"""Re-scoring: a candidate version is scored beside the current one, previewed, and applied or discarded.

While there is a candidate, the leaderboard stays that of the current version and submissions are accepted: a new one is
scored by both. A candidate can be applied once it has scored every submission, so the switch is one transaction that
moves all submissions, their scores and the leaderboards at once, and nobody sees a board in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session, aliased

from tallymark.app.domain import audit, leaderboards, quota
from tallymark.app.domain.errors import FormError
from tallymark.app.domain.scoring import (
    MAX_ATTEMPTS,
    facts_of_rejection,
    facts_of_scores,
    score_file,
    write_scores,
)
from tallymark.app.domain.versions import candidate_version, lock_challenge
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, Rescoring, StoredOutcome, StoredScore, Submission, Team, User, Version
from tallymark.errors import Rejection, TallymarkError
from tallymark.submissions.public_private import PUBLIC, PartScores


class Progress(NamedTuple):
    """How many submissions a candidate version has scored, rejected or failed on, and how many still wait."""

    queued: int
    scored: int
    rejected: int
    failed: int

    @property
    def total(self) -> int:
        """All submissions that the candidate scores."""
        return sum(self)


def progress(session: Session, candidate: Version) -> Progress:
    """How far the scoring by a candidate version is."""
    by_state = select(Rescoring.state, func.count()).where(Rescoring.version_id == candidate.id)
    counts = Counter({row[0]: row[1] for row in session.execute(by_state.group_by(Rescoring.state))})
    return Progress(*(counts[state] for state in Progress._fields))


def process_rescoring(service: Service, version_id: int, submission_id: int) -> None:
    """Score a submission by a candidate version, and store what becomes of it."""
    with service.database.reading() as session:
        rescoring = session.get(Rescoring, (version_id, submission_id))
        if rescoring is None:
            return
        version, submission = rescoring.version, rescoring.submission
    scored, state, facts = None, "scored", {}
    try:
        with service.scoring_slots:
            scored = score_file(service, submission, version, resampled=False)
        facts = facts_of_scores(scored)
    except Rejection as error:
        state, facts = "rejected", facts_of_rejection(error)
    except TallymarkError as error:
        state, facts = "failed", {"error": type(error).__name__}
    _store(service, submission, version, state, facts, scored)


def _store(
    service: Service,
    submission: Submission,
    version: Version,
    state: str,
    facts: dict[str, object],
    scored: PartScores | None,
) -> None:
    """Store the result of a submission, unless the candidate was discarded meanwhile."""
    with service.database.writing() as session:
        lock_challenge(session, version.challenge_id)
        rescoring = session.get(Rescoring, (version.id, submission.id), with_for_update={"of": Rescoring})
        if rescoring is None:
            return
        rescoring.work = None
        if scored is not None:
            rescoring.work = write_scores(session, submission, version, scored, resampled=False)
        rescoring.state, rescoring.facts = state, facts
        rescoring.claimed_by = rescoring.claimed = None


def retry_or_fail_rescoring(service: Service, version_id: int, submission_id: int) -> None:
    """Release a submission whose scoring by a candidate has raised; after the last attempt, it has failed."""
    with service.database.writing() as session:
        key = (version_id, submission_id)
        rescoring = session.get(Rescoring, key, with_for_update={"of": Rescoring})
        if rescoring is None or rescoring.claimed_by != service.instance_id:
            return
        rescoring.claimed_by = rescoring.claimed = None
        if rescoring.attempts >= MAX_ATTEMPTS:
            rescoring.state, rescoring.facts = "failed", {"error": "RuntimeError"}


class Place(NamedTuple):
    """A place on a leaderboard, and the score there."""

    place: int
    value: float


class EntryChange(NamedTuple):
    """The entry of a team before and after a candidate is applied; None where the team has none."""

    team: Team
    before: Place | None
    after: Place | None


class Preview(NamedTuple):
    """What a candidate version would change."""

    entries: dict[str, list[EntryChange]]
    """The entries that would change, by part, in the order of their new places; entries that drop out are last."""
    totals: dict[str, int]
    """How many entries each part would have."""
    changed_scores: int
    """How many submissions would have another ranking score on the public part."""
    undefined: int
    """How many scored submissions would have an undefined ranking score."""


def preview(session: Session, current: Version, candidate: Version) -> Preview:
    """What a candidate would change in comparison with the current version."""
    before, after = leaderboards.best_entries(session, current), leaderboards.best_entries(session, candidate)
    teams = {each.id: each for each in session.scalars(select(Team).where(Team.challenge_id == current.challenge_id))}
    entries = {part: _changes(teams, before.get(part, []), ranked) for part, ranked in after.items()}
    return Preview(
        entries,
        {part: len(ranked) for part, ranked in after.items()},
        _count_changed_scores(session, current, candidate),
        _count_undefined(session, candidate),
    )


def _changes(
    teams: dict[int, Team],
    before: Sequence[leaderboards.RankedSubmission],
    after: Sequence[leaderboards.RankedSubmission],
) -> list[EntryChange]:
    old, new = (
        {each.team_id: Place(place, each.value) for place, each in enumerate(ranked, 1)} for ranked in (before, after)
    )
    ids = [*new, *(team for team in old if team not in new)]
    return [EntryChange(teams[id], old.get(id), new.get(id)) for id in ids if old.get(id) != new.get(id)]


def _count_changed_scores(session: Session, current: Version, candidate: Version) -> int:
    old, new = aliased(StoredScore), aliased(StoredScore)
    query = select(func.count()).select_from(new).join(old, old.submission_id == new.submission_id)
    for score, version in ((old, current), (new, candidate)):
        query = query.where(score.version_id == version.id, score.part == PUBLIC, score.place == 0)
    return session.scalar(query.where(old.value.is_distinct_from(new.value))) or 0


def _count_undefined(session: Session, candidate: Version) -> int:
    undefined = (StoredScore.version_id == candidate.id) & (StoredScore.place == 0) & StoredScore.value.is_(None)
    return session.scalar(select(func.count(func.distinct(StoredScore.submission_id))).where(undefined)) or 0


def apply_candidate(service: Service, by: User, challenge: Challenge, number: int) -> None:
    """Make a candidate the current version. The leaderboards change in the same transaction."""
    with service.database.reading() as session:
        rows = leaderboards.rank(session, _find_complete(session, challenge, number))
    with service.database.writing() as session:
        locked = lock_challenge(session, challenge.id)
        candidate = _find_complete(session, challenge, number)
        assert locked is not None
        current = (Version.challenge_id == challenge.id) & (Version.state == "current")
        session.execute(update(Version).where(current).values(state="past"))
        candidate.state = "current"
        _move_submissions(session, service, candidate)
        leaderboards.replace_entries(session, challenge.id, rows)
        # A rebuild that began before is dropped; one more follows, as a score may have come since `rows` were read.
        locked.ranked = locked.changes
        locked.changes += 1
        audit.record(session, service, by, "apply", challenge, f"version {number}")
    service.work_available.set()
    leaderboards.update_leaderboards(service, challenge.id)


def _move_submissions(session: Session, service: Service, candidate: Version) -> None:
    """Give every submission its version, state and facts by the candidate. What is rejected now costs no quota."""
    of_candidate = Rescoring.version_id == candidate.id
    lost = select(Submission).join(Rescoring, Rescoring.submission_id == Submission.id)
    lost = lost.where(of_candidate, Rescoring.state != "scored", Submission.day.is_not(None))
    for submission in session.scalars(lost):
        quota.give_back(session, submission)
    session.flush()
    mine = of_candidate & (Rescoring.submission_id == Submission.id)
    columns = {each.key: each for each in (Rescoring.state, Rescoring.work, Rescoring.facts)}
    moved = update(Submission).where(Submission.id.in_(select(Rescoring.submission_id).where(of_candidate)))
    session.execute(
        moved.values(
            version_id=candidate.id,
            **{name: select(column).where(mine).scalar_subquery() for name, column in columns.items()},
            claimed_by=None,
            claimed=None,
            attempts=0,
            finished=service.now(),
        ),
        execution_options={"synchronize_session": False},
    )
    session.execute(delete(Rescoring).where(of_candidate))


def discard_candidate(service: Service, by: User, challenge: Challenge, number: int) -> None:
    """Discard a candidate with its scores. Its number is not used again."""
    with service.database.writing() as session:
        lock_challenge(session, challenge.id)
        candidate = _find(session, challenge, number)
        candidate.state = "discarded"
        for table in (Rescoring, StoredScore, StoredOutcome):
            session.execute(delete(table).where(table.version_id == candidate.id))
        audit.record(session, service, by, "discard", challenge, f"version {number}")


def _find(session: Session, challenge: Challenge, number: int) -> Version:
    candidate = candidate_version(session, challenge)
    if candidate is None or candidate.number != number:
        raise FormError({"": f"Version {number} is no longer waiting: someone has applied or discarded it."})
    return candidate


def _find_complete(session: Session, challenge: Challenge, number: int) -> Version:
    candidate = _find(session, challenge, number)
    waiting = progress(session, candidate).queued
    if waiting:
        raise FormError({"": f"Not all submissions are scored yet; pending: {waiting:,}. Try again in a moment."})
    return candidate
