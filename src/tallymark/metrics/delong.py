"""The spread of areas under ROC curves, by the placements of each class among the other (DeLong et al. 1988)."""

from __future__ import annotations

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


def area_variance(negative: Runs, positive: Runs) -> float:
    """The variance of the area, of two classes with two rows or more each."""
    placed = place(positive, negative), place(negative, positive)
    return sum(one.variance() / one.rows for one in placed)
