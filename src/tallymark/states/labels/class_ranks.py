"""The ranks state: how many classes each row's prediction puts before the true one. Its size goes with the classes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from tallymark._core import count_above
from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.target import ANY_TARGET, Target
from tallymark.errors import ShapeError, StateError, Text
from tallymark.states.base import UNIT_BITS, KeyedReads, TargetState
from tallymark.states.labels.encoding import CountedPairs, class_places, count_label_pairs, read_pairs
from tallymark.states.serialization import unpack_columns, unpack_target


class RanksOf(KeyedReads):
    """Asks for the ranks of the true classes among the columns of predictions."""

    __slots__ = ("target",)

    def __init__(self, target: Target = ANY_TARGET) -> None:
        self.target = target

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (self.target,)

    def zero(self) -> Ranks:
        return Ranks(self, None, 0, [])

    def resolved(self, batch: Batch | None, whole: Ranks) -> RanksOf:
        if batch is None:  # columns that come in pieces have classes that were given
            return self
        return RanksOf(self.target.with_classes(class_places(self.target, batch)[0]))

    def fold(self, batch: Batch) -> Ranks:
        if batch.n == 0:
            return self.zero()
        columns = batch.prediction_columns
        if columns < 2 or batch.truth_columns != 1:
            raise ShapeError(
                argument="y_pred",
                expected=Text("have one column per class and {y_true} one label per row"),
                got=f"{columns} and {batch.truth_columns} columns",
            )
        batch.require_finite_side(1)
        batch.require_weights()
        if self.target.kind == "probability":
            read_pairs(batch, None, decision=(0.5, False, self.target.normalize, 2, False))  # for what it refuses
        ranks = read_ranks(batch, self.target)
        found = count_label_pairs(ranks, ranks, batch.weights, False, None)
        if not isinstance(found, CountedPairs):
            raise StateError("the input changed while it was being read")
        (found_ranks, _), _, values, unit, _, _ = found
        weights = [0] * columns
        for rank, value in zip(found_ranks, values, strict=True):
            weights[int(rank)] = int(value) << (UNIT_BITS + (unit or 0))
        return Ranks(self, (1, columns), batch.n, weights)


def read_ranks(batch: Batch, target: Target) -> Array:
    """How many columns of each row lie above that of its true class."""
    _, places = class_places(target, batch)
    return np.frombuffer(count_above(batch.prediction, places), np.int64)


class Ranks(TargetState[RanksOf]):
    """The exact weight of rows by the number of classes before the true one."""

    __slots__ = "weights"
    exact = True

    def __init__(self, reads: RanksOf, columns: tuple[int, int] | None, n: int, weights: list[int]) -> None:
        super().__init__(reads, columns, n)
        self.weights = weights

    @property
    def weight(self) -> int:
        return sum(self.weights)

    @property
    def entries(self) -> int:
        return len(self.weights)

    def _plus(self, other: Ranks) -> Ranks:
        weights = [a + b for a, b in zip(self.weights, other.weights, strict=True)]
        return Ranks(self.reads, self.columns, self.n + other.n, weights)

    def fields(self) -> dict[str, Any]:
        return {**super().fields(), "weights": list(self.weights)}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Ranks:
        weights = [int(weight) for weight in fields["weights"]]
        columns = unpack_columns(fields["columns"])
        n = int(fields["n"])
        if (
            columns != ((1, len(weights)) if weights else None)
            or (n > 0) != bool(weights)
            or min(weights, default=0) < 0
            or n < 0
        ):
            raise StateError("the ranks do not fit the columns")
        target = unpack_target(fields["target"])
        if len(weights) == 1 or (weights and target.classes is not None and len(target.classes) != len(weights)):
            raise StateError("the columns do not fit the classes")
        return cls(RanksOf(target), columns, n, weights)
