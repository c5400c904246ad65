"""What all drawings share: axes in inches, quiet grids, text that is never taken for mathematics, thinned lines."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from tallymark.data.arrays import Array
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.table import Name, show_cell
from tallymark.rendering.text import printable, text_width

TITLE, TEXT, SMALL = 11.0, 9.5, 9.0  # points
TOP = 0.68  # inches that title and subtitle take
EDGE = 0.14  # inches between the drawing and the edge
ROWS_TOP, ROWS_BELOW = TOP + 0.22, 0.34  # inches around a chart of rows
_STEPS = [1, 2, 2.5, 5, 10]  # between the numbers at an axis
_SIGN = 0.58  # of the size of a font, about the width of a sign


class Canvas:
    """A figure in one theme, with a title and a line below it."""

    def __init__(self, figure: Any, theme: Theme, title: str, subtitle: str = "") -> None:
        self.figure = figure
        self.theme = theme
        self.width, self.height = (float(side) for side in figure.get_size_inches())
        figure.full_texts = {}  # of those that are shortened
        room = self.width - 2 * EDGE
        self.write_at(
            EDGE, self.height - 0.16, truncate_text(title, room, TITLE * 1.1), size=TITLE, weight="bold", up="top"
        )
        self.write_at(
            EDGE, self.height - 0.40, truncate_text(subtitle, room, SMALL), size=SMALL, colour=theme.quiet, up="top"
        )

    def axes(self, left: float, right: float, bottom: float, top: float = TOP) -> Any:
        """Axes that leave these many inches free around them."""
        width, height = max(self.width - left - right, 0.2), max(self.height - top - bottom, 0.2)
        where = (left / self.width, bottom / self.height, width / self.width, height / self.height)
        axes = self.figure.add_axes(where, facecolor="none")
        for side, spine in axes.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_edgecolor(self.theme.rule)
            spine.set_linewidth(0.8)
        axes.tick_params(
            length=0, pad=5, labelsize=SMALL, labelcolor=self.theme.quiet, color=self.theme.rule, which="both"
        )
        axes.grid(True, color=self.theme.line, linewidth=0.6)
        axes.set_axisbelow(True)
        from matplotlib.ticker import FuncFormatter, MaxNLocator

        for axis, steps in ((axes.xaxis, int(width / 0.6)), (axes.yaxis, int(height / 0.35))):
            axis.set_major_locator(MaxNLocator(max(1, min(5, steps)), steps=_STEPS))
            axis.set_major_formatter(FuncFormatter(lambda value, _: show_tick(value)))
        return axes

    def row_axes(
        self, names: Sequence[str], limits: tuple[float, float], columns: Sequence[tuple[str, float, Sequence[str]]]
    ) -> Any:
        """Axes with a row for each name, the first at y = 0.5, and columns of texts beside them: their headings, their
        widths in inches and their cells."""
        left = min(max(map(text_inches, names)) + 0.24, self.width * 0.4)
        axes = self.axes(left, EDGE + sum(width for _, width, _ in columns), ROWS_BELOW, ROWS_TOP)
        axes.set_xlim(*limits)
        self.fit_ticks(axes)
        axes.set_ylim(len(names), 0)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.grid(False, axis="y")
        guides = np.array([[(limits[0], k + 0.5), (limits[1], k + 0.5)] for k in range(len(names))]).reshape(-1, 2)
        self.path(axes, guides, [1, 2] * len(names), edgecolor=self.theme.line, linewidth=0.6)
        box = axes.get_position()
        step, top = box.height * self.height / len(names), box.y1 * self.height
        for k, shown in enumerate(shorten_names(names, left - EDGE - 0.06)):
            self.write_at(left - 0.08, top - (k + 0.5) * step, shown, size=SMALL, along="right")
        right = self.width - EDGE
        for heading, width, cells in reversed(columns):
            self.write_at(right, top + 0.05, heading, size=SMALL, colour=self.theme.quiet, along="right", up="bottom")
            for k, cell in enumerate(cells):
                self.write_at(right, top - (k + 0.5) * step, cell, size=SMALL, along="right")
            right -= width
        return axes

    def name_axes(self, axes: Any, x: str, y: str) -> None:
        """What is along and what is up, cut where it would leave the drawing or reach the title."""
        box = axes.get_position()
        across, up = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
        x = truncate_text(x, 2 * min(across, 1 - across) * self.width)
        y = truncate_text(y, 2 * min(up * self.height, (1 - up) * self.height - TOP))
        axes.set_xlabel(x, fontsize=SMALL, color=self.theme.ink, labelpad=5, parse_math=False)
        axes.set_ylabel(y, fontsize=SMALL, color=self.theme.ink, labelpad=6, parse_math=False)

    def fit_ticks(self, axes: Any) -> None:
        """Fewer numbers along, where they would not fit beside each other; once the limits are set."""
        from matplotlib.ticker import MaxNLocator

        low, high = axes.get_xlim()
        inches = axes.get_position().width * self.width
        for count in range(max(1, min(5, int(inches / 0.6))), 0, -1):
            ticks = MaxNLocator(count, steps=_STEPS).tick_values(low, high)
            places = [float(tick) for tick in ticks if low <= tick <= high]
            widest = max((text_inches(show_tick(place)) for place in places), default=0.0)
            if len(places) < 2 or (places[1] - places[0]) / (high - low) * inches > widest + 0.06:
                axes.set_xticks(places)
                return
        axes.set_xticks(places[:1])

    def write_at(self, x: float, y: float, text: str, **how: Any) -> Any:
        """Text at a place in inches from the lower left."""
        return self._text(self.figure.text, x / self.width, y / self.height, text, **how)

    def write(self, axes: Any, x: float, y: float, text: str, **how: Any) -> Any:
        """Text at a place of the axes' data."""
        return self._text(axes.text, x, y, text, **how)

    def _text(
        self,
        put: Any,
        x: float,
        y: float,
        text: str,
        *,
        size: float = TEXT,
        colour: str | None = None,
        along: str = "left",
        up: str = "center",
        **how: Any,
    ) -> Any:
        colour = self.theme.ink if colour is None else colour
        if isinstance(text, Name):
            self.figure.full_texts[str(text)] = text.code
        return put(x, y, printable(text), fontsize=size, color=colour, ha=along, va=up, parse_math=False, **how)

    def key(
        self, x: float, y: float, colour: str, dashes: Any = "solid", *, width: float = 1.8, alpha: float = 1.0
    ) -> None:
        """A short line beside the name of what is drawn like it, at a place in inches."""
        from matplotlib.lines import Line2D

        where = [x / self.width, (x + 0.2) / self.width], [y / self.height] * 2
        style = {"linewidth": width, "linestyle": dashes, "alpha": None if alpha == 1 else alpha}
        self.figure.add_artist(Line2D(*where, color=colour, solid_capstyle="butt", **style))

    def line(self, axes: Any, x: Any, y: Any, colour: str, *, width: float = 1.8, dashes: Any = "solid") -> None:
        """A line through points, which are thinned already where they can be many."""
        self.path(axes, np.column_stack((x, y)), edgecolor=colour, linewidth=width, linestyle=dashes)

    def path(self, axes: Any, points: Array, codes: Any = None, **style: Any) -> None:
        """A path as it is: matplotlib is not to leave out points of its own choice."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        path = Path(points, codes)
        path.should_simplify = False
        plain = {"facecolor": "none", "edgecolor": "none", "joinstyle": "round", "capstyle": "round", "snap": False}
        style = plain | style
        axes.add_patch(PathPatch(path, **style))

    def dots(self, axes: Any, x: Any, y: Any, colour: str, *, size: float = 3.0, **style: Any) -> None:
        """Dots as one path, which is a tenth of the bytes that markers take."""
        nudge = 1e-4 * abs(float(np.subtract(*axes.get_xlim())))
        points = np.column_stack((x, y, np.asarray(x) + nudge, y)).reshape(-1, 2)
        self.path(axes, points, [1, 2] * len(np.atleast_1d(x)), edgecolor=colour, linewidth=size, **style)

    def boxes(self, axes: Any, boxes: Iterable[Sequence[float]], colour: str, **style: Any) -> None:
        """Filled boxes, each from x to x and from y to y, as one path."""
        corners = [
            corner
            for left, right, low, high in boxes
            for corner in ((left, low), (right, low), (right, high), (left, high), (left, low))
        ]
        if corners:
            codes = [1, 2, 2, 2, 79] * (len(corners) // 5)
            self.path(axes, np.asarray(corners), codes, facecolor=colour, **style)


LARGER_IS_MORE = "larger marks have more rows"


def mark_sizes(rows: Sequence[float], largest: float, smallest: float = 2.5) -> list[float]:
    """The sizes of marks whose areas are proportional to these numbers of rows, unless too small to be seen."""
    most = max(rows)
    return [max(smallest, largest * math.sqrt(each / most)) for each in rows]


def rows_height(rows: int) -> float:
    """The inches of a chart of so many rows."""
    return max(ROWS_TOP + ROWS_BELOW + 0.26 * rows, 1.9)


def y_axis_inches(ends: tuple[float, float]) -> float:
    """The inches that an axis on the left takes, with its numbers and its name."""
    from matplotlib.ticker import MaxNLocator

    numbers = MaxNLocator(5, steps=_STEPS).tick_values(*ends)
    return EDGE + 0.34 + max(text_inches(show_tick(float(value))) for value in numbers)


def show_count(value: float) -> str:
    """A count that fits into a small space."""
    for size, sign in ((1e9, "bn"), (1e6, "M")):
        if value >= size:
            return f"{value / size:.3g}{sign}" if value < 1000 * size else f"{value:.2g}"
    if isinstance(value, int):
        return f"{value:,}"
    return show_value(value) if value < 1000 else show_tick(round(value))


def show_tick(value: float) -> str:
    """A number at an axis: short, thousands apart, a true minus."""
    value = 0.0 if abs(value) < 1e-300 else value
    size = abs(value)
    text = f"{value:.4g}" if size and (size < 1e-4 or size >= 1e9) else f"{value:,.10g}"
    return text.replace("-", "−")


def show_value(value: float) -> str:
    """A number as cards and tables show it, with a true minus."""
    return show_cell(value).replace("-", "−")


def text_inches(text: str, size: float = SMALL) -> float:
    """About how wide a text is at most."""
    return text_width(printable(text)) * _SIGN * size / 72


def truncate_text(text: str, inches: float, size: float = SMALL) -> str:
    """A text that is cut where it would be wider than this, and says so."""
    return _shorten(printable(text), inches, size, 0.0)


def shorten_names(names: Sequence[str], inches: float, size: float = SMALL) -> list[str]:
    """Names that are cut in the middle where they would be wider than this; different names stay different."""
    texts = [printable(name) for name in names]
    distinct = sorted(set(texts))
    head = _shared_signs(distinct)
    foot = min(_shared_signs([text[::-1] for text in distinct]), min(map(len, distinct), default=0) - head)
    for cores in (texts, ["…" * (head > 0) + text[head : len(text) - foot] + "…" * (foot > 0) for text in texts]):
        for tail in _TAILS:
            shown = [_shorten(core, inches, size, tail) for core in cores]
            if len(set(shown)) == len(distinct):
                return [Name(each, text) if each != text else text for each, text in zip(shown, texts, strict=True)]
    numbers = {text: f" #{place}" for place, text in enumerate(distinct, start=1)}
    room = inches - max(text_inches(number, size) for number in numbers.values())
    return [Name(_shorten(text, room, size, 0.5) + numbers[text], text) for text in texts]


def _shared_signs(texts: Sequence[str]) -> int:
    """How many signs all texts begin with."""
    pairs = zip(min(texts, default=""), max(texts, default=""), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


_TAILS = (0.5, 0.75, 0.25, 1.0)
"""Shares of the signs that are kept after a cut."""


def _shorten(text: str, inches: float, size: float, tail: float) -> str:
    if text_inches(text, size) <= inches:
        return text

    def cut(kept: int) -> str:
        last = math.floor(kept * tail)
        return f"{text[: kept - last].rstrip()}…{text[len(text) - last :].lstrip()}"

    kept = bisect_right(range(len(text)), inches, key=lambda kept: text_inches(cut(kept), size)) - 1
    return Name(cut(max(kept, 0)), text)
