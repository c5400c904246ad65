"""Entries: ids and columns of a file, and where they stand in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.engines.packages import load
from tallymark.submissions.limits import Limits
from tallymark.submissions.problems import Found, Place

Choose = Callable[[Sequence[str]], Mapping[str, str]]
"""Given the names of the columns, those that are wanted, each as "text" or "number"."""


class Entries(NamedTuple):
    """Rows of a file: the columns that were wanted, texts as Arrow arrays and numbers as arrays of NumPy.

    `lines` and `columns` say where each row and each of its fields begins, where the file was read with care.
    """

    columns: Mapping[str, Any]
    rows: int
    form: str
    lines: Sequence[int] | None = None
    places: Mapping[str, Sequence[int]] | None = None

    def place(self, row: int, field: str | None = None, id: str | None = None) -> Place:
        """Where a row, or a field of it, stands."""
        if self.lines is None:
            return Place(row=row, field=field, id=id)
        column = None if self.places is None or field is None else self.places[field][row]
        return Place(self.lines[row], column, row, field, id)


Check = Callable[[Entries], Found]


def check_header(names: Sequence[str], wanted: Mapping[str, str], limits: Limits) -> Found:
    """What is wrong with the names of the columns."""
    found = Found()
    if limits.columns is not None and len(names) > limits.columns:
        found.note("too_many_columns", 1, count=f"{len(names):,}", most=f"{limits.columns:,}")
    shown = ", ".join(repr(name[:40]) for name in names[:20]) + (", …" if len(names) > 20 else "")
    for name in wanted:
        count = names.count(name)
        if count == 0:
            found.note("missing_column", 1, column=repr(name), found=shown)
        elif count > 1:
            found.note("repeated_column", 1, column=repr(name), count=count)
    return found


def look(entries: Entries, check: Check, limits: Limits) -> Found:
    """What is wrong with what was read: no rows, fields that are too long, and what the check finds."""
    found = Found()
    if not entries.rows:
        found.note("empty_file", form=entries.form)
        return found
    if limits.field_length is not None:
        compute = load("pyarrow.compute")
        for name, values in entries.columns.items():
            if isinstance(values, np.ndarray):
                continue
            if (compute.max(compute.binary_length(values)).as_py() or 0) <= limits.field_length:
                continue
            long = compute.utf8_length(values)
            longest = compute.max(long).as_py()
            if longest > limits.field_length:
                row = compute.index(compute.greater(long, limits.field_length), True).as_py()
                place = entries.place(row, name)
                facts = {"count": f"{longest:,}", "most": f"{limits.field_length:,}"}
                found.note("field_too_long", place.line, place.column, **facts)
    return found.join(check(entries))
