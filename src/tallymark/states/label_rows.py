"""The label rows state: the labels of every row, for functions of the user's own. It grows with the rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.batch import Batch
from tallymark.errors import StateError
from tallymark.labels import Label
from tallymark.states.base import ONE, KeyedReads, State, check_addable
from tallymark.states.encoded import Encoded
from tallymark.states.encoding import check_classes, check_same_type, encode
from tallymark.states.rows import check_weights, exact_sum
from tallymark.target import Target


class LabelRowsOf(KeyedReads):
    """Asks for the labels of every row; of these classes only, if there are any."""

    __slots__ = ("classes",)

    def __init__(self, classes: tuple[Label, ...] | None = None) -> None:
        self.classes = classes

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (self.classes,)

    def zero(self) -> LabelRows:
        return LabelRows((), self)

    def fold(self, batch: Batch) -> LabelRows:
        if batch.n == 0:
            return self.zero()
        truth, prediction = Encoded(*encode(batch, 0)), Encoded(*encode(batch, 1))
        check_same_type((truth.labels, prediction.labels))
        if self.classes is not None:
            check_classes((truth.labels, prediction.labels), self.classes)
        batch.require_weights()
        weights = None if batch.weights is None else np.array(batch.weights, dtype=np.float64)
        return LabelRows((Chunk(truth, prediction, weights),), self)


class Chunk(NamedTuple):
    """The rows of one batch."""

    truth: Encoded
    prediction: Encoded
    weights: Array | None


class LabelRows(State):
    """True and predicted label of every row, and weights or None."""

    __slots__ = ("_chunks", "_reads")
    size = "rows"

    def __init__(self, chunks: tuple[Chunk, ...], reads: LabelRowsOf) -> None:
        self._chunks = chunks
        self._reads = reads

    @property
    def reads(self) -> LabelRowsOf:
        return self._reads

    @property
    def n(self) -> int:
        return sum(len(chunk.truth.codes) for chunk in self._chunks)

    @property
    def weight(self) -> int:
        return sum(
            len(chunk.truth.codes) * ONE if chunk.weights is None else exact_sum(chunk.weights)
            for chunk in self._chunks
        )

    @property
    def columns(self) -> tuple[int, int] | None:
        return (1, 1) if self._chunks else None

    def arrays(self) -> tuple[Array, Array, Array | None]:
        """All rows in the order in which they were added; rows of weight zero are left out."""
        truth = Encoded.join([chunk.truth for chunk in self._chunks]).rows()
        prediction = Encoded.join([chunk.prediction for chunk in self._chunks]).rows()
        if all(chunk.weights is None for chunk in self._chunks):
            return truth, prediction, None
        weights = np.concatenate(
            [np.ones(len(chunk.truth.codes)) if chunk.weights is None else chunk.weights for chunk in self._chunks]
        )
        keep = weights > 0
        return truth[keep], prediction[keep], weights[keep]

    def __add__(self, other: LabelRows) -> LabelRows:
        if not isinstance(other, LabelRows):
            return NotImplemented
        check_addable(self, other)
        _check_same_types((*self._chunks[:1], *other._chunks[:1]))
        return LabelRows(self._chunks + other._chunks, self._reads)

    def fields(self) -> dict[str, Any]:
        classes = None if self._reads.classes is None else list(self._reads.classes)
        return {
            "classes": classes,
            "chunks": [[chunk.truth.fields(), chunk.prediction.fields(), chunk.weights] for chunk in self._chunks],
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> LabelRows:
        chunks = []
        for truth, prediction, weights in fields["chunks"]:
            chunk = Chunk(Encoded.from_fields(truth), Encoded.from_fields(prediction), weights)
            check_weights(weights, len(chunk.truth.codes))
            if len(chunk.truth.codes) != len(chunk.prediction.codes):
                raise StateError("truth and prediction differ in length")
            chunks.append(chunk)
        _check_same_types(chunks)
        classes = Target(classes=fields["classes"]).classes
        for chunk in chunks if classes is not None else ():
            check_classes((chunk.truth.labels, chunk.prediction.labels), classes or ())
        return cls(tuple(chunks), LabelRowsOf(classes))


def _check_same_types(chunks: Sequence[Chunk]) -> None:
    Encoded.check_same_type([chunk.truth for chunk in chunks])
    Encoded.check_same_type([chunk.prediction for chunk in chunks])
