"""How residuals are spread in each group: boxes and lines of quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.rendering.plots.canvas import Canvas, mark_sizes, rows_height, show_count, show_value
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
            ("median", 0.82, [show_value(each.quantiles[2]) for each in boxes]),
            ("rows", 0.74, [show_count(each.rows) for each in boxes]),
        ]
        axes = canvas.row_axes([each.name for each in boxes], (low - margin, high + margin), columns)
        canvas.path(axes, np.array([[0.0, 0.0], [0.0, len(boxes)]]), edgecolor=theme.ink, linewidth=0.9)
        y = np.arange(len(boxes)) + 0.5
        style = {"edgecolor": theme.series[0], "capstyle": "butt"}
        lines = np.column_stack((quantiles[:, 0], y, quantiles[:, 4], y)).reshape(-1, 2)
        canvas.path(axes, lines, [1, 2] * len(boxes), alpha=0.9, linewidth=1.4, **style)
        for k, width in enumerate(mark_sizes([each.rows for each in boxes], 10.0)):
            ends = np.array([[quantiles[k, 1], y[k]], [quantiles[k, 3], y[k]]])
            canvas.path(axes, ends, alpha=0.45, linewidth=width, **style)
        canvas.dots(axes, quantiles[:, 2], y, theme.paper, size=6.5)
        canvas.dots(axes, quantiles[:, 2], y, theme.series[0], size=4.5)

    first, last = boxes[0], boxes[-1]
    lowest, highest = (f"{show_value(each.quantiles[2])} for {each.name}" for each in (first, last))
    sentence = f"the median is {lowest}" if len(boxes) == 1 else f"the median goes from {lowest} to {highest}"
    return Plot(
        title, f"{title}: {sentence}; higher boxes have more rows.", table, draw, (WIDTH, rows_height(len(boxes)))
    )
