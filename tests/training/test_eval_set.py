"""EvalSet: rows whose truth is read once and kept, with the same numbers as evaluate in every round."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import tallymark as tm

NUMBERS = ["rmse", "mae", "r2", "mape", "max_error", "wape", "explained_variance", "poisson_deviance"]


def test_numbers_are_those_of_evaluate():
    """Values and states, to the last bit, in every round, with weights, margins, and several outputs."""
    rng = np.random.default_rng(3)
    y, w = rng.random((3_000, 2)) + 0.01, rng.integers(0, 3, 3_000) / 7
    cases = [
        (NUMBERS, y[:, 0], {}),
        (NUMBERS, y[:, 0], {"weights": w}),
        (NUMBERS, y, {"weights": w}),
        (["mape", "r2(outputs=each)"], y, {}),
        (["r2"], np.arange(3_000), {"weights": w}),
        (["poisson_deviance", "gamma_deviance"], y[:, 0], {"kind": "margin"}),
    ]
    for metrics, truth, given in cases:
        held = tm.training.EvalSet("valid", truth, **given)
        for k in range(3):
            said = rng.random(truth.shape) + k
            found, expected = held.evaluate(said, metrics), tm.evaluate(truth, said, metrics, **given)
            assert dict(found) == dict(expected)
            tally = tm.Tally(metrics, kind=given.get("kind"))
            tally.update(truth, said, weights=given.get("weights"))
            assert dict(found) == dict(tally.report())
            assert [state.fields() for state in found._source._states] == [
                state.fields() for state in expected._source._states
            ]


def test_the_truth_is_summed_once(monkeypatch):
    """What a state holds of the truth alone is not read again when other predictions come."""
    from tallymark.states import sums

    y = np.arange(50.0)
    read = []
    real = sums.run_tasks
    monkeypatch.setattr(
        sums, "run_tasks", lambda tasks, *rest, **sides: read.append(sides) or real(tasks, *rest, **sides)
    )
    held = tm.training.EvalSet("valid", y)
    for k in range(3):
        held.evaluate(y + k, ["r2", "mape"])
    assert [bool(sides) for sides in read] == [True, False, False, False]
    read.clear()
    held.evaluate(y, ["mae"])
    assert read == [{}], "nothing of the truth is asked for"


def test_a_plan_is_reused_until_the_metrics_change():
    """A plan serves as long as metrics, their order, their keys, the columns and the treatment of errors stay."""
    y = np.array([[1.0, 2.0], [2.0, 5.0], [4.0, 1.0]])
    held = tm.training.EvalSet("valid", y)
    mae, rmse = tm.metric("mae"), tm.metric("rmse")
    for wanted in ({"a": mae, "b": rmse}, {"b": rmse, "a": mae}, {"a": rmse, "b": mae}, {"a": "mae"}, ["mae"], mae):
        found, expected = held.evaluate(y + 1, wanted), tm.evaluate(y, y + 1, wanted)
        assert list(found.items()) == list(expected.items())
    with pytest.raises(tm.ShapeError):
        held.evaluate(y[:, 0], {"a": mae})
    assert held.evaluate(y[:, 0], {"a": mae}, errors="report").failures
    with pytest.raises(tm.ShapeError):
        held.evaluate(y[:, 0], {"a": mae})
    assert held.evaluate(y, {"a": mae})["a"] == 0.0


def test_a_bad_truth_is_named_in_every_round():
    """Although the sums of the truth are made in the first."""
    held = tm.training.EvalSet("valid", [1.0, math.nan])
    for _ in range(2):
        with pytest.raises(tm.MissingValueError, match="`y_true`"):
            held.evaluate([1.0, 2.0], ["r2"])
    with pytest.raises(tm.MissingValueError, match="`y_pred`"):
        tm.training.EvalSet("valid", [1.0, 2.0]).evaluate([math.nan, 2.0], ["r2"])


def test_an_eval_set_takes_groups_queries_and_missing_rows():
    """What evaluate knows of rows, an eval set knows."""
    y, p = [1, 0, 1, 0], [0.9, 0.2, 0.3, 0.6]
    held = tm.training.EvalSet("v", y, by=["n", "n", "s", "s"], kind="probability")
    found = tm.training.Evaluator(["accuracy", "gap(accuracy)"], held).step(0, {"v": p})
    expected = tm.evaluate(y, p, ["accuracy", "gap(accuracy)"], by=["n", "n", "s", "s"], kind="probability")
    assert dict(found.reports["v"]) == dict(expected)
    assert found.reports["v"].slices["s"]["accuracy"] == 0.0
    ranked = tm.training.EvalSet("q", y, query=["a", "a", "b", "b"])
    assert tm.training.Evaluator("ndcg", ranked).step(0, [p][0]).results[0].value == tm.ndcg(
        y, p, query=["a", "a", "b", "b"]
    )
    gaps = tm.training.EvalSet("m", [1.0, math.nan, 3.0], missing="drop")
    assert gaps.evaluate([1.0, 2.0, math.nan], ["mae"]).dropped == 2
    one = tm.training.EvalSet("m", [1.0, 2.0])
    assert one.n == 2
    assert repr(one) == "EvalSet('m', 2 rows)"


def torch_tensor(values):
    torch = pytest.importorskip("torch")
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("made_of", ["numpy", "pandas", "torch"])
def test_an_eval_set_keeps_its_truth(made_of):
    """Arrays that are written over after a round change nothing: sums of the truth were taken in the first."""
    make = {"numpy": np.array, "pandas": pd.Series, "torch": torch_tensor}[made_of]
    y, w = make([1.0, 2.0, 3.0]), make([1.0, 1.0, 1.0])
    rows = tm.training.EvalSet("valid", y, weights=w)
    metrics = {"r2": tm.r2, "mae": tm.mae}
    before = dict(rows.evaluate([1.0, 2.5, 3.0], metrics))
    y[:] = 7.0
    w[:] = 5.0
    assert dict(rows.evaluate([1.0, 2.5, 3.0], metrics)) == before
