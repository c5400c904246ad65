"""The confusion matrix; of very many classes, the most frequent mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tallymark.data.arrays import Array
from tallymark.rendering.plots.canvas import EDGE, SMALL, TOP, Canvas, shorten_names, show_count, text_inches
from tallymark.rendering.plots.plot import WIDTH, Plot
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.table import Table

MOST_CLASSES = 30  # whose names can be read around a matrix
_ROOMY = 12  # classes that leave room for two numbers in a cell
_SHADES = 20
_WIDEST = 1.5  # inches of a name


def confusion_matrix_plot(names: Sequence[str], counts: Array, table: Table) -> Plot:
    """Rows are the truth, columns the predictions; the shade is the share of the row."""
    title, size = "Confusion matrix", len(names)
    if counts.astype(np.float64).sum() >= 2.0**62:  # sums of integers would overflow, and the digits do not show
        counts = counts.astype(np.float64)
    sums = counts.sum(axis=1, keepdims=True).astype(np.float64)
    shares = np.divide(counts, sums, out=np.zeros(counts.shape), where=sums > 0)
    roomy = size <= _ROOMY
    side = max(0.56, min(0.95, 3.4 / size)) if roomy else 0.25
    left = min(max(map(text_inches, names)), _WIDEST) + 0.45
    level = max(map(text_inches, names)) < side - 0.06
    above = 0.2 if level else min(max(map(text_inches, names)), _WIDEST) + 0.1
    above += 0.2  # what is along

    def draw(figure: Any, theme: Theme) -> None:
        canvas = Canvas(figure, theme, title, f"{_share_right(counts)} right · shades are shares of a row")
        axes = canvas.axes(left, EDGE, EDGE, TOP + above)
        axes.set_xlim(0, size)
        axes.set_ylim(size, 0)
        axes.grid(False)
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set_visible(True)
            spine.set_edgecolor(theme.line)
        for shade in range(1, _SHADES + 1):
            rows, columns = np.nonzero(np.ceil(shares * _SHADES) == shade)
            boxes = [(x, x + 1, y, y + 1) for y, x in zip(rows.tolist(), columns.tolist(), strict=True)]
            canvas.boxes(axes, boxes, theme.heat, alpha=shade / _SHADES)
        lines = [[(k, 0), (k, size), (0, k), (size, k)] for k in range(size + 1)]
        width = 1.0 if roomy else 0.5
        canvas.path(axes, np.reshape(lines, (-1, 2)), [1, 2] * 2 * len(lines), edgecolor=theme.paper, linewidth=width)
        _write_cells(canvas, axes, counts, shares, roomy=roomy)
        _write_names(canvas, axes, names, left=left, level=level)

    width, height = left + size * side + EDGE, TOP + above + size * side + EDGE
    return Plot(title, _describe(title, names, counts, shares), table, draw, (max(width, 3.4), max(height, 2.4)))


def _write_cells(canvas: Canvas, axes: Any, counts: Array, shares: Array, *, roomy: bool) -> None:
    cells = [(x, y, count, f"{100 * shares[y, x]:.0f}") for (y, x), count in np.ndenumerate(counts)]
    if not roomy:
        for x, y, _, share in cells:
            if share != "0":
                canvas.write(axes, x + 0.5, y + 0.52, share, size=6.5, along="center")
        return
    for x, y, count, _ in cells:
        colour = canvas.theme.ink if count else canvas.theme.quiet
        canvas.write(axes, x + 0.5, y + 0.38, show_count(count.item()), size=SMALL, colour=colour, along="center")
    for x, y, count, share in cells:
        if count:
            canvas.write(axes, x + 0.5, y + 0.7, f"{share} %", size=7.5, along="center")


def _write_names(canvas: Canvas, axes: Any, names: Sequence[str], *, left: float, level: bool) -> None:
    box = axes.get_position()
    size = len(names)
    width, height = box.width * canvas.width / size, box.height * canvas.height / size
    x0, y1 = box.x0 * canvas.width, box.y1 * canvas.height
    beside, above = shorten_names(names, left - 0.44), shorten_names(names, _WIDEST)
    for k, name in enumerate(names):
        canvas.write_at(x0 - 0.07, y1 - (k + 0.5) * height, beside[k], size=SMALL, along="right")
        x = x0 + (k + 0.5) * width
        if level:
            canvas.write_at(x, y1 + 0.05, name, size=SMALL, along="center", up="bottom")
        else:
            turned = {"rotation": 90, "rotation_mode": "anchor"}
            canvas.write_at(x, y1 + 0.05, above[k], size=SMALL, along="left", up="center", **turned)
    top = canvas.height - TOP - 0.02
    canvas.write_at(x0, top, "prediction →", size=SMALL, colour=canvas.theme.quiet, up="top")
    turned = {"rotation": 90, "rotation_mode": "anchor"}
    canvas.write_at(EDGE + 0.1, y1, "← truth", size=SMALL, colour=canvas.theme.quiet, along="right", **turned)


def mistakes_plot(mistakes: Sequence[tuple[str, str, float, float]], classes: int, right: float, table: Table) -> Plot:
    """The most frequent mistakes: truth, prediction, how often, and which share of the class that is."""
    title = "Most frequent mistakes"

    def draw(figure: Any, theme: Theme) -> None:
        canvas = Canvas(figure, theme, title, f"among {classes:,} classes · {100 * right:.1f} % right")
        names = [f"{truth} → {said}" for truth, said, _, _ in mistakes]
        left = min(max(map(text_inches, names), default=1.0) + 0.2, canvas.width * 0.55)
        axes = canvas.axes(left, 1.25, EDGE)
        axes.set_xlim(0, max((count for *_, count, _ in mistakes), default=1.0))
        axes.set_ylim(len(mistakes), 0)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines["bottom"].set_visible(False)
        canvas.boxes(axes, [(0, m[2], k + 0.15, k + 0.85) for k, m in enumerate(mistakes)], theme.heat)
        box = axes.get_position()
        step = box.height * canvas.height / max(len(mistakes), 1)
        shown = shorten_names(names, left - 0.15)
        for k, (name, mistake) in enumerate(zip(shown, mistakes, strict=True)):
            y = box.y1 * canvas.height - (k + 0.5) * step
            canvas.write_at(box.x0 * canvas.width - 0.07, y, name, size=SMALL, along="right")
            text = f"{show_count(mistake[2])} · {100 * mistake[3]:.0f} %"
            canvas.write_at(canvas.width - EDGE, y, text, size=SMALL, along="right")

    worst = f"; the most frequent is {mistakes[0][0]} taken for {mistakes[0][1]}" if mistakes else ""
    sentence = f"{title} among {classes:,} classes, {100 * right:.1f} % being right{worst}."
    return Plot(title, sentence, table, draw, (WIDTH + 0.6, TOP + EDGE + 0.25 * max(len(mistakes), 1)))


def _share_right(counts: Array) -> str:
    total = counts.sum()
    if not total:
        return "none"
    percent, decimals = float(100 * np.trace(counts) / total), 1
    while percent < 100 and round(percent, decimals) == 100 and decimals < 9:
        decimals += 1
    return f"{percent:.{decimals}f} %"


def _describe(title: str, names: Sequence[str], counts: Array, shares: Array) -> str:
    wrong = counts * (1 - np.eye(len(names), dtype=counts.dtype))
    rows, are, times = ("rows", "are", "times") if counts.dtype.kind in "iu" else ("weight", "is", "by weight")
    description = f"{title} of {len(names)} classes: {_share_right(counts)} of the {rows} {are} right"
    if not wrong.any():
        return f"{description}."
    y, x = divmod(int(np.argmax(wrong)), len(names))
    times = "time" if times == "times" and counts[y, x] == 1 else times
    often = f"{show_count(counts[y, x].item())} {times}, {100 * shares[y, x]:.0f} % of its {rows}"
    return f"{description}; the most frequent mistake is {names[y]} taken for {names[x]} ({often})."
