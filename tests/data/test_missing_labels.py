"""Rows without a label, in every container: counted and named, or dropped."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.label_forms import (
    ANY,
    NUMBERS,
    NUMBERS_WITH_GAPS,
    OTHER_NUMBERS,
    OTHER_TEXTS,
    TEXTS,
    TEXTS_WITH_GAPS,
    WEIGHTS,
    values,
)

import tallymark as tm


def gaps(items):
    return [None if k in (2, 5) else item for k, item in enumerate(items)]


@pytest.mark.parametrize("form", {**ANY, **TEXTS_WITH_GAPS})
def test_missing_texts_are_counted_and_dropped(form):
    """With the number of rows and the first of them; never read as a label."""
    check_gaps({**ANY, **TEXTS_WITH_GAPS}[form], TEXTS, OTHER_TEXTS)


@pytest.mark.parametrize("form", {**ANY, **NUMBERS_WITH_GAPS})
def test_missing_numbers_are_counted_and_dropped(form):
    """With the number of rows and the first of them; whole numbers stay whole, so that predictions stay labels."""
    check_gaps({**ANY, **NUMBERS_WITH_GAPS}[form], NUMBERS, OTHER_NUMBERS)


def check_gaps(make, truth, prediction):
    y, p = make(gaps(truth)), make(gaps(prediction))
    with pytest.raises(
        tm.MissingValueError, match=r"`y_true` must have a label in every row; got .*row 2, the first of 2 rows"
    ):
        tm.accuracy(y, prediction)
    with pytest.raises(
        tm.MissingValueError, match=r"`y_pred` must have a label in every row; got .*row 2, the first of 2 rows"
    ):
        tm.adjusted_rand(truth, p)
    with pytest.raises(tm.MissingValueError, match="row 2"):
        tm.accuracy(y, prediction, weights=[1, 1, 0, 1, 1, 0, 1, 1])
    keep = [k for k in range(8) if k not in (2, 5)]
    for weights in (None, WEIGHTS):
        kept = None if weights is None else [weights[k] for k in keep]
        expected = values([truth[k] for k in keep], [prediction[k] for k in keep], weights=kept)
        for a, b in ((y, p), (y, prediction), (truth, p)):
            found = values(a, b, weights=weights, missing="drop")
            assert found[1:3] == (6, 2)
            assert (found[0], found[3]) == (expected[0], expected[3])


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT, Decimal("nan")])
def test_every_missing_marker_among_objects_counts_as_missing(missing):
    """Among numbers and among texts."""
    for items in (["a", missing, "b"], [1, missing, 2], np.array([1, missing, 2], dtype=object)):
        with pytest.raises(tm.MissingValueError, match=r"in every row; got .*row 1"):
            tm.accuracy(items, items, kind="label")
        report = tm.evaluate(items, items, ["accuracy"], missing="drop", kind="label")
        assert (report["accuracy"], report.n, report.dropped) == (1.0, 2, 1)


def test_a_million_missing_labels_on_several_threads():
    """A side without a single label is an error like any other."""
    before = tm.get_threads()
    n = 300_000
    nothing = [np.full(n, np.nan), pa.nulls(n, pa.string()), pd.Series([None] * n, dtype="string[pyarrow]")]
    for threads in (1, 2, 4):
        tm.set_threads(threads)
        for bad in nothing:
            with pytest.raises(tm.MissingValueError, match="300,000 rows"):
                tm.accuracy(np.zeros(n, int), bad, kind="label")
            with pytest.raises(tm.MissingValueError, match="300,000 rows"):
                tm.adjusted_rand(bad, np.zeros(n, int))
    tm.set_threads(before)


def test_dropping_rows_keeps_integers_whole():
    """Where an array of all of them could only be one of floats."""
    y = [2**53, 2**53 + 1, None, -1, 2**63, 2**64 - 1]
    for truth in (y, [*y[:2], float("nan"), *y[3:]], np.array(y, dtype=object)):
        matrix = tm.evaluate(truth, y, ["confusion_matrix"], missing="drop", kind="label")["confusion_matrix"]
        assert matrix.classes == [-1, 2**53, 2**53 + 1, 2**63, 2**64 - 1]
    assert tm.evaluate([1, None], [-1, 2**63], ["accuracy"], missing="drop")["accuracy"] == 0.0
