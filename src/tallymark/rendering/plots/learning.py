"""Learning curves: the values of metrics by round of a training, one panel per metric, one line per eval set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.rendering.plots.canvas import (
    EDGE,
    SMALL,
    TOP,
    Canvas,
    shorten_names,
    show_tick,
    show_value,
    truncate_text,
    y_axis_inches,
)
from tallymark.rendering.plots.plot import WIDTH, Plot
from tallymark.rendering.plots.scatter import value_range
from tallymark.rendering.plots.theme import LIGHT, Theme
from tallymark.rendering.plots.thinning import simplify_line
from tallymark.rendering.table import Table

MOST_PANELS, MOST_SETS = 6, len(LIGHT.series)
_PANEL, _APART, _BOTTOM, _KEY = 1.5, 0.3, 0.56, 0.22  # inches
_ACROSS = 3  # names of eval sets beside each other


class LearningPanel(NamedTuple):
    """A metric: its name, and its values by round on each eval set, of which some may be undefined."""

    metric: str
    lines: Mapping[str, tuple[Array, Array]]


def learning_plot(panels: Sequence[LearningPanel], sets: Sequence[str], best: int | None, table: Table) -> Plot:
    """The panels below each other, with a mark at the best round."""
    title = "Learning curves"
    pairs = ((MOST_PANELS, panels, "metrics"), (MOST_SETS, sets, "eval sets"))
    left_out = [f"first {most} of {len(every)} {what}" for most, every, what in pairs if len(every) > most]
    panels, sets = panels[:MOST_PANELS], sets[:MOST_SETS]
    first_values = {name: line for name, line in panels[0].lines.items() if name in sets}
    numbers = np.concatenate([rounds for panel in panels for rounds, _ in panel.lines.values()])
    first, last = float(numbers.min()), float(numbers.max())
    keys = 0.08 + _KEY * math.ceil(len(sets) / _ACROSS)
    margin = 0.02 * (last - first) or 0.5
    limits = []
    for panel in panels:
        low, high = value_range(np.concatenate([values[np.isfinite(values)] for _, values in panel.lines.values()]))
        pad = 0.06 * (high - low) or 0.05 * abs(low) or 0.5
        limits.append((low - pad, high + pad))

    def draw(figure: Any, theme: Theme) -> None:
        marked = "" if best is None else f"dashed: best round, {show_tick(best)}"
        canvas = Canvas(figure, theme, title, " · ".join(filter(None, [marked, *left_out])))
        left = max(map(y_axis_inches, limits))
        for place, (panel, (low, high)) in enumerate(zip(panels, limits, strict=True)):
            bottom = _BOTTOM + keys + (_PANEL + _APART) * (len(panels) - 1 - place)
            axes = canvas.axes(left, EDGE + 0.06, bottom, canvas.height - bottom - _PANEL)
            axes.set_xlim(first - margin, last + margin)
            axes.set_ylim(low, high)
            if last - first < 5:
                axes.set_xticks(np.arange(first, last + 1))
            if best is not None:
                ends = np.array([[best, low], [best, high]])
                canvas.path(axes, ends, edgecolor=theme.rule, linewidth=1, linestyle=(0, (3, 2)))
            spans = (last - first or 1.0, high - low)
            for name, colour in zip(sets, theme.series, strict=False):
                if name in panel.lines:
                    _draw_line(canvas, axes, *panel.lines[name], colour, best, spans)
            canvas.name_axes(axes, "round" if place == len(panels) - 1 else "", "")
            name = truncate_text(panel.metric, canvas.width - left - EDGE)
            top = axes.get_position().y1 * canvas.height
            canvas.write_at(left, top + 0.04, name, size=SMALL, up="bottom")
            if place < len(panels) - 1:
                axes.tick_params(labelbottom=False)
        room = (canvas.width - 2 * EDGE) / min(len(sets), _ACROSS)
        shown = shorten_names(sets, room - 0.33)
        for place, (name, colour) in enumerate(zip(shown, theme.series, strict=False)):
            x, y = EDGE + place % _ACROSS * room, keys - _KEY * (place // _ACROSS + 0.5)
            canvas.key(x, y, colour)
            canvas.write_at(x + 0.27, y, name, size=SMALL, colour=colour)

    height = TOP + 0.2 + (_PANEL + _APART) * len(panels) - _APART + _BOTTOM + keys
    sentence = _sentence(panels[0].metric, first_values, best, last)
    return Plot(title, f"{title}: {sentence}.", table, draw, (WIDTH, height))


def _draw_line(
    canvas: Canvas, axes: Any, rounds: Array, values: Array, colour: str, best: int | None, spans: tuple[float, float]
) -> None:
    """The finite values, with gaps between them where there are others, and a dot at the best round."""
    known = np.isfinite(values)
    places = np.flatnonzero(known)
    for part in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
        x, y = simplify_line(rounds[part], values[part], spans)
        canvas.line(axes, x, y, colour)
        if len(part) == 1:
            canvas.dots(axes, x, y, colour, size=4)
    at = known & (rounds == best)
    if at.any():
        canvas.dots(axes, rounds[at], values[at], colour, size=6)


def _sentence(metric: str, lines: Mapping[str, tuple[Array, Array]], best: int | None, last: float) -> str:
    """The values of the first metric in the best round, or where none is known, in the last."""
    number = last if best is None else best
    values = [
        f"{show_value(float(values[rounds == number][0]))} for {name}"
        for name, (rounds, values) in lines.items()
        if (rounds == number).any() and math.isfinite(values[rounds == number][0])
    ]
    which = f"the {'last' if best is None else 'best'} round is {show_tick(number)}"
    return f"{which}; there {metric} is {', '.join(values)}" if values else which
