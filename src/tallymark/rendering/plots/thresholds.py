"""What a threshold does: values at every threshold, and where one of them is at its best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tallymark.rendering.plots.canvas import EDGE, SMALL, Canvas, show_value, text_inches
from tallymark.rendering.plots.plot import Plot
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.plots.thinning import simplify_line
from tallymark.rendering.table import Table

_LEFT, _BOTTOM, _APART = 0.5, 0.56, 0.19  # inches


class BestThresholdMark(NamedTuple):
    """A threshold at which a value is at its best."""

    name: str
    threshold: float
    value: float

    def __str__(self) -> str:
        return f"{self.name} is best at {show_value(self.threshold)}, where it is {show_value(self.value)}"


def thresholds_plot(
    thresholds: Any, values: Mapping[str, Any], best: BestThresholdMark | None, table: Table, *, unit: bool = False
) -> Plot:
    """Values by threshold. `thresholds` go down from infinity; a value holds from the next lower one up to its own.

    `unit` says that thresholds are probabilities, so that the axis goes from 0 to 1.
    """
    title = "Every threshold"
    finite = np.asarray(thresholds)[np.isfinite(thresholds)]
    low, high = (0.0, 1.0) if unit else (float(finite.min()), float(finite.max()))
    if low == high:
        low, high = low - 0.5, high + 0.5
    margin = 0.015 * (high - low)
    lines = {name: _step_corners(thresholds, column, low - margin, high + margin) for name, column in values.items()}

    def draw(figure: Any, theme: Theme) -> None:
        canvas = Canvas(figure, theme, title, "" if best is None else str(best))
        names = max(map(text_inches, lines), default=0.0)
        axes = canvas.axes(_LEFT, names + EDGE + 0.12, _BOTTOM)
        axes.set_xlim(low - margin, high + margin)
        axes.set_ylim(-0.02, 1.02)
        if best is not None and np.isfinite(best.threshold):
            ends = np.array([[best.threshold, -0.02], [best.threshold, best.value]])
            canvas.path(axes, ends, edgecolor=theme.rule, linewidth=1, linestyle=(0, (2, 2.5)))
        for (x, y), colour in zip(lines.values(), theme.series, strict=False):
            canvas.line(axes, x, y, colour)
        if best is not None and np.isfinite(best.threshold):
            colour = dict(zip(lines, theme.series, strict=False)).get(best.name, theme.ink)
            canvas.dots(axes, [best.threshold], [best.value], theme.paper, size=9)
            canvas.dots(axes, [best.threshold], [best.value], colour, size=6)
        _name_lines(canvas, axes, lines)
        canvas.name_axes(axes, "threshold: rows whose score reaches it are called positive", "")

    best_sentence = f" {best}." if best is not None else ""
    description = f"{', '.join(lines)} for every threshold from {show_value(float(finite.min()))} to "
    return Plot(title, f"{description}{show_value(float(finite.max()))}.{best_sentence}", table, draw)


def _step_corners(thresholds: Any, values: Any, low: float, high: float) -> tuple[Any, Any]:
    """The corners of a value that is level between thresholds, from the lowest to the highest; only where it exists."""
    ends = np.clip(np.append(thresholds, low), low, high)
    x, y = np.repeat(ends, 2)[1:-1], np.repeat(np.asarray(values, np.float64), 2)
    there = np.isfinite(y)
    return simplify_line(x[there][::-1], y[there][::-1], (high - low, 1.04))


def _name_lines(canvas: Canvas, axes: Any, lines: Mapping[str, tuple[Any, Any]]) -> None:
    """The names of the lines where they end, apart enough to be read."""
    box = axes.get_position()
    inches = box.height * canvas.height
    colours = dict(zip(lines, canvas.theme.series, strict=False))
    wanted = sorted(((float(y[-1]) + 0.02) / 1.04 * inches, name) for name, (_, y) in lines.items() if len(y))
    places: list[float] = []
    for height, _ in wanted:
        places.append(max(height, places[-1] + _APART if places else 0.06))
    over = max(places[-1] - inches, 0.0) if places else 0.0
    for place, (_, name) in zip(places, wanted, strict=True):
        y = box.y0 * canvas.height + place - over
        canvas.write_at(box.x1 * canvas.width + 0.07, y, name, size=SMALL, colour=colours[name])
