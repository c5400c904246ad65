"""Target and Batch: checked rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.data.target import Target

NAN = float("nan")


def test_no_weights_and_empty_weights_are_unweighted():
    """None, an empty list and an empty array."""
    for weights in (None, [], (), np.array([])):
        assert tm.rmse([1.0, 2.0], [1.0, 4.0], weights=weights) == tm.rmse([1.0, 2.0], [1.0, 4.0])
    assert Batch([], [], []).weights is None


def test_dropping_keeps_rows_and_weights_together():
    """A row goes with its weight, from every column."""
    y, p, w = [1.0, NAN, 3.0, 4.0], [1.0, 2.0, math.inf, 6.0], [1.0, 5.0, 7.0, 3.0]
    report = tm.evaluate(y, p, ["mae", "median_absolute_error"], weights=w, missing="drop")
    assert (report.n, report.dropped, report.total_weight) == (2, 2, 4.0)
    assert report["mae"] == 1.5
    assert report["median_absolute_error"] == 2.0
    table = tm.evaluate([[1.0, 2.0], [1.0, 2.0]], [[1.0, NAN], [2.0, 2.0]], ["mae"], missing="drop")
    assert (table.n, table["mae"]) == (1, 0.5)
    clean = Batch([1.0], [2.0], [3.0], missing="drop")
    assert (clean.n, clean.dropped) == (1, 0)


def test_queries_stand_beside_the_rows():
    """One label per row, dropped with its row; none where none were given."""
    assert not Batch([1.0], [1.0]).has_query
    batch = Batch([1.0, NAN, 3.0, 4.0], [1.0] * 4, query=["a", "b", None, "d"], missing="drop")
    assert (batch.n, batch.dropped, list(batch.labels(2).source)) == (2, 2, ["a", "d"])
    assert list(Batch([1, 2], [1, 2], query=np.array([[7], [8]])).labels(2).source) == [7, 8]
    with pytest.raises(tm.LengthError, match="`query` must be one label per row; got 1 for 2 rows"):
        tm.ndcg([1.0, 2.0], [1.0, 2.0], query=["a"])
    with pytest.raises(tm.MissingValueError, match="`query` must have no missing values"):
        tm.evaluate([1.0, 2.0], [1.0, 2.0], ["rmse", "coverage"], query=["a", None], errors="report")


def test_a_flat_table_of_predictions_is_recognized_and_not_guessed():
    """n·k numbers for n rows are an error that says how to reshape them; both reshapes of it give the table."""
    y, table = [0, 1, 2, 2], np.arange(12.0).reshape(4, 3) / 66 + [0.1, 0.2, 0.3]
    table /= table.sum(axis=1, keepdims=True)
    for flat, reshaped in ((table.ravel(), "(4, 3)"), (table.T.ravel(), "(3, 4).T")):
        with pytest.raises(tm.LengthError, match="`y_pred` has 3 values per row") as error:
            tm.logloss(y, flat)
        assert f".reshape{reshaped}" in str(error.value)
    assert tm.logloss(y, table.ravel().reshape(4, 3)) == tm.logloss(y, table.T.ravel().reshape(3, 4).T)
    for y_true, y_pred in (([1.0] * 4, [1.0] * 6), ([1.0], [1.0] * 3), ([1.0] * 4, [[1.0, 2.0]] * 8)):
        with pytest.raises(tm.LengthError) as error:
            tm.mae(y_true, y_pred)
        assert "reshape" not in str(error.value)


def test_subclasses_of_arrays_are_read_as_arrays():
    """A subclass may compute in its own way; nothing here may depend on it."""

    class Doubling(np.ndarray):
        def __sub__(self, other):
            return 2 * np.asarray(self)

    assert tm.mae(np.array([1.0, 2.0]).view(Doubling), [1.0, 4.0]) == 1.0
    with pytest.raises(tm.EmptyError):
        tm.mae(np.array([], dtype=str), np.array([], dtype=str))


def test_a_batch_that_changes_while_it_is_read_is_an_error():
    """The core saw NaN, and then it was gone."""
    batch = Batch([1.0], [1.0])
    assert "changed while" in str(batch.fault())
    assert "changed while" in str(Batch([1.0], [1.0], [1.0]).fault())


def test_a_target_is_a_value():
    """Equal kinds are equal."""
    assert Target("value") == Target("value") != Target()
    assert hash(Target("value")) == hash(Target("value"))
    assert repr(Target("value")) == "Target(kind='value')"
