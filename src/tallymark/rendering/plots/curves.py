"""The ROC curve, and precision by recall: of one model, or of several lines side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.rendering.plots.canvas import EDGE, SMALL, Canvas, shorten_names, show_value, text_inches
from tallymark.rendering.plots.plot import Plot
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.plots.thinning import simplify_line
from tallymark.rendering.table import Table

MOST_LINES = 8  # that an eye can tell apart
_LEFT, _BOTTOM = 0.62, 0.56
_ROW, _NARROW = 0.22, 1.2  # inches of names below the lines
_SHADE = 0.2  # how opaque a band is
_DOTTED = (0, (2, 2.5))
_DASHES = ("solid",) * 4 + ((0, (4, 1.6)),) * 4


class Line(NamedTuple):
    """A line with its name, the area under it, and the interval of that in words."""

    name: str
    x: Any
    y: Any
    area: float
    interval: str = ""
    """Of the area, in words; empty where it has none."""
    share: float = math.nan
    """The share of positives."""

    def shown_area(self) -> str:
        """The area with its interval, where it has one."""
        return show_value(self.area) + (f" ({self.interval})" if self.interval else "")


class Band(NamedTuple):
    """A confidence band around one line: its lower and upper edge as points, and its name for the legend."""

    lower: tuple[Array, Array]
    upper: tuple[Array, Array]
    name: str

    @classmethod
    def of_boxes(cls, x: Array, y: Array, reach: tuple[float, float], name: str) -> Band:
        """All places of a box that reaches so far to each side, and moves along a rising line in the unit square."""
        (low_x, low_y), (high_x, high_y) = _move(x, y, reach[0], -reach[1]), _move(x, y, -reach[0], reach[1])
        return cls(
            (np.append(0.0, low_x), np.append(0.0, low_y)), (np.append(high_x, 1.0), np.append(high_y, 1.0)), name
        )

    @classmethod
    def of_steps(cls, x: Array, low: Array, high: Array, name: str) -> Band:
        """A band that is level up to each x, from the one before, or from 0."""
        along = np.repeat(np.concatenate(([0.0], x)), 2)[1:-1]
        lower, upper = (simplify_line(along, np.repeat(side, 2)) for side in (low, high))
        return cls(lower, upper, name)


def _move(x: Array, y: Array, right: float, up: float) -> tuple[Array, Array]:
    """A rising line that is moved, and cut where it leaves the unit square."""
    x, y = simplify_line(x, y)
    x, y = x + right, y + up
    along = x + y  # which rises from each point to the next
    cuts = [np.interp(end, side, along) for side in (x, y) for end in (0.0, 1.0)]
    places = np.union1d(along, cuts)
    cut_x, cut_y = (np.clip(np.interp(places, along, side), 0.0, 1.0) for side in (x, y))
    return cut_x, cut_y


def roc_plot(lines: Sequence[Line], table: Table, of: str = "", *, band: Band | None = None, note: str = "") -> Plot:
    """True against false positives at every threshold; the diagonal is chance. A `note` ends the sentence."""
    title = "ROC curve" + of
    lines = [_simplified(line) for line in _lines_to_draw(lines)]
    keys = 1 + (band is not None)

    def draw(figure: Any, theme: Theme) -> None:
        canvas = Canvas(figure, theme, title, _subtitle("area", lines, table))
        axes = _square(canvas, lines, band, "chance")
        canvas.path(axes, np.array([[0, 0], [1, 1]]), edgecolor=theme.rule, linewidth=1, linestyle=_DOTTED)
        _draw_lines(canvas, axes, lines, keys)
        canvas.name_axes(axes, "false positives, share of negatives", "true positives, share of positives")

    sentence = f"{title}: {_areas('area under the curve', lines)}; chance has 0.5.{note}"
    return Plot(title, sentence, table, draw, _size(lines, keys))


def precision_recall_plot(
    lines: Sequence[Line], table: Table, of: str = "", *, band: Band | None = None, note: str = ""
) -> Plot:
    """Precision by recall as steps, since precision between two points is not on a straight line."""
    title = "Precision and recall" + of
    alike = len({line.share for line in lines}) == 1  # of models; classes have shares of their own
    lines = [_simplified(line._replace(**_step_corners(line))) for line in _lines_to_draw(lines)]
    share = f"share of positives {show_value(lines[0].share)}" if alike else ""
    keys = alike + (band is not None)

    def draw(figure: Any, theme: Theme) -> None:
        canvas = Canvas(figure, theme, title, _subtitle("average precision", lines, table))
        axes = _square(canvas, lines, band, share)
        if alike:
            ends = np.array([[0, lines[0].share], [1, lines[0].share]])
            canvas.path(axes, ends, edgecolor=theme.rule, linewidth=1, linestyle=_DOTTED)
        _draw_lines(canvas, axes, lines, keys)
        canvas.name_axes(axes, "recall", "precision")

    chance = f"; the share of positives is {show_value(lines[0].share)}" if alike else ""
    sentence = f"{title}: {_areas('average precision', lines)}{chance}.{note}"
    return Plot(title, sentence, table, draw, _size(lines, keys))


def _lines_to_draw(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines, or where there are too many to be told apart, the highest and the lowest of them."""
    half = MOST_LINES // 2
    ranked = sorted(lines, key=lambda line: -line.area)
    return ranked if len(lines) <= MOST_LINES else ranked[:half] + ranked[-half:]


