"""Entries: the rows that were read of a file or data frame, and every check that they must pass.

The checks are the same for the fast reader and for the tokenizer that locates errors, so each problem is described in
one place. A good file never pays for line numbers, and a bad one pays for those of a few rows only: a check requests
the lines of the rows that it reports (`LineLookup`), one walk through the file finds them all, and the check runs
again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.sources.arrow import load
from tallymark.sources.files import likely_separator
from tallymark.sources.problems import MAX_SHOWN, Place
from tallymark.submissions.match import code_columns, find_duplicates, first_true_rows, texts_at
from tallymark.submissions.problems import SubmissionProblems, submission_problem
from tallymark.submissions.settings import ColumnNames, Limits

_SUM_TOLERANCE = 1e-4  # how far the probabilities of a row may be from adding up to 1; the core allows the same


class RowPosition(NamedTuple):
    """The line in which a row begins, and the column in which each of its fields begins."""

    line: int
    columns: Mapping[str, int]


class LineLookup:
    """Positions of rows in a text: those requested are noted, and all of them are looked up at once, later."""

    def __init__(self) -> None:
        self.requested: set[int] = set()
        self.known: Mapping[int, RowPosition] = {}

    def find(self, row: int) -> RowPosition:
        """The position of a row; line 0 while it is not known yet."""
        self.requested.add(row)
        return self.known.get(row) or RowPosition(0, {})


class Entries(NamedTuple):
    """Rows of a file: the selected columns, texts as Arrow arrays and numbers as NumPy arrays.

    `format` is CSV, Parquet or table; `lines` finds the line of each row of CSV. `found` is the column of predictions
    that was found by a usual name, as there was none of the name it should have; None where there was.
    """

    columns: Mapping[str, Any]
    rows: int
    format: str
    lines: LineLookup | None = None
    found: str | None = None

    def place(self, row: int, field: str | None = None, id: str | None = None) -> Place:
        """Where a row, or a field of it, is."""
        if self.lines is None:
            return Place(row=row, field=field, id=id)
        line, columns = self.lines.find(row)
        return Place(line, None if field is None else columns.get(field), row, field, id)

    def line_or_row(self, row: int) -> int:
        """The line of a row; the row itself where there are no lines."""
        return row if self.lines is None else self.lines.find(row).line


def under_label(entries: Entries, names: ColumnNames, classes: Sequence[str] | None) -> Entries:
    """The same entries with a single column of predictions under the name of the labels in the answers."""
    predictions = [name for name in entries.columns if name != names.id]
    if len(predictions) > 1 or predictions in ([names.label], list(classes or ())):
        return entries
    name = predictions[0]
    columns = {names.id: entries.columns[names.id], names.label: entries.columns[name]}
    return entries._replace(columns=columns, found=name if names.prediction is None else None)


CheckEntries = Callable[[Entries], SubmissionProblems]

SelectColumns = Callable[[Sequence[str]], Mapping[str, str]]
"""Given the names in the header, the columns to read, each as "text" or "number"."""


def column_positions(header: Sequence[str], wanted: Mapping[str, str]) -> dict[str, int]:
    """The position of each wanted column in a header; of a repeated name, the first."""
    positions = {name: k for k, name in reversed(list(enumerate(header)))}
    return {name: positions[name] for name in wanted}


def validate_header(
    names: Sequence[str],
    wanted: Mapping[str, str],
    limits: Limits,
    format: str,
    *,
    truncated: bool = False,
    separator: str = "",
) -> SubmissionProblems:
    """What is wrong with the names of the columns; there may be more of them where they are `truncated`."""
    found, line = SubmissionProblems(), 1 if format == "CSV" else None
    if limits.columns is not None and len(names) > limits.columns:
        found.note(
            "too_many_columns", line, count=f"{len(names):,}{' or more' * truncated}", most=f"{limits.columns:,}"
        )
    listed = ", ".join(repr(name[:40]) for name in names[:20]) + (", …" if len(names) > 20 else "") or "none"
    likely = likely_separator(names, separator) if format == "CSV" else None
    if likely is not None:
        listed += f"; if {likely} separates its fields, set it as the separator"
    times = Counter(names)
    for name in wanted:
        count = times[name]
        if count == 0:
            found.note("missing_column", line, column=repr(name), found=listed)
        elif count > 1:
            found.note("repeated_column", line, column=repr(name), count=count)
    return found


def validate_entries(entries: Entries, check: CheckEntries, limits: Limits) -> SubmissionProblems:
    """What is wrong with entries: their number, the length of their texts, and what `check` finds."""
    found = SubmissionProblems()
    if not entries.rows:
        found.note("empty_file", form=entries.format)
        return found
    if limits.field_length is not None:
        compute = load("pyarrow.compute")
        for name, values in entries.columns.items():
            if isinstance(values, np.ndarray):
                continue
            if (compute.max(compute.binary_length(values)).as_py() or 0) <= limits.field_length:
                continue
            lengths = compute.utf8_length(values)
            longest = compute.max(lengths).as_py()
            if longest > limits.field_length:
                row = compute.index(compute.greater(lengths, limits.field_length), True).as_py()
                place = entries.place(row, name)
                facts = {"count": f"{longest:,}", "most": f"{limits.field_length:,}"}
                found.note("field_too_long", place.line, place.column, **facts)
    return found.join(check(entries))


def check_columns(
    entries: Entries, id_codes: Array, names: ColumnNames, task: str, limits: Limits, *, answers: bool = False
) -> SubmissionProblems:
    """What is wrong with the ids, whose codes are given, and with the values of the other columns."""
    found = _check_ids(entries, id_codes, names.id)
    others = {name: values for name, values in entries.columns.items() if name != names.id}
    probabilities = task == "probabilities" and not answers
    for name, values in others.items():
        if isinstance(values, np.ndarray):
            found = found.join(_check_numbers(entries, name, values, probabilities=probabilities))
        else:
            found = found.join(_check_texts(entries, name, values, limits))
    if probabilities and len(others) > 1 and not found:
        found = _check_sums(entries, list(others.values()))
    return found


def _check_ids(entries: Entries, codes: Array, name: str) -> SubmissionProblems:
    ids = entries.columns[name]
    found = _check_empty(entries, name, ids, "empty_id")
    duplicates, total = find_duplicates(codes, MAX_SHOWN)
    for rows, count in duplicates:
        text = texts_at(ids, np.array(rows[:1]))[0]
        place = entries.place(rows[1], name, text)
        found.add(
            submission_problem("duplicate_id", place, id=repr(text[:40]), places=_list_rows(entries, rows, count))
        )
    found.count(total - len(duplicates))
    return found


def _list_rows(entries: Entries, rows: Sequence[int], count: int) -> str:
    word = "rows" if entries.lines is None else "lines"
    numbers = [f"{entries.line_or_row(row):,}" for row in rows]
    if count > len(rows):
        return f"{word} {', '.join(numbers)} and {count - len(rows):,} more"
    return f"{word} {', '.join(numbers[:-1])} and {numbers[-1]}"


def _check_empty(entries: Entries, name: str, texts: Any, code: str) -> SubmissionProblems:
    found = SubmissionProblems()
    if not texts.null_count:
        return found
    for row in first_true_rows(np.asarray(texts.is_null()), MAX_SHOWN).tolist():
        found.add(submission_problem(code, entries.place(row, name), column=repr(name)))
    found.count(max(texts.null_count - MAX_SHOWN, 0))
    return found


def _check_texts(entries: Entries, name: str, texts: Any, limits: Limits) -> SubmissionProblems:
    found = _check_empty(entries, name, texts, "empty_field")
    if limits.labels is not None:
        distinct = len(code_columns(texts)[1])
        if distinct > limits.labels:
            found.add(
                submission_problem(
                    "too_many_labels", Place(field=name), count=f"{distinct:,}", most=f"{limits.labels:,}"
                )
            )
    return found


def _check_numbers(entries: Entries, name: str, values: Array, *, probabilities: bool) -> SubmissionProblems:
    found = SubmissionProblems()
    finite = np.isfinite(values)
    outside = finite & ((values < 0) | (values > 1)) if probabilities else np.zeros(0, bool)
    for code, bad in (("not_finite", ~finite), ("out_of_range", outside)):
        rows = np.flatnonzero(bad)
        for row in rows[:MAX_SHOWN].tolist():
            found.add(submission_problem(code, entries.place(row, name), value=f"{values[row]:g}"))
        found.count(max(len(rows) - MAX_SHOWN, 0))
    return found


def _check_sums(entries: Entries, columns: Sequence[Array]) -> SubmissionProblems:
    found = SubmissionProblems()
    sums = np.sum(columns, axis=0)
    rows = np.flatnonzero(np.abs(sums - 1) > _SUM_TOLERANCE)
    for row in rows[:MAX_SHOWN].tolist():
        found.add(submission_problem("bad_sum", entries.place(row), sum=f"{sums[row]:.6g}"))
    found.count(max(len(rows) - MAX_SHOWN, 0))
    return found
