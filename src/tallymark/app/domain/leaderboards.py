"""Leaderboards: places and groups, written anew when a score or a choice changes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.orm import Session

from tallymark.app.domain.versions import current_version, lock_challenge, metrics_of
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, LeaderboardEntry, StoredOutcome, StoredScore, Submission, Version
from tallymark.metrics.base import Metric
from tallymark.submissions.parts import PRIVATE, PUBLIC
from tallymark.submissions.ranks import rank_groups

_DIRECT = 1 << 23  # bytes of outcomes that are read while somebody waits
_FEW = 1000  # entries that are ranked while somebody waits
_CHUNK = 200


class RankedEntry(NamedTuple):
    """A scored submission: what it has in a part, and whether its team has chosen it."""

    team_id: int
    submission_id: int
    created: datetime
    value: float
    final: bool


def mark_changed(session: Session, challenge_id: int) -> None:
    """Note that something has changed which is ranked."""
    session.execute(update(Challenge).where(Challenge.id == challenge_id).values(changes=Challenge.changes + 1))


def update_leaderboards(service: Service, challenge_id: int) -> None:
    """Write the leaderboards anew where they changed: now if that is quick, else by the worker."""
    with service.database.reading() as session:
        challenge = session.get(Challenge, challenge_id)
        version = None if challenge is None else current_version(session, challenge)
        if challenge is None or version is None or challenge.ranked == challenge.changes:
            return
        teams = session.scalar(_ranked(select(func.count(func.distinct(Submission.team_id))), version, PUBLIC)) or 0
    if teams <= _FEW and teams * version.rows * 4 <= _DIRECT:
        rebuild_leaderboards(service, challenge_id)
    else:
        service.wake.set()


def rebuild_leaderboards(service: Service, challenge_id: int) -> None:
    """Write the leaderboards of a challenge anew. What takes long is done while others write: if they have changed
    what is ranked by then, the leaderboards are written once more."""
    with service.database.reading() as session:
        challenge = session.get(Challenge, challenge_id)
        version = None if challenge is None else current_version(session, challenge)
        if challenge is None or version is None:
            return
        rows = _standings(session, version)
    with service.database.writing() as session:
        now_so = lock_challenge(session, challenge_id)
        if now_so is None or now_so.ranked >= challenge.changes:  # another was quicker
            return
        session.execute(delete(LeaderboardEntry).where(LeaderboardEntry.challenge_id == challenge_id))
        if rows:
            session.execute(insert(LeaderboardEntry), rows)
        now_so.ranked = challenge.changes


def stale_challenges(session: Session) -> Sequence[int]:
    """The challenges whose leaderboards wait to be written anew."""
    return session.scalars(select(Challenge.id).where(Challenge.ranked != Challenge.changes)).all()


def _standings(session: Session, version: Version) -> list[dict[str, Any]]:
    """All places of a version."""
    first = next(iter(metrics_of(version).values()))
    public = _candidates(session, version, PUBLIC)
    private = _candidates(session, version, PRIVATE) if version.public is not None else []
    counts = _counts([*public, *private])
    return [
        *_places(session, version, PUBLIC, _best(public, first), counts),
        *_places(session, version, PRIVATE, _best(_chosen(public, private, first), first), counts),
    ]


def _ranked(asked: Any, version: Version, part: str) -> Any:
    """The submissions that can be ranked: scored by this version, in time, with a value."""
    return (
        asked.join(StoredScore, StoredScore.submission_id == Submission.id)
        .where(Submission.challenge_id == version.challenge_id, Submission.state == "scored")
        .where(Submission.version_id == version.id, Submission.late.is_(False))
        .where(
            StoredScore.version_id == version.id,
            StoredScore.part == part,
            StoredScore.place == 0,
            StoredScore.value.is_not(None),
        )
    )


def _candidates(session: Session, version: Version, part: str) -> list[RankedEntry]:
    asked = select(Submission.team_id, Submission.id, Submission.created, StoredScore.value, Submission.final)
    return [RankedEntry(*row) for row in session.execute(_ranked(asked, version, part))]


def _counts(candidates: Sequence[RankedEntry]) -> dict[int, int]:
    """How many submissions each team has that are ranked in a part or in both."""
    teams = {each.submission_id: each.team_id for each in candidates}
    return Counter(teams.values())


def ranking_key(item: Metric, value: Any, size: Callable[[Any], Any] = abs) -> Any:
    """How far a value, or a column whose `size` the database takes, is from the best: smaller ranks first."""
    if item.better == "higher":
        return -value
    return size(value - item.better) if isinstance(item.better, (int, float)) else value


def _best(candidates: Sequence[RankedEntry], item: Metric) -> list[RankedEntry]:
    """The best of each team, best first, and of equal ones the earliest."""
    ordered = sorted(candidates, key=lambda each: (ranking_key(item, each.value), each.created, each.submission_id))
    best: dict[int, RankedEntry] = {}
    for each in ordered:
        best.setdefault(each.team_id, each)
    return list(best.values())


def _chosen(public: Sequence[RankedEntry], private: Sequence[RankedEntry], item: Metric) -> list[RankedEntry]:
    """What counts in the end: the submissions that a team has chosen, else its best in public."""
    choosers = {each.team_id for each in private if each.final}
    fallback = {each.submission_id for each in _best(public, item) if each.team_id not in choosers}
    return [each for each in private if each.final or each.submission_id in fallback]


def _places(
    session: Session, version: Version, part: str, best: Sequence[RankedEntry], counts: dict[int, int]
) -> list[dict[str, Any]]:
    packed = _packed(session, version, part, [each.submission_id for each in best])
    groups = rank_groups(packed, among=sum(counts.values()))  # each is the best of all tries of its team
    return [
        {
            "challenge_id": version.challenge_id,
            "part": part,
            "place": place,
            "group": group,
            "team_id": each.team_id,
            "submission_id": each.submission_id,
            "entries": counts[each.team_id],
        }
        for place, (each, group) in enumerate(_earliest_first(best, groups), 1)
    ]


def _earliest_first(
    best: Sequence[RankedEntry], groups: Sequence[int | None]
) -> Iterator[tuple[RankedEntry, int | None]]:
    """The same places for each group, in which who came first stands first: the rows do not say more."""
    held: dict[int, list[RankedEntry]] = {}
    for each, group in zip(best, groups, strict=True):
        if group is not None:
            held.setdefault(group, []).append(each)
    turns = {group: iter(sorted(some, key=_age)) for group, some in held.items()}
    for each, group in zip(best, groups, strict=True):
        yield (each if group is None else next(turns[group])), group


def _age(each: RankedEntry) -> tuple[datetime, int]:
    return each.created, each.submission_id


def _packed(session: Session, version: Version, part: str, ids: Sequence[int]) -> Iterator[bytes | None]:
    """The outcomes of submissions, in this order, a few at a time."""
    for start in range(0, len(ids), _CHUNK):
        few = ids[start : start + _CHUNK]
        asked = select(StoredOutcome.submission_id, StoredOutcome.packed).where(StoredOutcome.submission_id.in_(few))
        asked = asked.where(StoredOutcome.version_id == version.id, StoredOutcome.part == part)
        held: dict[int, bytes] = {row[0]: row[1] for row in session.execute(asked)}
        yield from (held.get(each) for each in few)