def _simplified(line: Line) -> Line:
    """The line with all that can be seen of it: millions of points are not to be kept."""
    x, y = simplify_line(line.x, line.y)
    return line._replace(x=x, y=y)


def _step_corners(line: Line) -> dict[str, Any]:
    """The corners of a line that is level from each recall to the next."""
    recall, precision = np.repeat(line.x, 2)[:-1], np.repeat(line.y, 2)[1:]
    return {"x": recall, "y": precision}


def _size(lines: Sequence[Line], keys: int) -> tuple[float, float]:
    return 4.6, 4.5 + _legend_height(lines, keys)


def _legend_columns(lines: Sequence[Line]) -> int:
    """In how many columns the names of several lines stand below them: two, where they are short enough."""
    return 2 if max(text_inches(line.name) for line in lines) <= _NARROW else 1


def _legend_height(lines: Sequence[Line], keys: int) -> float:
    """The inches that the names of several lines take, and so many lines below for what else is drawn."""
    if len(lines) == 1:
        return _ROW * keys
    return _ROW * (keys + math.ceil(len(lines) / _legend_columns(lines))) + 0.08


def _square(canvas: Canvas, lines: Sequence[Line], band: Band | None, dotted: str) -> Any:
    """The axes, with the band and its name, and that of a dotted line."""
    keys = (band is not None) + bool(dotted)
    axes = canvas.axes(_LEFT, EDGE + 0.06, _BOTTOM + _legend_height(lines, keys))
    axes.set_xlim(-0.015, 1.015)
    axes.set_ylim(-0.015, 1.015)
    x, y = (_LEFT, EDGE + 0.02) if len(lines) == 1 else (EDGE, EDGE + 0.5 * _ROW)
    if dotted:
        canvas.key(x, y, canvas.theme.rule, _DOTTED, width=1.0)
        canvas.write_at(x + 0.27, y, dotted, size=SMALL, colour=canvas.theme.quiet)
    if band is not None:
        colour, y = canvas.theme.series[0], y + _ROW * bool(dotted)
        lower, upper = np.column_stack(band.lower), np.column_stack(band.upper)
        canvas.path(axes, np.concatenate((lower, upper[::-1])), facecolor=colour, alpha=_SHADE)
        canvas.key(x, y, colour, width=8.0, alpha=_SHADE)
        canvas.write_at(x + 0.27, y, band.name, size=SMALL, colour=canvas.theme.quiet)
    return axes


def _draw_lines(canvas: Canvas, axes: Any, lines: Sequence[Line], keys: int) -> None:
    """The lines; of several, the names stand below in the order of their areas, in their colours, above the keys."""
    colours = canvas.theme.series
    for place, line in enumerate(lines):
        canvas.line(axes, line.x, line.y, colours[place], width=2.0 if len(lines) == 1 else 1.6, dashes=_DASHES[place])
    if len(lines) == 1:
        return
    columns = _legend_columns(lines)
    rows, width = math.ceil(len(lines) / columns), (canvas.width - 2 * EDGE) / columns
    names = shorten_names([line.name for line in lines], width - (1.0 if columns > 1 else 0.81))
    for place, line in enumerate(lines):
        left, y = EDGE + width * (place // rows), EDGE + _ROW * (keys + rows - place % rows - 0.5)
        right = left + width - (0.2 if columns > 1 and place < rows else 0.06)
        canvas.key(left, y, colours[place], _DASHES[place])
        canvas.write_at(left + 0.27, y, names[place], size=SMALL, colour=colours[place])
        canvas.write_at(right, y, show_value(line.area), size=SMALL, along="right")


def _subtitle(what: str, lines: Sequence[Line], table: Table) -> str:
    if len(lines) == 1:
        return f"{what} {lines[0].shown_area()}"
    every = len(table.rows)
    return f"by {what}" + (f" · {len(lines)} of {every}, the highest and lowest" if every > len(lines) else "")


def _areas(what: str, lines: Sequence[Line]) -> str:
    if len(lines) == 1:
        return f"the {what} is {lines[0].shown_area()}"
    return f"the {what} is " + ", ".join(f"{line.shown_area()} for {line.name}" for line in lines)
