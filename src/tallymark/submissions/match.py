"""Rows of a submission and of the answers, brought together by their ids in any order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tallymark._core import code_texts
from tallymark.arrays import Array
from tallymark.engines.packages import load

MOST_IDS = 10  # that are named


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


def code_ids(*columns: Any) -> Array:
    """The texts of the last column as codes in the order of their first appearance over all columns (−1: none)."""
    codes, ends, _ = code_texts(columns, False)
    rows = len(columns[-1])
    return (
        np.frombuffer(codes, np.int32)[ends[-1] - rows :].copy() if len(columns) > 1 else np.frombuffer(codes, np.int32)
    )


def code_columns(*columns: Any) -> tuple[Array, list[int], Array]:
    """The texts of columns as codes in the order of their first appearance (−1: none), where each column ends, and in
    which row, counted over all columns, each code appears first."""
    codes, ends, firsts = code_texts(columns)
    return np.frombuffer(codes, np.int32), ends, np.frombuffer(firsts, np.int64)


def texts_at(column: Any, rows: Array, most: int | None = MOST_IDS) -> list[str]:
    """The texts in the first of these rows."""
    found: list[str] = column.take(load("pyarrow").array(rows[:most])).to_pylist()
    return found


def repeated(codes: Array, most: int) -> tuple[list[Array], int]:
    """The rows of each of the first codes that stand in more than one, and how many such codes there are."""
    twice = np.flatnonzero(np.bincount(codes + 1)[1:] > 1)
    rows = np.flatnonzero(np.isin(codes, twice)) if len(twice) else twice
    firsts = np.unique(codes[rows], return_index=True)[1]
    shown = codes[rows[np.sort(firsts)[:most]]]
    return [rows[codes[rows] == code] for code in shown], len(twice)
