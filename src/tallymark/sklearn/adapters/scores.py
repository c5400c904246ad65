"""Truth and scores as the adapters of curves, rankings and probabilities read them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from tallymark._core import encode_labels
from tallymark.data.arrays import Array
from tallymark.data.labels import Label, normal_label
from tallymark.sklearn.adapters.inputs import as_array, column, numbers
from tallymark.sklearn.served import UnservedError
from tallymark.states.scores.scores import MOST_INTEGER

_SIGNED = frozenset(np.dtype(code) for code in "ilfd")


def read_scores(values: Any, name: str, dimensions: int = 1) -> Array:
    """Finite numbers that float64 can tell apart: one per row, or a table."""
    found = numbers(values, name)
    if found.ndim != dimensions or not found.size:
        raise UnservedError(f"{name} has the shape {found.shape}")
    if (
        found.dtype.kind in "iu"
        and found.dtype.itemsize == 8
        and not -MOST_INTEGER <= found.min() <= found.max() <= MOST_INTEGER
    ):
        raise UnservedError(f"{name} contains integers that float64 cannot tell apart")
    return found


def read_negatable_scores(values: Any, name: str) -> Array:
    """A table of numbers whose order turns round when they are negated, which scikit-learn does."""
    found = read_scores(values, name, 2)
    if found.dtype not in _SIGNED or (found.dtype.kind == "i" and found.min() == np.iinfo(found.dtype).min):
        raise UnservedError(f"{name} has dtype {found.dtype}, whose values cannot all be negated")
    return found


def encode(truth: Array) -> tuple[list[Label], Array]:
    """The labels in order, and the place of each row's among them."""
    found = encode_labels(truth, False, normal_label)
    if isinstance(found, list):
        raise UnservedError("y_true contains values that are not labels")
    check_few(len(found[0]), len(truth))
    return found[0], np.frombuffer(found[1], np.int64)


def check_few(labels: int, rows: int) -> None:
    """Leave truth to scikit-learn where more than half of the rows have a label of their own: it warns then."""
    if labels > 2 and rows > 20 and labels > round(0.5 * rows):
        raise UnservedError("y_true has nearly as many labels as rows")


def encode_among(truth: Array, classes: Any) -> tuple[list[Label], Array]:
    """The classes, all that occur if none are given, and the place of each row's label among them."""
    labels, places = encode(truth)
    if classes is None:
        return labels, places
    given = encode_labels(column(classes, "labels"), False, normal_label)
    if isinstance(given, list) or len(given[0]) != len(classes) or any(np.diff(np.frombuffer(given[1], np.int64)) != 1):
        raise UnservedError("labels are not distinct and in order")
    index = {label: place for place, label in enumerate(given[0])}
    if isinstance(given[0][0], str) != isinstance(labels[0], str) or not index.keys() >= set(labels):
        raise UnservedError("y_true contains labels that are not in labels")
    if given[0] != labels:
        places = np.array([index[label] for label in labels], np.int64)[places]
    return given[0], places


def find_label(pos_label: Any, labels: list[Label]) -> Label:
    """The label that is called positive."""
    if not isinstance(pos_label, (int, float, str, np.number, np.bool_)):
        raise UnservedError("pos_label is not a label")
    for label in labels:
        if label == pos_label:
            return label
    raise UnservedError("pos_label is not a label of y_true")


def is_table(values: Any) -> bool:
    """Whether there are several values per row."""
    if isinstance(values, (list, tuple)):
        return bool(values) and isinstance(values[0], (list, tuple, np.ndarray))
    return getattr(values, "ndim", 1) == 2


def read_indicators(values: Any, name: str = "y_true") -> Array:
    """A table of 0 and 1 with one column per label, as truth values."""
    found = as_array(values, name)
    if found.dtype.kind in "UO" or found.ndim != 2 or found.shape[1] < 2 or not len(found):
        raise UnservedError(f"{name} is not a table of 0 and 1 with a column per label")
    if found.dtype.kind == "b":
        return found
    truth: Array = found != 0
    if not bool((found == truth).all()):
        raise UnservedError(f"{name} is not a table of 0 and 1 with a column per label")
    return truth


class RowRanks:
    """The columns of every row in the order of falling scores; columns of equal scores form a group."""

    def __init__(self, table: Array) -> None:
        self.order = np.argsort(table, axis=1)[:, ::-1]
        ordered = self.sort(table)
        self._differs = ordered[:, 1:] != ordered[:, :-1]
        self.tied = not self._differs.all()

    def sort(self, table: Array) -> Array:
        """The values of every row in the order of the scores."""
        return np.take_along_axis(table, self.order, axis=1)

    @cached_property
    def first(self) -> Array:
        """How many columns stand before the group of each."""
        places = np.arange(self.order.shape[1])
        if not self.tied:
            return np.broadcast_to(places, self.order.shape)
        starts = np.zeros(self.order.shape, np.int64)
        starts[:, 1:] = np.where(self._differs, places[1:], 0)
        return np.asarray(np.maximum.accumulate(starts, axis=1))

    @cached_property
    def end(self) -> Array:
        """How many columns stand before the group of each or in it."""
        width = self.order.shape[1]
        places = np.arange(1, width + 1)
        if not self.tied:
            return np.broadcast_to(places, self.order.shape)
        ends = np.full(self.order.shape, width)
        ends[:, :-1] = np.where(self._differs, places[:-1], width)
        return np.asarray(np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1])

    def at(self, totals: Array, counts: Array) -> Array:
        """Of running totals over each row, those of so many columns from the start."""
        if not self.tied:
            return totals[:, counts[0]]
        return np.take_along_axis(totals, counts, axis=1)


def running_totals(table: Array) -> Array:
    """Of each row the total of its first columns, starting with that of none."""
    totals = np.zeros((table.shape[0], table.shape[1] + 1), np.int64)
    np.cumsum(table, axis=1, out=totals[:, 1:])
    return totals
