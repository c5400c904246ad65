"""Types of columns of CSV that are not all in memory: inferred from the first rows, and widened by later ones.

When a field does not fit, all fields are read once for their types alone, since each error tells of one column only,
and then the rows are folded again. To read types first would read every file twice, and almost none needs it. What was
chosen or refused because of the types is checked again if they have changed: a `nan` is a missing number until a later
file has texts, and the default metrics may be others.
"""

from __future__ import annotations

import threading
from collections.abc import Container
from typing import Any

from tallymark.sources.arrow import load
from tallymark.sources.csv.fields import (
    TEXT,
    first_non_number,
    first_valid,
    has_numbers,
    parse_texts,
    to_floats,
    to_wide_integers,
)


class Widened(Exception):  # noqa: N818 - control flow, not an error
    """A column does not have the type that was inferred, so all rows must be read again."""


class InferredTypes:
    """The type of every column as far as rows were read: boolean, integer, wide, real or text.

    `non_numbers` has, for each column of text, the first field that is not a number, and its place. `uncertain` are
    columns of numbers in which a nan or an inf is written: a missing number, or a word if texts follow.
    """

    def __init__(self) -> None:
        self.non_numbers: dict[str, tuple[str, str]] = {}
        self.uncertain: set[str] = set()
        self._types: dict[str, str] = {}
        self._lock = threading.Lock()

    def snapshot(self) -> dict[str, str]:
        """The types as they are now."""
        return dict(self._types)

    def update(self, batch: Any, name: str, row: int) -> None:
        """Widen the types to those of a batch."""
        for column, texts in zip(batch.schema.names, batch.columns, strict=True):
            try:
                self._cast_column(_without_empty(texts), column, name, row)
            except Widened:
                continue

    def cast(self, batch: Any, name: str, row: int, skip: Container[str] = ()) -> Any:
        """A batch of texts cast to the types of its columns, except those to skip; its first row has that place in the
        file of this name."""
        names = batch.schema.names
        arrays = [
            texts if each in skip else self._cast_column(_without_empty(texts), each, name, row)
            for each, texts in zip(names, batch.columns, strict=True)
        ]
        return load("pyarrow").RecordBatch.from_arrays(arrays, names=names)

    def _cast_column(self, texts: Any, column: str, name: str, row: int) -> Any:
        if self._types.get(column) == TEXT:
            return texts
        kind, values = parse_texts(texts, codes=True)
        if kind == "real" and not _is_finite(values):
            self.uncertain.add(column)
        with self._lock:
            known = self._types.get(column)
            joined = _widest(known, kind)
            if joined == TEXT:
                self._note_non_number(texts, column, kind, name, row)
            if joined:
                self._types[column] = joined
        if known is not None and joined != known:
            raise Widened(column)
        if joined == "real":
            return to_floats(values, lambda: texts)
        return texts if joined == TEXT else _cast(values, joined)  # as written, also where it has just become one

    def _note_non_number(self, texts: Any, column: str, kind: str, name: str, row: int) -> None:
        """Remember the field that is not a number, if others are."""
        if column in self.non_numbers or (column not in self._types and not has_numbers(texts)):
            return
        place, text = first_non_number(texts, codes=True) if kind == TEXT else first_valid(texts)
        self.non_numbers[column] = (text, f"row {row + place:,} of {name}")


def _without_empty(texts: Any) -> Any:
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    return compute.if_else(compute.equal(texts, ""), pa.scalar(None, texts.type), texts)


def _is_finite(values: Any) -> bool:
    """Whether all numbers are finite, where there are any."""
    compute = load("pyarrow.compute")
    return bool(compute.all(compute.is_finite(values)).as_py())


def _widest(known: str | None, kind: str) -> str:
    """The type that holds both."""
    if not known or not kind or known == kind:
        return kind or known or ""
    order = ("integer", "wide", "real")
    return max(known, kind, key=order.index) if {known, kind} <= set(order) else TEXT


def _cast(values: Any, kind: str) -> Any:
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    if kind == "wide":
        return to_wide_integers(values)
    return compute.cast(values, {"": pa.float64(), "boolean": pa.bool_(), "integer": pa.int64()}[kind])
