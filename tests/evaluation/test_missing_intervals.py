"""Where a report has no interval, and what it says of it: rows that show nothing, levels out of reach, what failed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tallymark as tm

RNG = np.random.default_rng(2)
Y = RNG.normal(3, 2, 120)
P = Y + RNG.normal(0, 1, 120)


def bootstrap(*args, **facts):
    return tm.evaluate(*args, **{"ci": tm.Intervals(0.9, method="bootstrap", resamples=99), **facts})


def test_a_group_of_infinite_value_has_no_interval():
    """What compares groups says so, though its own value is that of another group."""
    signal = tm.custom(lambda y, p, w: math.inf if y[0] == 0 else float(y.mean()), name="signal", better="higher")
    y = np.arange(40.0)
    report = tm.evaluate(y, y, [tm.worst(signal)], by=np.repeat(["a", "b"], 20), ci=tm.Intervals(0.9, resamples=199))
    cell = report.cell(tm.worst(signal))
    assert (cell.value, cell.lo) == (29.5, None)
    assert "no interval: the value of a group is infinite" in cell.notes


@pytest.mark.parametrize(
    ("y", "p", "metric", "reason"),
    [
        ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], "rmse", "the same value in every resample"),
        ([5.0], [4.0], "rmse", "at least 5 rows"),
        ([1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0], "r2", "at least 5 rows"),
        ([1.0, 2.0, 3.0, 5.0, 5.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0, 7.0], "r2", "fewer than 10 rows"),
        (Y, P, "max_error", "largest error"),
        (Y, P, "rss", "number of rows"),
        ([0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0], "precision", None),
        ([1, 2, 2, 2, 2, 2], [1, 2, 3, 3, 1, 2], "r2", "undefined in"),
    ],
)
def test_degenerate_cases_say_why(y, p, metric, reason):
    """An interval of no width is none, and an undefined value has none."""
    cell = bootstrap(y, p, [metric]).cell(metric)
    if reason is None:
        assert cell.lo is None
        assert cell.reason is not None
    elif cell.lo is None:
        assert any("no interval" in note and reason in note for note in cell.notes)
    else:
        assert any(reason in note for note in cell.notes)


def test_analytic_says_where_there_is_no_formula():
    """With method="analytic" nothing is resampled; a metric without a formula says so."""
    cell = tm.evaluate(Y, P, ["r2"], ci=tm.Intervals(0.9, method="analytic")).cell("r2")
    assert cell.lo is None
    assert any("no analytic interval" in note for note in cell.notes)
    cell = tm.evaluate(Y, P, ["rmse"], ci=tm.Intervals(0.9, method="analytic"), weights=Y**2).cell("rmse")
    assert any("weight 1" in note for note in cell.notes)


INSTEAD = [("ks", "ROC AUC"), ("ece", "the Brier score"), ("mce", "the Brier score")]


@pytest.mark.parametrize(("key", "instead"), INSTEAD)
def test_what_chance_makes_larger_is_not_resampled(key, instead):
    """Resamples are too high by twice as much as the rows: a reason, and what to take instead."""
    y = (np.arange(200) % 4 == 0).astype(int)
    p = 1 / (1 + np.exp(1 - y - RNG.normal(size=200)))
    cell = tm.evaluate(y, p, [key], ci=0.95).cell(key)
    assert cell.lo is None
    assert "biased upward by noise" in cell.notes[0]
    assert f"use {instead}" in cell.notes[0]


def test_a_level_that_would_take_too_many_resamples():
    """What has a formula answers; the rest is not resampled at all, and says why; models without a letter need none
    explained."""
    report = tm.evaluate(Y, P, ["mae", "r2"], ci=0.9999999)
    assert report.cell("mae").lo < report["mae"] < report.cell("mae").hi
    assert report.cell("r2").notes == (
        "no interval: an interval at a level of 99.99999 % needs 20,000,000 resamples; there are 1,048,576",
    )
    found = tm.compare(Y, {"a": P, "b": Y + 1}, ["mae"], ci=0.999999)
    assert (
        found[("a", "b"), "mae"].reason
        == "an interval at a level of 99.9999 % needs 1,999,999 resamples; there are 1,048,576"
    )
    assert "share a letter" not in str(found)
    assert "detectable" not in str(found).split("verdict")[1]
    assert tm.evaluate(Y, P, ["mae"], ci=tm.Intervals(0.9999999, resamples=10)).cell("mae").lo is not None
    with pytest.raises(tm.ParameterError, match=r"from 19,999 to 1,048,576 for level=0\.9999; got 10"):
        tm.evaluate(Y, P, ["mae"], ci=tm.Intervals(0.9999, resamples=10))


def test_what_fails_in_its_cell_has_no_interval():
    """The others have theirs."""
    report = tm.evaluate([3, 3, 3], [-1, 0, 1], ["margin_accuracy", "rmse"], errors="report", ci=0.9)
    assert "positive" in str(report.cell("margin_accuracy").error)
    assert report.cell("rmse").lo < report["rmse"]


NOISE = np.random.default_rng(0)
FIFTY = NOISE.normal(5, 3, 50)
HALF = (NOISE.random(50) < 0.5).astype(int)
WEIGHED = NOISE.random(50)


@pytest.mark.parametrize("more", [{}, {"weights": WEIGHED}, {"cluster": np.arange(50) % 17}])
@pytest.mark.parametrize(
    ("truth", "prediction", "metrics"),
    [
        (FIFTY, FIFTY + 0.1, ["mean_bias", "mae", "rmse", "median_absolute_error", "explained_variance"]),
        (FIFTY, np.full(50, 5.0), ["explained_variance"]),
        (HALF, HALF.astype(float), ["auc", "gini", "average_precision", "logloss", "brier"]),
        (HALF, np.full(50, 0.4), ["auc", "gini"]),
    ],
)
def test_errors_of_rounding_are_no_interval(truth, prediction, metrics, more):
    """Rows that differ by no more say nothing; the ends would let anything through that asks for them."""
    report = tm.evaluate(truth, prediction, metrics, ci=tm.Intervals(resamples=200), **more)
    for key in metrics:
        assert (report.cell(key).lo, report.cell(key).hi) == (None, None), key
        assert any(note.startswith("no interval: ") for note in report.cell(key).notes)


def test_small_values_are_no_errors_of_rounding():
    """Probabilities that are off by a millionth make a Brier score of 1e-13, which is as exact as any other."""
    rng = np.random.default_rng(1)
    off = {"a": np.abs(HALF - rng.random(50) * 1e-6), "b": np.abs(HALF - rng.random(50) * 3e-7)}
    for more in ({}, {"weights": WEIGHED}):
        cell = bootstrap(HALF, off["a"], ["brier"], kind="probability", **more).cell("brier")
        assert 0 < cell.lo < cell.value < cell.hi < 1e-12
    found = tm.compare(HALF, off, ["brier", "mse"], ci=tm.Intervals(resamples=200))
    assert {d.verdict for d in found} == {"b is better"}


def test_models_that_differ_by_errors_of_rounding_do_not_differ():
    """Errors of 0.1 up and down."""
    found = tm.compare(
        FIFTY, {"above": FIFTY + 0.1, "below": FIFTY - 0.1}, ["rmse", "mae"], ci=tm.Intervals(resamples=200)
    )
    assert [(d.verdict, d.p) for d in found] == [("no difference", 1.0)] * 2


def test_why_groups_have_no_interval_together():
    """Each way to compare them says what it would need."""
    y, group = np.zeros(40), np.repeat(["a", "b"], 20)
    off = np.tile([-1.0, 2.0], 20)
    metrics = ["worst(mean_bias)", "ratio(mean_bias)", "gap(mean_bias)", "ratio(mae)"]
    report = tm.evaluate(y, off, metrics, by=group, ci=0.9)
    assert report.cell("gap(mean_bias)").lo == 0
    for key, reason in {
        "worst(mean_bias)": "mean_bias is best near 0, and the worst group may be off to either side",
        "ratio(mean_bias)": "the value of a group may be negative, and a ratio needs values that are not",
    }.items():
        assert f"no interval: {reason}" in report.cell(key).notes
        assert report.cell(key).lo is None
    assert tm.ratio("mae").bounds([0.0, 0.0], [0.0, 0.0]).reason == "the value may be 0 in every group"


@pytest.mark.parametrize("more", [{}, {"weights": np.arange(1.0, 41.0)}])
def test_values_whose_spread_is_too_large_for_float64(more):
    """Say so or have ends, without a warning; of two models too."""
    y = np.tile([-8e307, 8e307], 20) * np.repeat([1.0, 0.5], 20)
    report = tm.evaluate(
        y, 0.4 * y[::-1], ["mean_bias", "mae"], ci=tm.Intervals(0.9, method="bootstrap", resamples=99), **more
    )
    assert all(cell.lo is None or cell.lo <= cell.value <= cell.hi for cell in map(report.cell, report))
    tm.compare(y, {"a": 0.4 * y[::-1], "b": -0.9 * y}, ["mae", "mean_bias"], ci=tm.Intervals(resamples=99), **more)
