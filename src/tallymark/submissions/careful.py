"""A file of CSV read again, slowly: every problem with its line and column."""

from __future__ import annotations

import codecs
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallymark.engines.columns import NUMBER
from tallymark.engines.files import File
from tallymark.engines.packages import load
from tallymark.submissions.entries import Check, Entries, look
from tallymark.submissions.limits import Limits
from tallymark.submissions.problems import Found
from tallymark.submissions.texts import normal_texts
from tallymark.submissions.tokens import tokenize

_ROWS = 1 << 16  # whose texts are held as Python's before they become Arrow's


def read_names(file: File) -> None:
    """The header of a file in whose beginning something is wrong; raises its fault where that is no text at all."""
    assert file.fault is not None
    start = bytes(file.content().read(2))
    records = tokenize(file.content(), file.separator, Found())
    first = None if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else next(records, None)
    if first is None:
        raise file.fault
    file.names = first.fields


def other_problems(file: File) -> Found:
    """What else is wrong with a file that lacks a column."""
    found = Found()
    _take(file, [], {}, found)
    return found


def read_with_care(
    file: File, names: Sequence[str], wanted: Mapping[str, str], check: Check, limits: Limits
) -> tuple[Entries, Found]:
    """The same once more, slowly: every problem with its line and column."""
    pa = load("pyarrow")
    syntax = Found()
    texts, lines, places = _take(file, names, wanted, syntax)
    columns: dict[str, Any] = {}
    numbers = Found()
    entries = Entries(columns, len(lines), file.form, lines, places)
    for name, way in wanted.items():
        held = normal_texts(pa.chunked_array(texts[name], pa.string()))
        columns[name] = _numbers(held, name, entries, numbers) if way == NUMBER else held
    found = syntax.join(numbers)
    return entries, found if found and not len(lines) else found.join(look(entries, check, limits))


def _take(
    file: File, names: Sequence[str], wanted: Mapping[str, str], found: Found
) -> tuple[dict[str, list[Any]], Sequence[int], dict[str, Sequence[int]]]:
    """The fields that are wanted of all rows that have as many as the header, in pieces, and where they stand."""
    at = {name: names.index(name) for name in wanted}
    pieces: dict[str, list[Any]] = {name: [] for name in wanted}
    texts: dict[str, list[str]] = {name: [] for name in wanted}
    lines, places = array("q"), {name: array("q") for name in wanted}
    records = tokenize(file.content(), file.separator, found)
    width = len(next(records, ((),))[0])
    for fields, starts, columns in records:
        if len(fields) != width:
            count = f"{len(fields)} field{'s' * (len(fields) != 1)}"
            found.note("ragged_row", starts[0], 1, count=count, expected=width)
            continue
        lines.append(starts[0])
        for name, k in at.items():
            text = fields[k]
            if not text.isascii():
                text = text.encode("utf-8", "replace").decode()  # its odd bytes are noted
            texts[name].append(text)
            places[name].append(columns[k])
        if len(lines) % _ROWS == 0:
            _pack(texts, pieces)
    _pack(texts, pieces)
    return pieces, lines, places  # type: ignore[return-value]


def _pack(texts: Mapping[str, list[str]], pieces: Mapping[str, list[Any]]) -> None:
    """Move texts to Arrow, where they take little room."""
    pa = load("pyarrow")
    for name, held in texts.items():
        pieces[name].append(pa.array(held, pa.string()))
        held.clear()


def _numbers(texts: Any, name: str, entries: Entries, found: Found) -> Any:
    """Texts as floats. One that is no number is noted and stands as 0, so that it is not noted twice."""
    out = np.zeros(len(texts))
    for row, text in enumerate(texts.to_pylist()):
        if text is None:
            out[row] = np.nan
            continue
        try:
            out[row] = float(text if text.isascii() and "_" not in text else "none")
        except ValueError:
            place = entries.place(row, name)
            found.note("not_a_number", place.line, place.column, value=repr(text[:40]))
    return out
