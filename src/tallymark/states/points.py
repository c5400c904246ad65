"""The points state: rows of coordinates with the cluster of each. It keeps the rows, so it grows with them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.errors import StateError
from tallymark.states.base import ParameterlessReads
from tallymark.states.labels.encoding import encode_labels
from tallymark.states.labels.label_rows import Encoded
from tallymark.states.rows import ChunkedState, check_weights, copy_weights


class PointsOf(ParameterlessReads):
    """Asks for the points (in the place of the truth) and their clusters (in the place of the predictions)."""

    __slots__ = ()

    def zero(self) -> Points:
        return Points(self, ())

    def fold(self, batch: Batch) -> Points:
        if batch.n == 0:
            return self.zero()
        clusters = Encoded(*encode_labels(batch, 1, fractions=True))
        batch.require_finite_side(0)
        batch.require_exact(0)
        batch.require_weights()
        table = np.array(batch.truth, dtype=np.float64, order="C").reshape(batch.n, -1)
        return Points(self, (PointChunk(table, clusters, copy_weights(batch)),))


class PointChunk(NamedTuple):
    """Points of one batch: coordinates, clusters, weights."""

    table: Array
    clusters: Encoded
    weights: Array | None

    @property
    def rows(self) -> int:
        return len(self.table)


class Points(ChunkedState[PointsOf, PointChunk]):
    """Coordinates as n × d arrays of float64, clusters, and weights or None."""

    __slots__ = ()
    sides = "points and labels"

    @property
    def columns(self) -> tuple[int, int] | None:
        return (self._chunks[0].table.shape[1], 1) if self._chunks else None

    def has_whole_weights(self) -> bool:
        """Whether every weight is a number of rows."""
        return all(chunk.weights is None or (chunk.weights == np.floor(chunk.weights)).all() for chunk in self._chunks)

    def arrays(self) -> tuple[Array, Array, Array | None, int]:
        """Points, clusters from 0 on, weights or None, and how many clusters there are; no points of weight zero."""
        table, (labels, codes), weights = self._chunks[0] if len(self._chunks) == 1 else self._joined()
        if weights is None:
            return table, codes, None, len(labels)
        keep = weights > 0
        seen, codes = np.unique(codes[keep], return_inverse=True)
        return np.ascontiguousarray(table[keep]), codes.astype(np.int64, copy=False), weights[keep], len(seen)

    def _joined(self) -> PointChunk:
        return PointChunk(
            np.concatenate([chunk.table for chunk in self._chunks]),
            Encoded.join([chunk.clusters for chunk in self._chunks]),
            self.weights(),
        )

    @classmethod
    def check_chunks(cls, chunks: tuple[PointChunk, ...]) -> None:
        Encoded.check_same_type([chunk.clusters for chunk in chunks])

    def fields(self) -> dict[str, Any]:
        return {
            "chunks": [[chunk.table, chunk.clusters.fields(), chunk.weights] for chunk in self._chunks],
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Points:
        chunks = []
        for table, packed, weights in fields["chunks"]:
            clusters = Encoded.from_fields(packed)
            check_weights(weights, len(clusters.codes))
            if len(table) != len(clusters.codes):
                raise StateError("points and clusters differ in length")
            if table.ndim != 2 or table.dtype != np.float64 or table.size == 0 or not np.isfinite(table).all():
                raise StateError("points must be tables of finite numbers")
            chunks.append(PointChunk(table, clusters, weights))
        cls.check_chunks(tuple(chunks))
        if len({chunk.table.shape[1] for chunk in chunks}) > 1:
            raise StateError("chunks differ in width")
        return cls(PointsOf(), tuple(chunks))
