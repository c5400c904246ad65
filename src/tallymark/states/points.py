"""The points state: rows of coordinates with the cluster of each. It keeps the rows, so it grows with them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.batch import Batch
from tallymark.errors import StateError
from tallymark.states.base import ONE, SoleReads, State
from tallymark.states.encoded import Encoded
from tallymark.states.encoding import encode
from tallymark.states.rows import check_weights, exact_sum


class PointsOf(SoleReads):
    """Asks for the points (in the place of the truth) and their clusters (in the place of the predictions)."""

    __slots__ = ()

    def zero(self) -> Points:
        return Points(())

    def fold(self, batch: Batch) -> Points:
        if batch.n == 0:
            return self.zero()
        clusters = Encoded(*encode(batch, 1, fractions=True))
        batch.require_finite_side(0)
        batch.require_weights()
        table = np.array(batch.truth, dtype=np.float64, order="C").reshape(batch.n, -1)
        weights = None if batch.weights is None else np.array(batch.weights, dtype=np.float64)
        return Points((Chunk(table, clusters, weights),))


class Chunk(NamedTuple):
    """Points of one batch: coordinates, clusters, weights."""

    table: Array
    clusters: Encoded
    weights: Array | None


class Points(State):
    """Coordinates as n × d arrays of float64, clusters, and weights or None."""

    __slots__ = ("_chunks",)
    size = "rows"

    def __init__(self, chunks: tuple[Chunk, ...]) -> None:
        self._chunks = chunks

    @property
    def reads(self) -> PointsOf:
        return PointsOf()

    @property
    def n(self) -> int:
        return sum(len(chunk.table) for chunk in self._chunks)

    @property
    def weight(self) -> int:
        return sum(
            len(chunk.table) * ONE if chunk.weights is None else exact_sum(chunk.weights) for chunk in self._chunks
        )

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

    def _joined(self) -> Chunk:
        weights = [np.ones(len(chunk.table)) if chunk.weights is None else chunk.weights for chunk in self._chunks]
        return Chunk(
            np.concatenate([chunk.table for chunk in self._chunks]),
            Encoded.join([chunk.clusters for chunk in self._chunks]),
            None if all(chunk.weights is None for chunk in self._chunks) else np.concatenate(weights),
        )

    def __add__(self, other: Points) -> Points:
        if not isinstance(other, Points):
            return NotImplemented
        if self._chunks and other._chunks and self.columns != other.columns:
            raise StateError(
                "only states of tables of the same width add; these have "
                f"{self.columns} and {other.columns} columns of points and labels"
            )
        Encoded.check_same_type([chunk.clusters for chunk in (*self._chunks[:1], *other._chunks[:1])])
        return Points(self._chunks + other._chunks)

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
            chunks.append(Chunk(table, clusters, weights))
        Encoded.check_same_type([chunk.clusters for chunk in chunks])
        if len({chunk.table.shape[1] for chunk in chunks}) > 1:
            raise StateError("chunks differ in width")
        return cls(tuple(chunks))
