"""Values of groups as bars, with their intervals and sizes, and the value of all rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.rendering.plots.canvas import (
    EDGE,
    SMALL,
    TOP,
    Canvas,
    show_count,
    show_short,
    text_inches,
    truncate_text,
)
from tallymark.rendering.plots.plot import WIDTH, Plot
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.table import Table

MOST_BARS = 24
_ROW, _BELOW = 0.26, 0.34  # inches
_VALUE, _SIZE = 0.75, 0.72


class Bar(NamedTuple):
    """A group: its name, its value, the interval of that, and how many rows it has."""

    name: str
    value: float
    rows: int
    lo: float | None = None
    hi: float | None = None

    @property
    def reaches(self) -> list[float]:
        """All places that the axis must have."""
        return [end for end in (self.value, self.lo, self.hi) if end is not None and math.isfinite(end)]


def group_bars_plot(
    what: str, by: str, bars: Sequence[Bar], whole: float, table: Table, *, left_out: str = "", interval: str = ""
) -> Plot:
    """One bar per group, and a line at the value of all rows."""
    title = f"{what} by {by}"
    ends = [0.0, *(place for bar in bars for place in bar.reaches), *([whole] if math.isfinite(whole) else [])]
    low, high = min(ends), max(ends)
    pad = 0.02 * (high - low) or 0.5

    def draw(figure: Any, theme: Theme) -> None:
        description = [f"all rows {show_short(whole)}" if math.isfinite(whole) else "", interval, left_out]
        canvas = Canvas(figure, theme, title, " · ".join(filter(None, description)))
        left = min(max(text_inches(bar.name) for bar in bars) + 0.24, canvas.width * 0.36)
        axes = canvas.axes(left, EDGE + _VALUE + _SIZE, _BELOW, TOP + 0.22)
        axes.set_xlim(low - (pad if low < 0 else 0), high + pad)
        axes.set_ylim(len(bars), 0)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.grid(False, axis="y")
        drawn = [(k, bar) for k, bar in enumerate(bars) if math.isfinite(bar.value)]
        canvas.boxes(axes, [(*sorted((0.0, bar.value)), k + 0.18, k + 0.82) for k, bar in drawn], theme.heat)
        whiskers = [((bar.lo, k + 0.5), (bar.hi, k + 0.5)) for k, bar in drawn if len(bar.reaches) == 3]
        if whiskers:
            points = np.array(whiskers, np.float64).reshape(-1, 2)
            canvas.path(axes, points, [1, 2] * len(whiskers), edgecolor=theme.ink, linewidth=1.3)
        canvas.path(axes, np.array([[0, 0], [0, len(bars)]]), edgecolor=theme.rule, linewidth=0.8)
        if math.isfinite(whole):
            dashes = (0, (3, 2))
            ends = np.array([[whole, 0], [whole, len(bars)]])
            canvas.path(axes, ends, edgecolor=theme.series[1], linewidth=1.3, linestyle=dashes)
            canvas.write(axes, whole, -0.08, "all", size=SMALL, colour=theme.series[1], along="center", up="bottom")
        _write_rows(canvas, axes, bars, left)

    known = [bar for bar in bars if math.isfinite(bar.value)]
    description = f"{title}: "
    if known:
        lowest, highest = (pick(known, key=lambda bar: bar.value) for pick in (min, max))
        description += (
            f"from {show_short(lowest.value)} for {lowest.name} to {show_short(highest.value)} for {highest.name}"
        )
        description += f"; all rows have {show_short(whole)}." if math.isfinite(whole) else "."
    else:
        description += "undefined in every group."
    height = TOP + 0.22 + _BELOW + _ROW * len(bars)
    return Plot(title, description, table, draw, (WIDTH, max(height, 1.9)))


def _write_rows(canvas: Canvas, axes: Any, bars: Sequence[Bar], left: float) -> None:
    """Names on the left, values and sizes on the right."""
    box = axes.get_position()
    step, top = box.height * canvas.height / len(bars), box.y1 * canvas.height
    right = canvas.width - EDGE
    quiet = canvas.theme.quiet
    canvas.write_at(right - _SIZE, top + 0.05, "value", size=SMALL, colour=quiet, along="right", up="bottom")
    canvas.write_at(right, top + 0.05, "rows", size=SMALL, colour=quiet, along="right", up="bottom")
    for k, bar in enumerate(bars):
        y = top - (k + 0.5) * step
        canvas.write_at(left - 0.08, y, truncate_text(bar.name, left - EDGE - 0.06), size=SMALL, along="right")
        canvas.write_at(right - _SIZE, y, show_short(bar.value), size=SMALL, along="right")
        canvas.write_at(right, y, show_count(bar.rows), size=SMALL, colour=quiet, along="right")
