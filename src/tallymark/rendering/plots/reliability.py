"""The reliability diagram: predicted probabilities against observed shares, with the sizes of the bins below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.rendering.plots.canvas import (
    EDGE,
    LARGER_IS_MORE,
    SMALL,
    TOP,
    Canvas,
    mark_sizes,
    show_count,
    show_value,
)
from tallymark.rendering.plots.plot import Plot
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.table import Table, show_estimate

_LEFT, _BOTTOM, _BARS = 0.62, 0.56, 0.62  # inches


class ReliabilityBin(NamedTuple):
    """Rows of similar probability: the bounds, the mean probability, the observed share, how many rows there are, by
    weight, and the interval of the share."""

    low: float
    high: float
    predicted: float
    observed: float
    weight: float
    lo: float | None = None
    hi: float | None = None


def reliability_plot(
    bins: Sequence[ReliabilityBin], error: float, table: Table, *, what: str, interval: str = "", note: str = ""
) -> Plot:
    """Points of bins by the mean probability and the observed share, which are equal on the diagonal.
    `interval` names the intervals of the bins, which are shaded; a `note` ends the sentence."""
    title = "Reliability"

    def draw(figure: Any, theme: Theme) -> None:
        shaded = f" · shaded: {interval}s" if interval else ""
        canvas = Canvas(figure, theme, title, f"ECE {show_value(error)}{shaded}")
        axes = canvas.axes(_LEFT, EDGE + 0.06, _BOTTOM + _BARS + 0.12)
        sizes = canvas.axes(_LEFT, EDGE + 0.06, _BOTTOM, canvas.height - _BOTTOM - _BARS)
        for each in (axes, sizes):
            each.set_xlim(-0.015, 1.015)
        axes.set_ylim(-0.015, 1.015)
        axes.tick_params(labelbottom=False)
        canvas.path(axes, np.array([[0, 0], [1, 1]]), edgecolor=theme.rule, linewidth=1, linestyle=(0, (2, 2.5)))
        canvas.write(axes, 0.02, 0.97, "underconfident", size=SMALL, colour=theme.quiet, up="top")
        canvas.write(axes, 0.98, 0.03, "overconfident", size=SMALL, colour=theme.quiet, along="right", up="bottom")
        for bin in bins:
            if bin.lo is not None and bin.hi is not None:
                ends = np.array([[bin.predicted, bin.lo], [bin.predicted, bin.hi]])
                canvas.path(axes, ends, edgecolor=theme.series[0], linewidth=1, alpha=0.8)
        boxes = [(b.low, b.high, b.lo, b.hi) for b in bins if b.lo is not None and b.hi is not None]
        canvas.boxes(axes, boxes, theme.series[0], alpha=0.15)
        x, y = [bin.predicted for bin in bins], [bin.observed for bin in bins]
        canvas.line(axes, x, y, theme.series[0], width=1)
        for bin, size in zip(bins, mark_sizes([bin.weight for bin in bins], 9.0), strict=True):
            canvas.dots(axes, [bin.predicted], [bin.observed], theme.series[0], size=size)
        most = max(bin.weight for bin in bins)
        sizes.set_ylim(0, most * 1.05)
        sizes.set_yticks([most])
        sizes.set_yticklabels([show_count(float(f"{most:.3g}"))])
        gap = 0.002
        canvas.boxes(sizes, [(b.low + gap, b.high - gap, 0, b.weight) for b in bins], theme.heat)
        whole = all(float(bin.weight).is_integer() for bin in bins)
        canvas.name_axes(sizes, "predicted probability", "rows" if whole else "weight")
        canvas.name_axes(axes, "", what)

    farthest = max(bins, key=lambda bin: bin.weight * abs(bin.predicted - bin.observed))  # not a bin of a few rows
    observed, _ = show_estimate(farthest.observed, farthest.lo, farthest.hi)
    sentence = (
        f"{title}: in {len(bins)} bins, predicted probabilities and observed shares differ by {show_value(error)} on "
        f"average, most where {show_value(farthest.predicted)} was predicted and {observed} was "
        f"observed; {LARGER_IS_MORE}."
    )
    return Plot(title, sentence + note, table, draw, (4.6, 4.5 + _BARS - (TOP - 0.6)))
