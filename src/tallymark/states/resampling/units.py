"""The units state: the number of independent rows or clusters, on which intervals are based.

Its size is fixed: of many clusters only the lowest hashes are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.errors import StateError, Text
from tallymark.states.base import ONE, UNIT_BITS, FoldedState, ParameterlessReads, divide
from tallymark.states.resampling.keys import hash_keys, row_keys
from tallymark.states.serialization import unpack_columns
from tallymark.states.sums import SumsOf, Term, exact_sum

MOST_CLUSTERS = 4096  # that are told apart: Student's t with as many degrees of freedom is a normal number
_NONE = np.empty(0, np.uint64)
_SQUARES = Term("exact_truth_squares")
_SUM_OF_SQUARES = SumsOf(_SQUARES)


class UnitsOf(ParameterlessReads):
    """Asks for rows, their weights and clusters."""

    __slots__ = ()

    def zero(self) -> Units:
        return Units(None, 0, 0, 0, True, None)

    def fold(self, batch: Batch) -> Units:
        if batch.n == 0:
            return self.zero()
        batch.require_weights()
        own, weight, squares = batch.non_unit_weights(), batch.n * ONE, batch.n * ONE
        if own is not None:
            weight = exact_sum(own)
            squares = _SUM_OF_SQUARES.fold(Batch(own, own)).at(0).absolute(_SQUARES) or 0
        clusters = None
        if batch.cluster_side is not None:
            clusters = lowest_hashes(hash_keys(row_keys(batch), batch.n))
        columns = (batch.truth_columns, batch.prediction_columns)
        return Units(columns, batch.n, weight, squares, own is None, clusters)


def lowest_hashes(hashes: Array) -> Array:
    """The lowest of distinct hashes, in order."""
    return np.unique(hashes)[:MOST_CLUSTERS]


class Units(FoldedState[UnitsOf]):
    """Rows, their exact weight and that of its squares; whether all weights are 1; and the lowest hashes of clusters,
    None where rows stand for themselves."""

    __slots__ = ("_weight", "clusters", "ones", "squares")

    def __init__(
        self,
        columns: tuple[int, int] | None,
        n: int,
        weight: int,
        squares: int,
        ones: bool,
        clusters: Array | None,
    ) -> None:
        super().__init__(UnitsOf(), columns, n)
        self._weight = weight
        self.squares = squares
        self.ones = ones
        self.clusters = clusters

    @property
    def weight(self) -> int:
        return self._weight

    @property
    def plain(self) -> bool:
        """Whether every row counts once and is its own unit."""
        return self.ones and self.clusters is None

    @property
    def single(self) -> bool:
        """Whether it has one truth besides, so that counts of labels are counts of rows."""
        return self.plain and self.columns is not None and self.columns[0] == 1

    def count(self) -> float:
        """How many rows or clusters there are; of rows with weights, how many equal ones would tell as much (Kish)."""
        if self.clusters is not None:
            return len(self.clusters)
        if self.ones:
            return self.n
        return divide(self._weight * self._weight, self.squares << UNIT_BITS) if self.squares else 0.0

    def __add__(self, other: Units) -> Units:
        if not isinstance(other, Units):
            return NotImplemented
        if self.columns is None:
            return other
        if other.columns is None:
            return self
        if (self.clusters is None) != (other.clusters is None):
            raise StateError(
                Text("rows with clusters can only be added to rows with clusters; pass {cluster} for all or for none")
            )
        clusters = self.clusters
        if clusters is not None and other.clusters is not None:
            clusters = lowest_hashes(np.concatenate((clusters, other.clusters)))
        weight, squares = self._weight + other._weight, self.squares + other.squares
        if any(each._weight and not each.squares for each in (self, other)):
            squares = 0  # those of one side were too large
        return Units(self.columns, self.n + other.n, weight, squares, self.ones and other.ones, clusters)

    def fields(self) -> dict[str, Any]:
        return {
            "columns": None if self.columns is None else list(self.columns),
            "n": self.n,
            "weight": self._weight,
            "squares": self.squares,
            "ones": self.ones,
            "clusters": None if self.clusters is None else self.clusters.view(np.int64),
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Units:
        columns, n = unpack_columns(fields["columns"]), int(fields["n"])
        weight, squares, ones = int(fields["weight"]), int(fields["squares"]), fields["ones"]
        if min(n, weight, squares) < 0 or (columns is None) != (n == 0) or not isinstance(ones, bool):
            raise StateError("rows and weights cannot be negative")
        if columns is not None and min(columns) < 1:
            raise StateError("there is a column of truth and one of predictions")
        if ones and not weight == squares == n * ONE:
            raise StateError("weights of 1 add up to the rows")
        clusters = fields["clusters"]
        if clusters is None:
            return cls(columns, n, weight, squares, ones, None)
        if clusters.dtype != np.int64 or clusters.ndim != 1 or not 1 <= len(clusters) <= min(n, MOST_CLUSTERS):
            raise StateError("there must be a cluster, and not more of them than rows")
        hashes = clusters.view(np.uint64)
        if (hashes[1:] <= hashes[:-1]).any():
            raise StateError("clusters must differ and be in order")
        return cls(columns, n, weight, squares, ones, hashes)
