"""How residuals are spread in each group: boxes and lines of quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.rendering.plots.canvas import Canvas, rows_height, show_count, show_short
from tallymark.rendering.plots.plot import WIDTH, Plot
from tallymark.rendering.plots.scatter import value_range
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.table import Table

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


class ResidualBox(NamedTuple):
    """A group: its name, how many rows it has, and the quantiles of their residuals at `SHARES`."""

    name: str
    rows: int
    quantiles: Sequence[float]


def residual_boxes_plot(
    by: str, boxes: Sequence[ResidualBox], table: Table, *, output: str = "", left_out: str = ""
) -> Plot:
    """One box per group with the middle half of its rows, a line with the middle 90 %, and a dot at the median."""
    title = f"Residuals by {by}{output}"
    quantiles = np.array([each.quantiles for each in boxes])
    low, high = value_range(np.append(quantiles.ravel(), 0.0))
    margin = 0.04 * (high - low) or 0.5

    def draw(figure: Any, theme: Theme) -> None:
        canvas = Canvas(
            figure, theme, title, " · ".join(filter(None, ["box: middle 50 % · line: middle 90 %", left_out]))
        )
        columns = [
            ("median", 0.82, [show_short(each.quantiles[2]) for each in boxes]),
            ("rows", 0.74, [show_count(each.rows) for each in boxes]),
        ]
        axes = canvas.row_axes([each.name for each in boxes], (low - margin, high + margin), columns)
        canvas.path(axes, np.array([[0.0, 0.0], [0.0, len(boxes)]]), edgecolor=theme.ink, linewidth=0.9)
        y = np.arange(len(boxes)) + 0.5
        for first, last, width in ((0, 4, 1.4), (1, 3, 8.0)):
            ends = np.column_stack((quantiles[:, first], y, quantiles[:, last], y)).reshape(-1, 2)
            style = {"edgecolor": theme.series[0], "linewidth": width, "capstyle": "butt"}
            canvas.path(axes, ends, [1, 2] * len(boxes), alpha=0.9 if width < 2 else 0.45, **style)
        canvas.dots(axes, quantiles[:, 2], y, theme.paper, size=6.5)
        canvas.dots(axes, quantiles[:, 2], y, theme.series[0], size=4.5)

    first, last = boxes[0], boxes[-1]
    lowest, highest = (f"{show_short(each.quantiles[2])} for {each.name}" for each in (first, last))
    sentence = f"the median is {lowest}" if len(boxes) == 1 else f"the median goes from {lowest} to {highest}"
    return Plot(title, f"{title}: {sentence}.", table, draw, (WIDTH, rows_height(len(boxes))))
