"""Leaderboards: who is ranked and in which order, the table of entries, and how pages read it.

A leaderboard is a table of places. It is rebuilt when a score or a choice of final submissions has changed it, so a
page reads at most a hundred rows. A challenge counts its changes (`changes`) and which of them its leaderboards have
seen (`ranked`); the slow part of a rebuild runs outside of the writing transaction. Entries are in the order of their
scores. The ranks that an entry may have come from paired tests of all pairs of entries by their stored outcomes, one
bit or four bytes per row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, delete, func, insert, select, update
from sqlalchemy.orm import Session, joinedload

from tallymark.app.domain.versions import current_version, lock_challenge, metrics_of
from tallymark.app.service import Service
from tallymark.app.store.models import (
    Challenge,
    LeaderboardEntry,
    Rescoring,
    StoredOutcome,
    StoredScore,
    Submission,
    Team,
    Version,
)
from tallymark.comparison.rank_ranges import RankRange
from tallymark.metrics.base import Metric
from tallymark.submissions.public_private import PRIVATE, PUBLIC
from tallymark.submissions.ranks import rank_entries

_MAX_BYTES_AT_ONCE = 1 << 23  # bytes of outcomes that a request may read; more is left to the worker
_MAX_ENTRIES_AT_ONCE = 300  # entries that a request may rank
_IDS_IN_QUERY = 500


class RankedSubmission(NamedTuple):
    """A scored submission that can be ranked in a part; `final` if its team has chosen it."""

    team_id: int
    submission_id: int
    created: datetime
    value: float
    final: bool


def mark_changed(session: Session, challenge_id: int) -> None:
    """Record that something has changed which is ranked."""
    session.execute(update(Challenge).where(Challenge.id == challenge_id).values(changes=Challenge.changes + 1))


def update_leaderboards(service: Service, challenge_id: int) -> None:
    """Rebuild the leaderboards if they have changed: now if that is quick, else in the worker."""
    with service.database.reading() as session:
        challenge = session.get(Challenge, challenge_id)
        version = None if challenge is None else current_version(session, challenge)
        if challenge is None or version is None or challenge.ranked == challenge.changes:
            return
        teams = session.scalar(_rankable(select(func.count(func.distinct(Submission.team_id))), version, PUBLIC)) or 0
    if teams <= _MAX_ENTRIES_AT_ONCE and teams * version.rows * 4 <= _MAX_BYTES_AT_ONCE:
        rebuild_leaderboards(service, challenge_id)
    else:
        service.work_available.set()


def rebuild_leaderboards(service: Service, challenge_id: int) -> None:
    """Rebuild the leaderboards of a challenge. Others may write meanwhile: if they change what is ranked, the
    leaderboards stay stale and are rebuilt once more."""
    with service.database.reading() as session:
        challenge = session.get(Challenge, challenge_id)
        version = None if challenge is None else current_version(session, challenge)
        if challenge is None or version is None:
            return
        rows = rank(session, version)
    with service.database.writing() as session:
        locked = lock_challenge(session, challenge_id)
        if locked is None or locked.ranked >= challenge.changes:  # another rebuild was quicker
            return
        replace_entries(session, challenge_id, rows)
        locked.ranked = challenge.changes


def replace_entries(session: Session, challenge_id: int, rows: list[dict[str, Any]]) -> None:
    """Replace the entries of the leaderboards of a challenge."""
    session.execute(delete(LeaderboardEntry).where(LeaderboardEntry.challenge_id == challenge_id))
    if rows:
        session.execute(insert(LeaderboardEntry), rows)


def stale_challenges(session: Session) -> Sequence[int]:
    """The challenges whose leaderboards must be rebuilt."""
    return session.scalars(select(Challenge.id).where(Challenge.ranked != Challenge.changes)).all()


def rank(session: Session, version: Version) -> list[dict[str, Any]]:
    """The entries of both parts, as rows of the table."""
    parts = {part: _load_rankable(session, version, part) for part in _parts_of(version)}
    counts = _submissions_by_team([each for rankable in parts.values() for each in rankable])
    best = _best_of_parts(version, parts)
    return [row for part in parts for row in _entry_rows(session, version, part, best[part], counts)]


def best_entries(session: Session, version: Version) -> dict[str, list[RankedSubmission]]:
    """The ranked submission of each team by part, in the order of their places, without rank ranges."""
    return _best_of_parts(version, {part: _load_rankable(session, version, part) for part in _parts_of(version)})


def _parts_of(version: Version) -> Sequence[str]:
    return (PUBLIC,) if version.public is None else (PUBLIC, PRIVATE)


def _best_of_parts(
    version: Version, parts: Mapping[str, Sequence[RankedSubmission]]
) -> dict[str, list[RankedSubmission]]:
    metric = next(iter(metrics_of(version).values()))
    best = {PUBLIC: _best_of_teams(parts[PUBLIC], metric)}
    if PRIVATE in parts:
        best[PRIVATE] = _best_of_teams(_finals(parts[PUBLIC], parts[PRIVATE], metric), metric)
    return best


def _rankable(query: Any, version: Version, part: str) -> Any:
    """Restrict a query to submissions that can be ranked: scored by this version, in time, not disqualified, with a
    defined value."""
    if version.state == "candidate":
        rescored = (Rescoring.version_id == version.id) & (Rescoring.state == "scored")
        is_scored: ColumnElement[bool] = Submission.id.in_(select(Rescoring.submission_id).where(rescored))
    else:
        is_scored = (Submission.version_id == version.id) & (Submission.state == "scored")
    return (
        query.join(StoredScore, StoredScore.submission_id == Submission.id)
        .where(Submission.challenge_id == version.challenge_id, is_scored)
        .where(Submission.late.is_(False), Submission.disqualified.is_(None))
        .where(
            StoredScore.version_id == version.id,
            StoredScore.part == part,
            StoredScore.place == 0,
            StoredScore.value.is_not(None),
        )
    )


def _load_rankable(session: Session, version: Version, part: str) -> list[RankedSubmission]:
    query = select(Submission.team_id, Submission.id, Submission.created, StoredScore.value, Submission.final)
    return [RankedSubmission(*row) for row in session.execute(_rankable(query, version, part))]


def _submissions_by_team(ranked: Sequence[RankedSubmission]) -> dict[int, int]:
    """How many submissions each team has that are ranked in a part or in both."""
    teams = {each.submission_id: each.team_id for each in ranked}
    return Counter(teams.values())


def ranking_key(metric: Metric, value: Any, absolute: Callable[[Any], Any] = abs) -> Any:
    """How far a value is from the best: smaller ranks first. With SQL's `func.abs`, the value may be a column."""
    if metric.better == "higher":
        return -value
    return absolute(value - metric.better) if isinstance(metric.better, (int, float)) else value


