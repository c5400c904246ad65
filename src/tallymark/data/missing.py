"""What is missing or wrong in a column of rows, and where."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.labels import normal_label
from tallymark.errors import MissingValueError, Text, WeightError


class RowPlaces(NamedTuple):
    """How errors count the rows of a batch: as the source that they came from does."""

    first: int = 0
    """The number of the first row."""
    part: str = ""
    """The file or partition in which rows are counted; empty where it is the whole source."""
    partial: bool = False
    """Whether the source has other rows, which may have the same fault."""
    selections: tuple[Array, ...] = ()
    """Which rows were kept, one selection after the other: a mask, or the rows in a new order."""

    def select(self, rows: Array) -> RowPlaces:
        """The places of some of the rows, given by a mask or by their numbers."""
        return RowPlaces(self.first, self.part, self.partial, (*self.selections, rows))  # faster than _replace

    def row(self, row: int, column: int | None = None) -> str:
        """A row in words, and a column of it.

        >>> RowPlaces(100, "`b.csv`").select(np.array([False, True, True])).row(1)
        'row 102 of `b.csv`'
        """
        for rows in reversed(self.selections):
            row = int((np.flatnonzero(rows) if rows.dtype == bool else rows)[row])
        cell = "" if column is None else f", column {column}"
        return f"row {self.first + row:,}{cell}{f' of {self.part}' if self.part else ''}"

    def list_first(self, count: int, row: int, column: int | None = None) -> str:
        """The place of the first of so many rows with the same fault."""
        more = f", the first of {'at least ' if self.partial else ''}{count:,} rows" if count > 1 else ""
        return f"{self.row(row, column)}{more}"


def missing_rows(array: Array) -> Array:
    """Which rows hold a value that is missing: NaN, infinity, None, or what data frames have for it."""
    if array.dtype.kind == "f":
        missing = ~np.isfinite(array)
    elif array.dtype.kind == "O":
        flags = [_is_missing(item) for item in array.ravel()]
        missing = np.array(flags, dtype=bool).reshape(array.shape)
    elif array.dtype.kind in "Mm":
        missing = np.isnat(array)
    else:
        return np.zeros(len(array), dtype=bool)
    return missing if missing.ndim == 1 else np.asarray(missing.any(axis=1))


def _is_missing(item: object) -> bool:
    """Whether an item is a missing value. An integer beyond all floats counts as infinite."""
    found = normal_label(item)
    if found is None or found is NotImplemented:
        return found is None
    return isinstance(found, int) and found.bit_length() > 1024


def missing_value(name: str, array: Array, places: RowPlaces) -> MissingValueError | None:
    """The error for the first value that is missing, if one is."""
    bad = missing_rows(array)
    count = int(np.count_nonzero(bad))
    if count == 0:
        return None
    row = int(bad.argmax())
    place, value = places.list_first(count, row), array[row]
    if array.ndim == 2:
        column = int(missing_rows(array[row]).argmax())
        place, value = places.list_first(count, row, column), array[row, column]
    shown = float(value) if isinstance(value, (float, np.floating)) else value
    return MissingValueError(
        argument=name,
        expected="be finite" if array.dtype.kind == "f" else "have no missing values",
        got=str(shown),
        place=place,
        hint=Text('Pass {missing="drop"} to leave such rows out'),
    )


def bad_weight(weights: Array, places: RowPlaces) -> WeightError | None:
    """The error for the first weight that is negative or not finite, if one is."""
    bad = ~(np.isfinite(weights) & (weights >= 0))
    count = int(np.count_nonzero(bad))
    if count == 0:
        return None
    row = int(bad.argmax())
    return WeightError(
        argument="weights",
        expected="be finite and not negative",
        got=str(float(weights[row])),
        place=places.list_first(count, row),
    )
