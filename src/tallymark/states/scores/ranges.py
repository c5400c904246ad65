"""Ranges of scores: sums over the order of two classes, taken range by range where no machine holds all scores.

Bins of the scores say where ranges begin and how many rows of each class lie above them, which is all that a walk over
a range needs to know of the others. Without weights its sums are exact, and add up to those of all scores. A sample of
the scores could choose the ranges as well, but not count the rows above them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tallymark._core import placement_sums, stretch_sums
from tallymark.data.arrays import Array
from tallymark.errors import ParameterError, StateError, Text
from tallymark.states.base import ONE, FoldedState, exact_total, to_float
from tallymark.states.scores.binned import (
    ALL_BITS,
    Binned,
    BoundedScores,
    BoundedScoresOf,
    float_order,
    lowest_scores,
    merge_bins,
)
from tallymark.states.scores.runs import PlacementSums, RankSums, Runs, RunsOfClasses, measure_runs, sums_of
from tallymark.states.scores.scores import Scores, ScoresOf
from tallymark.states.serialization import pack, unpack


def _changed_source() -> StateError:
    return StateError(
        argument="source",
        expected=Text("have the same rows each time it is read, and {score_ranges} reads it more than once"),
        got="different rows on a later read",
        hint="Write its rows to files, or keep them where they are made (persist, cache, materialize), and pass that",
    )


class Ranges(NamedTuple):
    """The lowest score of every range but the first, in order; the negatives and positives of every range; and whether
    its scores were told apart to the last bit, so that it can be no smaller."""

    edges: Array
    rows: list[tuple[int, int]]
    exact: list[bool]

    @property
    def whole(self) -> tuple[int, int]:
        """The negatives and positives of all ranges."""
        return _together(self.rows)

    def above(self, place: int) -> tuple[int, int]:
        """The negatives and positives above a range."""
        return _together(self.rows[place + 1 :])

    def too_large(self, count: int) -> list[int]:
        """Ranges of more than twice the rows that each of so many would have."""
        most = 2 * sum(self.whole)
        return [k for k, rows in enumerate(self.rows) if count * sum(rows) > most and not self.exact[k]]


def _together(rows: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(negatives for negatives, _ in rows), sum(positives for _, positives in rows)


def choose_ranges(bins: BoundedScores, most: int) -> Ranges:
    """About so many ranges of as many rows each, whose edges are those of bins: a score lies in one range. A bin of
    more rows is a range by itself, so that bins of its own tell more of its scores apart."""
    binned = bins.binned[0]
    sides = [np.array(side, np.int64) << binned.unit for side in bins.binary(symmetric=True)]
    rows = sides[0] + sides[1]
    shares = rows / rows.sum() * most
    places = np.floor((np.cumsum(rows) - rows) / rows.sum() * most)
    first = np.flatnonzero((np.diff(places, prepend=-1) > 0) | (shares > 1))
    negatives, positives = (np.add.reduceat(side, first).tolist() for side in sides)
    edges = lowest_scores(binned.bins[first[1:]], binned.bits)
    return Ranges(edges, list(zip(negatives, positives, strict=True)), [binned.exact] * len(first))


def bin_scores(state: Scores, most: int) -> BoundedScores:
    """The bins of scores without weights."""
    reads = BoundedScoresOf(state.target, most)
    if not state.n:
        return reads.zero()
    binned = Binned(ALL_BITS, np.empty(0, np.int64), [], [], 0)
    for label, (scores, _, counts) in zip(state.whole.labels, state.whole.columns[0], strict=True):
        own = np.ones(len(scores), np.int64) if counts is None else counts
        binned = merge_bins(binned, Binned(ALL_BITS, float_order(scores), [label], [own], 0), most)
    return BoundedScores(reads, state.columns, state.n, state.weight, [binned])


def refine(ranges: Ranges, bins: Mapping[int, BoundedScores], most: int) -> Ranges:
    """The ranges, some of which are cut further by bins of their own, as if there were so many of equal rows."""
    edges: list[float] = []
    rows: list[tuple[int, int]] = []
    exact: list[bool] = []
    for place, counts in enumerate(ranges.rows):
        own = Ranges(np.empty(0), [counts], [ranges.exact[place]])
        if place in bins:
            if not bins[place].n:
                raise _changed_source()
            own = choose_ranges(bins[place], max(2, round(most * sum(counts) / sum(ranges.whole))))
            if own.whole != counts:
                raise _changed_source()
        edges += [*ranges.edges[place - 1 : place].tolist(), *own.edges.tolist()]
        rows += own.rows
        exact += own.exact
    return Ranges(np.array(edges), rows, exact)


def cut_scores(state: Scores, edges: Array) -> list[Scores]:
    """The scores of every range as a state of its own; without weights, they add up to the whole."""
    part = state.whole
    cut = [_cut_runs(runs, edges) for runs in (part.columns[0] if part.columns else [])]
    return [_range_of(state, part.labels, [runs[place] for runs in cut]) for place in range(len(edges) + 1)]


def _cut_runs(runs: Runs, edges: Array) -> list[Runs]:
    scores, _, counts = runs
    cuts = [0, *np.searchsorted(scores, edges).tolist(), len(scores)]
    return [
        (scores[first:last], None, None if counts is None or (counts[first:last] == 1).all() else counts[first:last])
        for first, last in pairwise(cuts)
    ]


def _range_of(state: Scores, labels: Sequence[Any], runs: list[Runs]) -> Scores:
    held = [(label, each) for label, each in zip(labels, runs, strict=True) if len(each[0])]
    if not held:
        return state.reads.zero()
    n = sum(measure_runs(each)[0] for _, each in held)
    return Scores(
        state.reads, state.columns, n, n * ONE, (RunsOfClasses([label for label, _ in held], [[r for _, r in held]]),)
    )


class RangeSums(NamedTuple):
    """The exact sums over one range: twice the pairs in order, the largest distance, the areas under precision, and the
    squares of places of negatives and positives."""

    wins: int
    distance: int
    steps: int
    trapezoids: int
    of_negatives: int
    of_positives: int

    def to_bytes(self) -> bytes:
        """The sums as bytes."""
        return pack("RangeSums", {"sums": list(self)})

    @staticmethod
    def from_bytes(data: bytes) -> RangeSums:
        """The sums that `to_bytes` wrote."""
        return RangeSums(*unpack(data)[1]["sums"])


def sum_range(state: Scores, ranges: Ranges, place: int) -> RangeSums:
    """The sums over a range, of which these are all scores."""
    negative, positive = state.binary(symmetric=True)
    if (measure_runs(negative)[0], measure_runs(positive)[0]) != ranges.rows[place]:
        raise _changed_source()
    stretch = negative, positive, ranges.whole, ranges.above(place)
    wants = [want in state.reads.wants for want in ("steps", "trapezoids", "distance")]
    wins, distance, steps, trapezoids = stretch_sums(*stretch, *wants)
    _, *squares = placement_sums(*stretch)
    return RangeSums(wins, distance, exact_total(*steps), exact_total(*trapezoids), *squares)


def add_ranges(sums: Sequence[RangeSums], ranges: Ranges) -> tuple[RankSums, PlacementSums]:
    """The sums over all scores and the places of all rows, from those of every range."""
    wins, distances, *others = zip(*sums, strict=True)
    steps, trapezoids, of_negatives, of_positives = map(sum, others)
    negatives, positives = ranges.whole
    found = (positives, negatives, sum(wins), max(distances), to_float(steps), to_float(trapezoids))
    return sums_of(found, weighted=False), PlacementSums(negatives, positives, sum(wins), of_negatives, of_positives)


class RankedScores(FoldedState[ScoresOf]):
    """What is known of scores that were walked range by range: the sums over their order, and bins of them.

    Formulas read it in place of the scores. It does not add, since sums over an order are those of all rows.
    """

    __slots__ = ("_bins", "_places", "_sums")
    exact = True
    several = False

    def __init__(self, reads: ScoresOf, bins: BoundedScores, sums: RankSums, places: PlacementSums) -> None:
        super().__init__(reads, bins.columns, bins.n)
        self._bins = bins
        self._sums = sums
        self._places = places

    @property
    def weight(self) -> int:
        return self._bins.weight

    def sums(self, *, symmetric: bool = False, wants: str = "") -> RankSums:
        """The sums over the two classes."""
        self._bins.binary(symmetric=symmetric)  # which refuses what the scores would
        return self._sums

    def placements(self) -> PlacementSums:
        """How the rows of the two classes are placed among each other."""
        return self._places

    def steps(self, *_: Any, **__: Any) -> NoReturn:
        """Every threshold, which is not known."""
        raise ParameterError(
            Text("curves and thresholds need every distinct score, and {score_ranges} keeps only sums; leave it out")
        )

    points = steps

    def __add__(self, other: Any) -> NoReturn:
        raise StateError(
            Text("sums over ranges of scores cover all rows and cannot be added; leave {score_ranges} out")
        )

    def fields(self) -> NoReturn:
        raise StateError("sums over ranges of scores cannot be written, because they cannot be added")

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> NoReturn:
        raise StateError("sums over ranges of scores cannot be read")
