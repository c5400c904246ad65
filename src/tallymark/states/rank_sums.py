"""What two classes of scores say about each other: sums over their order, and what every score does as a threshold."""

from __future__ import annotations

import math
from typing import NamedTuple

from tallymark._core import curve_points, placement_sums, rank_sums, roc_and_sums, score_steps
from tallymark.arrays import Array
from tallymark.states.base import divide
from tallymark.states.runs import Runs, measure_runs


class RankSums(NamedTuple):
    """What two classes of scores say about each other, the second being the positive one; None where it has no value.

    `area` is the share of pairs that are in order, half of those that tie; `distance` the largest one between the rates
    of true and false positives; `steps` and `trapezoids` are the areas under precision by recall.
    """

    area: float | None
    distance: float | None
    steps: float | None
    trapezoids: float | None


def sum_ranks(negative: Runs, positive: Runs, wants: frozenset[str]) -> RankSums:
    """The sums over two classes; those that nobody wants are not to be read."""
    found = rank_sums(negative, positive, "steps" in wants, "trapezoids" in wants, "distance" in wants)
    return sums_of(found, weighted=negative[1] is not None or positive[1] is not None)


def roc_with_sums(negative: Runs, positive: Runs, wants: frozenset[str]) -> tuple[tuple[Array, ...], RankSums]:
    """The points of the ROC curve, and from the same walk the sums over two classes without weights."""
    if "trapezoids" in wants:  # which that walk does not take
        return curve_points("roc", negative, positive, True), sum_ranks(negative, positive, wants)
    points, found = roc_and_sums(negative, positive, True, "steps" in wants)
    return points, sums_of(found, weighted=False)


def sums_of(found: tuple[float, float, float, float, float, float], *, weighted: bool) -> RankSums:
    """The values that sums of the core say, or that they are where rows are weighed."""
    p, n, area, distance, steps, trapezoids = found
    if not weighted:
        area = share_in_order(int(p), int(n), int(area))
        distance = divide(int(distance), int(p) * int(n)) if p and n else 0.0
        steps, trapezoids = (steps / p, trapezoids / p) if p else (0.0, 0.0)
    return RankSums(
        min(float(area), 1.0) if p and n else None,
        min(float(distance), 1.0) if p and n else None,
        min(float(steps), 1.0) if p else None,
        min(float(trapezoids), 1.0) if p else None,
    )


def share_in_order(positives: int, negatives: int, wins: float) -> float:
    """The share of pairs that are in order; 0 of no pairs. `wins` is a float where rows are weighed, and then the share
    itself, else twice the number of such pairs."""
    if not positives or not negatives:
        return 0.0
    return min(wins, 1.0) if isinstance(wins, float) else divide(wins, 2 * positives * negatives)


class Places(NamedTuple):
    """How two classes without weights are placed among each other: how many rows there are of each, twice the pairs in
    order, and the sum of squares of twice the rows of the other class on one side of each row, half of those level."""

    negatives: int
    positives: int
    wins: int
    of_negatives: int
    of_positives: int


def sum_places(negative: Runs, positive: Runs) -> Places:
    """How all rows of two classes without weights are placed."""
    rows = measure_runs(negative)[0], measure_runs(positive)[0]
    return Places(*rows, *placement_sums(negative, positive, rows, (0, 0)))


class Steps(NamedTuple):
    """Every distinct score, the highest first, and the weight of positives and negatives that reach it, and that do
    not."""

    thresholds: Array
    tp: Array
    fp: Array
    fn: Array
    tn: Array

    @property
    def positives(self) -> float:
        """The weight of all positives."""
        return float(self.tp[-1]) if len(self.tp) else 0.0

    @property
    def negatives(self) -> float:
        """The weight of all negatives."""
        return float(self.fp[-1]) if len(self.fp) else 0.0

    @property
    def finite(self) -> bool:
        """Whether a float64 can hold the weights."""
        return math.isfinite(self.positives + self.negatives)


def walk_steps(negative: Runs, positive: Runs) -> Steps:
    """What every distinct score of two classes does as a threshold."""
    scores, tp, fp, fn, tn = score_steps(negative, positive)
    fn, tn = (side[-1:] - side if rest is None else rest for side, rest in ((tp, fn), (fp, tn)))
    return Steps(scores, tp, fp, fn, tn)
