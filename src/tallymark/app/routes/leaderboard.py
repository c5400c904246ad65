"""The leaderboard: a page of 100 places, in groups that the rows cannot tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby, islice

from fastapi import APIRouter
from fastapi.responses import Response
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, joinedload

from tallymark.app.domain.challenges import find, is_over
from tallymark.app.domain.errors import not_found
from tallymark.app.domain.leaderboards import ranking_key
from tallymark.app.domain.permissions import Actor, resource_of
from tallymark.app.domain.results import ranks
from tallymark.app.domain.versions import metrics_of
from tallymark.app.http.request_context import ContextDep, RequestContext
from tallymark.app.pages.formatting import (
    direction_arrow,
    direction_text,
    format_interval,
    format_score,
    page_time,
    pluralize,
    score_band,
)
from tallymark.app.pages.leaderboard import Entry, IntervalBar, LeaderboardPage, Point, RankGroup, ScoreHistory
from tallymark.app.pages.pagination import paginate
from tallymark.app.pages.shell import Link
from tallymark.app.store.models import Challenge, LeaderboardEntry, StoredScore, Submission, Version
from tallymark.metrics.base import Metric
from tallymark.submissions.parts import PRIVATE, PUBLIC

router = APIRouter()
SIZE = 100
MOST_OTHERS = 3  # metrics beside the one that ranks
_MEANING = (
    "Entries of one group share their places: the rows of the answers cannot tell them apart from the best of the "
    "group. Within a group, who sent theirs first stands first."
)


@router.get("/challenges/{slug}/leaderboard")
def leaderboard(slug: str, context: ContextDep, page: int = 1, part: str = PUBLIC) -> Response:
    """A page of the leaderboard."""
    with context.service.database.reading() as session:
        found, version = find(session, slug)
        actor = context.may("see a leaderboard", session, resource_of(found, version))
        if version is None or part not in _parts(context, found, version):
            raise not_found()
        return context.page("leaderboard.html", _view(session, context, found, version, actor, part, page))


def _parts(context: RequestContext, challenge: Challenge, version: Version) -> list[str]:
    """The parts that somebody may see: the private one when all is over."""
    told = version.public is not None and (is_over(challenge, context.now) or context.is_organiser)
    return [PUBLIC, PRIVATE] if told else [PUBLIC]


def _view(
    session: Session,
    context: RequestContext,
    challenge: Challenge,
    version: Version,
    actor: Actor,
    part: str,
    page: int,
) -> LeaderboardPage:
    path = f"/challenges/{challenge.slug}/leaderboard"
    parts = _parts(context, challenge, version)
    board = (LeaderboardEntry.challenge_id == challenge.id) & (LeaderboardEntry.part == part)
    total = session.scalar(select(func.count()).select_from(LeaderboardEntry).where(board)) or 0
    more = "" if part == PUBLIC else f"&part={part}"
    start, pages = paginate(total, page, SIZE, path, "entry", more)
    held = session.scalars(
        select(LeaderboardEntry)
        .where(board, LeaderboardEntry.place > start, LeaderboardEntry.place <= start + SIZE)
        .order_by(LeaderboardEntry.place)
        .options(
            joinedload(LeaderboardEntry.team), joinedload(LeaderboardEntry.submission).selectinload(Submission.scores)
        )
    ).all()
    metrics = dict(islice(metrics_of(version).items(), 1 + MOST_OTHERS))
    key, first = next(iter(metrics.items()))
    intervals = challenge.shows_intervals or context.is_organiser
    entries = _entries(context, held, metrics, part, actor, intervals=intervals)
    return LeaderboardPage(
        context.shell(f"Leaderboard of {challenge.title}"),
        challenge.slug,
        challenge.title,
        _tabs(path, parts, part),
        _sentence(version, part),
        key,
        direction_arrow(first),
        direction_text(first),
        "95 % interval" if intervals else "",
        [f"{name} {direction_arrow(item)}" for name, item in list(metrics.items())[1:]],
        _groups(session, board, held, entries),
        _MEANING,
        pages,
        _own_page(session, board, actor, page, path, more),
        _progress(session, version, first, part) if page == 1 else None,
        _waiting(session, challenge),
    )


def _waiting(session: Session, challenge: Challenge) -> str:
    """What is not on the board yet."""
    asked = (Submission.challenge_id == challenge.id) & (Submission.state == "queued")
    count = session.scalar(select(func.count()).select_from(Submission).where(asked)) or 0
    return f"{pluralize(count, 'submission')} {'is' if count == 1 else 'are'} being scored." if count else ""


def _tabs(path: str, parts: Sequence[str], part: str) -> list[Link]:
    if len(parts) == 1:
        return []
    words = {PUBLIC: ("Public part", path), PRIVATE: ("Private part", f"{path}?part=private")}
    return [Link(*words[each], each == part) for each in parts]


def _sentence(version: Version, part: str) -> str:
    if version.public is None:
        return f"The best submission of each team, on {pluralize(version.rows, 'row')}."
    if part == PUBLIC:
        return f"The best submission of each team, on the {pluralize(version.public_rows, 'row')} of the public part."
    return (
        f"What each team has chosen, else its best in public, on the {pluralize(version.rows - version.public_rows, 'row')} "
        "of the private part."
    )


def _entries(
    context: RequestContext,
    held: Sequence[LeaderboardEntry],
    metrics: dict[str, Metric],
    part: str,
    actor: Actor,
    *,
    intervals: bool,
) -> list[Entry]:
    scores = [{each.name: each for each in row.submission.scores if each.part == part} for row in held]
    first = next(iter(metrics))
    ends = [end for row in scores if first in row for end in (row[first].value, row[first].lo, row[first].hi)]
    told = [end for end in ends if end is not None]
    low, high = (min(told), max(told)) if told else (0.0, 1.0)
    return [
        _entry(context, row, found, metrics, (low, high), actor, intervals=intervals)
        for row, found in zip(held, scores, strict=True)
    ]


def _entry(
    context: RequestContext,
    row: LeaderboardEntry,
    scores: dict[str, StoredScore],
    metrics: dict[str, Metric],
    ends: tuple[float, float],
    actor: Actor,
    *,
    intervals: bool,
) -> Entry:
    (key, item), *others = metrics.items()
    score = scores[key]
    own = actor.team_id == row.team_id
    return Entry(
        row.team.name,
        format_score(item, score.value),
        score_band(item, score.value),
        format_interval(item, score) if intervals else "",
        _bar(score, *ends) if intervals else None,
        [format_score(each, scores[name].value if name in scores else None) for name, each in others],
        f"{row.entries:,}",
        page_time(row.submission.created, context.now),
        row.team.baseline,
        own,
        f"/submissions/{row.submission.key}" if own or context.is_organiser else "",
    )


def _bar(score: StoredScore, low: float, high: float) -> IntervalBar | None:
    if score.lo is None or score.hi is None or score.value is None or not high > low:
        return None
    lo, at, hi = (round(100 * (end - low) / (high - low), 2) for end in (score.lo, score.value, score.hi))
    return IntervalBar(lo, at, hi)


def _groups(
    session: Session, board: ColumnElement[bool], held: Sequence[LeaderboardEntry], entries: Sequence[Entry]
) -> list[RankGroup]:
    """Entries in their groups, whose places may begin and end on other pages."""
    asked = select(LeaderboardEntry.group, func.min(LeaderboardEntry.place), func.max(LeaderboardEntry.place)).where(
        board
    )
    known = {row.group for row in held if row.group is not None}
    places = {
        group: ranks(first, last)
        for group, first, last in session.execute(
            asked.where(LeaderboardEntry.group.in_(known)).group_by(LeaderboardEntry.group)
        )
    }
    pairs = list(zip(held, entries, strict=True))
    groups = []
    for _, some in groupby(pairs, key=lambda pair: pair[0].group or -pair[0].place):
        few = list(some)
        row = few[0][0]
        rank = str(row.place) if row.group is None else places[row.group]
        groups.append(RankGroup(rank, [entry for _, entry in few]))
    return groups


def _own_page(
    session: Session, board: ColumnElement[bool], actor: Actor, page: int, path: str, more: str
) -> Link | None:
    if actor.team_id is None:
        return None
    place = session.scalar(select(LeaderboardEntry.place).where(board, LeaderboardEntry.team_id == actor.team_id))
    own = None if place is None else (place - 1) // SIZE + 1
    return None if own is None or own == page else Link(f"You are on page {own}", f"{path}?page={own}{more}")


def _progress(session: Session, version: Version, item: Metric, part: str) -> ScoreHistory | None:
    """The best score over time."""
    away = ranking_key(item, StoredScore.value, func.abs)
    counted = (
        (Submission.challenge_id == version.challenge_id) & (Submission.state == "scored") & Submission.late.is_(False)
    )
    scored = (
        select(
            Submission.created,
            StoredScore.value,
            away.label("away"),
            func.min(away).over(order_by=(Submission.created, Submission.id), rows=(None, -1)).label("before"),
        )
        .join(StoredScore, StoredScore.submission_id == Submission.id)
        .where(counted, StoredScore.version_id == version.id, StoredScore.part == part)
        .where(StoredScore.place == 0, StoredScore.value.is_not(None))
        .subquery()
    ).c
    better = scored.before.is_(None) | (scored.away < scored.before)
    steps = session.execute(select(scored.created, scored.value).where(better).order_by(scored.created)).all()
    last = session.scalar(select(func.max(Submission.created)).where(counted))
    if len(steps) < 2 or last is None:
        return None
    begin = steps[0].created
    span = max((last - begin).total_seconds(), 1.0)
    values = [step.value for step in steps]
    low, high = min(values), max(values)
    points = [
        Point(
            (at - begin).total_seconds() / span,
            (value - low) / (high - low),
            f"{at.day} {at:%B %Y, %H:%M} UTC: {format_score(item, value)}",
        )
        for at, value in steps
    ]
    first, best = format_score(item, values[0]), format_score(item, values[-1])
    return ScoreHistory(
        points,
        f"The best score over time: from {first} to {best} in {pluralize(len(steps), 'step')}.",
        _end(begin, last),
        _end(last, begin),
        format_score(item, low),
        format_score(item, high),
    )


def _end(at: datetime, other: datetime) -> str:
    """One end of the time shown: its day, or its hour where both are on one day."""
    return f"{at:%H:%M} UTC" if at.date() == other.date() else f"{at.day} {at:%B}"