def _best_of_teams(ranked: Sequence[RankedSubmission], metric: Metric) -> list[RankedSubmission]:
    """The best submission of each team, best first; of equal ones the earlier."""
    ordered = sorted(ranked, key=lambda each: (ranking_key(metric, each.value), each.created, each.submission_id))
    best: dict[int, RankedSubmission] = {}
    for each in ordered:
        best.setdefault(each.team_id, each)
    return list(best.values())


def _finals(
    public: Sequence[RankedSubmission], private: Sequence[RankedSubmission], metric: Metric
) -> list[RankedSubmission]:
    """The submissions that count in the private part: those that a team has chosen, else its best in public."""
    teams_that_chose = {each.team_id for each in private if each.final}
    defaults = {each.submission_id for each in _best_of_teams(public, metric) if each.team_id not in teams_that_chose}
    return [each for each in private if each.final or each.submission_id in defaults]


def _entry_rows(
    session: Session, version: Version, part: str, best: Sequence[RankedSubmission], counts: dict[int, int]
) -> list[dict[str, Any]]:
    ranges = rank_entries(
        _StoredOutcomes(session, version, part, [each.submission_id for each in best]),
        scores=[each.value for each in best],
        among=sum(counts.values()),  # each is the best of all submissions of its team
    )
    return [
        {
            "challenge_id": version.challenge_id,
            "part": part,
            "place": place,
            "best_rank": ranks.best,
            "worst_rank": ranks.worst,
            "team_id": each.team_id,
            "submission_id": each.submission_id,
            "entries": counts[each.team_id],
        }
        for place, (each, ranks) in enumerate(zip(best, ranges, strict=True), 1)
    ]


class _StoredOutcomes:
    """The outcomes of submissions in this order, read from the database when a slice of them is asked for."""

    def __init__(self, session: Session, version: Version, part: str, submissions: Sequence[int]) -> None:
        self._session, self._submissions = session, submissions
        self._of_part = (StoredOutcome.version_id == version.id) & (StoredOutcome.part == part)

    def __len__(self) -> int:
        return len(self._submissions)

    def __getitem__(self, places: slice) -> list[bytes | None]:
        packed: dict[int, bytes] = {}
        wanted = self._submissions[places]
        query = select(StoredOutcome.submission_id, StoredOutcome.packed).where(self._of_part)
        for start in range(0, len(wanted), _IDS_IN_QUERY):
            some = StoredOutcome.submission_id.in_(wanted[start : start + _IDS_IN_QUERY])
            packed.update((row[0], row[1]) for row in self._session.execute(query.where(some)))
        return [packed.get(id) for id in wanted]


