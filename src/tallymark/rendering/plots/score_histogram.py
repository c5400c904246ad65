"""The scores of each class as histograms over each other: where they overlap, the model cannot tell classes apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.rendering.plots.canvas import EDGE, SMALL, Canvas, show_count, show_value, text_inches, truncate_text
from tallymark.rendering.plots.plot import HEIGHT, WIDTH, Plot
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.table import Table

_BOTTOM, _KEY = 0.86, 0.22  # inches


class ClassScores(NamedTuple):
    """A class: its name, the share of its weight in each bin, its weight, and its median score."""

    name: str
    shares: Array
    weight: float
    median: float


def score_histogram_plot(
    edges: Array,
    classes: Sequence[ClassScores],
    table: Table,
    *,
    what: str,
    counted: str,
    outside: float,
    of: str = "",
    note: str = "",
) -> Plot:
    """One histogram per class, each of the shares of its own rows, so that a rare class is as visible as the other.

    `counted` is "rows", or "weight" if rows have weights. A `note` ends the sentence.
    """
    title = "Scores by class" + of
    left_out = f" · {_amount(outside, counted)} outside" if outside else ""
    most = max(float(each.shares.max()) for each in classes)

    def draw(figure: Any, theme: Theme) -> None:
        canvas = Canvas(figure, theme, title, f"share of the {counted} of each class{left_out}")
        axes = canvas.axes(0.62, EDGE + 0.06, _BOTTOM)
        margin = 0.015 * float(edges[-1] - edges[0])
        axes.set_xlim(edges[0] - margin, edges[-1] + margin)
        axes.set_ylim(0, 1.05 * most)
        canvas.fit_ticks(axes)
        for each, colour in zip(classes, theme.series, strict=False):
            heights = each.shares.tolist()
            boxes = [(*edges[k : k + 2], 0, height) for k, height in enumerate(heights) if height]
            canvas.boxes(axes, boxes, colour, alpha=0.22)
            outline = np.repeat(edges, 2), np.concatenate(([0.0], np.repeat(each.shares, 2), [0.0]))
            canvas.line(axes, *outline, colour, width=1.5)
        _name_classes(canvas, classes, counted)
        canvas.name_axes(axes, what, "share of the class")

    medians = " and ".join(f"{show_value(each.median)} for {each.name}" for each in classes)
    return Plot(title, f"{title}: the median is {medians}.{note}", table, draw, (WIDTH, HEIGHT + 0.2))


def _amount(count: float, counted: str) -> str:
    return f"weight {show_count(count)}" if counted == "weight" else f"{show_count(count)} row{'s' * (count != 1)}"


def _name_classes(canvas: Canvas, classes: Sequence[ClassScores], counted: str) -> None:
    """The names of the classes below, in their colours, with how many rows they have."""
    left, room = EDGE, (canvas.width - 2 * EDGE) / len(classes)
    for each, colour in zip(classes, canvas.theme.series, strict=False):
        text = f"{each.name} · {_amount(each.weight, counted)}"
        if text_inches(text) > room - 0.3:
            text = truncate_text(each.name, room - 0.3)
        canvas.key(left, _KEY, colour)
        canvas.write_at(left + 0.27, _KEY, text, size=SMALL, colour=colour)
        left += room
