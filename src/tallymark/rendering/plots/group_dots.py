"""Values of groups as dots, with their intervals and sizes, and the value of all rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.rendering.plots.canvas import (
    LARGER_IS_MORE,
    SMALL,
    Canvas,
    mark_sizes,
    rows_height,
    show_count,
    show_value,
)
from tallymark.rendering.plots.plot import WIDTH, Plot
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.table import Table

MOST_GROUPS = 20
_WIDTH = 0.74  # inches of a column


class GroupDot(NamedTuple):
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


def group_dots_plot(
    what: str,
    by: str,
    groups: Sequence[GroupDot],
    whole: GroupDot,
    table: Table,
    *,
    left_out: str = "",
    interval: str = "",
) -> Plot:
    """One dot per group, and a line at the value of all rows. The axis covers the values and their intervals, so that
    differences can be seen; it shows zero only where a value is near it."""
    title = f"{what} by {by}"
    low, high = _limits([place for each in groups for place in each.reaches], whole.value)

    def draw(figure: Any, theme: Theme) -> None:
        description = [f"all rows {show_value(whole.value)}" if math.isfinite(whole.value) else "", interval, left_out]
        canvas = Canvas(figure, theme, title, " · ".join(filter(None, description)))
        columns = [
            ("value", _WIDTH, [show_value(each.value) for each in groups]),
            ("rows", _WIDTH, [show_count(each.rows) for each in groups]),
        ]
        axes = canvas.row_axes([each.name for each in groups], (low, high), columns)
        if math.isfinite(whole.value):
            dashes = (0, (3, 2))
            ends = np.array([[whole.value, 0], [whole.value, len(groups)]])
            canvas.path(axes, ends, edgecolor=theme.series[1], linewidth=1.3, linestyle=dashes)
            canvas.write(
                axes, whole.value, -0.08, whole.name, size=SMALL, colour=theme.series[1], along="center", up="bottom"
            )
        drawn = [(k, each) for k, each in enumerate(groups) if math.isfinite(each.value)]
        whiskers = [((each.lo, k + 0.5), (each.hi, k + 0.5)) for k, each in drawn if len(each.reaches) == 3]
        if whiskers:
            points = np.array(whiskers, np.float64).reshape(-1, 2)
            canvas.path(axes, points, [1, 2] * len(whiskers), edgecolor=theme.series[0], linewidth=1.6)
        sizes = mark_sizes([each.rows for each in groups], 9.0, 4.0)
        for k, each in drawn:
            canvas.dots(axes, [each.value], [k + 0.5], theme.series[0], size=sizes[k])

    known = [each for each in groups if math.isfinite(each.value)]
    description = f"{title}{f' ({left_out})' if left_out else ''}: "
    if known:
        ends = [pick(known, key=lambda each: each.value) for pick in (min, max)]
        lowest, highest = (f"{show_value(each.value)} for {each.name}" for each in ends)
        description += f"from {lowest} to {highest}"
        description += f"; all rows have {show_value(whole.value)}" if math.isfinite(whole.value) else ""
        description += f"; {LARGER_IS_MORE}."
    else:
        description += "undefined in every group."
    return Plot(title, description, table, draw, (WIDTH, rows_height(len(groups))))


def _limits(places: list[float], whole: float) -> tuple[float, float]:
    """The ends of the axis: all places and the value of all rows, with a margin."""
    places = [*places, *([whole] if math.isfinite(whole) else [])] or [0.0]
    low, high = min(places), max(places)
    margin = 0.06 * (high - low) or 0.05 * abs(low) or 0.5
    return low - margin, high + margin
