"""A forest plot of differences between models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.rendering.plots.canvas import (
    EDGE,
    SMALL,
    TOP,
    Canvas,
    shorten_names,
    show_value,
    text_inches,
)
from tallymark.rendering.plots.plot import Plot
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.table import Table

MOST_PAIRS = 28
_WIDTH, _ROW, _BELOW = 4.6, 0.42, 0.56  # inches
_LABEL = 0.15  # inches from the top of a row to the middle of its text
_LINE = 0.76  # of a row, where the interval is
_MOST_TOLD = 3  # pairs that the description lists


class ForestRow(NamedTuple):
    """A pair of models: its name, the difference, its interval, and whether it is significant."""

    name: str
    value: float
    lo: float
    hi: float
    significant: bool
    text: str
    """The difference and its interval as text."""


def differences_plot(
    what: str,
    pairs: Sequence[ForestRow],
    ranks: Sequence[tuple[str, float, str]],
    table: Table,
    *,
    intervals: str,
    better: str,
) -> Plot:
    """One row per pair: its name and numbers, and the interval below them. `ranks` are the models with their values and
    letters, the best first; `intervals` names the intervals, such as "95 % intervals"."""
    title = f"Difference{'s' * (len(table.rows) > 1)} in {what}"
    ends = [0.0, *(end for pair in pairs for end in (pair.value, pair.lo, pair.hi) if math.isfinite(end))]
    low, high = min(ends), max(ends)
    pad = 0.05 * (high - low) or 0.5
    lettered = any(letter for *_, letter in ranks)
    head = 0.14 + 0.22 * len(ranks)

    some = f"the {len(pairs)} largest of {len(table.rows)}" if len(table.rows) > len(pairs) else ""

    def draw(figure: Any, theme: Theme) -> None:
        description = (intervals, f"{better} is better" if better else "")
        canvas = Canvas(figure, theme, title, " · ".join(filter(None, description)))
        axes = canvas.axes(EDGE, EDGE, _BELOW, TOP + head)
        axes.set_xlim(low - pad, high + pad)
        axes.set_ylim(len(pairs), 0)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.grid(False)  # lines would cross the text
        for k, pair in enumerate(pairs):
            canvas.path(axes, np.array([[0, k + 2 * _LINE - 1], [0, k + 1]]), edgecolor=theme.ink, linewidth=1)
            colour = theme.series[0] if pair.significant else theme.quiet
            if math.isfinite(pair.lo) and math.isfinite(pair.hi):
                line = np.array([[pair.lo, k + _LINE], [pair.hi, k + _LINE]])
                canvas.path(axes, line, edgecolor=colour, linewidth=1.6)
            if math.isfinite(pair.value):
                canvas.dots(axes, [pair.value], [k + _LINE], colour, size=7)
                if not pair.significant:
                    canvas.dots(axes, [pair.value], [k + _LINE], theme.paper, size=4)
        _write_pairs(canvas, axes, pairs)
        _write_ranks(canvas, ranks, lettered=lettered)
        canvas.name_axes(axes, f"{some or 'difference'} (filled marker: significant)", "")

    description = "; ".join(f"{pair.name} = {pair.text}" for pair in pairs)
    if len(pairs) > _MOST_TOLD:
        description = f"{sum(pair.significant for pair in pairs)} of {some or len(pairs)} are significant"
    shared = " Models that share a letter do not differ significantly: " if lettered else " Values: "
    ranked = ", ".join(f"{name} {show_value(value)}{f' ({letter})' if letter else ''}" for name, value, letter in ranks)
    height = TOP + head + _BELOW + _ROW * len(pairs)
    return Plot(title, f"{title}: {description}.{shared}{ranked}.", table, draw, (_WIDTH, height))


def _write_pairs(canvas: Canvas, axes: Any, pairs: Sequence[ForestRow]) -> None:
    box = axes.get_position()
    step, top = box.height * canvas.height / len(pairs), box.y1 * canvas.height
    room = canvas.width - 2 * EDGE - max(text_inches(pair.text) for pair in pairs) - 0.1
    names = shorten_names([pair.name for pair in pairs], room)
    for k, (name, pair) in enumerate(zip(names, pairs, strict=True)):
        y = top - k * step - _LABEL
        canvas.write_at(EDGE, y, name, size=SMALL)
        canvas.write_at(canvas.width - EDGE, y, pair.text, size=SMALL, along="right")


def _write_ranks(canvas: Canvas, ranks: Sequence[tuple[str, float, str]], *, lettered: bool) -> None:
    """The models in order, with their values and letters."""
    wide = min(max(text_inches(name) for name, *_ in ranks), canvas.width * 0.5) + 0.1
    top = canvas.height - TOP - 0.05
    names = shorten_names([name for name, *_ in ranks], wide)
    for k, (name, (_, value, letter)) in enumerate(zip(names, ranks, strict=True)):
        y = top - 0.22 * k
        canvas.write_at(EDGE, y, name, size=SMALL)
        canvas.write_at(EDGE + wide + 0.55, y, show_value(value), size=SMALL, along="right")
        canvas.write_at(EDGE + wide + 0.7, y, letter, size=SMALL, colour=canvas.theme.series[0], weight="bold")
    if lettered:
        text = "same letter: not significant"
        if text_inches(text) <= canvas.width - 2 * EDGE - wide - 1.05:  # else only the description says so
            canvas.write_at(canvas.width - EDGE, top, text, size=SMALL, colour=canvas.theme.quiet, along="right")
