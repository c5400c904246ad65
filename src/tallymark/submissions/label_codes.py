"""True and predicted labels of the rows that were compared, as codes of one list of texts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.sources.arrow import load
from tallymark.submissions.entries import Entries
from tallymark.submissions.match import Matched, code_columns, taken

UNANSWERED = "\ue000"  # a sign that no script has; a label of this text is no prediction either

_FIRST = 1 << 14  # rows


class Labelled(NamedTuple):
    """The texts, the codes of truth and prediction of each row, those of true labels without a prediction, and of all
    labels of the submission."""

    texts: Any
    truth: Array
    predicted: Array
    unanswered: Array
    said: Array

    @classmethod
    def read(cls, answers: Entries, submission: Entries, matched: Matched, label: str) -> Labelled:
        """The labels of rows that were matched."""
        pa = load("pyarrow")
        sides = answers.columns[label], submission.columns[label]
        (truth, said), firsts = code_columns(*sides)
        end = len(truth)
        known = firsts < end
        texts = pa.concat_arrays(
            [taken(side, rows) for side, rows in zip(sides, (firsts[known], firsts[~known] - end), strict=True)]
        )
        predicted = said if len(matched.rows) == len(said) else said[matched.rows]
        return cls(texts, truth[matched.places], predicted, truth[matched.missing], said)

    @property
    def right(self) -> int:
        """How many predictions are the true label."""
        return int(np.count_nonzero(self.truth == self.predicted))

    def batch(self, *, counted: bool, positive: str | None = None, order: Array | None = None) -> tuple[Batch, Target]:
        """The rows, and those without a prediction, where they count; in another order if it is given."""
        pa = load("pyarrow")
        truth, predicted, texts = self.truth, self.predicted, self.texts
        if counted:
            truth = np.concatenate([truth, self.unanswered])
            predicted = np.concatenate([predicted, np.full(len(self.unanswered), len(texts), np.int32)])
            texts = pa.concat_arrays([texts, pa.array([UNANSWERED], pa.string())])
        if order is not None:
            truth, predicted = truth[order], predicted[order]
        sides = [pa.DictionaryArray.from_arrays(pa.array(side), texts) for side in (truth, predicted)]
        unanswered = UNANSWERED if counted else None
        return Batch(sides[0], sides[1], None), Target("label", positive=positive, unanswered=unanswered)

    def labels(self, codes: Array) -> list[str]:
        """The labels of codes."""
        found: list[str] = self.texts.take(load("pyarrow").array(codes)).to_pylist()
        return found

    def distinct(self, *sides: Array) -> list[str]:
        """The labels that occur."""
        there = np.zeros(len(self.texts), bool)
        for codes in (part for side in sides for part in (side[:_FIRST], side[_FIRST:])):
            if there.all():  # as it mostly is after the first rows
                break
            there[codes] = True
        return self.labels(np.flatnonzero(there))
