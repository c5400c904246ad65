"""The bounded scores state: scores in bins, never more than a given number of them. Its size is fixed."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Any

import numpy as np

from tallymark._core import bin_scores, sort_columns
from tallymark.arrays import Array
from tallymark.batch import Batch
from tallymark.errors import Argument, InputError, StateError
from tallymark.labels import Label, normal_label
from tallymark.states.base import KeyedReads
from tallymark.states.encoding import Counted, count_rows, encode, own_errors
from tallymark.states.packing import columns_of, target_of
from tallymark.states.score_bins import ALL_BITS, Binned, fit, in_lowest_terms, merge_bins, order_of, unpack_bins
from tallymark.states.score_rows import check_probabilities, check_truth, read_scores, read_table
from tallymark.states.score_state import ScoreState, check_same_labels, check_widths
from tallymark.target import ANY_TARGET, Target

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

    def settled(self, batch: Batch | None, whole: BoundedScores) -> BoundedScoresOf:
        return BoundedScoresOf(self.target.with_classes(whole.labels), self.most)

    def fold(self, batch: Batch) -> BoundedScores:
        if batch.n == 0:
            return self.zero()
        if batch.prediction_columns <= 2 and batch.weights is None:
            plain = self._bin_plain(batch)
            if plain is not None:
                return plain
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
            check_truth(binned[0].labels, self.target, one=batch.prediction_columns == 1, labels=False)
        shape = (batch.truth_columns, batch.prediction_columns)
        return BoundedScores(self, shape, batch.n, sum(binned[0].class_weights()), binned)

    def _bin_plain(self, batch: Batch) -> BoundedScores | None:
        """Rows that count once each, in one pass; None where one must be refused, or labels are many."""
        scores, truth = read_scores(batch, self.target), batch.truth_labels
        with own_errors(Argument("y_true")):
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
        binned = in_lowest_terms(held)
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
        bits = fit(order_of(distinct), ALL_BITS, self.most)
        counted = count_rows(order_of(scores) >> (ALL_BITS - bits), places, weights, False, None)
        if not isinstance(counted, Counted):
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
        return in_lowest_terms(Binned(bits, np.array(bins, np.int64), [names[k] for k in order], weights_of, unit or 0))


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

    def under(self, reads: BoundedScoresOf) -> BoundedScores:
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
        reads = BoundedScoresOf(target_of(fields["target"]), int(fields["most"]))
        shape = columns_of(fields["columns"])
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
