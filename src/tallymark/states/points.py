"""The points state: rows of coordinates with the cluster of each. It keeps the rows, so it grows with them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.batch import Batch
from tallymark.errors import StateError
from tallymark.labels import Label
from tallymark.states.base import ONE, Reads, State
from tallymark.states.encoding import encode
from tallymark.states.pairs import pack_labels, unpack_labels
from tallymark.states.rows import exact_sum


class PointsOf(Reads):
    """Asks for the points (in the place of the truth) and their clusters (in the place of the predictions)."""

    __slots__ = ()

    @property
    def group(self) -> Hashable:
        return PointsOf

    def join(self, other: PointsOf) -> PointsOf:
        return self

    def zero(self) -> Points:
        return Points(())

    def fold(self, batch: Batch) -> Points:
        if batch.n == 0:
            return self.zero()
        labels, codes = encode(batch, 1, fractions=True)
        batch.require_finite_truth()
        batch.require_weights()
        table = np.array(batch.truth, dtype=np.float64).reshape(batch.n, -1)
        weights = None if batch.weights is None else np.array(batch.weights, dtype=np.float64)
        return Points((Chunk(table, labels, codes, weights),))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PointsOf)

    def __hash__(self) -> int:
        return hash(PointsOf)

    def __repr__(self) -> str:
        return "PointsOf()"


class Chunk(NamedTuple):
    """Points of one batch: coordinates, the labels of the clusters, the place of each point's label, weights."""

    table: Array
    labels: list[Label]
    codes: Array
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
        """Points, clusters from 0 on, weights or None, and how many clusters there are.

        In the order of the coordinates, so that the order of the rows cannot show; without points of weight zero.
        """
        labels: list[Label] = sorted({label for chunk in self._chunks for label in chunk.labels})
        index = {label: k for k, label in enumerate(labels)}
        table = np.concatenate([chunk.table for chunk in self._chunks])
        codes = np.concatenate(
            [np.array([index[label] for label in chunk.labels], np.int64)[chunk.codes] for chunk in self._chunks]
        )
        weights = None
        if any(chunk.weights is not None for chunk in self._chunks):
            weights = np.concatenate(
                [np.ones(len(chunk.table)) if chunk.weights is None else chunk.weights for chunk in self._chunks]
            )
            keep = weights > 0
            table, codes, weights = table[keep], codes[keep], weights[keep]
        order = np.lexsort(((codes if weights is None else weights), *table.T[::-1]))
        seen, codes = np.unique(codes[order], return_inverse=True)
        table = np.ascontiguousarray(table[order])
        return table, codes.astype(np.int64, copy=False), None if weights is None else weights[order], len(seen)

    def __add__(self, other: Points) -> Points:
        if not isinstance(other, Points):
            return NotImplemented
        if self._chunks and other._chunks and self.columns != other.columns:
            raise StateError(
                "only states of tables of the same width add; these have "
                f"{self.columns} and {other.columns} columns of points and labels"
            )
        if len({isinstance(state._chunks[0].labels[0], str) for state in (self, other) if state._chunks}) > 1:
            raise StateError("only states of one kind of label add; these hold numbers and strings")
        return Points(self._chunks + other._chunks)

    def fields(self) -> dict[str, Any]:
        return {
            "chunks": [[chunk.table, pack_labels(chunk.labels), chunk.codes, chunk.weights] for chunk in self._chunks]
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Points:
        chunks = []
        for table, packed, codes, weights in fields["chunks"]:
            labels = unpack_labels(packed)
            if not len(table) == len(codes) == (len(table) if weights is None else len(weights)):
                raise StateError("points, clusters and weights differ in length")
            if table.ndim != 2 or table.dtype != np.float64 or table.size == 0 or not np.isfinite(table).all():
                raise StateError("points must be tables of finite numbers")
            if codes.ndim != 1 or codes.dtype != np.int64 or not np.array_equal(np.unique(codes), range(len(labels))):
                raise StateError("clusters and labels do not fit")
            if weights is not None and (weights.ndim != 1 or weights.dtype != np.float64):
                raise StateError("weights must be one number per point")
            if weights is not None and not (np.isfinite(weights) & (weights >= 0)).all():
                raise StateError("weights must be finite and not negative")
            chunks.append(Chunk(table, labels, codes, weights))
        if len({chunk.table.shape[1] for chunk in chunks}) > 1:
            raise StateError("chunks differ in width")
        if len({isinstance(label, str) for chunk in chunks for label in chunk.labels}) > 1:
            raise StateError("labels must be all numbers or all strings")
        return cls(tuple(chunks))
