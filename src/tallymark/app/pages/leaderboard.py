"""The leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tallymark.app.pages.shell import Link, PageTime, Pagination, Shell


class IntervalBar(NamedTuple):
    """An interval to be drawn: where it starts, where the value is and where it ends, each of 0 to 100 from the left.

    The same range for all entries, such as that of all intervals shown: on 0 to 1 those of good entries are dots.
    """

    lo: float
    at: float
    hi: float


class Entry(NamedTuple):
    """A row of the leaderboard."""

    team: str
    score: str
    band: str
    interval: str
    bar: IntervalBar | None
    others: Sequence[str]
    """The other metrics, in the order of the headings."""
    submissions: str
    date: PageTime
    baseline: bool = False
    own: bool = False
    href: str = ""
    """Where its result is, for those who may see it."""


class RankGroup(NamedTuple):
    """Entries that cannot be told apart, and the places that they share: "1–3"."""

    rank: str
    entries: Sequence[Entry]


class Point(NamedTuple):
    """A point of a line, 0 to 1 from the left and from below, and what it says."""

    x: float
    y: float
    text: str


class ScoreHistory(NamedTuple):
    """The best score over time: its steps, a sentence that says it, and the ends of both axes in words."""

    points: Sequence[Point]
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
    """The parts that there are to see; none where there is one."""
    sentence: str
    """What is ranked, on which rows."""
    metric: str
    arrow: str
    direction: str
    interval: str
    """The heading of the intervals: "95 % interval"; empty where none are shown."""
    others: Sequence[str]
    groups: Sequence[RankGroup]
    meaning: str
    """What a group means, in one sentence."""
    pages: Pagination | None = None
    own_page: Link | None = None
    """ "You are on page 3", where one's own entry is on another page."""
    progress: ScoreHistory | None = None
    waiting: str = ""
    """ "3 submissions are being scored.", where some are."""
