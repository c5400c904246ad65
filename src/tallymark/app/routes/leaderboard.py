"""The leaderboard: a page of 100 places, in groups that the rows cannot tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby, islice

from fastapi import APIRouter
from fastapi.responses import Response
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, joinedload

from tallymark.app.boards import distance
from tallymark.app.challenges import find, is_over
from tallymark.app.faults import not_found
from tallymark.app.paging import pages_of
from tallymark.app.permissions import Actor, subject_of
from tallymark.app.results import ranks
from tallymark.app.showing import arrow, band, direction, many, moment, show_interval, show_value
from tallymark.app.store.models import Challenge, Score, Standing, Submission, Version
from tallymark.app.versions import metrics_of
from tallymark.app.views import Bar, Entry, Group, LeaderboardPage, Link, Point, Progress
from tallymark.app.visit import Visit, Visiting
from tallymark.metrics import Metric
from tallymark.submissions.parts import PRIVATE, PUBLIC

router = APIRouter()
SIZE = 100
MOST_OTHERS = 3  # metrics beside the one that ranks
_MEANING = (
    "Entries of one group share their places: the rows of the answers cannot tell them apart from the best of the "
    "group. Within a group, who sent theirs first stands first."
)


@router.get("/challenges/{slug}/leaderboard")
def leaderboard(slug: str, visit: Visiting, page: int = 1, part: str = PUBLIC) -> Response:
    """A page of the leaderboard."""
    with visit.service.database.reading() as session:
        found, version = find(session, slug)
        actor = visit.may("see a leaderboard", session, subject_of(found, version))
        if version is None or part not in _parts(visit, found, version):
            raise not_found()
        return visit.page("leaderboard.html", _view(session, visit, found, version, actor, part, page))


def _parts(visit: Visit, challenge: Challenge, version: Version) -> list[str]:
    """The parts that somebody may see: the private one when all is over."""
    told = version.public is not None and (is_over(challenge, visit.now) or visit.organises)
    return [PUBLIC, PRIVATE] if told else [PUBLIC]


def _view(
    session: Session, visit: Visit, challenge: Challenge, version: Version, actor: Actor, part: str, page: int
) -> LeaderboardPage:
    path = f"/challenges/{challenge.slug}/leaderboard"
    parts = _parts(visit, challenge, version)
    board = (Standing.challenge_id == challenge.id) & (Standing.part == part)
    total = session.scalar(select(func.count()).select_from(Standing).where(board)) or 0
    more = "" if part == PUBLIC else f"&part={part}"
    start, pages = pages_of(total, page, SIZE, path, "entry", more)
    held = session.scalars(
        select(Standing)
        .where(board, Standing.place > start, Standing.place <= start + SIZE)
        .order_by(Standing.place)
        .options(joinedload(Standing.team), joinedload(Standing.submission).selectinload(Submission.scores))
    ).all()
    metrics = dict(islice(metrics_of(version).items(), 1 + MOST_OTHERS))
    key, first = next(iter(metrics.items()))
    intervals = challenge.shows_intervals or visit.organises
    entries = _entries(visit, held, metrics, part, actor, intervals=intervals)
    return LeaderboardPage(
        visit.shell(f"Leaderboard of {challenge.title}"),
        challenge.slug,
        challenge.title,
        _tabs(path, parts, part),
        _sentence(version, part),
        key,
        arrow(first),
        direction(first),
        "95 % interval" if intervals else "",
        [f"{name} {arrow(item)}" for name, item in list(metrics.items())[1:]],
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
    return f"{many(count, 'submission')} {'is' if count == 1 else 'are'} being scored." if count else ""


def _tabs(path: str, parts: Sequence[str], part: str) -> list[Link]:
    if len(parts) == 1:
        return []
    words = {PUBLIC: ("Public part", path), PRIVATE: ("Private part", f"{path}?part=private")}
    return [Link(*words[each], each == part) for each in parts]


def _sentence(version: Version, part: str) -> str:
    if version.public is None:
        return f"The best submission of each team, on {many(version.rows, 'row')}."
    if part == PUBLIC:
        return f"The best submission of each team, on the {many(version.public_rows, 'row')} of the public part."
    return (
        f"What each team has chosen, else its best in public, on the {many(version.rows - version.public_rows, 'row')} "
        "of the private part."
    )


def _entries(
    visit: Visit, held: Sequence[Standing], metrics: dict[str, Metric], part: str, actor: Actor, *, intervals: bool
) -> list[Entry]:
    scores = [{each.name: each for each in row.submission.scores if each.part == part} for row in held]
    first = next(iter(metrics))
    ends = [end for row in scores if first in row for end in (row[first].value, row[first].lo, row[first].hi)]
    told = [end for end in ends if end is not None]
    low, high = (min(told), max(told)) if told else (0.0, 1.0)
    return [
        _entry(visit, row, found, metrics, (low, high), actor, intervals=intervals)
        for row, found in zip(held, scores, strict=True)
    ]


def _entry(
    visit: Visit,
    row: Standing,
    scores: dict[str, Score],
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
        show_value(item, score.value),
        band(item, score.value),
        show_interval(item, score) if intervals else "",
        _bar(score, *ends) if intervals else None,
        [show_value(each, scores[name].value if name in scores else None) for name, each in others],
        f"{row.entries:,}",
        moment(row.submission.created, visit.now),
        row.team.baseline,
        own,
        f"/submissions/{row.submission.key}" if own or visit.organises else "",
    )


def _bar(score: Score, low: float, high: float) -> Bar | None:
    if score.lo is None or score.hi is None or score.value is None or not high > low:
        return None
    lo, at, hi = (round(100 * (end - low) / (high - low), 2) for end in (score.lo, score.value, score.hi))
    return Bar(lo, at, hi)


def _groups(
    session: Session, board: ColumnElement[bool], held: Sequence[Standing], entries: Sequence[Entry]
) -> list[Group]:
    """Entries in their groups, whose places may begin and end on other pages."""
    asked = select(Standing.group, func.min(Standing.place), func.max(Standing.place)).where(board)
    known = {row.group for row in held if row.group is not None}
    places = {
        group: ranks(first, last)
        for group, first, last in session.execute(asked.where(Standing.group.in_(known)).group_by(Standing.group))
    }
    pairs = list(zip(held, entries, strict=True))
    groups = []
    for _, some in groupby(pairs, key=lambda pair: pair[0].group or -pair[0].place):
        few = list(some)
        row = few[0][0]
        rank = str(row.place) if row.group is None else places[row.group]
        groups.append(Group(rank, [entry for _, entry in few]))
    return groups


def _own_page(
    session: Session, board: ColumnElement[bool], actor: Actor, page: int, path: str, more: str
) -> Link | None:
    if actor.team_id is None:
        return None
    place = session.scalar(select(Standing.place).where(board, Standing.team_id == actor.team_id))
    own = None if place is None else (place - 1) // SIZE + 1
    return None if own is None or own == page else Link(f"You are on page {own}", f"{path}?page={own}{more}")


def _progress(session: Session, version: Version, item: Metric, part: str) -> Progress | None:
    """The best score over time."""
    away = distance(item, Score.value, func.abs)
    counted = (
        (Submission.challenge_id == version.challenge_id) & (Submission.state == "scored") & Submission.late.is_(False)
    )
    scored = (
        select(
            Submission.created,
            Score.value,
            away.label("away"),
            func.min(away).over(order_by=(Submission.created, Submission.id), rows=(None, -1)).label("before"),
        )
        .join(Score, Score.submission_id == Submission.id)
        .where(counted, Score.version_id == version.id, Score.part == part)
        .where(Score.place == 0, Score.value.is_not(None))
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
            f"{at.day} {at:%B %Y, %H:%M} UTC: {show_value(item, value)}",
        )
        for at, value in steps
    ]
    first, best = show_value(item, values[0]), show_value(item, values[-1])
    return Progress(
        points,
        f"The best score over time: from {first} to {best} in {many(len(steps), 'step')}.",
        _end(begin, last),
        _end(last, begin),
        show_value(item, low),
        show_value(item, high),
    )


def _end(at: datetime, other: datetime) -> str:
    """One end of the time shown: its day, or its hour where both are on one day."""
    return f"{at:%H:%M} UTC" if at.date() == other.date() else f"{at.day} {at:%B}"
