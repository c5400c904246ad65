"""Columns of labels that are kept row by row: the distinct labels, and the place of each row's label among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.errors import StateError
from tallymark.labels import Label
from tallymark.states.base import check_one_kind
from tallymark.states.packing import pack_labels, unpack_labels


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
        check_one_kind({isinstance(column.labels[0], str) for column in columns if column.labels})

    @staticmethod
    def join(columns: Sequence[Encoded]) -> Encoded:
        """The rows of all columns, one after another."""
        if len(columns) == 1:
            return columns[0]
        labels = sorted({label for column in columns for label in column.labels})
        index = {label: k for k, label in enumerate(labels)}
        codes = [np.array([index[label] for label in column.labels], np.int64)[column.codes] for column in columns]
        return Encoded(labels, np.concatenate(codes))
