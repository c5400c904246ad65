"""Rows of a file as entries: the columns that were asked for, and the line of each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tallymark.sources.problems import Place
from tallymark.submissions.problems import SubmissionProblems


class Spot(NamedTuple):
    """The line in which a row begins, and the columns in which its fields do."""

    line: int
    columns: Mapping[str, int]


class LineLookup:
    """Where rows of a text stand: rows that are asked for are noted, and all of them looked up at once, later.

    So that a file of millions of rows does not pay for the places of more than a few.
    """

    def __init__(self) -> None:
        self.asked: set[int] = set()
        self.known: Mapping[int, Spot] = {}

    def find(self, row: int) -> Spot:
        """The place of a row; one to be filled in later where it is not known yet."""
        self.asked.add(row)
        return self.known.get(row) or Spot(0, {})


class Entries(NamedTuple):
    """Rows of a file: the columns that were wanted, texts as Arrow arrays and numbers as arrays of NumPy.

    `lines` say where each row of a text stands.
    """

    columns: Mapping[str, Any]
    rows: int
    form: str
    lines: LineLookup | None = None

    def place(self, row: int, field: str | None = None, id: str | None = None) -> Place:
        """Where a row, or a field of it, stands."""
        if self.lines is None:
            return Place(row=row, field=field, id=id)
        line, columns = self.lines.find(row)
        return Place(line, None if field is None else columns.get(field), row, field, id)

    def number(self, row: int) -> int:
        """The line of a row, or the row itself where there are no lines."""
        return row if self.lines is None else self.lines.find(row).line


Check = Callable[[Entries], SubmissionProblems]


Choose = Callable[[Sequence[str]], Mapping[str, str]]
"""Given the names of the columns, those that are wanted, each as "text" or "number"."""
