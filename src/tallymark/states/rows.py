"""The rows state: the rows themselves, for what nothing smaller can answer. It grows with the rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.batch import Batch
from tallymark.errors import StateError
from tallymark.states.base import SoleReads
from tallymark.states.chunked import ChunkedState, check_weights, copy_weights


class RowsOf(SoleReads):
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
        return Rows(self, (Chunk(_copy(batch.truth), _copy(batch.prediction), copy_weights(batch)),))


def _copy(array: Array) -> Array:
    copy = np.array(array, dtype=np.float64)
    return copy if copy.ndim == 2 else copy[:, None]


class Chunk(NamedTuple):
    """The rows of one batch."""

    truth: Array
    prediction: Array
    weights: Array | None

    @property
    def rows(self) -> int:
        return len(self.truth)


class Rows(ChunkedState[RowsOf, Chunk]):
    """Truth and prediction as n × k arrays of float64, and weights or None."""

    __slots__ = ()

    @property
    def columns(self) -> tuple[int, int] | None:
        """The widths of truth and prediction, or None if there are no rows."""
        return (self._chunks[0].truth.shape[1], self._chunks[0].prediction.shape[1]) if self._chunks else None

    def arrays(self) -> tuple[Array, Array, Array | None]:
        """All rows in the order in which they were added; rows of weight zero are left out."""
        if not self._chunks:
            return np.empty((0, 1)), np.empty((0, 1)), None
        truth = np.concatenate([chunk.truth for chunk in self._chunks])
        prediction = np.concatenate([chunk.prediction for chunk in self._chunks])
        weights = self.weights()
        if weights is None:
            return truth, prediction, None
        keep = weights > 0
        return truth[keep], prediction[keep], weights[keep]

    def of_rows(self, n: int) -> Rows:
        return self if self.n == n else Rows(self.reads, (Chunk(*self.arrays()),))

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
            chunks.append(Chunk(truth, prediction, weights))
        if len({(truth.shape[1], prediction.shape[1]) for truth, prediction, _ in chunks}) > 1:
            raise StateError("chunks differ in width")
        return cls(RowsOf(), tuple(chunks))
