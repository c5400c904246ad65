"""The page of a leaderboard: rows with their rank ranges, intervals on one scale, and the best score over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import median
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
from tallymark.submissions.public_private import PUBLIC

ORDER = "Entries are ordered by score; of equal scores, the earlier entry is first."
RANK_MEANING = (
    "The rank range is 1 + the number of entries that are significantly better, to the number of entries − the number "
    "that are significantly worse (5 % level, corrected for all pairs by Holm’s method)."
)


_MAX_SCALE_WIDTH = 5  # intervals of the leading entries side by side


class BarScale(NamedTuple):
    """The range that the bars of a page share."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """A value as a percentage from the left; ends of the scale for values beyond it."""
        return round(100 * (min(max(value, self.low), self.high) - self.low) / (self.high - self.low), 2)

    def bar(self, score: StoredScore) -> IntervalBar | None:
        """The interval of a score; None where it has none."""
        if score.lo is None or score.hi is None or score.value is None:
            return None
        is_shown = self.low <= score.value <= self.high
        return IntervalBar(
            self.place(score.lo),
            self.place(score.value) if is_shown else None,
            self.place(score.hi),
            score.lo < self.low,
            score.hi > self.high,
        )


class IntervalBar(NamedTuple):
    """A drawn interval: its lower end, the value and its upper end, each as a percentage from the left. `value` is None
    where it is beyond the scale; `beyond_low` and `beyond_high` say that the interval goes on there."""

    lo: float
    value: float | None
    hi: float
    beyond_low: bool = False
    beyond_high: bool = False

    @property
    def beyond(self) -> str:
        """What is not drawn, in words; empty if all is."""
        if not (self.beyond_low or self.beyond_high):
            return ""
        return "beyond the scale" if self.value is None else "partly beyond the scale"


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
    scale: str = ""
    """The ends of the scale of the bars, and what an arrow means; empty where there are no bars."""
    queued: str = ""
    """ "3 submissions are being scored."; empty if none are."""
    key_of_bands: str = ""
    """What the colours of the scores mean."""
    notice: str = ""
    """That the final ranking is not shown yet, after the end."""


def part_path(slug: str, part: str) -> str:
    """The path of the leaderboard of a part."""
    path = f"/challenges/{slug}/leaderboard"
    return path if part == PUBLIC else f"{path}?part={part}"


def part_tabs(slug: str, parts: Sequence[str], current: str) -> list[Link]:
    """Links to the parts; none where there is one."""
    if len(parts) == 1:
        return []
    return [Link(f"{part.capitalize()} part", part_path(slug, part), part == current) for part in parts]


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
    scale: BarScale | None,
    intervals: bool,
    links: bool,
) -> list[LeaderboardRow]:
    """A row for each entry. A team sees a link to its own result; `links` shows all of them."""
    (name, metric), *others = metrics.items()
    scores = [{score.name: score for score in entry.submission.scores if score.part == part} for entry in entries]
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
                bar=None if scale is None else scale.bar(score),
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


def bar_scale(entries: Sequence[LeaderboardEntry], metric: Metric, name: str, part: str) -> BarScale | None:
    """The scale of the bars of a page; None where no interval can be drawn.

    It begins at the best end of the leading intervals, those that overlap with the first one, and is at most as wide as
    five of them: on a scale to the worst entry, the leaders would be dots.
    """
    scores = [
        score for entry in entries for score in entry.submission.scores if (score.part, score.name) == (part, name)
    ]
    drawn = [(score.lo, score.hi) for score in scores if score.lo is not None and score.hi is not None]
    if not drawn:
        return None
    low, high = min(lo for lo, _ in drawn), max(hi for _, hi in drawn)
    first_lo, first_hi = drawn[0]
    leading = [(lo, hi) for lo, hi in drawn if lo <= first_hi and first_lo <= hi]
    width = _MAX_SCALE_WIDTH * median(hi - lo for lo, hi in leading)
    if width > 0:
        best_low, best_high = min(lo for lo, _ in leading), max(hi for _, hi in leading)
        if metric.better == "higher":
            low, high = max(low, best_high - width), best_high
        elif metric.better == "lower":
            low, high = best_low, min(high, best_low + width)
        else:
            centre = (best_low + best_high) / 2
            low, high = max(low, centre - width / 2), min(high, centre + width / 2)
    return BarScale(low, high) if high > low else None


def scale_sentence(metric: Metric, scale: BarScale | None, rows: Sequence[LeaderboardRow]) -> str:
    """The ends of the scale of the bars, and what an arrow means where there is one."""
    if scale is None:
        return ""
    ends = f"The bars are drawn from {format_score(metric, scale.low)} to {format_score(metric, scale.high)}"
    if any(row.bar is not None and row.bar.beyond for row in rows):
        return f"{ends}, to fit the leading entries; an arrow marks an interval that goes on beyond."
    return f"{ends}."


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
