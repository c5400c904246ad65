"""What the states share that keep the rows: a chunk for every batch that was added."""

from __future__ import annotations

from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from tallymark.arrays import Array
from tallymark.batch import Batch
from tallymark.errors import StateError
from tallymark.states.base import ONE, R, State, check_addable
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
        """Refuse chunks that do not go together."""


def copy_weights(batch: Batch) -> Array | None:
    """The weights of a batch as the state's own, which nobody else can change."""
    return None if batch.weights is None else np.array(batch.weights, dtype=np.float64)


def check_weights(weights: Array | None, n: int) -> None:
    """Refuse stored weights that are not one number per row, finite and not negative."""
    if weights is None:
        return
    if weights.ndim != 1 or weights.dtype != np.float64 or len(weights) != n:
        raise StateError("weights must be one number per row")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise StateError("weights must be finite and not negative")
