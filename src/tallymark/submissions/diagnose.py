"""CSV read again where something is wrong with it: every problem with its line and column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.sources.arrow import load
from tallymark.sources.columns import NUMBER
from tallymark.sources.csv.tokenizer import Sizes, even_rows, find_rows, tokenize
from tallymark.sources.files import File
from tallymark.sources.problems import MOST_COUNTED, MOST_SHOWN
from tallymark.submissions.entries import Entries, LineLookup, Spot
from tallymark.submissions.limits import Limits
from tallymark.submissions.normalize import normal_texts
from tallymark.submissions.problems import SubmissionProblems, submission_problem

_ROWS = 1 << 16  # of texts that wait for Arrow


def first_fields(file: File, separator: str, limits: Limits) -> list[str]:
    """The fields of the first row; of too many, one more than there may be."""
    first = next(tokenize(file.content(), separator, SubmissionProblems(), _sizes(limits)), None)
    return [] if first is None else first.fields


def read_and_locate(
    file: File, names: Sequence[str], wanted: Mapping[str, str], limits: Limits
) -> tuple[Entries, SubmissionProblems, Faults]:
    """The rows that have as many fields as the header, what is wrong with the text, and fields that are no numbers."""
    found = SubmissionProblems()
    at = columns_at(names, wanted)
    texts = {name: _Texts() for name in wanted}
    rows = 0
    for fields in even_rows(file.content(), file.separator, found, _sizes(limits)):
        rows += len(fields)
        for name, k in at.items():
            texts[name].add([row[k] for row in fields])
        if limits.rows is not None and rows > limits.rows:
            found.note("too_many_rows", most=f"{limits.rows:,}")
            found.stop()
            break
    columns: dict[str, Any] = {}
    faults = Faults()
    for name, way in wanted.items():
        held = texts.pop(name).finish()
        columns[name] = read_numbers(held, name, faults) if way == NUMBER else normal_texts(held)
    return Entries(columns, rows, file.form, LineLookup()), found, faults


def columns_at(names: Sequence[str], wanted: Iterable[str]) -> dict[str, int]:
    """Where the columns that are wanted stand."""
    places = {name: k for k, name in reversed(list(enumerate(names)))}
    return {name: places[name] for name in wanted}


def _sizes(limits: Limits) -> Sizes:
    most = Sizes()
    return Sizes(limits.columns or most.fields, limits.field_length or most.characters)


class _Texts:
    """A column of texts on its way to Arrow, which holds them in less memory."""

    def __init__(self) -> None:
        self._pieces: list[Any] = []
        self._held: list[str] = []

    def add(self, texts: list[str]) -> None:
        self._held += texts
        if len(self._held) >= _ROWS:
            self._flush()

    def _flush(self) -> None:
        pa = load("pyarrow")
        self._pieces.append(pa.array(self._held, pa.string()))
        self._held = []

    def finish(self) -> Any:
        self._flush()
        return load("pyarrow").chunked_array(self._pieces)


class Fault(NamedTuple):
    """A field that is no number: the code of what it is, its row and column, and the text."""

    code: str
    row: int
    name: str
    text: str


class Faults:
    """Fields that are no numbers: the first are kept, and they are counted until they are too many."""

    def __init__(self) -> None:
        self.first: list[Fault] = []
        self.total = 0

    def add(self, code: str, row: int, name: str, text: str) -> None:
        """Note a field."""
        self.total += 1
        if len(self.first) < MOST_SHOWN:
            self.first.append(Fault(code, row, name, text))

    def tell(self, entries: Entries) -> SubmissionProblems:
        """The problems that they are."""
        found = SubmissionProblems()
        for code, row, name, text in self.first:
            found.add(submission_problem(code, entries.place(row, name), column=repr(name), value=repr(text[:40])))
        found.count(self.total - len(self.first))
        if self.total >= MOST_COUNTED:
            found.stop()
        return found


def read_numbers(texts: Any, name: str, faults: Faults) -> Array:
    """Texts as floats. One that is none or no number is noted and stands as 0, so that it is not noted twice."""
    out, done = np.zeros(len(texts)), 0
    for piece in texts.chunks:
        for row, held in enumerate(piece.to_pylist(), start=done):
            text = (held or "").strip(" \t")
            plain = text.isascii() and text.isprintable() and "_" not in text  # Python reads more than that
            try:
                out[row] = float(text) if plain else float("no")
            except ValueError:
                faults.add("not_a_number" if text else "empty_field", row, name, text)
            if faults.total >= MOST_COUNTED:
                return out
        done += len(piece)
    return out


def locate(file: File, rows: set[int], names: Sequence[str], wanted: Iterable[str], limits: Limits) -> dict[int, Spot]:
    """Where these of the rows that have as many fields as the header stand."""
    at, sizes = columns_at(names, wanted), Sizes(_sizes(limits).fields)  # a row ends as it was read
    found = find_rows(file.content(), file.separator, rows, len(names), sizes)
    return {
        row: Spot(record.lines[0], {name: record.columns[k] for name, k in at.items()}) for row, record in found.items()
    }
