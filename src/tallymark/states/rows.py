"""The rows state: the rows themselves, for what nothing smaller can answer. It grows with the rows."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.errors import StateError
from tallymark.states.base import ONE, ParameterlessReads, R, State, check_addable
from tallymark.states.sums import exact_sum


class RowChunk(Protocol):
    """The rows of one batch."""

    @property
    def rows(self) -> int:
        """How many there are."""

    @property
    def weights(self) -> Array | None:
        """Their weights, or None if each counts one."""


C = TypeVar("C", bound=RowChunk)


class ChunkedState(State, Generic[R, C]):
    """A state that keeps the rows in the order in which they were added. It grows with them."""

    __slots__ = ("_chunks", "_reads")
    size = "rows"

    def __init__(self, reads: R, chunks: tuple[C, ...]) -> None:
        self._reads = reads
        self._chunks = chunks

    @property
    def reads(self) -> R:
        return self._reads

    @property
    def n(self) -> int:
        n = 0
        for chunk in self._chunks:
            n += chunk.rows
        return n

    @property
    def weight(self) -> int:
        total = 0
        for chunk in self._chunks:
            total += chunk.rows * ONE if chunk.weights is None else exact_sum(chunk.weights)
        return total

    def weights(self) -> Array | None:
        """The weights of all rows, or None if each counts one."""
        if len(self._chunks) == 1:
            return self._chunks[0].weights
        if all(chunk.weights is None for chunk in self._chunks):
            return None
        return np.concatenate([np.ones(c.rows) if c.weights is None else c.weights for c in self._chunks])

    def __add__(self, other: Any) -> Self:
        if not isinstance(other, type(self)):
            return NotImplemented
        check_addable(self, other)
        self.check_chunks((*self._chunks[:1], *other._chunks[:1]))
        return type(self)(self._reads, self._chunks + other._chunks)

    @classmethod
    def check_chunks(cls, chunks: tuple[C, ...]) -> None:
        """Reject chunks that do not go together."""


def copy_weights(batch: Batch) -> Array | None:
    """The weights of a batch as the state's own, which nobody else can change."""
    return None if batch.weights is None else np.array(batch.weights, dtype=np.float64)


def check_weights(weights: Array | None, n: int) -> None:
    """Reject stored weights that are not one number per row, finite and not negative."""
    if weights is None:
        return
    if weights.ndim != 1 or weights.dtype != np.float64 or len(weights) != n:
        raise StateError("weights must be one number per row")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise StateError("weights must be finite and not negative")


class RowsOf(ParameterlessReads):
    """Asks for the rows."""

    __slots__ = ()

    def zero(self) -> Rows:
        return Rows(self, ())

    def fold(self, batch: Batch) -> Rows:
        if batch.n == 0:
            return self.zero()
        batch.require_finite()
        batch.require_exact(0)
        batch.require_exact(1)
        return Rows(self, (ValueChunk(copy_table(batch.truth), copy_table(batch.prediction), copy_weights(batch)),))


def copy_table(array: Array) -> Array:
    """A copy of numbers as a table of float64."""
    copy = np.array(array, dtype=np.float64)
    return copy if copy.ndim == 2 else copy[:, None]


class ValueChunk(NamedTuple):
    """The rows of one batch."""

    truth: Array
    prediction: Array
    weights: Array | None

    @property
    def rows(self) -> int:
        return len(self.truth)


class Rows(ChunkedState[RowsOf, ValueChunk]):
    """Truth and prediction as n × k arrays of float64, and weights or None."""

    __slots__ = ()

    @property
    def columns(self) -> tuple[int, int] | None:
        """The widths of truth and prediction, or None if there are no rows."""
        return (self._chunks[0].truth.shape[1], self._chunks[0].prediction.shape[1]) if self._chunks else None

    def arrays(self) -> tuple[Array, Array, Array | None]:
        """All rows in the order in which they were added, not to be changed; rows of weight zero are left out."""
        if not self._chunks:
            return np.empty((0, 1)), np.empty((0, 1)), None
        if len(self._chunks) == 1:
            truth, prediction, _ = self._chunks[0]
        else:
            truth = np.concatenate([chunk.truth for chunk in self._chunks])
            prediction = np.concatenate([chunk.prediction for chunk in self._chunks])
        weights = self.weights()
        if weights is None:
            return truth, prediction, None
        keep = weights > 0
        return truth[keep], prediction[keep], weights[keep]

    def with_row_count(self, n: int) -> Rows:
        return self if self.n == n else Rows(self.reads, (ValueChunk(*self.arrays()),))

    def fields(self) -> dict[str, Any]:
        return {"chunks": [list(chunk) for chunk in self._chunks]}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Rows:
        chunks: list[ValueChunk] = []
        for truth, prediction, weights in fields["chunks"]:
            check_weights(weights, len(truth))
            if len(truth) != len(prediction):
                raise StateError("truth and prediction differ in length")
            if truth.ndim != 2 or prediction.ndim != 2:
                raise StateError("rows must be tables")
            if not all(np.isfinite(array).all() for array in (truth, prediction)):
                raise StateError("rows must be finite")
            chunks.append(ValueChunk(truth, prediction, weights))
        if len({(truth.shape[1], prediction.shape[1]) for truth, prediction, _ in chunks}) > 1:
            raise StateError("chunks differ in width")
        return cls(RowsOf(), tuple(chunks))
