"""The rows state: the rows themselves, for what nothing smaller can answer. It grows with the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallymark.arrays import Array
from tallymark.batch import Batch
from tallymark.errors import StateError
from tallymark.states.base import ONE, SoleReads, State
from tallymark.states.sums import SumsOf
from tallymark.states.terms import Term


class RowsOf(SoleReads):
    """Asks for the rows."""

    __slots__ = ()

    def zero(self) -> Rows:
        return Rows(())

    def fold(self, batch: Batch) -> Rows:
        if batch.n == 0:
            return self.zero()
        batch.require_finite()
        truth = _copy(batch.truth)
        weights = None if batch.weights is None else np.array(batch.weights, dtype=np.float64)
        return Rows(((truth, _copy(batch.prediction), weights),))


def _copy(array: Array) -> Array:
    copy = np.array(array, dtype=np.float64)
    return copy if copy.ndim == 2 else copy[:, None]


Chunk = tuple[Array, Array, "Array | None"]


class Rows(State):
    """Truth and prediction as n × k arrays of float64, and weights or None."""

    __slots__ = ("_chunks",)
    size = "rows"

    def __init__(self, chunks: tuple[Chunk, ...]) -> None:
        self._chunks = chunks

    @property
    def reads(self) -> RowsOf:
        return RowsOf()

    @property
    def n(self) -> int:
        return sum(len(truth) for truth, _, _ in self._chunks)

    @property
    def weight(self) -> int:
        total = 0
        for truth, _, weights in self._chunks:
            total += len(truth) * ONE if weights is None else exact_sum(weights)
        return total

    @property
    def columns(self) -> tuple[int, int] | None:
        """The widths of truth and prediction, or None if there are no rows."""
        return (self._chunks[0][0].shape[1], self._chunks[0][1].shape[1]) if self._chunks else None

    def arrays(self) -> Chunk:
        """All rows in the order in which they were added; rows of weight zero are left out."""
        if not self._chunks:
            return np.empty((0, 1)), np.empty((0, 1)), None
        truth = np.concatenate([chunk[0] for chunk in self._chunks])
        prediction = np.concatenate([chunk[1] for chunk in self._chunks])
        if all(chunk[2] is None for chunk in self._chunks):
            return truth, prediction, None
        weights = np.concatenate([np.ones(len(t)) if w is None else w for t, _, w in self._chunks])
        keep = weights > 0
        return truth[keep], prediction[keep], weights[keep]

    def __add__(self, other: Rows) -> Rows:
        if not isinstance(other, Rows):
            return NotImplemented
        if self._chunks and other._chunks and self.columns != other.columns:
            raise StateError(
                "only states of tables of the same width add; these have "
                f"{self.columns} and {other.columns} columns of truth and prediction"
            )
        return Rows(self._chunks + other._chunks)

    def fields(self) -> dict[str, Any]:
        return {"chunks": [list(chunk) for chunk in self._chunks]}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Rows:
        chunks: list[Chunk] = []
        for truth, prediction, weights in fields["chunks"]:
            check_weights(weights, len(truth))
            if len(truth) != len(prediction):
                raise StateError("truth and prediction differ in length")
            if truth.ndim != 2 or prediction.ndim != 2:
                raise StateError("rows must be tables")
            if not all(np.isfinite(array).all() for array in (truth, prediction)):
                raise StateError("rows must be finite")
            chunks.append((truth, prediction, weights))
        if len({(truth.shape[1], prediction.shape[1]) for truth, prediction, _ in chunks}) > 1:
            raise StateError("chunks differ in width")
        return cls(tuple(chunks))


def check_weights(weights: Array | None, n: int) -> None:
    """Refuse stored weights that are not one number per row, finite and not negative."""
    if weights is None:
        return
    if weights.ndim != 1 or weights.dtype != np.float64 or len(weights) != n:
        raise StateError("weights must be one number per row")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise StateError("weights must be finite and not negative")


_VALUES = Term("exact_truth")
_ONE_COLUMN = SumsOf(_VALUES)


def exact_sum(values: Array) -> int:
    """The exact total of finite values."""
    if len(values) == 0:
        return 0
    return _ONE_COLUMN.fold(Batch(values, values)).at(0).absolute(_VALUES) or 0
