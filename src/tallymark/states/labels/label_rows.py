"""The label rows state: the labels of every row, for functions of the user's own. It grows with the rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.labels import Label
from tallymark.data.target import Target
from tallymark.errors import StateError
from tallymark.states.base import KeyedReads, check_label_types
from tallymark.states.labels.encoding import check_classes, check_same_type, encode_labels
from tallymark.states.rows import ChunkedState, check_weights, copy_weights
from tallymark.states.serialization import pack_labels, unpack_labels


class Encoded(NamedTuple):
    """Distinct labels in order, and a place among them per row."""

    labels: list[Label]
    codes: Array

    def rows(self) -> Array:
        """The label of every row: integers and floats as such, strings as objects."""
        text = bool(self.labels) and isinstance(self.labels[0], str)
        return np.array(self.labels, dtype=object if text else None)[self.codes]

    def fields(self) -> list[Any]:
        """What the byte format writes."""
        return [pack_labels(self.labels), self.codes]

    @staticmethod
    def from_fields(fields: list[Any]) -> Encoded:
        """The inverse of `fields`."""
        labels, codes = unpack_labels(fields[0]), fields[1]
        if codes.ndim != 1 or codes.dtype != np.int64:
            raise StateError("labels must have one place per row")
        if not np.array_equal(np.unique(codes), range(len(labels))):
            raise StateError("places and labels do not fit")
        return Encoded(labels, codes)

    @staticmethod
    def check_same_type(columns: Sequence[Encoded]) -> None:
        """Refuse numbers here and strings there."""
        check_label_types({isinstance(column.labels[0], str) for column in columns if column.labels})

    @staticmethod
    def join(columns: Sequence[Encoded]) -> Encoded:
        """The rows of all columns, one after another."""
        if len(columns) == 1:
            return columns[0]
        labels = sorted({label for column in columns for label in column.labels})
        index = {label: k for k, label in enumerate(labels)}
        codes = [np.array([index[label] for label in column.labels], np.int64)[column.codes] for column in columns]
        return Encoded(labels, np.concatenate(codes))


class LabelRowsOf(KeyedReads):
    """Asks for the labels of every row; of these classes only, if there are any."""

    __slots__ = ("classes",)

    def __init__(self, classes: tuple[Label, ...] | None = None) -> None:
        self.classes = classes

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (self.classes,)

    def zero(self) -> LabelRows:
        return LabelRows(self, ())

    def fold(self, batch: Batch) -> LabelRows:
        if batch.n == 0:
            return self.zero()
        truth, prediction = Encoded(*encode_labels(batch, 0)), Encoded(*encode_labels(batch, 1))
        check_same_type((truth.labels, prediction.labels))
        if self.classes is not None:
            check_classes((truth.labels, prediction.labels), self.classes)
        batch.require_weights()
        return LabelRows(self, (LabelChunk(truth, prediction, copy_weights(batch)),))


class LabelChunk(NamedTuple):
    """The rows of one batch."""

    truth: Encoded
    prediction: Encoded
    weights: Array | None

    @property
    def rows(self) -> int:
        return len(self.truth.codes)


class LabelRows(ChunkedState[LabelRowsOf, LabelChunk]):
    """True and predicted label of every row, and weights or None."""

    __slots__ = ()

    @property
    def columns(self) -> tuple[int, int] | None:
        return (1, 1) if self._chunks else None

    def arrays(self) -> tuple[Array, Array, Array | None]:
        """All rows in the order in which they were added; rows of weight zero are left out."""
        truth = Encoded.join([chunk.truth for chunk in self._chunks]).rows()
        prediction = Encoded.join([chunk.prediction for chunk in self._chunks]).rows()
        weights = self.weights()
        if weights is None:
            return truth, prediction, None
        keep = weights > 0
        return truth[keep], prediction[keep], weights[keep]

    @classmethod
    def check_chunks(cls, chunks: tuple[LabelChunk, ...]) -> None:
        Encoded.check_same_type([chunk.truth for chunk in chunks])
        Encoded.check_same_type([chunk.prediction for chunk in chunks])

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
            chunk = LabelChunk(Encoded.from_fields(truth), Encoded.from_fields(prediction), weights)
            check_weights(weights, chunk.rows)
            if len(chunk.truth.codes) != len(chunk.prediction.codes):
                raise StateError("truth and prediction differ in length")
            chunks.append(chunk)
        cls.check_chunks(tuple(chunks))
        classes = Target(classes=fields["classes"]).classes
        for chunk in chunks if classes is not None else ():
            check_classes((chunk.truth.labels, chunk.prediction.labels), classes or ())
        return cls(LabelRowsOf(classes), tuple(chunks))
