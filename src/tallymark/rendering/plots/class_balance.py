"""How many rows each class has in the truth and in the predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.rendering.plots.canvas import Canvas, rows_height, show_count
from tallymark.rendering.plots.plot import WIDTH, Plot
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.table import Table

MOST_CLASSES = 24


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
        truth, predicted = [each.truth for each in classes], [each.predicted for each in classes]
        columns = [
            (name, 0.82, list(map(show_count, side))) for name, side in (("truth", truth), ("predicted", predicted))
        ]
        axes = canvas.row_axes([each.name for each in classes], (low, high), columns)
        y = [k + 0.5 for k in range(len(classes))]
        joined = np.column_stack((truth, y, predicted, y)).reshape(-1, 2)
        canvas.path(axes, joined, [1, 2] * len(classes), edgecolor=theme.series[0], linewidth=1.4)
        canvas.dots(axes, truth, y, theme.series[0], size=8)
        canvas.dots(axes, truth, y, theme.paper, size=5)
        canvas.dots(axes, predicted, y, theme.series[0], size=6)

    changed = max(classes, key=lambda each: abs(each.predicted - each.truth))
    sentence = (
        f"{title}: {changed.name} is the truth of {_share(changed.truth, total)} of the rows and the prediction of "
        f"{_share(changed.predicted, total)}"
    )
    more = ", the largest difference of all classes" if len(table.rows) > 2 else ""
    return Plot(title, f"{sentence}{more}.", table, draw, (WIDTH, rows_height(len(classes))))


def _share(count: float, total: float) -> str:
    return f"{100 * count / total:.1f} %"
