"""Match the rows of a submission to those of the answers by id, in any order; and labels as codes, to compare them.

Ids are matched as codes (`TextCodes` of the core): one hash table over both files, which keeps eight bytes per text and
compares texts where they are in Arrow's memory. Its hashes are seeded: Arrow's own lookup took a minute for a million
ids of seven digits, whose hashes collide. Answers have no duplicates, so the code of an id is its row in the answers,
and a code of the submission is already the row of its answer. Labels are coded the same way, and compared as numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark._core import TextCodes
from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.rendering.text import printable
from tallymark.sources.arrow import load

MAX_IDS = 10  # that are named
UNANSWERED = "\ue000"  # a private-use character, which no real label is; a label of this text is no prediction either
_FEW_IDS = 5  # where none match
_BLOCK = 1 << 16
_FEW = 200
_FIRST_ROWS = 1 << 14


class Matched(NamedTuple):
    """Which row of the submission belongs to which row of the answers, and which rows are in only one of them."""

    rows: Array
    """Rows of the submission whose ids are known."""
    answer_rows: Array
    """The row of the answers for each of them."""
    missing: Array
    """Rows of the answers that the submission lacks."""
    missing_ids: list[str]
    extra: int
    extra_ids: list[str]

    def unmatched_ids(self, name: str) -> str:
        """The first ids that are in one file only, as the end of a sentence."""
        expected, found = _quote_ids(self.missing_ids, len(self.missing)), _quote_ids(self.extra_ids, self.extra)
        return f": the ids of the {name} are {expected}; those of the submission are {found}"

    def in_answer_order(self) -> Matched:
        """The same with the rows in the order of the answers."""
        order = np.argsort(self.answer_rows, kind="stable")
        return self._replace(rows=self.rows[order], answer_rows=self.answer_rows[order])


def match(answer_ids: Any, submission_ids: Any, codes: Array) -> Matched:
    """Match two columns of unique ids. `codes` are those of the submission's ids, coded after the answers' ids."""
    end = len(answer_ids)
    known = codes < end
    every = bool(known.all())
    rows = np.arange(len(codes), dtype=np.int32) if every else np.flatnonzero(known)
    answer_rows = codes if every else codes[rows]
    seen = np.zeros(end, bool)
    seen[answer_rows] = True
    missing, extra = np.flatnonzero(~seen), np.flatnonzero(~known)
    return Matched(
        rows, answer_rows, missing, texts_at(answer_ids, missing), len(extra), texts_at(submission_ids, extra)
    )


def code_ids(codes: TextCodes, ids: Any) -> Array:
    """The codes of a column, which continue those that were given before (−1: null)."""
    return np.frombuffer(codes.code(ids), np.int32)


def code_columns(*columns: Any) -> tuple[list[Array], Array]:
    """The texts of columns as codes in the order of their first appearance (−1: null), and the row, counted over all
    columns, in which each code appears first."""
    text_codes = TextCodes()
    codes = [code_ids(text_codes, column) for column in columns]
    return codes, np.frombuffer(text_codes.firsts(), np.int64)


def texts_at(column: Any, rows: Array, most: int | None = MAX_IDS) -> list[str]:
    """The texts in the first of these rows."""
    texts: list[str] = take_texts(column, rows[:most]).to_pylist()
    return texts


def take_texts(column: Any, rows: Array) -> Any:
    """The texts in these rows as one Arrow array."""
    pa = load("pyarrow")
    if len(rows) <= _FEW:  # to take them from a column in chunks, Arrow would copy all of it
        return pa.array([column[row].as_py() for row in rows.tolist()], pa.string())
    return column.take(pa.array(rows)).combine_chunks()


def list_ids(ids: Sequence[str], count: int) -> str:
    """The first ids in words, each of them short and fit to be printed."""
    shown = (printable(each if len(each) <= 40 else f"{each[:37]}...") for each in ids)
    return ", ".join(shown) + (", …" if count > len(ids) else "")


def _quote_ids(ids: Sequence[str], count: int) -> str:
    """The first ids in quotes, and how many others there are."""
    quoted = [repr(each if len(each) <= 40 else f"{each[:37]}...") for each in ids[:_FEW_IDS]]
    more = count - len(quoted)
    return ", ".join(quoted) + (f" and {more:,} more" if more else "")


def first_true_rows(mask: Array, most: int) -> Array:
    """The first rows where a mask is true, without an index of all others."""
    rows: list[int] = []
    for start in range(0, len(mask), _BLOCK):
        rows += (start + np.flatnonzero(mask[start : start + _BLOCK])[: most - len(rows)]).tolist()
        if len(rows) == most:
            break
    return np.array(rows, np.int64)


def find_duplicates(codes: Array, most: int) -> tuple[list[tuple[list[int], int]], int]:
    """Codes that are in more than one row: for the first `most` of them their first rows and their number of rows, and
    how many such codes there are."""
    present = np.zeros(codes.max(initial=0) + 2, bool)
    present[codes] = True
    if np.count_nonzero(present[:-1]) == np.count_nonzero(codes >= 0):
        return [], 0
    counts = np.bincount(codes + 1)[1:]
    wanted = np.append(counts > 1, False)  # −1 indexes the last item
    total = int(np.count_nonzero(wanted))
    rows_of: dict[int, list[int]] = {}
    for start in range(0, len(codes), _BLOCK):
        for row in (start + np.flatnonzero(wanted[codes[start : start + _BLOCK]])).tolist():
            code = int(codes[row])
            if code not in rows_of and len(rows_of) == most:
                continue
            rows = rows_of.setdefault(code, [])
            rows.append(row)
            if len(rows) == most:
                wanted[code] = False
        if len(rows_of) == most:
            others = np.ones(len(wanted), bool)
            others[list(rows_of)] = False
            wanted[others] = False
    return [(rows[:most], int(counts[code])) for code, rows in rows_of.items()], total


class LabelCodes(NamedTuple):
    """Labels of matched rows as codes of one list of texts: the true and predicted label of each row, the true labels
    of rows without a prediction, and all labels of the submission."""

    texts: Any
    truth: Array
    predicted: Array
    unanswered: Array
    submitted: Array

    @classmethod
    def of_columns(cls, answers: Any, submission: Any, matched: Matched) -> LabelCodes:
        """The labels of two columns, whose rows were matched."""
        columns = answers, submission
        (truth, submitted), firsts = code_columns(*columns)
        end = len(truth)
        known = firsts < end
        first_rows = firsts[known], firsts[~known] - end
        texts = load("pyarrow").concat_arrays(
            [take_texts(column, rows) for column, rows in zip(columns, first_rows, strict=True)]
        )
        predicted = submitted if len(matched.rows) == len(submitted) else submitted[matched.rows]
        return cls(texts, truth[matched.answer_rows], predicted, truth[matched.missing], submitted)

    @property
    def correct(self) -> int:
        """How many predictions are the true label."""
        return int(np.count_nonzero(self.truth == self.predicted))

    def batch(
        self, *, count_missing: bool, positive: str | None = None, order: Array | None = None
    ) -> tuple[Batch, Target]:
        """The rows as a batch, in another order if it is given.

        With `count_missing`, a row without a prediction is predicted as a label that stands for no answer
        (`Target.unanswered`): it counts for its true class, and is not a class itself.
        """
        pa = load("pyarrow")
        truth, predicted, texts = self.truth, self.predicted, self.texts
        if count_missing:
            truth = np.concatenate([truth, self.unanswered])
            predicted = np.concatenate([predicted, np.full(len(self.unanswered), len(texts), np.int32)])
            texts = pa.concat_arrays([texts, pa.array([UNANSWERED], pa.string())])
        if order is not None:
            truth, predicted = truth[order], predicted[order]
        columns = [pa.DictionaryArray.from_arrays(pa.array(codes), texts) for codes in (truth, predicted)]
        unanswered = UNANSWERED if count_missing else None
        return Batch(columns[0], columns[1], None), Target("label", positive=positive, unanswered=unanswered)

    def texts_of(self, codes: Array) -> list[str]:
        """The labels of codes."""
        labels: list[str] = self.texts.take(load("pyarrow").array(codes)).to_pylist()
        return labels

    def distinct(self, *columns: Array) -> list[str]:
        """The labels that occur in columns of codes."""
        present = np.zeros(len(self.texts), bool)
        for codes in (part for column in columns for part in (column[:_FIRST_ROWS], column[_FIRST_ROWS:])):
            if present.all():  # as it mostly is after the first rows
                break
            present[codes] = True
        return self.texts_of(np.flatnonzero(present))