class Leaderboard(NamedTuple):
    """The leaderboard of a challenge in one part, as pages read it."""

    challenge_id: int
    part: str

    @property
    def _entries(self) -> ColumnElement[bool]:
        return (LeaderboardEntry.challenge_id == self.challenge_id) & (LeaderboardEntry.part == self.part)

    def count(self, session: Session) -> int:
        """How many entries there are."""
        return session.scalar(select(func.count()).select_from(LeaderboardEntry).where(self._entries)) or 0

    def entries(self, session: Session, start: int, size: int) -> Sequence[LeaderboardEntry]:
        """The entries after the first `start`, with their teams, submissions and scores."""
        return session.scalars(
            select(LeaderboardEntry)
            .where(self._entries, LeaderboardEntry.place > start, LeaderboardEntry.place <= start + size)
            .order_by(LeaderboardEntry.place)
            .options(
                joinedload(LeaderboardEntry.team),
                joinedload(LeaderboardEntry.submission).selectinload(Submission.scores),
            )
        ).all()

    def entry_of_team(self, session: Session, team_id: int) -> LeaderboardEntry | None:
        """The entry of a team; None where it has none."""
        return session.scalar(select(LeaderboardEntry).where(self._entries, LeaderboardEntry.team_id == team_id))

    def place_of_team(self, session: Session, team_id: int) -> int | None:
        """The place of a team; None where it has no entry."""
        entry = self.entry_of_team(session, team_id)
        return None if entry is None else entry.place

    def best_baseline(self, session: Session) -> LeaderboardEntry | None:
        """The best entry of the organisers; None where there is none."""
        baselines = select(LeaderboardEntry).join(Team, Team.id == LeaderboardEntry.team_id).where(Team.baseline)
        return session.scalar(baselines.where(self._entries).order_by(LeaderboardEntry.place).limit(1))


class Standing(NamedTuple):
    """The place of an entry on a leaderboard of so many, and the ranks that it may have."""

    total: int
    place: int
    ranks: RankRange
    submission_id: int
    """The submission of the team that is the entry."""


def find_standing(session: Session, board: Leaderboard, team_id: int) -> Standing | None:
    """The place of a team on a leaderboard; None where it has no entry."""
    entry = board.entry_of_team(session, team_id)
    if entry is None:
        return None
    return Standing(board.count(session), entry.place, rank_range_of(entry), entry.submission_id)


def rank_range_of(entry: LeaderboardEntry) -> RankRange:
    """The ranks that an entry may have."""
    return RankRange(entry.best_rank, entry.worst_rank)


class Improvement(NamedTuple):
    """A submission that was better than all before it."""

    created: datetime
    value: float


def score_history(
    session: Session, version: Version, metric: Metric, part: str
) -> tuple[list[Improvement], datetime | None]:
    """The best score over time, from improvement to improvement, and when the last submission came."""
    distance = ranking_key(metric, StoredScore.value, func.abs)
    in_time = (
        (Submission.challenge_id == version.challenge_id)
        & (Submission.state == "scored")
        & Submission.late.is_(False)
        & Submission.disqualified.is_(None)
    )
    scored = (
        select(
            Submission.created,
            StoredScore.value,
            distance.label("distance"),
            func.min(distance).over(order_by=(Submission.created, Submission.id), rows=(None, -1)).label("best_before"),
        )
        .join(StoredScore, StoredScore.submission_id == Submission.id)
        .where(in_time, StoredScore.version_id == version.id, StoredScore.part == part)
        .where(StoredScore.place == 0, StoredScore.value.is_not(None))
        .subquery()
    ).c
    improves = scored.best_before.is_(None) | (scored.distance < scored.best_before)
    rows = session.execute(select(scored.created, scored.value).where(improves).order_by(scored.created))
    steps = [Improvement(*row) for row in rows]
    return steps, session.scalar(select(func.max(Submission.created)).where(in_time))


def count_queued(session: Session, challenge: Challenge) -> int:
    """How many submissions of a challenge have no scores yet."""
    queued = (Submission.challenge_id == challenge.id) & (Submission.state == "queued")
    return session.scalar(select(func.count()).select_from(Submission).where(queued)) or 0
