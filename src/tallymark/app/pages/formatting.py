"""Numbers, times and metrics as pages show them."""

from __future__ import annotations

from datetime import datetime, timedelta

from markdown_it import MarkdownIt
from markupsafe import Markup

from tallymark.app.domain.versions import metrics_of
from tallymark.app.pages.shell import PageTime
from tallymark.app.store.models import StoredScore, Version
from tallymark.evaluation.baselines import Baseline
from tallymark.evaluation.document import landmarks_in_range
from tallymark.evaluation.report import display_names
from tallymark.metrics.base import Metric
from tallymark.rendering.document import Card
from tallymark.rendering.table import Name, Percent, show_number
from tallymark.submissions.document import score_scale
from tallymark.submissions.result import interval_text, shown_in_percent

TASK_NAMES = {
    "labels": "Labels",
    "numbers": "Numbers",
    "probabilities": "Probabilities",
    "ranking": "Ranking scores",
}
_TIME_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def render_markdown(text: str) -> Markup:
    """Markdown as HTML without scripts and without anything loaded from other sites."""
    tokens = _MARKDOWN.parse(text)
    for token in tokens:
        if token.type == "heading_open" or token.type == "heading_close":
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"  # below the headings of the page
        for child in token.children or ():
            if child.type == "image":  # its text: the other site would see who reads the page
                child.type, child.tag, child.content = "text", "", f"[{child.content}]"
    return Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))


def page_time(time: datetime, now: datetime) -> PageTime:
    """A time, for machines and in words."""
    return PageTime(time.isoformat(), f"{time.day} {time:%B %Y, %H:%M} UTC", relative_time(time - now))


def optional_page_time(time: datetime | None, now: datetime) -> PageTime | None:
    """The same for a time that may be None."""
    return None if time is None else page_time(time, now)


def relative_time(span: timedelta) -> str:
    """How far a time is from now.

    >>> relative_time(timedelta(days=3)), relative_time(-timedelta(minutes=5))
    ('in 3 days', '5 minutes ago')
    """
    seconds = span.total_seconds()
    for unit, size in _TIME_UNITS:
        count = round(abs(seconds) / size)
        if abs(seconds) >= size:
            duration = f"{count} {unit}{'s' * (count != 1)}"
            return f"in {duration}" if seconds > 0 else f"{duration} ago"
    return "in a moment" if seconds > 0 else "just now"


def pluralize(count: int, noun: str) -> str:
    """A number with its noun.

    >>> pluralize(1, "team"), pluralize(1200, "entry")
    ('1 team', '1,200 entries')
    """
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """The plural of a regular noun.

    >>> plural("entry")
    'entries'
    """
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def format_bytes(count: int) -> str:
    """A size with its unit.

    >>> format_bytes(10_000_000), format_bytes(2_500)
    ('10 MB', '2.5 kB')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 1000)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


def metric_names(version: Version) -> dict[str, Name]:
    """The display names of the metrics of a version, each with the string that code uses."""
    return {key: Name(name, key) for key, name in display_names(metrics_of(version), version.positive).items()}


def direction_arrow(metric: Metric) -> str:
    """The direction of a metric as an arrow."""
    return {"higher": "↑", "lower": "↓"}.get(str(metric.better), "→")


def direction_text(metric: Metric) -> str:
    """The direction of a metric in words."""
    if metric.better in ("higher", "lower"):
        return f"{metric.better} is better"
    return "no direction" if metric.better is None else f"closer to {show_number(float(metric.better))} is better"


def format_score(metric: Metric, value: float | None) -> str:
    """A score, in percent where it is a share."""
    if value is None:
        return "undefined"
    return str(Percent(value, "")) if shown_in_percent(metric) else show_number(value)


def score_band(metric: Metric, value: float | None) -> str:
    """Whether a score is good, fair or poor; empty where the metric has no bands."""
    return "" if value is None else metric.band(value) or ""


def format_interval(metric: Metric, score: StoredScore) -> str:
    """The interval of a score in words; empty where there is none."""
    return "" if score.value is None else interval_text(metric, score.value, score.lo, score.hi)


def score_card(
    name: str, metric: Metric, score: StoredScore, baseline: Baseline | None = None, *, intervals: bool
) -> Card:
    """A score as a headline number, beside a baseline if one is known."""
    if score.value is None:
        return Card(name, format_score(metric, None))
    interval = format_interval(metric, score) if intervals else ""
    lo, hi = (score.lo, score.hi) if intervals else (None, None)
    marks = [*landmarks_in_range(metric), *([] if baseline is None else [baseline])]
    return Card(
        name,
        format_score(metric, score.value),
        f"95 % interval: {interval}" if interval else "",
        " · ".join(f"{words}: {format_score(metric, mark)}" for mark, words in marks),
        score_band(metric, score.value),
        score_scale(metric, score.value, lo, hi, marks),
    )
