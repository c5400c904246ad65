"""What columns of CSV hold, where not all of it is in memory: taken from the first rows, and widened when later rows do
not fit, whereupon everything is read again."""

from __future__ import annotations

import threading
from collections.abc import Container
from typing import Any

from tallymark.sources.arrow import load
from tallymark.sources.csv.fields import TEXT, as_reals, as_wide, first, first_odd, holds_numbers, read_texts


class Widened(Exception):  # noqa: N818 - a turn of events, not a fault
    """A column holds more than it was taken for, so that all rows must be read again."""


class Types:
    """The type of every column as far as rows were read: boolean, integer, wide, real or text.

    `odd` says of a column of texts which field first made it one: what it holds, and where it stands. `unsure` are
    columns of numbers in which a nan or an inf is written: a missing number, or a word if texts follow.
    """

    def __init__(self) -> None:
        self.odd: dict[str, tuple[str, str]] = {}
        self.unsure: set[str] = set()
        self._types: dict[str, str] = {}
        self._lock = threading.Lock()

    def copy(self) -> dict[str, str]:
        """The types as they are now."""
        return dict(self._types)

    def learn(self, batch: Any, name: str, row: int) -> None:
        """Widen the types to those of a batch."""
        for column, texts in zip(batch.schema.names, batch.columns, strict=True):
            try:
                self._typed(_without_empty(texts), column, name, row)
            except Widened:
                continue

    def typed(self, batch: Any, name: str, row: int, but: Container[str] = ()) -> Any:
        """A batch of texts with the types of its columns, but for some that have theirs; its first row is that one of
        the file of this name."""
        names = batch.schema.names
        held = [
            texts if each in but else self._typed(_without_empty(texts), each, name, row)
            for each, texts in zip(names, batch.columns, strict=True)
        ]
        return load("pyarrow").RecordBatch.from_arrays(held, names=names)

    def _typed(self, texts: Any, column: str, name: str, row: int) -> Any:
        if self._types.get(column) == TEXT:
            return texts
        kind, values = read_texts(texts, codes=True)
        if kind == "real" and not _is_finite(values):
            self.unsure.add(column)
        with self._lock:
            known = self._types.get(column)
            joined = _join(known, kind)
            if joined == TEXT:
                self._note_odd(texts, column, kind, name, row)
            if joined:
                self._types[column] = joined
        if known is not None and joined != known:
            raise Widened(column)
        if joined == "real":
            return as_reals(values, lambda: texts)
        return texts if joined == TEXT else _cast(values, joined)  # as written, also where it has just become one

    def _note_odd(self, texts: Any, column: str, kind: str, name: str, row: int) -> None:
        """Remember the field that is no number, if others are."""
        if column in self.odd or (column not in self._types and not holds_numbers(texts)):
            return
        place, text = first_odd(texts, codes=True) if kind == TEXT else first(texts)
        self.odd[column] = (text, f"row {row + place:,} of {name}")


def _without_empty(texts: Any) -> Any:
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    return compute.if_else(compute.equal(texts, ""), pa.scalar(None, texts.type), texts)


def _is_finite(values: Any) -> bool:
    """Whether all numbers are finite, where there are any."""
    compute = load("pyarrow.compute")
    return bool(compute.all(compute.is_finite(values)).as_py())


def _join(known: str | None, kind: str) -> str:
    """What holds both."""
    if not known or not kind or known == kind:
        return kind or known or ""
    order = ("integer", "wide", "real")
    return max(known, kind, key=order.index) if {known, kind} <= set(order) else TEXT


def _cast(values: Any, kind: str) -> Any:
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    if kind == "wide":
        return as_wide(values)
    return compute.cast(values, {"": pa.float64(), "boolean": pa.bool_(), "integer": pa.int64()}[kind])
