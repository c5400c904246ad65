"""Ordered residuals against the quantiles of a normal distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallymark.data.arrays import Array
from tallymark.rendering.plots.canvas import EDGE, Canvas, show_value, y_axis_inches
from tallymark.rendering.plots.plot import Plot
from tallymark.rendering.plots.scatter import value_range
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.table import Table


def qq_plot(
    normal: Array, residual: Array, *, mean: float, deviation: float, table: Table, departure: str, output: str = ""
) -> Plot:
    """Residuals by standard normal quantile; those of a normal distribution of their mean and standard deviation lie on
    the line."""
    title = "Normal QQ plot of residuals" + output
    limits = []
    for side in (normal, residual):
        low, high = value_range(side)
        pad = 0.03 * (high - low) or 0.5
        limits.append((low - pad, high + pad))

    def draw(figure: Any, theme: Theme) -> None:
        subtitle = f"line: normal, mean {show_value(mean)}, standard deviation {show_value(deviation)}"
        canvas = Canvas(figure, theme, title, subtitle)
        axes = canvas.axes(y_axis_inches(limits[1]), EDGE + 0.06, 0.56)
        axes.set_xlim(*limits[0])
        axes.set_ylim(*limits[1])
        canvas.dots(axes, normal, residual, theme.series[0], size=3.2, alpha=0.7)
        ends = np.array(limits[0])
        line = np.column_stack((ends, mean + deviation * ends))
        canvas.path(axes, line, edgecolor=theme.ink, linewidth=1, linestyle=(0, (2, 2.5)))
        canvas.name_axes(axes, "standard normal quantile", "prediction − truth")

    return Plot(title, f"{title}: {departure}.", table, draw, (4.6, 4.4))
