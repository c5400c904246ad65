"""Rows of a submission and of the answers, brought together by their ids in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark._core import TextCodes
from tallymark.data.arrays import Array
from tallymark.rendering.text import printable
from tallymark.sources.arrow import load

MOST_IDS = 10  # that are named
_BLOCK = 1 << 16
_FEW = 200


class Matched(NamedTuple):
    """Which row of the submission belongs to which of the answers, and what is only in one of them."""

    rows: Array
    """Rows of the submission whose ids are known."""
    places: Array
    """The row of the answers for each of them."""
    missing: Array
    """Rows of the answers that the submission lacks."""
    missing_ids: list[str]
    extra: int
    extra_ids: list[str]

    def in_order(self) -> Matched:
        """The same with the rows in the order of the answers."""
        order = np.argsort(self.places, kind="stable")
        return self._replace(rows=self.rows[order], places=self.places[order])


def match(answers: Any, submission: Any, found: Array) -> Matched:
    """Match two columns of ids, each of which has every id once, by the codes of the second behind the first."""
    end = len(answers)
    known = found < end
    whole = bool(known.all())
    rows = np.arange(len(found), dtype=np.int32) if whole else np.flatnonzero(known)
    places = found if whole else found[rows]
    seen = np.zeros(end, bool)
    seen[places] = True
    missing, extra = np.flatnonzero(~seen), np.flatnonzero(~known)
    return Matched(rows, places, missing, texts_at(answers, missing), len(extra), texts_at(submission, extra))


def code_ids(codes: TextCodes, ids: Any) -> Array:
    """The codes of a column behind those that were coded before (−1: none)."""
    return np.frombuffer(codes.code(ids), np.int32)


def code_columns(*columns: Any) -> tuple[list[Array], Array]:
    """The texts of columns as codes in the order of their first appearance (−1: none), and in which row, counted over
    all columns, each code appears first."""
    codes = TextCodes()
    found = [code_ids(codes, column) for column in columns]
    return found, np.frombuffer(codes.firsts(), np.int64)


def texts_at(column: Any, rows: Array, most: int | None = MOST_IDS) -> list[str]:
    """The texts in the first of these rows."""
    found: list[str] = taken(column, rows[:most]).to_pylist()
    return found


def taken(column: Any, rows: Array) -> Any:
    """The texts in these rows as one Arrow array."""
    pa = load("pyarrow")
    if len(rows) <= _FEW:  # to take them from a column in pieces, Arrow would copy all of it
        return pa.array([column[row].as_py() for row in rows.tolist()], pa.string())
    return column.take(pa.array(rows)).combine_chunks()


def list_ids(ids: Sequence[str], count: int) -> str:
    """The first ids in words, each of them short and fit to be printed."""
    shown = (printable(each if len(each) <= 40 else f"{each[:37]}...") for each in ids)
    return ", ".join(shown) + (", …" if count > len(ids) else "")


def first_rows(which: Array, most: int) -> Array:
    """The first rows for which something holds, without the places of all others."""
    found: list[int] = []
    for start in range(0, len(which), _BLOCK):
        found += (start + np.flatnonzero(which[start : start + _BLOCK])[: most - len(found)]).tolist()
        if len(found) == most:
            break
    return np.array(found, np.int64)


def repeated(codes: Array, most: int) -> tuple[list[tuple[list[int], int]], int]:
    """Codes that stand in more than one row: of the first of them the first rows and how many rows there are, and how
    many such codes there are."""
    there = np.zeros(codes.max(initial=0) + 2, bool)
    there[codes] = True
    if np.count_nonzero(there[:-1]) == np.count_nonzero(codes >= 0):
        return [], 0
    counts = np.bincount(codes + 1)[1:]
    asked = np.append(counts > 1, False)  # which is where −1 looks
    total = int(np.count_nonzero(asked))
    rows: dict[int, list[int]] = {}
    for start in range(0, len(codes), _BLOCK):
        for row in (start + np.flatnonzero(asked[codes[start : start + _BLOCK]])).tolist():
            code = int(codes[row])
            if code not in rows and len(rows) == most:
                continue
            held = rows.setdefault(code, [])
            held.append(row)
            if len(held) == most:
                asked[code] = False
        if len(rows) == most:
            others = np.ones(len(asked), bool)
            others[list(rows)] = False
            asked[others] = False
    return [(held[:most], int(counts[code])) for code, held in rows.items()], total
