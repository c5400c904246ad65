"""The bounded scores state: scores in bins, never more than a given number of them. Its size is fixed.

A bin is all scores whose first bits are the same, in the order of float64 as whole numbers. The state keeps as many
bits as it can afford, which the set of scores alone decides, so that merging in any order gives the same bins. As long
as there are no more distinct scores than bins, nothing is lost.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark._core import sort_columns
from tallymark.arrays import Array
from tallymark.batch import Batch
from tallymark.errors import InputError, StateError
from tallymark.labels import Label
from tallymark.states.base import UNIT_BITS, KeyedReads, TargetState
from tallymark.states.counts import find_positive
from tallymark.states.encoding import Counted, check_classes, count_rows, encode, lowest_terms
from tallymark.states.packing import pack_labels, pack_weights, target_of, unpack_labels, unpack_weights
from tallymark.states.pairs import name_decisions
from tallymark.states.scores import (
    check_probabilities,
    check_same_labels,
    check_widths,
    positive_column,
    read_scores,
    read_table,
)
from tallymark.target import ANY_TARGET, Target

ALL_BITS = 64
_CHUNK = 1 << 18  # rows that are sorted at a time: the memory of a fold is bounded too


class Binned(NamedTuple):
    """Bins of one column in order, and the exact weight of every class in them, in units of 2**unit."""

    bits: int
    bins: Array  # int64: the first bits of the scores in them
    labels: list[Label]
    weights: list[Array]  # by label, then by bin: int64 of rows that count one each, else whole numbers of any size
    unit: int

    @property
    def exact(self) -> bool:
        """Whether every bin is one score."""
        return self.bits == ALL_BITS


class BoundedScoresOf(KeyedReads):
    """Asks for scores in at most so many bins."""

    __slots__ = ("most", "target")

    def __init__(self, target: Target = ANY_TARGET, most: int = 4096) -> None:
        self.target = target
        self.most = most

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (self.target, self.most)

    def zero(self) -> BoundedScores:
        return BoundedScores(self, None, 0, 0, [])

    def fold(self, batch: Batch) -> BoundedScores:
        if batch.n == 0:
            return self.zero()
        if batch.prediction_columns > 2:
            classes, places, table = read_table(batch, self.target)
            labels, columns = list(classes), [table[:, k] for k in range(len(classes))]
        else:
            columns = [read_scores(batch, self.target)]
            labels, places = encode(batch, 0)
        batch.require_finite_side(1)
        batch.require_weights()
        check_probabilities(batch, self.target)
        binned = [self._bin(np.asarray(column), labels, places, batch.weights) for column in columns]
        if batch.prediction_columns <= 2:
            self._check_labels(binned[0].labels, batch.prediction_columns)
        shape = (batch.truth_columns, batch.prediction_columns)
        weight = sum(sum(held.tolist()) for held in binned[0].weights) << (UNIT_BITS + binned[0].unit)
        return BoundedScores(self, shape, batch.n, weight, binned)

    def _check_labels(self, labels: Sequence[Label], columns: int) -> None:
        if self.target.classes is not None:
            check_classes([labels], self.target.classes)
        if columns == 1 and (len(labels) > 1 or (labels and isinstance(labels[0], str))):
            name_decisions(labels, self.target, labels=False)

    def _bin(self, scores: Array, labels: list[Label], places: Array, weights: Array | None) -> Binned:
        found: Binned | None = None
        for first in range(0, len(scores), _CHUNK):
            rows = slice(first, first + _CHUNK)
            part = self._bin_chunk(scores[rows], labels, places[rows], None if weights is None else weights[rows])
            found = part if found is None else merge_bins(found, part, self.most)
        if found is None:
            raise InputError("the input changed while it was being read")
        return found

    def _bin_chunk(self, scores: Array, labels: list[Label], places: Array, weights: Array | None) -> Binned:
        sorted_runs = sort_columns(np.zeros(len(scores), np.int64), 1, scores, weights)
        if sorted_runs is None:
            raise InputError("the input changed while it was being read")
        distinct = sorted_runs[0][0][0][0]
        bits = fit(order_of(distinct), ALL_BITS, self.most)
        counted = count_rows(order_of(scores) >> (ALL_BITS - bits), places, weights, False, None)
        if not isinstance(counted, Counted):
            raise InputError("the input changed while it was being read")
        (bins, held), cells, values, unit, _, _ = counted
        names = [labels[int(k)] for k in held]
        order = sorted(range(len(names)), key=lambda k: names[k])
        weights_of = [np.zeros(len(bins), np.int64 if unit is None else object) for _ in names]
        for k, of_label in enumerate(weights_of):
            mine = cells[1] == order[k]
            of_label[cells[0][mine]] = np.asarray(values, of_label.dtype)[mine]
        return _lowest(Binned(bits, np.array(bins, np.int64), [names[k] for k in order], weights_of, unit or 0))


def order_of(scores: Array) -> Array:
    """Scores as whole numbers in the same order; both zeros are one."""
    raw = (np.asarray(scores, np.float64) + 0.0).view(np.int64)
    return np.where(raw < 0, raw ^ np.int64(0x7FFF_FFFF_FFFF_FFFF), raw)


def fit(bins: Array, bits: int, most: int) -> int:
    """How many of the first `bits` bits tell at most so many bins apart; bins are in order and differ."""
    if len(bins) <= most:
        return bits
    differ = (bins[1:] ^ bins[:-1]).view(np.uint64) & np.uint64((1 << bits) - 1)
    alone = differ & ~(differ >> np.uint64(1))  # only the first of a row of ones, so that a float rounds to itself
    agree = bits - np.frexp(alone.astype(np.float64))[1]  # leading bits that neighbours share
    apart = 1 + np.cumsum(np.bincount(agree, minlength=bits))  # bins told apart by one bit more than the index
    return int(np.searchsorted(apart, most, side="right"))


def _lowest(binned: Binned) -> Binned:
    """The same with weights in the largest unit."""
    together = 0
    for held in binned.weights:
        together |= int(np.bitwise_or.reduce(held)) if len(held) else 0
    shift = (together & -together).bit_length() - 1
    if shift <= 0:
        return binned if together else binned._replace(unit=0)
    return binned._replace(weights=[held >> shift for held in binned.weights], unit=binned.unit + shift)


def merge_bins(left: Binned, right: Binned, most: int) -> Binned:
    """The bins of both sets of rows, coarser where there would be too many."""
    bits = min(left.bits, right.bits)
    both = np.unique(np.concatenate([part.bins >> (part.bits - bits) for part in (left, right)]))
    fitted = fit(both, bits, most)
    bins = np.unique(both >> (bits - fitted))
    bits = fitted
    labels = sorted({*left.labels, *right.labels})
    unit = min(left.unit, right.unit)
    small = all(held.dtype == np.int64 for part in (left, right) for held in part.weights)
    weights = [np.zeros(len(bins), np.int64 if small else object) for _ in labels]
    for part in (left, right):
        at = np.searchsorted(bins, part.bins >> (part.bits - bits))
        for label, held in zip(part.labels, part.weights, strict=True):
            np.add.at(weights[labels.index(label)], at, (held if small else held.astype(object)) << (part.unit - unit))
    return _lowest(Binned(bits, bins, labels, weights, unit))


class BoundedScores(TargetState[BoundedScoresOf]):
    """Bins of scores by class, for every column."""

    __slots__ = ("_weight", "binned")
    size = "bounded"
    exact = True

    def __init__(
        self,
        reads: BoundedScoresOf,
        columns: tuple[int, int] | None,
        n: int,
        weight: int,
        binned: list[Binned],
    ) -> None:
        super().__init__(reads, columns, n)
        self._weight = weight
        self.binned = binned

    @property
    def weight(self) -> int:
        return self._weight

    @property
    def several(self) -> bool:
        """Whether there is a column for each of three or more classes."""
        return len(self.binned) > 1

    @property
    def classes(self) -> Sequence[Label]:
        """All classes, as the target says or as they were seen."""
        return self._reads.target.classes or self.binned[0].labels

    def weights_of(self, label: Label, column: int = 0) -> list[int]:
        """The weight of a class in every bin of a column."""
        held = self.binned[column]
        return held.weights[held.labels.index(label)].tolist() if label in held.labels else [0] * len(held.bins)

    def binary(self, *, symmetric: bool = False) -> tuple[list[int], list[int]]:
        """The weights of the negative and of the positive class in every bin."""
        classes, target = list(self.classes), self._reads.target
        if self._columns == (1, 1):
            name_decisions(classes, target, labels=False)
        two = symmetric and self._columns == (1, 2) and len(classes) == 2
        place = positive_column(classes, target) if two else find_positive(classes, target)
        others = [self.weights_of(label) for k, label in enumerate(classes) if k != place]
        none = [0] * len(self.binned[0].bins)
        return _add(others, len(none)), none if place is None else self.weights_of(classes[place])

    def one_against_rest(self, place: int) -> tuple[list[int], list[int]]:
        """The weights, in the bins of the column of a class, of the other classes and of the class itself."""
        others = [self.weights_of(label, place) for k, label in enumerate(self.classes) if k != place]
        return _add(others, len(self.binned[place].bins)), self.weights_of(self.classes[place], place)

    def class_weights(self) -> list[int]:
        """The weight of every class, in one unit."""
        return [sum(self.weights_of(label)) for label in self.classes]

    def _plus(self, other: BoundedScores) -> BoundedScores:
        labels = [self.binned[0].labels, other.binned[0].labels]
        check_same_labels(labels, self.width, self._reads.target)
        most = self._reads.most
        binned = [merge_bins(a, b, most) for a, b in zip(self.binned, other.binned, strict=True)]
        return BoundedScores(self._reads, self._columns, self._n + other._n, self._weight + other._weight, binned)

    def fields(self) -> dict[str, Any]:
        return {
            "target": self._reads.target.facts(),
            "most": self._reads.most,
            "columns": None if self._columns is None else list(self._columns),
            "n": self._n,
            "weight": self._weight,
            "binned": [
                [
                    part.bits,
                    part.bins,
                    pack_labels(part.labels),
                    [pack_weights(w.tolist()) for w in part.weights],
                    part.unit,
                ]
                for part in self.binned
            ],
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> BoundedScores:
        reads = BoundedScoresOf(target_of(fields["target"]), int(fields["most"]))
        shape = None if fields["columns"] is None else (int(fields["columns"][0]), int(fields["columns"][1]))
        n, weight = int(fields["n"]), int(fields["weight"])
        binned = [_checked(reads.most, *part) for part in fields["binned"]]
        if not 2 <= reads.most <= sys.float_info.max:
            raise StateError("there are at least two bins")
        if shape is None:
            if n or weight or binned:
                raise StateError("a state of no rows holds nothing")
            return cls(reads, None, 0, 0, [])
        if len(binned) != (1 if shape[1] <= 2 else shape[1]) or n < 1:
            raise StateError("bins and columns do not fit")
        sizes = [[sum(row.tolist()) << (UNIT_BITS + part.unit) for row in part.weights] for part in binned]
        if any(part.labels != binned[0].labels for part in binned) or any(one != sizes[0] for one in sizes):
            raise StateError("the columns have different classes")
        if sum(sizes[0]) != weight:
            raise StateError("the weights do not add up")
        check_widths(shape, binned[0].labels, reads.target)
        return cls(reads, shape, n, weight, binned)


def _checked(most: int, bits: int, bins: Array, labels: Any, weights: list[Any], unit: int) -> Binned:
    names, held = unpack_labels(labels), [unpack_weights(packed) for packed in weights]
    if bins.ndim != 1 or bins.dtype != np.int64 or len(bins) > most or (bins[1:] <= bins[:-1]).any():
        raise StateError("bins must be in order, and no more than may be")
    if type(bits) is not int or not 1 <= bits <= ALL_BITS or len(held) != len(names):
        raise StateError("bins, labels and weights do not fit")
    if bits < ALL_BITS and len(bins) and (bins[0] < -(1 << (bits - 1)) or bins[-1] >= 1 << (bits - 1)):
        raise StateError("bins have more bits than they may")
    if any(len(row) != len(bins) or not any(row) for row in held) or not all(map(any, zip(*held, strict=True))):
        raise StateError("every bin and every label must have weight")
    if bool(len(bins)) != bool(names):
        raise StateError("every bin and every label must have weight")
    flat = [weight for row in held for weight in row]
    if type(unit) is not int or not -UNIT_BITS <= unit <= 2048 or (flat, unit) != lowest_terms(flat, unit):
        raise StateError("weights must be in lowest terms")
    small = unit >= 0 and sum(flat) << unit < 1 << 62  # a number of rows
    return Binned(bits, bins, names, [np.array(row, np.int64 if small else object) for row in held], unit)


def _add(rows: list[list[int]], size: int) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)] if rows else [0] * size
