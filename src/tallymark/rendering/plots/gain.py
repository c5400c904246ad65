"""Gain and lift: how many of the positives the rows with the highest scores hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallymark.data.arrays import Array
from tallymark.rendering.plots.canvas import EDGE, SMALL, TOP, Canvas
from tallymark.rendering.plots.plot import Plot
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.plots.thinning import simplify_line
from tallymark.rendering.table import Table, show_number

_LEFT, _BOTTOM, _LIFT, _APART = 0.62, 0.56, 1.05, 0.2  # inches
_DOTTED = (0, (2, 2.5))


def gain_plot(
    share: Array, gain: Array, prevalence: float, table: Table, *, positives: str, of: str = "", note: str = ""
) -> Plot:
    """The share of positives (`gain`) among the rows with the highest scores, by how many rows these are, and below how
    many times more that is than among rows taken at random. `prevalence` is the share of positives in all rows. A
    `note` ends the caption."""
    title = "Gain and lift" + of
    tenth = float(np.interp(0.1, share, gain))
    first = float(share[share > 0].min())
    share, gain = simplify_line(share, gain)
    # A straight line of the gain is a bent one of the lift, which so needs points in between.
    at = np.unique(np.concatenate((share[share > 0], np.geomspace(first, 1.0, 200))))
    lift = np.interp(at, share, gain) / at
    sentence = f"the 10 % of rows with the highest scores hold {100 * tenth:.0f} % of {positives}, "
    sentence += f"{show_number(tenth / 0.1, 2)} times as many as rows taken at random.{note}"

    def draw(figure: Any, theme: Theme) -> None:
        canvas = Canvas(figure, theme, title, f"top 10 % of rows: {100 * tenth:.0f} % of {positives}")
        axes = canvas.axes(_LEFT, EDGE + 0.06, _BOTTOM + _LIFT + _APART)
        below = canvas.axes(_LEFT, EDGE + 0.06, _BOTTOM, canvas.height - _BOTTOM - _LIFT)
        for each in (axes, below):
            each.set_xlim(-0.015, 1.015)
        axes.set_ylim(-0.015, 1.015)
        axes.tick_params(labelbottom=False)
        canvas.path(axes, np.array([[0, 0], [1, 1]]), edgecolor=theme.rule, linewidth=1, linestyle=_DOTTED)
        perfect = np.array([[0, 0], [prevalence, 1], [1, 1]])
        canvas.path(axes, perfect, edgecolor=theme.rule, linewidth=1)
        canvas.write(axes, 0.98, 0.06, "solid: perfect", size=SMALL, colour=theme.quiet, along="right", up="bottom")
        canvas.write(axes, 0.98, 0.01, "dashed: random", size=SMALL, colour=theme.quiet, along="right", up="bottom")
        canvas.line(axes, share, gain, theme.series[0], width=2.0)
        below.set_ylim(0, 1.08 * max(float(lift.max()), 1.0))
        canvas.path(below, np.array([[0, 1], [1, 1]]), edgecolor=theme.rule, linewidth=1, linestyle=_DOTTED)
        canvas.line(below, at, lift, theme.series[0])
        canvas.name_axes(below, "share of rows, highest scores first", "lift")
        canvas.name_axes(axes, "", f"share of {positives}")

    return Plot(title, f"{title}: {sentence}", table, draw, (4.6, 4.5 + _LIFT + _APART - (TOP - 0.6)))
