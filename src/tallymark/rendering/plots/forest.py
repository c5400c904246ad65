"""Differences between models, with their intervals and the line at no difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.rendering.plots.canvas import EDGE, SMALL, TOP, Canvas, show_short, text_inches, truncate_text
from tallymark.rendering.plots.plot import WIDTH, Plot
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.table import Table

MOST_PAIRS = 28
_ROW, _BELOW = 0.28, 0.56  # inches


class ForestRow(NamedTuple):
    """Two models: what was taken from what, the difference, its interval, and whether the data show it."""

    name: str
    value: float
    lo: float
    hi: float
    shown: bool
    text: str
    """The difference as it is to be read."""


def differences_plot(
    what: str,
    pairs: Sequence[ForestRow],
    ranks: Sequence[tuple[str, float, str]],
    table: Table,
    *,
    level: str,
    better: str,
) -> Plot:
    """One line per pair. `ranks` are the models with their values and letters, the best first; those that share a
    letter cannot be told apart."""
    title = f"Differences in {what}"
    ends = [0.0, *(end for pair in pairs for end in (pair.value, pair.lo, pair.hi) if math.isfinite(end))]
    low, high = min(ends), max(ends)
    pad = 0.05 * (high - low) or 0.5
    lettered = any(letter for *_, letter in ranks)
    head = 0.14 + 0.22 * len(ranks)

    def draw(figure: Any, theme: Theme) -> None:
        every = len(table.rows)
        some = f"the {len(pairs)} largest of {every}" if every > len(pairs) else ""
        description = (f"{level} intervals", f"{better} is better" if better else "", some)
        canvas = Canvas(figure, theme, title, " · ".join(filter(None, description)))
        left = min(max(text_inches(pair.name) for pair in pairs) + 0.24, canvas.width * 0.38)
        right = max(text_inches(pair.text) for pair in pairs) + EDGE + 0.12
        axes = canvas.axes(left, right, _BELOW, TOP + head)
        axes.set_xlim(low - pad, high + pad)
        axes.set_ylim(len(pairs), 0)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.grid(False, axis="y")
        canvas.path(axes, np.array([[0, 0], [0, len(pairs)]]), edgecolor=theme.ink, linewidth=1)
        for k, pair in enumerate(pairs):
            colour = theme.series[0] if pair.shown else theme.quiet
            if math.isfinite(pair.lo) and math.isfinite(pair.hi):
                line = np.array([[pair.lo, k + 0.5], [pair.hi, k + 0.5]])
                canvas.path(axes, line, edgecolor=colour, linewidth=1.6)
            if math.isfinite(pair.value):
                canvas.dots(axes, [pair.value], [k + 0.5], colour, size=7)
                if not pair.shown:
                    canvas.dots(axes, [pair.value], [k + 0.5], theme.paper, size=4)
        _write_pairs(canvas, axes, pairs, left)
        _write_ranks(canvas, ranks, lettered=lettered)
        canvas.name_axes(axes, "difference: filled where the data show one", "")

    description = "; ".join(f"{pair.name} {pair.text}" for pair in pairs)
    shared = " Models that share a letter cannot be told apart: " if lettered else " "
    ranked = ", ".join(f"{name} {show_short(value)} {letter}".strip() for name, value, letter in ranks)
    height = TOP + head + _BELOW + _ROW * len(pairs)
    return Plot(title, f"{title}: {description}.{shared}{ranked}.", table, draw, (WIDTH + 0.4, max(height, 2.4)))


def _write_pairs(canvas: Canvas, axes: Any, pairs: Sequence[ForestRow], left: float) -> None:
    box = axes.get_position()
    step, top = box.height * canvas.height / len(pairs), box.y1 * canvas.height
    for k, pair in enumerate(pairs):
        y = top - (k + 0.5) * step
        canvas.write_at(left - 0.08, y, truncate_text(pair.name, left - EDGE - 0.06), size=SMALL, along="right")
        canvas.write_at(canvas.width - EDGE, y, pair.text, size=SMALL, along="right")


def _write_ranks(canvas: Canvas, ranks: Sequence[tuple[str, float, str]], *, lettered: bool) -> None:
    """The models in their order, with the letters that they share."""
    wide = min(max(text_inches(name) for name, *_ in ranks), canvas.width * 0.5) + 0.1
    top = canvas.height - TOP - 0.05
    for k, (name, value, letter) in enumerate(ranks):
        y = top - 0.22 * k
        canvas.write_at(EDGE, y, truncate_text(name, wide), size=SMALL)
        canvas.write_at(EDGE + wide + 0.55, y, show_short(value), size=SMALL, along="right")
        canvas.write_at(EDGE + wide + 0.7, y, letter, size=SMALL, colour=canvas.theme.series[0], weight="bold")
    if lettered:
        text = "the same letter: cannot be told apart"
        room = canvas.width - 2 * EDGE - wide - 1.2
        canvas.write_at(
            canvas.width - EDGE, top, truncate_text(text, room), size=SMALL, colour=canvas.theme.quiet, along="right"
        )
