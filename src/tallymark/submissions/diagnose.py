"""CSV read again where something is wrong: every problem with its line and column.

The tokenizer splits blocks without a quote as they are, and stops after ten thousand problems, a row of too many fields
or a field that is too long, so ten megabytes of nothing but errors take about a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.sources.arrow import load
from tallymark.sources.columns import NUMBER
from tallymark.sources.csv.tokenizer import RowLimits, find_rows, rows_of_width, tokenize
from tallymark.sources.files import File
from tallymark.sources.problems import MAX_COUNTED, MAX_SHOWN
from tallymark.submissions.entries import Entries, LineLookup, RowPosition, column_positions
from tallymark.submissions.normalize import normalize_texts
from tallymark.submissions.problems import SubmissionProblems, submission_problem
from tallymark.submissions.settings import Limits

_CHUNK = 1 << 16  # texts


def header_fields(file: File, separator: str, limits: Limits) -> list[str]:
    """The fields of the first row; of too many, one more than is allowed."""
    first = next(tokenize(file.content(), separator, SubmissionProblems(), _row_limits(limits)), None)
    return [] if first is None else first.fields


def read_and_locate(
    file: File, header: Sequence[str], wanted: Mapping[str, str], limits: Limits
) -> tuple[Entries, SubmissionProblems, InvalidNumbers]:
    """The rows that have as many fields as the header, what is wrong with the text, and fields that are not numbers."""
    found = SubmissionProblems()
    positions = column_positions(header, wanted)
    texts = {name: _TextColumn() for name in wanted}
    row_count = 0
    for rows in rows_of_width(file.content(), file.separator, found, _row_limits(limits)):
        row_count += len(rows)
        for name, k in positions.items():
            texts[name].add([row[k] for row in rows])
        if limits.rows is not None and row_count > limits.rows:
            found.note("too_many_rows", most=f"{limits.rows:,}")
            found.stop()
            break
    columns: dict[str, Any] = {}
    invalid = InvalidNumbers()
    for name, column_type in wanted.items():
        values = texts.pop(name).finish()
        columns[name] = read_numbers(values, name, invalid) if column_type == NUMBER else normalize_texts(values)
    return Entries(columns, row_count, file.format, LineLookup()), found, invalid


def _row_limits(limits: Limits) -> RowLimits:
    most = RowLimits()
    return RowLimits(limits.columns or most.fields, limits.field_length or most.characters)


class _TextColumn:
    """A column of texts on its way to Arrow, which needs less memory for them than Python."""

    def __init__(self) -> None:
        self._chunks: list[Any] = []
        self._pending: list[str] = []

    def add(self, texts: list[str]) -> None:
        self._pending += texts
        if len(self._pending) >= _CHUNK:
            self._flush()

    def _flush(self) -> None:
        pa = load("pyarrow")
        self._chunks.append(pa.array(self._pending, pa.string()))
        self._pending = []

    def finish(self) -> Any:
        self._flush()
        return load("pyarrow").chunked_array(self._chunks)


class InvalidNumber(NamedTuple):
    """A field that is not a number: the code of the problem, its row and column, and the text."""

    code: str
    row: int
    name: str
    text: str


class InvalidNumbers:
    """Fields that are not numbers: the first are kept, and all are counted until there are too many."""

    def __init__(self) -> None:
        self.first: list[InvalidNumber] = []
        self.total = 0

    def add(self, code: str, row: int, name: str, text: str) -> None:
        """Note a field."""
        self.total += 1
        if len(self.first) < MAX_SHOWN:
            self.first.append(InvalidNumber(code, row, name, text))

    def problems(self, entries: Entries) -> SubmissionProblems:
        """The fields as problems, with their places among the entries."""
        found = SubmissionProblems()
        for code, row, name, text in self.first:
            found.add(submission_problem(code, entries.place(row, name), column=repr(name), value=repr(text[:40])))
        found.count(self.total - len(self.first))
        if self.total >= MAX_COUNTED:
            found.stop()
        return found


def read_numbers(texts: Any, name: str, invalid: InvalidNumbers) -> Array:
    """Texts as floats. One that is empty or not a number is noted and read as 0, so that it is not reported twice."""
    numbers, done = np.zeros(len(texts)), 0
    for chunk in texts.chunks:
        for row, value in enumerate(chunk.to_pylist(), start=done):
            text = (value or "").strip(" \t")
            plain = text.isascii() and text.isprintable() and "_" not in text  # float() accepts more than that
            try:
                numbers[row] = float(text) if plain else float("no")
            except ValueError:
                invalid.add("not_a_number" if text else "empty_field", row, name, text)
            if invalid.total >= MAX_COUNTED:
                return numbers
        done += len(chunk)
    return numbers


def locate_rows(
    file: File, rows: set[int], header: Sequence[str], wanted: Mapping[str, str], limits: Limits
) -> dict[int, RowPosition]:
    """The positions of these rows, counted among the rows that have as many fields as the header."""
    positions = column_positions(header, wanted)
    row_limits = RowLimits(_row_limits(limits).fields)  # so that a row ends as it was read
    records = find_rows(file.content(), file.separator, rows, len(header), row_limits)
    return {
        row: RowPosition(record.lines[0], {name: record.columns[k] for name, k in positions.items()})
        for row, record in records.items()
    }
