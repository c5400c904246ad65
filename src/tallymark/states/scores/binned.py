"""The binned scores state: scores in bins, never more than a given number of them. Its size is fixed.

A bin is the first bits of its scores. The number of bits is the largest at which all scores fall into few enough bins:
it depends on the set of scores alone, and two states merge by dropping bits.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from tallymark._core import bin_scores, sort_columns
from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.labels import Label, normal_label
from tallymark.data.target import ANY_TARGET, Target
from tallymark.errors import Argument, InputError, StateError
from tallymark.states.base import UNIT_BITS, KeyedReads
from tallymark.states.labels.encoding import (
    CountedPairs,
    count_label_pairs,
    encode_labels,
    reduce_weights,
    wrap_label_errors,
)
from tallymark.states.scores.scores import (
    ScoreState,
    check_probabilities,
    check_same_labels,
    check_truth,
    check_widths,
    read_score_table,
    read_scores,
)
from tallymark.states.serialization import (
    pack_labels,
    pack_weights,
    unpack_columns,
    unpack_labels,
    unpack_target,
    unpack_weights,
)

ALL_BITS = 64


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

    def weights_of(self, label: Label) -> list[int]:
        """The weight of a class in every bin."""
        return self.weights[self.labels.index(label)].tolist() if label in self.labels else [0] * len(self.bins)

    def class_weights(self) -> list[int]:
        """The exact weight of every label."""
        return [sum(counts.tolist()) << (UNIT_BITS + self.unit) for counts in self.weights]

    def pack(self) -> list[Any]:
        """The bins as the byte format writes them."""
        weights = [pack_weights(counts.tolist()) for counts in self.weights]
        return [self.bits, self.bins, pack_labels(self.labels), weights, self.unit]


def float_order(scores: Array) -> Array:
    """Scores as whole numbers in the same order; both zeros are one."""
    raw = (np.asarray(scores, np.float64) + 0.0).view(np.int64)
    return np.where(raw < 0, raw ^ np.int64(0x7FFF_FFFF_FFFF_FFFF), raw)


def lowest_scores(bins: Array, bits: int) -> Array:
    """The lowest score that bins of so many bits can hold; with others below them, it is finite."""
    ordered = bins << (ALL_BITS - bits)
    return np.where(ordered < 0, ordered ^ np.int64(0x7FFF_FFFF_FFFF_FFFF), ordered).view(np.float64)


def fit_bits(bins: Array, bits: int, most: int) -> int:
    """How many of the first `bits` bits tell at most so many bins apart; bins are in order and differ."""
    if len(bins) <= most:
        return bits
    differ = (bins[1:] ^ bins[:-1]).view(np.uint64) & np.uint64((1 << bits) - 1)
    alone = differ & ~(differ >> np.uint64(1))  # only the first of a row of ones, so that a float rounds to itself
    agree = bits - np.frexp(alone.astype(np.float64))[1]  # leading bits that neighbours share
    apart = 1 + np.cumsum(np.bincount(agree, minlength=bits))  # bins told apart by one bit more than the index
    return int(np.searchsorted(apart, most, side="right"))


def reduce_bin_weights(binned: Binned) -> Binned:
    """The same with weights in the largest unit."""
    together = 0
    for counts in binned.weights:
        together |= int(np.bitwise_or.reduce(counts)) if len(counts) else 0
    shift = (together & -together).bit_length() - 1
    if shift <= 0:
        return binned if together else binned._replace(unit=0)
    return binned._replace(weights=[counts >> shift for counts in binned.weights], unit=binned.unit + shift)


def merge_bins(left: Binned, right: Binned, most: int) -> Binned:
    """The bins of both sets of rows, coarser where there would be too many."""
    bits = min(left.bits, right.bits)
    both = _distinct(np.concatenate([part.bins >> (part.bits - bits) for part in (left, right)]))
    fitted = fit_bits(both, bits, most)
    bins = _distinct(both >> (bits - fitted))
    bits = fitted
    labels = sorted({*left.labels, *right.labels})
    unit = min(left.unit, right.unit)
    small = all(counts.dtype == np.int64 for part in (left, right) for counts in part.weights)
    weights = [np.zeros(len(bins), np.int64 if small else object) for _ in labels]
    for part in (left, right):
        at = np.searchsorted(bins, part.bins >> (part.bits - bits))
        for label, counts in zip(part.labels, part.weights, strict=True):
            np.add.at(
                weights[labels.index(label)], at, (counts if small else counts.astype(object)) << (part.unit - unit)
            )
    return reduce_bin_weights(Binned(bits, bins, labels, weights, unit))


def _distinct(numbers: Array) -> Array:
    """Numbers in order, each once; np.unique hashes them, which is slower."""
    found = np.sort(numbers)
    return found[np.concatenate(([True], found[1:] != found[:-1]))] if len(found) else found


def unpack_bins(most: int, bits: int, bins: Array, labels: Any, weights: list[Any], unit: int) -> Binned:
    """The bins that `pack` wrote, if there are no more than may be and they are in their one normal form."""
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
    if type(unit) is not int or not -UNIT_BITS <= unit <= 2048 or (flat, unit) != reduce_weights(flat, unit):
        raise StateError("weights must be in lowest terms")
    small = unit >= 0 and sum(flat) << unit < 1 << 62  # a number of rows
    return Binned(bits, bins, names, [np.array(row, np.int64 if small else object) for row in held], unit)


_CHUNK = 1 << 18  # rows that are sorted at a time: the memory of a fold is bounded too
_CHANGED = "the input changed while it was being read"


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

    def resolved(self, batch: Batch | None, whole: BoundedScores) -> BoundedScoresOf:
        return BoundedScoresOf(self.target.with_classes(whole.labels), self.most)

    def fold(self, batch: Batch) -> BoundedScores:
        if batch.n == 0:
            return self.zero()
        if batch.prediction_columns <= 2 and batch.weights is None:
            plain = self._bin_plain(batch)
            if plain is not None:
                return plain
        if batch.prediction_columns > 2:
            classes, places, table = read_score_table(batch, self.target)
            labels, columns = list(classes), [table[:, k] for k in range(len(classes))]
        else:
            columns = [read_scores(batch, self.target)]
            labels, places = encode_labels(batch, 0)
        batch.require_finite_side(1)
        batch.require_weights()
        check_probabilities(batch, self.target)
        binned = [self._bin(np.asarray(column), labels, places, batch.weights) for column in columns]
        if batch.prediction_columns <= 2:
            check_truth(binned[0].labels, self.target, one=batch.prediction_columns == 1, labels=False)
        shape = (batch.truth_columns, batch.prediction_columns)
        return BoundedScores(self, shape, batch.n, sum(binned[0].class_weights()), binned)

    def _bin_plain(self, batch: Batch) -> BoundedScores | None:
        """Rows that count once each, in one pass; None where one must be refused, or labels are many."""
        scores, truth = read_scores(batch, self.target), batch.truth_labels
        with wrap_label_errors(Argument("y_true")):
            found = bin_scores(truth.source, scores, self.most, normal_label)
        if not isinstance(found, tuple) or found[4] != batch.n:
            return None
        labels, bits, bins, counts, _, within_one = found
        named = labels if truth.names is None else [truth.names[int(place)] for place in labels]
        if len(set(named)) < len(named):
            return None
        order = sorted(range(len(named)), key=lambda k: named[k])
        weights = [np.frombuffer(counts[k], np.int64) for k in order]
        held = Binned(bits, np.frombuffer(bins, np.int64), [named[k] for k in order], weights, 0)
        check_truth(held.labels, self.target, one=batch.prediction_columns == 1, labels=False)
        if not within_one:
            check_probabilities(batch, self.target)
        shape = (batch.truth_columns, batch.prediction_columns)
        binned = reduce_bin_weights(held)
        return BoundedScores(self, shape, batch.n, sum(binned.class_weights()), [binned])

    def _bin(self, scores: Array, labels: list[Label], places: Array, weights: Array | None) -> Binned:
        found: Binned | None = None
        for first in range(0, len(scores), _CHUNK):
            rows = slice(first, first + _CHUNK)
            part = self._bin_chunk(scores[rows], labels, places[rows], None if weights is None else weights[rows])
            found = part if found is None else merge_bins(found, part, self.most)
        if found is None:
            raise InputError(_CHANGED)
        return found

    def _bin_chunk(self, scores: Array, labels: list[Label], places: Array, weights: Array | None) -> Binned:
        sorted_runs = sort_columns(np.zeros(len(scores), np.int64), 1, scores, weights)
        if sorted_runs is None:
            raise InputError(_CHANGED)
        distinct = sorted_runs[0][0][0][0]
        bits = fit_bits(float_order(distinct), ALL_BITS, self.most)
        counted = count_label_pairs(float_order(scores) >> (ALL_BITS - bits), places, weights, False, None)
        if not isinstance(counted, CountedPairs):
            raise InputError(_CHANGED)
        (bins, held), cells, values, unit, _, _ = counted
        if not set(held) <= set(range(len(labels))):
            raise InputError(_CHANGED)
        names = [labels[int(k)] for k in held]
        order = sorted(range(len(names)), key=lambda k: names[k])
        weights_of = [np.zeros(len(bins), np.int64 if unit is None else object) for _ in names]
        for k, of_label in enumerate(weights_of):
            mine = cells[1] == order[k]
            of_label[cells[0][mine]] = np.asarray(values, of_label.dtype)[mine]
        return reduce_bin_weights(
            Binned(bits, np.array(bins, np.int64), [names[k] for k in order], weights_of, unit or 0)
        )


class BoundedScores(ScoreState[BoundedScoresOf, list[int]]):
    """Bins of scores by class, for every column. What it keeps of a class is its weight in every bin."""

    __slots__ = ("binned",)
    size = "bounded"

    def __init__(
        self,
        reads: BoundedScoresOf,
        columns: tuple[int, int] | None,
        n: int,
        weight: int,
        binned: list[Binned],
    ) -> None:
        super().__init__(reads, columns, n, weight)
        self.binned = binned

    def with_reads(self, reads: BoundedScoresOf) -> BoundedScores:
        return BoundedScores(reads, self.columns, self.n, self._weight, self.binned)

    @property
    def labels(self) -> list[Label]:
        return self.binned[0].labels if self.binned else []

    def of_class(self, label: Label, column: int = 0) -> list[int]:
        return self.binned[column].weights_of(label)

    def _together(self, classes: list[list[int]], column: int) -> list[int]:
        return [sum(held) for held in zip([0] * len(self.binned[column].bins), *classes, strict=True)]

    def class_weights(self) -> list[int]:
        return [sum(self.of_class(label)) for label in self.classes]

    def _plus(self, other: BoundedScores) -> BoundedScores:
        check_same_labels([self.labels, other.labels], self.width, self.target)
        most = self.reads.most
        binned = [merge_bins(a, b, most) for a, b in zip(self.binned, other.binned, strict=True)]
        return BoundedScores(self.reads, self.columns, self.n + other.n, self._weight + other._weight, binned)

    def fields(self) -> dict[str, Any]:
        return {
            **super().fields(),
            "most": self.reads.most,
            "binned": [part.pack() for part in self.binned],
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> BoundedScores:
        reads = BoundedScoresOf(unpack_target(fields["target"]), int(fields["most"]))
        shape = unpack_columns(fields["columns"])
        n, weight = int(fields["n"]), int(fields["weight"])
        binned = [unpack_bins(reads.most, *part) for part in fields["binned"]]
        if not 2 <= reads.most <= sys.float_info.max:
            raise StateError("there are at least two bins")
        if shape is None:
            if n or weight or binned:
                raise StateError("a state of no rows holds nothing")
            return cls(reads, None, 0, 0, [])
        if len(binned) != (1 if shape[1] <= 2 else shape[1]) or n < 1:
            raise StateError("bins and columns do not fit")
        sizes = [part.class_weights() for part in binned]
        if any(part.labels != binned[0].labels for part in binned) or any(one != sizes[0] for one in sizes):
            raise StateError("the columns have different classes")
        if sum(sizes[0]) != weight:
            raise StateError("the weights do not add up")
        check_widths(shape, binned[0].labels, reads.target)
        return cls(reads, shape, n, weight, binned)
