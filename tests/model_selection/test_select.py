"""select: the best candidate by any metric and direction, and which others cannot be told from it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, Ridge
from tests.training.trainers import mean_of

import tallymark as tm

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 2))
Y = X @ [1.0, 1.0] + RNG.normal(size=100)


def test_plain_numbers_are_ranked_in_every_direction():
    """Higher, lower and nearest to a value; NaN last; equal numbers tie."""
    values = {"a": 0.3, "b": 0.5, "c": math.nan, "d": 0.5}
    found = tm.model_selection.select(values, "auc")
    assert (found.name, found.value, found.tied) == ("b", 0.5, ("b", "d"))
    assert [each.name for each in found.ranking] == ["b", "d", "a", "c"]
    assert tm.model_selection.select(values, "rmse").name == "a"
    assert tm.model_selection.select(values, "mean_bias", better=0.45).name == "b"
    assert tm.model_selection.select({"low": -0.1, "high": 0.2}, "mean_bias").name == "low"
    assert (
        tm.model_selection.select(
            {"small": tm.model_selection.aic(-120.0, 3), "large": tm.model_selection.aic(-119.0, 9)},
            "aic",
            better="lower",
        ).name
        == "small"
    )
    assert str(found) == "b by auc: 0.5; not significantly different: d"


def test_reports_tie_where_their_intervals_overlap():
    """Without intervals only equal values tie."""
    rng = np.random.default_rng(6)
    small, large, off = (tm.evaluate(Y, Y + s * rng.normal(size=100), ["mae"], ci=0.95) for s in (0.5, 0.51, 3.0))
    held = {"large": large, "small": small, "off": off}
    best = "small" if small["mae"] < large["mae"] else "large"
    found = tm.model_selection.select(held, "mae")
    assert found.name == best
    assert set(found.tied) == {"large", "small"}
    assert tm.model_selection.select(held, "mae", ties="first").name == "large"
    plain = {name: tm.evaluate(Y, Y + k, ["mae"]) for k, name in enumerate("ab")}
    assert tm.model_selection.select(plain, "mae").tied == ("a",)


def test_folds_are_compared_in_pairs():
    """By the corrected interval of the differences: ridge and least squares tie, the mean does not."""
    splitter = tm.model_selection.Repeated(tm.model_selection.KFold(5), 4)
    models = {"mean": mean_of, "ridge": Ridge(0.1), "plain": LinearRegression()}
    found = {
        name: tm.model_selection.cross_validate(model, X, Y, splitter=splitter, metrics="rmse")
        for name, model in models.items()
    }
    chosen = tm.model_selection.select(found, "rmse")
    assert set(chosen.tied) == {"ridge", "plain"}
    assert tm.model_selection.select(found, "rmse", ties="first").name == "ridge"
    for one, other in (("ridge", "plain"), ("mean", "plain")):
        d = np.subtract(found[other]["rmse"].values, found[one]["rmse"].values)
        reach = stats.t.ppf(0.975, 19) * d.std(ddof=1) * math.sqrt(1 / 20 + 20 / 80)
        assert (abs(d.mean()) > reach) == (one == "mean")


def test_folds_of_other_splits_are_compared_by_their_intervals():
    """Which is all that can be said of them."""
    one = tm.model_selection.cross_validate(
        LinearRegression(), X, Y, splitter=tm.model_selection.KFold(5), metrics="rmse"
    )
    other = tm.model_selection.cross_validate(
        LinearRegression(), X, Y, splitter=tm.model_selection.KFold(5, seed=1), metrics="rmse"
    )
    far = tm.model_selection.cross_validate(
        mean_of, X, Y * 100, splitter=tm.model_selection.KFold(5, seed=2), metrics="rmse"
    )
    assert set(tm.model_selection.select({"one": one, "other": other, "far": far}, "rmse").tied) == {"one", "other"}
    single = {
        str(k): tm.model_selection.cross_validate(
            mean_of, X, Y, splitter=tm.model_selection.Holdout(seed=k), metrics="rmse"
        )
        for k in range(2)
    }
    assert len(tm.model_selection.select(single, "rmse").tied) == 1


def test_a_comparison_decides_by_its_tests():
    """Those that the data tell apart from the best do not tie."""
    rng = np.random.default_rng(5)
    models = {name: Y + size * rng.normal(size=100) for name, size in (("a", 1.0), ("b", 0.1), ("c", 0.1))}
    found = tm.compare(Y, models, ["mae"], ci=tm.Intervals(resamples=199))
    chosen = tm.model_selection.select(found, "mae")
    assert chosen.name == next(iter(found.ranking("mae")))
    assert set(chosen.tied) == {"b", "c"}
    assert not found[("b", "c"), "mae"].significant


def test_candidates_that_cannot_be_ranked_are_refused():
    """No candidates, no numbers, no direction, nothing defined, a metric that is not there."""
    report = tm.evaluate(Y, Y, ["mae"])
    for bad in (
        lambda: tm.model_selection.select({}, "auc"),
        lambda: tm.model_selection.select(report, "mae"),
        lambda: tm.model_selection.select([0.1], "auc"),
        lambda: tm.model_selection.select({"a": "0.5"}, "auc"),
        lambda: tm.model_selection.select({"a": report}, "rmse"),
        lambda: tm.model_selection.select({"a": math.nan}, "auc"),
        lambda: tm.model_selection.select({"a": 1.0}, "confusion_matrix"),
        lambda: tm.model_selection.select({"a": 1.0}, "auc", ties="coin"),
        lambda: tm.model_selection.select({"a": 1.0}, "auc", better="up"),
        lambda: tm.model_selection.select({"a": 1.0}, "aic"),
    ):
        with pytest.raises(tm.ParameterError):
            bad()
