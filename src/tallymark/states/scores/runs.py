"""Runs of distinct scores in order, and the sums that two classes of runs give: areas, distances, thresholds."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tallymark._core import curve_points, merge_runs, placement_sums, rank_sums, roc_and_sums, score_steps
from tallymark.data.arrays import Array
from tallymark.data.labels import Label
from tallymark.errors import StateError
from tallymark.states.base import ONE, divide
from tallymark.states.sums import exact_sum

Runs = tuple[Array, "Array | None", "Array | None"]
"""Distinct scores in order, or distinct pairs of score and weight; weights, or None if all are 1; how often each
occurs, or None if once."""

NO_RUNS: Runs = (np.empty(0), None, None)


class RunsOfClasses(NamedTuple):
    """Labels in order, and the runs of every label in every column."""

    labels: list[Label]
    columns: list[list[Runs]]

    def rows(self) -> int:
        """How many runs there are."""
        return sum(len(runs[0]) for column in self.columns for runs in column)

    def find(self, label: Label, column: int) -> Runs:
        """The runs of a label in a column; nothing if no row has the label."""
        return self.columns[column][self.labels.index(label)] if label in self.labels else NO_RUNS

    def within_one(self) -> bool:
        """Whether all scores lie between 0 and 1."""
        for column in self.columns:
            for scores, _, _ in column:
                if len(scores) and not 0 <= scores[0] <= scores[-1] <= 1:
                    return False
        return True


def join_runs(runs: list[Runs]) -> Runs:
    """The runs of several classes as one; those of similar size first."""
    while len(runs) > 1:
        runs = [merge_runs(*runs[k : k + 2]) if k + 1 < len(runs) else runs[k] for k in range(0, len(runs), 2)]
    return runs[0] if runs else NO_RUNS


def merge_parts(left: RunsOfClasses, right: RunsOfClasses) -> RunsOfClasses:
    """Both parts as one."""
    labels = left.labels if left.labels == right.labels else sorted({*left.labels, *right.labels})
    columns = [
        [merge_runs(left.find(label, k), right.find(label, k)) for label in labels] for k in range(len(left.columns))
    ]
    return RunsOfClasses(labels, columns)


def measure_runs(runs: Runs) -> tuple[int, int]:
    """How many rows there are, and their exact weight."""
    scores, weights, counts = runs
    rows = len(scores) if counts is None else sum(counts.tolist())
    return rows, ONE * rows if weights is None else exact_sum(weights, counts)


def check_runs(scores: Array, weights: Array | None, counts: Array | None) -> Runs:
    """Reject stored runs that are not in their one normal form."""
    for column, dtype in ((scores, np.float64), (weights, np.float64), (counts, np.int64)):
        if column is not None and (column.ndim != 1 or column.dtype != dtype or len(column) != len(scores)):
            raise StateError("scores, weights and counts differ in length or type")
    if not np.isfinite(scores).all() or (np.signbit(scores) & (scores == 0)).any():
        raise StateError("scores must be finite, and zero has no sign")
    if weights is not None and not (np.isfinite(weights).all() and (weights > 0).all() and (weights != 1).any()):
        raise StateError("weights must be finite, positive and not all one")
    if counts is not None and not ((counts > 0).all() and (counts != 1).any()):
        raise StateError("counts must be positive and not all one")
    rises = np.diff(scores) > 0
    if weights is not None:
        rises |= (np.diff(scores) == 0) & (np.diff(weights) > 0)
    if not rises.all():
        raise StateError("scores must differ and be in order")
    return tuple(None if a is None else np.ascontiguousarray(a) for a in (scores, weights, counts))  # type: ignore[return-value]


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


class PlacementSums(NamedTuple):
    """How two classes without weights are placed among each other: how many rows there are of each, twice the pairs in
    order, and the sum of squares of twice the rows of the other class on one side of each row, half of those level."""

    negatives: int
    positives: int
    wins: int
    of_negatives: int
    of_positives: int


def sum_placements(negative: Runs, positive: Runs) -> PlacementSums:
    """How all rows of two classes without weights are placed."""
    rows = measure_runs(negative)[0], measure_runs(positive)[0]
    return PlacementSums(*rows, *placement_sums(negative, positive, rows, (0, 0)))


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
