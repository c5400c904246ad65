"""How far values over classes move with the rows: the delta method on the table of true and predicted labels.

A row that is added moves a value by its influence; the variance of a value is that of the influences of its rows.
Takahashi, Yamamoto, Kuchiba and Koyama (2022) write this out for the F of two classes, micro and macro.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.states import Cells, Counts, Pairs

Fraction = Callable[[Cells], tuple[int, int]]
_STEP = 1e-20  # imaginary, so it can be small: no difference is taken


class Table(NamedTuple):
    """The pairs of classes that occur: the places of the true and the predicted class, and how many rows have them."""

    truth: Array
    predicted: Array
    rows: Array

    @property
    def n(self) -> float:
        """How many rows there are."""
        return float(np.sum(self.rows))

    def shares(self, classes: int) -> tuple[Array, Array]:
        """The share of rows of every class, in truth and in prediction."""
        truth, predicted = (np.bincount(side, self.rows, classes) for side in (self.truth, self.predicted))
        return truth / self.n, predicted / self.n

    def error(self, influence: Array) -> float:
        """The standard error of a value, by what one more row of each pair would move it."""
        mean = np.sum(self.rows * influence) / self.n
        return float(np.sqrt(np.sum(self.rows * (influence - mean) ** 2)))


def table_of(state: Pairs) -> Table:
    """The pairs of classes in a state of unweighted rows."""
    _, of_truth, of_prediction = state.classes()
    whole = np.array(state.whole(), np.float64)
    return Table(np.asarray(of_truth)[state.cells[0]], np.asarray(of_prediction)[state.cells[1]], whole)


def cells_of(counts: Counts) -> Cells:
    """The binary tables of all classes, as arrays of rows."""
    hits, truth, predicted = (
        np.array([counts.to_float(count) for count in side]) for side in (counts.hits, counts.truth, counts.predicted)
    )
    rest = counts.to_float(counts.total) - truth - predicted + hits
    return Cells(hits, predicted - hits, truth - hits, rest)  # type: ignore[arg-type]


def slopes(fraction: Fraction, cells: Cells) -> Cells:
    """How much the fraction moves per row in each cell: an exact derivative, by an imaginary step. TypeError where
    it has none: a fraction that goes by shares does not move when all cells grow alike."""
    found = []
    for place in range(4):
        moved = [cell + (1j * _STEP if k == place else 0j) for k, cell in enumerate(cells)]
        above, below = fraction(Cells(*moved))  # type: ignore[arg-type]
        value = above / below
        found.append(np.imag(value) / _STEP)
    grown = [cell * slope for cell, slope in zip(cells, found, strict=True)]
    if np.any(
        np.abs(sum(grown)) > 1e-9 * (sum(map(np.abs, grown)) + np.abs(value))
    ):  # slopes of 0 have rounding errors
        raise TypeError("the fraction has no slopes")
    return Cells(*found)  # type: ignore[arg-type]


def cells_error(fraction: Fraction, cells: Cells) -> float:
    """The standard error of a fraction of one binary table."""
    found = slopes(fraction, Cells(*map(float, cells)))  # type: ignore[arg-type]
    return float(np.sqrt(sum(cell * slope**2 for cell, slope in zip(cells, found, strict=True))))


def mean_influence(fraction: Fraction, counts: Counts, table: Table, *, weighted: bool, absent: float | str) -> Array:
    """How far one more row of each pair moves the mean of a fraction over the classes, or its mean by their share of
    the truth. Classes without a value have the value `absent`, or are not counted if it is "skip"."""
    skip = isinstance(absent, str)
    cells = cells_of(counts)
    above, below = (np.broadcast_to(np.asarray(part, float), cells.tp.shape) for part in fraction(cells))  # type: ignore[attr-defined]
    known = below > 0
    held = Cells(*(np.where(known, cell, 1.0) for cell in cells))  # type: ignore[arg-type]
    truth = np.asarray(cells.tp + cells.fn)
    shares = truth if weighted else np.ones(len(truth))
    whole = float(np.sum(shares[known] if skip else shares))
    shares = np.where(known, shares / whole, 0.0)
    tp, fp, fn, tn = (shares * slope for slope in slopes(fraction, held))
    i, j = table.truth, table.predicted
    moved = np.sum(tn) + np.where(i == j, (tp - tn)[i], (fn - tn)[i] + (fp - tn)[j])
    if weighted:
        values = np.divide(above, below, out=np.full(len(truth), 0.0 if skip else absent), where=known)
        mean = np.sum(truth * values) / whole
        moved = moved + np.where(known[i] | (not skip), (values - mean)[i], 0.0) / whole
    return np.asarray(moved)
