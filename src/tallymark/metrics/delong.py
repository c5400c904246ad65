"""The spread of areas under ROC curves, by the placements of each class among the other (DeLong et al. 1988)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.states import Runs, exact_sum, to_float


class Placements(NamedTuple):
    """For every distinct score of a class, the share of rows of the other class that lie below it, half of those that
    tie; and how many rows have that score."""

    shares: Array
    counts: Array

    @property
    def rows(self) -> int:
        """How many rows the class has."""
        return int(self.counts.sum())

    def variance(self) -> float:
        """The variance of the shares; it needs two rows."""
        mean = to_float(exact_sum(self.counts * self.shares)) / self.rows
        return to_float(exact_sum(self.counts * (self.shares - mean) ** 2)) / (self.rows - 1)


def counts_of(runs: Runs) -> Array:
    """How many rows have each distinct score."""
    scores, _, counts = runs
    return np.ones(len(scores), np.int64) if counts is None else counts


def place(own: Runs, other: Runs) -> Placements:
    """The placements of a class among the rows of another; both are unweighted, and the other has rows."""
    below = np.concatenate(([0], np.cumsum(counts_of(other))))
    under, up_to = (below[np.searchsorted(other[0], own[0], side)] for side in ("left", "right"))
    return Placements((under + up_to) / (2 * below[-1]), counts_of(own))


class Spread(NamedTuple):
    """The variance of an area, or of a difference of two, and the degrees of freedom that it is known with."""

    variance: float
    freedom: float


def area_spread(negative: Runs, positive: Runs) -> Spread:
    """The spread of the area of two classes with two rows or more each."""
    placed = place(positive, negative), place(negative, positive)
    return join_spreads([(one.variance(), one.rows) for one in placed])


def join_spreads(classes: Sequence[tuple[float, int]]) -> Spread:
    """The spread of a sum of means, given by the variance and the number of rows of each. The degrees of freedom are
    those of Welch, as Brunner and Munzel (2000) have them for ranks: few rows of one class do not know their variance
    well."""
    parts = [variance / rows for variance, rows in classes]
    unsure = sum(part * part / (rows - 1) for part, (_, rows) in zip(parts, classes, strict=True))
    return Spread(sum(parts), sum(parts) ** 2 / unsure if unsure else 1.0)
