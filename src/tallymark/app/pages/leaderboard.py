"""The page of a leaderboard: rows with their rank ranges, intervals on one scale, and the best score over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from tallymark.app.domain.leaderboards import Improvement, rank_range_of
from tallymark.app.domain.versions import metrics_of
from tallymark.app.pages.formatting import (
    direction_arrow,
    format_interval,
    format_score,
    metric_names,
    page_time,
    pluralize,
    score_band,
)
from tallymark.app.pages.shell import Link, PageTime, Pagination, Shell
from tallymark.app.store.models import LeaderboardEntry, StoredScore, Version
from tallymark.metrics.base import Metric
from tallymark.rendering.table import Name
from tallymark.submissions.public_private import PRIVATE, PUBLIC

ORDER = "Entries are ordered by score; of equal scores, the earlier entry is first."
RANK_MEANING = (
    "The rank range is 1 + the number of entries that are significantly better, to the number of entries − the number "
    "that are significantly worse (5 % level, corrected for all pairs by Holm’s method)."
)


class IntervalBar(NamedTuple):
    """A drawn interval: its lower end, the value and its upper end, each as a percentage from the left.

    All rows of a page share one range, from the lowest to the highest end shown: on 0 to 1, good entries would be dots.
    """

    lo: float
    value: float
    hi: float


class LeaderboardRow(NamedTuple):
    """A row of the leaderboard."""

    place: str
    team: str
    score: str
    band: str
    interval: str
    bar: IntervalBar | None
    ranks: str
    """The ranks that it may have: "1–3"."""
    others: Sequence[str]
    """The other metrics, in the order of the headings."""
    submissions: str
    date: PageTime
    baseline: bool = False
    own: bool = False
    href: str = ""
    """The path of its result, for those who may see it."""


class ChartPoint(NamedTuple):
    """A point of a line chart, 0 to 1 from the left and from below, with its description."""

    x: float
    y: float
    text: str


class HistoryChart(NamedTuple):
    """The best score over time: its steps, a sentence that describes it, and the labels at the ends of both axes."""

    points: Sequence[ChartPoint]
    sentence: str
    first: str
    last: str
    low: str
    high: str


class LeaderboardPage(NamedTuple):
    """`/challenges/{slug}/leaderboard` (leaderboard.html)."""

    shell: Shell
    slug: str
    title: str
    tabs: Sequence[Link]
    """The parts that the reader may see; empty where there is only one."""
    sentence: str
    """What is ranked, on which rows."""
    metric: str
    arrow: str
    direction: str
    interval: str
    """The heading of the intervals: "95 % interval"; empty where none are shown."""
    others: Sequence[str]
    rows: Sequence[LeaderboardRow]
    meaning: str
    """How entries are ordered, and what a rank range means."""
    pages: Pagination | None = None
    own_page: Link | None = None
    """ "You are on page 3", if the reader's own entry is on another page."""
    history: HistoryChart | None = None
    queued: str = ""
    """ "3 submissions are being scored."; empty if none are."""
    key_of_bands: str = ""
    """What the colours of the scores mean."""
    notice: str = ""
    """That the final ranking is not shown yet, after the end."""


def part_tabs(path: str, parts: Sequence[str], current: str) -> list[Link]:
    """Links to the parts; none where there is one."""
    if len(parts) == 1:
        return []
    tabs = {PUBLIC: ("Public part", path), PRIVATE: ("Private part", f"{path}?part=private")}
    return [Link(*tabs[part], part == current) for part in parts]


def ranking_sentence(version: Version, part: str) -> str:
    """What is ranked, on which rows."""
    if version.public is None:
        return f"The best submission of each team, on {pluralize(version.rows, 'row')}."
    if part == PUBLIC:
        return f"The best submission of each team, on the {pluralize(version.public_rows, 'row')} of the public part."
    private_rows = pluralize(version.rows - version.public_rows, "row")
    return (
        f"The selected submissions of each team, by default its best public one, on {private_rows} of the private part."
    )


def metric_headings(version: Version) -> list[Name]:
    """The headings of the columns of scores."""
    names = metric_names(version)
    return [Name(f"{names[key]} {direction_arrow(metric)}", key) for key, metric in metrics_of(version).items()]


def queued_sentence(count: int) -> str:
    """How many submissions are being scored; empty if none."""
    return f"{pluralize(count, 'submission')} {'is' if count == 1 else 'are'} being scored." if count else ""


def leaderboard_rows(
    entries: Sequence[LeaderboardEntry],
    metrics: Mapping[str, Metric],
    part: str,
    now: datetime,
    own_team: int | None,
    *,
    intervals: bool,
    links: bool,
) -> list[LeaderboardRow]:
    """A row for each entry. A team sees a link to its own result; `links` shows all of them."""
    (name, metric), *others = metrics.items()
    scores = [{score.name: score for score in entry.submission.scores if score.part == part} for entry in entries]
    ends = [end for row in scores if name in row for end in (row[name].value, row[name].lo, row[name].hi)]
    defined = [end for end in ends if end is not None]
    low, high = (min(defined), max(defined)) if defined else (0.0, 1.0)
    rows = []
    for entry, by_name in zip(entries, scores, strict=True):
        score, own = by_name[name], entry.team_id == own_team
        rows.append(
            LeaderboardRow(
                place=f"{entry.place:,}",
                team=entry.team.name,
                score=format_score(metric, score.value),
                band=score_band(metric, score.value),
                interval=format_interval(metric, score) if intervals else "",
                bar=_interval_bar(score, low, high) if intervals else None,
                ranks=str(rank_range_of(entry)),
                others=[format_score(other, by_name[key].value if key in by_name else None) for key, other in others],
                submissions=f"{entry.entries:,}",
                date=page_time(entry.submission.created, now),
                baseline=entry.team.baseline,
                own=own,
                href=f"/submissions/{entry.submission.key}" if own or links else "",
            )
        )
    return rows


def _interval_bar(score: StoredScore, low: float, high: float) -> IntervalBar | None:
    if score.lo is None or score.hi is None or score.value is None or not high > low:
        return None
    return IntervalBar(*(round(100 * (end - low) / (high - low), 2) for end in (score.lo, score.value, score.hi)))


def history_chart(metric: Metric, steps: Sequence[Improvement], last: datetime | None) -> HistoryChart | None:
    """The best score over time, until the last submission; None where it has not improved yet."""
    if len(steps) < 2 or last is None:
        return None
    begin = steps[0].created
    span = max((last - begin).total_seconds(), 1.0)
    values = [step.value for step in steps]
    low, high = min(values), max(values)
    points = [
        ChartPoint(
            (created - begin).total_seconds() / span,
            (value - low) / (high - low),
            f"{created.day} {created:%B %Y, %H:%M} UTC: {format_score(metric, value)}",
        )
        for created, value in steps
    ]
    first, best = format_score(metric, values[0]), format_score(metric, values[-1])
    return HistoryChart(
        points,
        f"The best score over time: from {first} to {best} in {pluralize(len(steps), 'step')}.",
        _axis_label(begin, last),
        _axis_label(last, begin),
        format_score(metric, low),
        format_score(metric, high),
    )


def _axis_label(time: datetime, other_end: datetime) -> str:
    """The day at one end of the time axis, or the hour where both ends are on one day."""
    return f"{time:%H:%M} UTC" if time.date() == other_end.date() else f"{time.day} {time:%B}"
