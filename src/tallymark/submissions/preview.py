"""A few rows to look at: what was wrong comes first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tallymark.submissions.entries import Entries
from tallymark.submissions.label_codes import Labelled
from tallymark.submissions.match import Matched, first_rows, texts_at
from tallymark.submissions.tasks import Names

MOST_ROWS = 20


class Row(NamedTuple):
    """A row: its id, the answer, the prediction, and whether they are the same; None where that is no question."""

    id: str
    answer: Any
    prediction: Any
    right: bool | None = None


def preview_labels(ids: Any, labelled: Labelled, matched: Matched) -> list[Row]:
    """Rows whose label is wrong, in the order of the submission, then some that are right."""
    wrong = first_rows(labelled.truth != labelled.predicted, MOST_ROWS)
    right = first_rows(labelled.truth == labelled.predicted, MOST_ROWS - len(wrong))
    rows = np.concatenate([wrong, right])
    columns = (
        texts_at(ids, matched.rows[rows], None),
        labelled.labels(labelled.truth[rows]),
        labelled.labels(labelled.predicted[rows]),
    )
    return [Row(*each, each[1] == each[2]) for each in zip(*columns, strict=True)]


def preview_numbers(answers: Entries, submission: Entries, matched: Matched, names: Names) -> list[Row]:
    """Rows with the largest errors, where a number is predicted; else the first rows."""
    truth = answers.columns[names.label]
    given = [name for name in submission.columns if name != names.id]
    predicted = np.column_stack([submission.columns[name][matched.rows] for name in given])
    if isinstance(truth, np.ndarray):
        errors = np.abs(predicted[:, 0] - truth[matched.places])
        rows = np.argsort(-errors, kind="stable")[:MOST_ROWS]
        shown = truth[matched.places[rows]].tolist()
    else:
        rows = np.arange(min(MOST_ROWS, len(matched.rows)))
        shown = texts_at(truth, matched.places[rows], None)
    ids = texts_at(submission.columns[names.id], matched.rows[rows], None)
    values = [row[0] if len(given) == 1 else dict(zip(given, row, strict=True)) for row in predicted[rows].tolist()]
    return [Row(*each) for each in zip(ids, shown, values, strict=True)]
