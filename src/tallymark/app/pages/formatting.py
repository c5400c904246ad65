"""Numbers, times and metrics as pages show them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from markdown_it import MarkdownIt
from markupsafe import Markup

from tallymark.app.pages.challenges import MetricFacts
from tallymark.app.pages.shell import PageTime
from tallymark.app.store.models import StoredScore
from tallymark.metrics.base import Metric
from tallymark.rendering.document import Card, Scale
from tallymark.rendering.table import Percent, show_number
from tallymark.submissions.document import WHY_MACRO
from tallymark.submissions.result import interval_text, shown_in_percent

TASKS = {
    "labels": "Labels",
    "numbers": "Numbers",
    "probabilities": "Probabilities",
    "ranking": "Scores for a ranking",
}
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def show_rules(text: str) -> Markup:
    """Markdown as HTML in which nothing runs and nothing is loaded from elsewhere."""
    tokens = _MARKDOWN.parse(text)
    for token in tokens:
        if token.type == "heading_open" or token.type == "heading_close":
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"  # below the headings of the page
        for inner in token.children or ():
            if inner.type == "image":  # a link, since other sites would see who reads
                inner.type, inner.tag, inner.content = "text", "", f"[{inner.content}]"
    return Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))


def moment(at: datetime, now: datetime) -> PageTime:
    """A time, for machines and in words."""
    return PageTime(at.isoformat(), f"{at.day} {at:%B %Y, %H:%M} UTC", away(at - now))


def maybe(at: datetime | None, now: datetime) -> PageTime | None:
    """A time, if there is one."""
    return None if at is None else moment(at, now)


def away(span: timedelta) -> str:
    """How far a time is from now.

    >>> away(timedelta(days=3)), away(-timedelta(minutes=5))
    ('in 3 days', '5 minutes ago')
    """
    seconds = span.total_seconds()
    for unit, size in _UNITS:
        count = round(abs(seconds) / size)
        if abs(seconds) >= size:
            told = f"{count} {unit}{'s' * (count != 1)}"
            return f"in {told}" if seconds > 0 else f"{told} ago"
    return "in a moment" if seconds > 0 else "just now"


def many(count: int, what: str) -> str:
    """A number of things.

    >>> many(1, "team"), many(1200, "entry")
    ('1 team', '1,200 entries')
    """
    several = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{count:,} {what if count == 1 else several}"


def arrow(item: Metric) -> str:
    """The direction of a metric as a sign."""
    return {"higher": "↑", "lower": "↓"}.get(str(item.better), "→")


def direction(item: Metric) -> str:
    """The direction of a metric in words."""
    if item.better in ("higher", "lower"):
        return f"{item.better} is better"
    return f"closer to {show_number(float(item.better))} is better" if item.better is not None else "no direction"


def show_value(item: Metric, value: float | None) -> str:
    """A score as people read it."""
    if value is None:
        return "undefined"
    return str(Percent(value, "")) if shown_in_percent(item) else show_number(value, 4)


def band(item: Metric, value: float | None) -> str:
    """Whether a score is good, fair or poor, where that can be said."""
    return "" if value is None else item.band(value) or ""


def format_interval(item: Metric, score: StoredScore) -> str:
    """The interval of a score in words; empty where there is none."""
    return "" if score.lo is None or score.hi is None else interval_text(item, score.lo, score.hi)


def card(item: Metric, score: StoredScore, *, intervals: bool) -> Card:
    """A score as a headline number."""
    told = format_interval(item, score) if intervals else ""
    scale = None
    if score.value is not None and shown_in_percent(item):
        lo, hi = (score.lo, score.hi) if intervals else (None, None)
        scale = Scale(0.0, 1.0, score.value, lo, hi)
    interval = f"95 % interval: {told}" if told else ""
    return Card(score.name, show_value(item, score.value), interval, "", band(item, score.value), scale)


def explain_metrics(metrics: Iterable[tuple[str, Metric]]) -> list[MetricFacts]:
    """Metrics explained, the one that ranks first."""
    return [
        MetricFacts(
            key,
            arrow(item),
            direction(item),
            item.description,
            item.formula,
            [line for line in (item.reading, *item.pitfalls) if line],
            WHY_MACRO if "macro" in str(getattr(item, "average", "")) else "",
            place == 0,
        )
        for place, (key, item) in enumerate(metrics)
    ]
