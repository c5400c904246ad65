"""The label rows state: the labels or numbers of every row, for functions of the user's own. It grows with the rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.labels import Label
from tallymark.data.target import Target
from tallymark.errors import StateError, TypeOfDataError
from tallymark.states.base import KeyedReads, check_label_types
from tallymark.states.labels.encoding import check_classes, check_same_type, encode_labels
from tallymark.states.rows import ChunkedState, check_weights, copy_table, copy_weights
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
        """Reject numbers here and strings there."""
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
    """Asks for the labels of every row; of these classes only, if there are any. With `numbers`, what can be read as
    numbers is, and beside one column of them a truth is 1 where it is `positive`, else 0; labels stay what they are."""

    __slots__ = ("classes", "numbers", "positive")

    def __init__(
        self, classes: tuple[Label, ...] | None = None, numbers: bool = False, positive: Label | None = None
    ) -> None:
        self.classes = classes
        self.numbers = numbers
        self.positive = positive

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (self.classes, self.numbers, self.positive)

    def zero(self) -> LabelRows:
        return LabelRows(self, ())

    def fold(self, batch: Batch) -> LabelRows:
        if batch.n == 0:
            return self.zero()
        truth, prediction = self._read(batch, 0), self._read(batch, 1)
        labels = [side.labels for side in (truth, prediction) if isinstance(side, Encoded)]
        if len(labels) == 2:
            check_same_type((labels[0], labels[1]))
        if self.classes is not None:
            check_classes(labels, self.classes)
        one_column = batch.truth_columns == batch.prediction_columns == 1
        if self.positive is not None and self.numbers and one_column:
            found = truth if isinstance(truth, Encoded) else Encoded(*encode_labels(batch, 0))
            truth = np.array([[float(label == self.positive)] for label in found.labels])[found.codes]
        batch.require_weights()
        return LabelRows(self, (LabelChunk(truth, prediction, copy_weights(batch)),))

    def _read(self, batch: Batch, side: int) -> Encoded | Array:
        if self.numbers:
            try:
                batch.require_finite_side(side)
            except TypeOfDataError:  # texts, say
                pass
            else:
                batch.require_exact(side)
                return copy_table(batch.truth if side == 0 else batch.prediction)
        return Encoded(*encode_labels(batch, side))


class LabelChunk(NamedTuple):
    """The rows of one batch."""

    truth: Encoded | Array
    prediction: Encoded | Array
    weights: Array | None

    @property
    def rows(self) -> int:
        return len(self.truth.codes if isinstance(self.truth, Encoded) else self.truth)


class LabelRows(ChunkedState[LabelRowsOf, LabelChunk]):
    """Truth and prediction of every row, labels or numbers, and weights or None."""

    __slots__ = ()

    @property
    def columns(self) -> tuple[int, int] | None:
        return (_width(self._chunks[0].truth), _width(self._chunks[0].prediction)) if self._chunks else None

    def arrays(self) -> tuple[Array, Array, Array | None]:
        """All rows in the order in which they were added; rows of weight zero are left out."""
        truth = _join([chunk.truth for chunk in self._chunks])
        prediction = _join([chunk.prediction for chunk in self._chunks])
        weights = self.weights()
        if weights is None:
            return truth, prediction, None
        keep = weights > 0
        return truth[keep], prediction[keep], weights[keep]

    @classmethod
    def check_chunks(cls, chunks: tuple[LabelChunk, ...]) -> None:
        for columns in ([chunk.truth for chunk in chunks], [chunk.prediction for chunk in chunks]):
            labels = [column for column in columns if isinstance(column, Encoded)]
            if len({_width(column) for column in columns}) > 1 or len(labels) not in (0, len(columns)):
                raise StateError("labels do not go together with numbers, nor tables of different widths")
            Encoded.check_same_type(labels)

    def fields(self) -> dict[str, Any]:
        classes = None if self._reads.classes is None else list(self._reads.classes)
        chunks = [[_fields(chunk.truth), _fields(chunk.prediction), chunk.weights] for chunk in self._chunks]
        positive = {} if self._reads.positive is None else {"positive": pack_labels([self._reads.positive])}
        return {"classes": classes, **({"numbers": True} if self._reads.numbers else {}), **positive, "chunks": chunks}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> LabelRows:
        chunks = []
        for truth, prediction, weights in fields["chunks"]:
            chunk = LabelChunk(_from_fields(truth), _from_fields(prediction), weights)
            check_weights(weights, chunk.rows)
            if chunk.rows != LabelChunk(chunk.prediction, chunk.truth, None).rows:
                raise StateError("truth and prediction differ in length")
            chunks.append(chunk)
        cls.check_chunks(tuple(chunks))
        classes = Target(classes=fields["classes"]).classes
        numbers = fields.get("numbers", False) is True
        for side in (side for chunk in chunks for side in chunk[:2]):
            if isinstance(side, Encoded):
                check_classes((side.labels,), classes or tuple(side.labels))
            elif not numbers:
                raise StateError("rows must be labels")
        positive = unpack_labels(fields["positive"])[0] if "positive" in fields else None
        return cls(LabelRowsOf(classes, numbers, positive), tuple(chunks))


def _width(column: Encoded | Array) -> int:
    return 1 if isinstance(column, Encoded) else int(column.shape[1])


def _join(columns: Sequence[Any]) -> Array:
    """The rows of all columns, one after another."""
    return Encoded.join(columns).rows() if isinstance(columns[0], Encoded) else np.concatenate(columns)


def _fields(column: Encoded | Array) -> Any:
    return column.fields() if isinstance(column, Encoded) else column


def _from_fields(fields: Any) -> Encoded | Array:
    if isinstance(fields, list):
        return Encoded.from_fields(fields)
    if not isinstance(fields, np.ndarray) or fields.ndim != 2 or fields.dtype != np.float64:
        raise StateError("rows must be labels or tables of numbers")
    if not np.isfinite(fields).all():
        raise StateError("rows must be finite")
    return fields
