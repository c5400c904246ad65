"""Rows of numbers: residuals, and predictions against the truth. Few rows are dots, many are a density."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.errors import UndefinedError
from tallymark.rendering.plots.canvas import EDGE, Canvas, show_value, y_axis_inches
from tallymark.rendering.plots.plot import Plot
from tallymark.rendering.plots.theme import Theme
from tallymark.rendering.plots.thinning import BLOCK
from tallymark.rendering.table import Table

_FEW = 1_200  # rows that can be told apart as dots
_GRID = (64, 48)  # cells of a density, across and up
_SHADES = 6
_BINS = 32
_SHOWN = 12  # rows of a table
_LEAST = 1e-280  # below which numbers of an axis cannot be told apart
_FAR = 6.0  # times the width of nearly all values, from where on the few outside are cut off
_BOTTOM = 0.56  # inches


class ScatterData(NamedTuple):
    """Where rows lie: themselves, or how many there are in each cell, as weights; and where the picture ends."""

    x: Array
    y: Array
    cells: Array | None
    xlim: tuple[float, float]
    ylim: tuple[float, float]
    outside: int

    @classmethod
    def from_rows(
        cls, x: Array, y: Array, weights: Array | None, *, same_limits: bool = False, zero: bool = False
    ) -> ScatterData:
        """The data of rows; `same_limits` gives both axes the same ends, `zero` says that y must show it."""
        xlim, ylim = _limits(x), _limits(y, zero=zero)
        if same_limits:
            xlim = ylim = min(xlim[0], ylim[0]), max(xlim[1], ylim[1])
        if len(x) <= _FEW:
            inside = _inside(x, xlim) & _inside(y, ylim)
            return cls(x[inside], y[inside], None, xlim, ylim, len(x) - int(np.count_nonzero(inside)))
        cells, rows_inside = np.zeros(_GRID[0] * _GRID[1]), 0
        for block in _blocks(len(x)):
            inside = _inside(x[block], xlim) & _inside(y[block], ylim)
            places = _places(x[block][inside], xlim, _GRID[0]) * _GRID[1] + _places(y[block][inside], ylim, _GRID[1])
            cells += np.bincount(places, None if weights is None else weights[block][inside], len(cells))
            rows_inside += len(places)
        return cls(np.empty(0), np.empty(0), cells.reshape(_GRID), xlim, ylim, len(x) - rows_inside)

    def draw(self, canvas: Canvas, axes: Any) -> None:
        """The dots, or the cells in shades of how many rows they hold."""
        axes.set_xlim(*self.xlim)
        axes.set_ylim(*self.ylim)
        theme = canvas.theme
        if self.cells is None:
            canvas.dots(axes, self.x, self.y, theme.series[0], size=3.2, alpha=0.6)
            return
        most = float(self.cells.max())
        shades = np.zeros(self.cells.shape, np.int64)
        rows_inside = self.cells > 0
        shades[rows_inside] = 1 + np.floor(
            (_SHADES - 1e-9) * np.log1p(self.cells[rows_inside]) / np.log1p(most)
        ).astype(np.int64)
        shades = np.minimum(shades, _SHADES)
        for shade in range(1, _SHADES + 1):
            canvas.boxes(axes, self._runs(shades == shade), theme.series[0], alpha=0.12 + 0.78 * shade / _SHADES)

    def _runs(self, there: Array) -> list[tuple[float, float, float, float]]:
        """Boxes of cells that stand above one another."""
        xs, ys = (np.linspace(*ends, size + 1) for ends, size in zip((self.xlim, self.ylim), _GRID, strict=True))
        edges = np.diff(np.pad(there.astype(np.int8), ((0, 0), (1, 1))), axis=1)
        starts, stops = np.argwhere(edges == 1), np.argwhere(edges == -1)
        return [(xs[k], xs[k + 1], ys[a], ys[b]) for (k, a), (_, b) in zip(starts, stops, strict=True)]

    @property
    def note(self) -> str:
        """How many rows the picture does not show."""
        return f" · {self.outside:,} row{'s' * (self.outside != 1)} outside" if self.outside else ""


def residuals_plot(
    prediction: Array,
    residual: Array,
    weights: Array | None,
    *,
    bias: float,
    rmse: float,
    table: Table,
    output: str = "",
) -> Plot:
    """Residuals by prediction, and how they are spread."""
    title = "Residuals" + output
    data = ScatterData.from_rows(prediction, residual, weights, zero=True)
    bins = max(8, min(_BINS, round(2 * len(residual) ** (1 / 3))))
    heights = _histogram(residual, weights, data.ylim, bins)

    def draw(figure: Any, theme: Theme) -> None:
        subtitle = f"mean {show_value(bias)} · root mean square {show_value(rmse)}{data.note}"
        canvas = Canvas(figure, theme, title, subtitle)
        axes = canvas.axes(y_axis_inches(data.ylim), EDGE + 0.95, _BOTTOM)
        data.draw(canvas, axes)
        _zero_line(canvas, axes, data.xlim)
        side = canvas.axes(canvas.width - EDGE - 0.88, EDGE, _BOTTOM)
        side.set_ylim(*data.ylim)
        side.set_xlim(0, max(float(heights.max()) * 1.05, 1e-300))
        side.set_xticks([])
        side.tick_params(labelleft=False)
        side.spines["bottom"].set_visible(False)
        edges = np.linspace(*data.ylim, bins + 1)
        canvas.boxes(side, [(0, h, *edges[k : k + 2]) for k, h in enumerate(heights.tolist()) if h], theme.heat)
        _zero_line(canvas, side, side.get_xlim())
        canvas.name_axes(axes, "prediction", "prediction − truth")

    sentence = (
        f"{title} by prediction: their mean is {show_value(bias)}, their root mean square {show_value(rmse)}; they lie "
        f"between {show_value(float(residual.min()))} and {show_value(float(residual.max()))}."
    )
    return Plot(title, sentence, table, draw)


def predictions_plot(
    truth: Array, prediction: Array, weights: Array | None, *, r2: float, rmse: float, table: Table, output: str = ""
) -> Plot:
    """Predictions by truth; on the diagonal they are right."""
    title = "Predictions and truth" + output
    data = ScatterData.from_rows(truth, prediction, weights, same_limits=True)
    known = "" if np.isnan(r2) else f"R² {show_value(r2)} · "

    def draw(figure: Any, theme: Theme) -> None:
        canvas = Canvas(figure, theme, title, f"{known}RMSE {show_value(rmse)}{data.note}")
        axes = canvas.axes(y_axis_inches(data.ylim), EDGE + 0.06, _BOTTOM)
        data.draw(canvas, axes)
        ends = np.array([[data.xlim[0]] * 2, [data.xlim[1]] * 2])
        canvas.path(axes, ends, edgecolor=theme.ink, linewidth=1, linestyle=(0, (2, 2.5)))
        canvas.name_axes(axes, "truth", "prediction")

    sentence = f"{title}: {f'R² is {show_value(r2)}, ' if known else ''}RMSE is {show_value(rmse)}."
    return Plot(title, sentence, table, draw, (4.6, 4.4))


def _zero_line(canvas: Canvas, axes: Any, ends: tuple[float, float]) -> None:
    """The line at zero, where nothing is wrong."""
    canvas.path(axes, np.array([[ends[0], 0], [ends[1], 0]]), edgecolor=canvas.theme.ink, linewidth=0.9)


def _histogram(values: Array, weights: Array | None, ends: tuple[float, float], bins: int) -> Array:
    out = np.zeros(bins)
    for block in _blocks(len(values)):
        inside = _inside(values[block], ends)
        rows_inside = None if weights is None else weights[block][inside]
        out += np.bincount(_places(values[block][inside], ends, bins), rows_inside, bins)
    return out


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, rows, BLOCK))


def _inside(values: Array, ends: tuple[float, float]) -> Array:
    found: Array = (values >= ends[0]) & (values <= ends[1])
    return found


def _places(values: Array, ends: tuple[float, float], size: int) -> Array:
    scaled = (values - ends[0]) / (ends[1] - ends[0]) * size
    return np.clip(scaled.astype(np.int64), 0, size - 1)


def value_range(values: Array) -> tuple[float, float]:
    """The lowest and the highest value, if there can be a picture from one to the other."""
    low, high = float(values.min()), float(values.max())
    if not np.isfinite(4 * (high - low)):
        raise UndefinedError(f"values from {low:g} to {high:g} are too far apart to be drawn")
    return (low, high) if high - low > _LEAST else (low, low)


def shown_range(values: Array, weights: Array | None = None) -> tuple[float, float]:
    """The lowest and the highest value to show: of all, or where a few lie far outside, of nearly all."""
    low, high = value_range(values)
    near = weighted_quantiles(values, weights, (0.005, 0.995))
    width = float(near[1] - near[0])
    if width > 0 and high - low > _FAR * width:
        return max(low, float(near[0]) - width), min(high, float(near[1]) + width)
    return low, high


def weighted_quantiles(values: Array, weights: Array | None, shares: tuple[float, ...]) -> Array:
    """The values below which these shares of the rows lie, by weight."""
    if weights is None:
        return np.asarray(np.quantile(values, shares))
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    places = np.searchsorted(below, np.multiply(shares, below[-1]))
    return np.asarray(values[order[np.minimum(places, len(values) - 1)]])


def _limits(values: Array, *, zero: bool = False) -> tuple[float, float]:
    """Where the picture ends."""
    low, high = shown_range(values)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    pad = 0.03 * (high - low) or 0.05 * max(abs(low), 1.0)
    return low - pad, high + pad


def spread_table(title: str, values: Array, weights: Array | None, of: Array | None = None, what: str = "") -> Table:
    """How many rows have which values, by weight, and the mean of another column there, where one is given."""
    low, high = value_range(values)
    ends = (low, high) if high > low else (low - 0.5, high + 0.5)
    edges = np.linspace(*ends, _SHOWN + 1).tolist()
    rows_inside = _histogram(values, weights, ends, _SHOWN)
    columns = [edges[:-1], edges[1:], rows_inside.tolist()]
    if of is not None:
        with np.errstate(over="ignore", invalid="ignore"):  # a mean that leaves the doubles is shown as such
            totals = _histogram(values, of if weights is None else of * weights, ends, _SHOWN)
            columns.append(np.divide(totals, rows_inside, out=np.full(_SHOWN, np.nan), where=rows_inside > 0).tolist())
    names = ("from", "to", "rows", *([what] if what else []))
    rows = [row for row in zip(*columns, strict=True) if row[2] > 0]
    return Table(title, names, rows, numbers=names)
