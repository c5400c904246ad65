"""How many rows each class has in the truth and in the predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.rendering.plots.canvas import EDGE, SMALL, TOP, Canvas, show_count, text_inches, truncate_text
from tallymark.rendering.plots.plot import WIDTH, Plot
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.table import Table

MOST_CLASSES = 24
_ROW, _BELOW, _COLUMN = 0.26, 0.34, 0.82  # inches


class ClassCount(NamedTuple):
    """A class, and how many rows have it in the truth and in the predictions, by weight."""

    name: str
    truth: float
    predicted: float


def class_balance_plot(classes: Sequence[ClassCount], total: float, table: Table, *, left_out: str = "") -> Plot:
    """One line per class from its rows in the truth, a ring, to its rows in the predictions, a dot."""
    title = "Class balance"
    ends = [count for each in classes for count in (each.truth, each.predicted)]
    margin = 0.1 * (max(ends) - min(ends)) or 0.5
    low, high = min(ends) - margin, max(ends) + margin

    def draw(figure: Any, theme: Theme) -> None:
        canvas = Canvas(figure, theme, title, " · ".join(filter(None, ["ring: truth · dot: predictions", left_out])))
        left = min(max(text_inches(each.name) for each in classes) + 0.24, canvas.width * 0.36)
        axes = canvas.axes(left, EDGE + 2 * _COLUMN, _BELOW, TOP + 0.22)
        axes.set_xlim(low, high)
        canvas.fit_ticks(axes)
        axes.set_ylim(len(classes), 0)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.grid(False, axis="y")
        guides = np.array([[(low, k + 0.5), (high, k + 0.5)] for k in range(len(classes))]).reshape(-1, 2)
        canvas.path(axes, guides, [1, 2] * len(classes), edgecolor=theme.line, linewidth=0.6)
        y = [k + 0.5 for k in range(len(classes))]
        truth, predicted = [each.truth for each in classes], [each.predicted for each in classes]
        joined = np.column_stack((truth, y, predicted, y)).reshape(-1, 2)
        canvas.path(axes, joined, [1, 2] * len(classes), edgecolor=theme.series[0], linewidth=1.4)
        canvas.dots(axes, truth, y, theme.series[0], size=8)
        canvas.dots(axes, truth, y, theme.paper, size=5)
        canvas.dots(axes, predicted, y, theme.series[0], size=6)
        _write_rows(canvas, axes, classes, left)

    changed = max(classes, key=lambda each: abs(each.predicted - each.truth))
    sentence = (
        f"{title}: {changed.name} is the truth of {_share(changed.truth, total)} of the rows and the prediction of "
        f"{_share(changed.predicted, total)}"
    )
    more = ", the largest difference of all classes" if len(table.rows) > 2 else ""
    height = TOP + 0.22 + _BELOW + _ROW * len(classes)
    return Plot(title, f"{sentence}{more}.", table, draw, (WIDTH, max(height, 1.9)))


def _share(count: float, total: float) -> str:
    return f"{100 * count / total:.1f} %"


def _write_rows(canvas: Canvas, axes: Any, classes: Sequence[ClassCount], left: float) -> None:
    """Names on the left, counts on the right."""
    box = axes.get_position()
    step, top = box.height * canvas.height / len(classes), box.y1 * canvas.height
    right, quiet = canvas.width - EDGE, canvas.theme.quiet
    for column, name in ((_COLUMN, "truth"), (0.0, "predicted")):
        canvas.write_at(right - column, top + 0.05, name, size=SMALL, colour=quiet, along="right", up="bottom")
    for k, each in enumerate(classes):
        y = top - (k + 0.5) * step
        canvas.write_at(left - 0.08, y, truncate_text(each.name, left - EDGE - 0.06), size=SMALL, along="right")
        canvas.write_at(right - _COLUMN, y, show_count(each.truth), size=SMALL, along="right")
        canvas.write_at(right, y, show_count(each.predicted), size=SMALL, along="right")
