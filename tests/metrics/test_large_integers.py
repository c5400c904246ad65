"""Integers that float64 cannot hold: exact where a result is whole, and refused where they would be rounded."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import tallymark as tm

ODD = 2**53 + 1  # which no float64 holds
ROUNDED = [
    [ODD, 1],
    np.array([ODD, 1]),
    np.array([2**64 - 1, 1], np.uint64),
    pd.Series([ODD, 1]),
    [10**30, 1],
]


@pytest.mark.parametrize("weights", ROUNDED, ids=lambda held: type(held).__name__)
@pytest.mark.parametrize("name", ["confusion_matrix", "error", "mae", "silhouette", "auc"])
def test_a_weight_that_would_be_rounded_is_refused(name, weights):
    """Whatever the metric and however it is given; as a float it was rounded by the caller."""
    with pytest.raises(
        tm.WeightError, match=r"`weights` must contain integers that float64 represents exactly.*got \d+ \(row 0\)"
    ):
        tm.metric(name)([0, 1], [0, 1], weights=weights)
    assert tm.accuracy([0, 1], [0, 1], weights=[float(weights[0]), 1.0]) == 1.0


@pytest.mark.parametrize("weights", [[2**53, 1, 2], [2**61, 2**62, 3], [2**63, 2**53, 5], [2**63 + 2048, 2**53 - 1, 7]])
def test_totals_of_integer_weights_are_exact(weights):
    """In the matrix, its exports and its shares, support, total weight, groups, and states that are added."""
    y, p = ["a", "a", "b"], ["a", "a", "a"]
    first, second = sum(weights[:2]), weights[2]
    held = np.array(weights, np.uint64)
    names = ["confusion_matrix", "classification_report", "error"]
    tally = tm.Tally(names)
    for k in range(3):
        tally.update(y[k : k + 1], p[k : k + 1], weights=held[k : k + 1])
    whole = tm.evaluate(y, p, names, weights=held)
    assert "Confusion matrix of 2 classes: " in str(whole.plot.confusion())
    for report in (
        whole,
        tm.Tally.from_bytes(tally.to_bytes()).report(),
        tm.evaluate(y, p, names, weights=held, by=["g"] * 3).slices["g"],
    ):
        matrix = report["confusion_matrix"]
        assert matrix.pairs() == [("a", "a", first), ("b", "a", second)]
        assert (matrix["a", "a"], matrix["a", "b"]) == (first, 0)
        assert matrix.to_numpy().tolist() == [[first, 0], [second, 0]]
        assert json.loads(matrix.to_json())["cells"] == [["a", "a", first], ["b", "a", second]]
        assert matrix.normalized("all")["b", "a"] == pytest.approx(float(Fraction(second, first + second)), rel=1e-15)
        assert matrix.mistakes() == [("b", "a", second)]
        assert f"{first:,}" in repr(matrix)
        assert report["classification_report"]["a"].support == first
        assert report["classification_report"]["macro"].support == first + second
        assert report.total_weight == first + second
        assert json.loads(report.to_json())["total_weight"] == first + second


def test_a_count_of_errors_that_is_rounded_says_so():
    """It is a float; the note has the integer."""
    report = tm.evaluate([0, 0], [1, 1], ["error"], weights=[2**53, 1])
    assert report["error"] == 2.0**53
    assert report.cell("error").notes == (f"rounded to a float; exactly it is {ODD}",)
    assert tm.evaluate([0, 0], [1, 1], ["error"], weights=[2**53, 2]).cell("error").notes == ()


def test_weights_of_clusters_add_up_to_less_than_float64_counts():
    """Beyond, the mean of a cluster would be rounded."""
    points, clusters = [[0.0], [2.0], [6.0], [8.0]], [0, 0, 1, 1]
    assert tm.calinski_harabasz(points, clusters, weights=[2**40, 2**40, 1, 1]) > 0
    for weights in ([2**53, 1, 1, 1], [2**54, 1, 1, 1]):
        with pytest.raises(tm.WeightError, match=r"`weights` must add up to less than 2\*\*53 for davies_bouldin"):
            tm.davies_bouldin(points, clusters, weights=weights)


OF_ERRORS = {
    "mae": 1.0,
    "rmse": 1.0,
    "max_error": 1.0,
    "mean_bias": 1.0,
    "huber": 0.5,
    "pinball": 0.5,
    "log_cosh": 0.4337808304830272,
    "mape": 100 / 2**62,
    "wape": 100 / 2**62,
    "smape": 100 / 2**62,
}


@pytest.mark.parametrize("name", OF_ERRORS)
def test_errors_of_integers_are_exact(name):
    """Integers against integers, and integers against floats on either side."""
    metric, expected = tm.metric(name), pytest.approx(OF_ERRORS[name], rel=1e-15)
    assert metric([2**62] * 3, [2**62 + 1] * 3) == expected
    assert metric([2.0**62] * 3, [2**62 + 1] * 3) == expected
    assert metric(np.array([2**62 + 1] * 3) - 2, [2.0**62] * 3) == expected
    assert metric(np.array([2**63] * 2, np.uint64) - np.uint64(1), np.array([2.0**63] * 2)) == pytest.approx(
        OF_ERRORS[name] / (2 if name.endswith("ape") else 1), rel=1e-15
    )


def test_an_error_far_from_a_large_integer_is_rounded_once_or_twice():
    """Rows of all sizes in one column, with weights and without."""
    rng = np.random.default_rng(3)
    y = rng.integers(-(2**63), 2**63 - 1, 3000)
    y[::3] >>= 40
    p = np.where(rng.random(3000) < 0.5, y.astype(np.float64) + rng.normal(0, 4, 3000), rng.normal(0, 1e6, 3000))
    w = rng.integers(0, 3, 3000)
    exact = [abs(Fraction(float(b)) - int(a)) for a, b in zip(y, p, strict=True)]
    assert tm.mae(y, p) == pytest.approx(float(sum(exact) / 3000), rel=1e-15)
    assert tm.mae(p, y) == tm.mae(y, p)
    weighted = sum(int(k) * e for k, e in zip(w, exact, strict=True)) / int(w.sum())
    assert tm.mae(y, p, weights=w) == pytest.approx(float(weighted), rel=1e-15)


@pytest.mark.parametrize(
    "name",
    [
        "median_absolute_error",
        "spearman",
        "d2_absolute",
        "d2_pinball",
        "d2_tweedie(power=0)",
        "poisson_deviance",
        "gamma_deviance",
        "msle",
    ],
)
def test_values_that_would_be_rounded_are_refused(name):
    """Where a metric keeps the rows, or compares them row by row. What float64 holds is read, however large."""
    metric, y, p = tm.metric(name), [2**62, 2**62 + 1024, 2**62 + 4096], [2**62, 2**62 + 2048, 2**62 + 2048]
    for held, side in (([*y[:2], 2**62 + 1], "y_true"), ([*y[:2], 10**30 + 1], "y_true")):
        with pytest.raises(
            tm.DomainError, match=rf"`{side}` must contain integers that float64 represents exactly.*got \d+ \(row 2"
        ):
            metric(held, p)
    with pytest.raises(tm.DomainError, match="`y_pred` must contain integers that float64 represents exactly"):
        metric(y, np.array([*p[:2], ODD]))
    assert metric(y, p) == metric(np.array(y, np.float64), np.array(p, np.float64))


@pytest.mark.parametrize("name", ["interval_score", "coverage"])
def test_intervals_of_integers_that_would_be_rounded_are_refused(name):
    """A bound is above or below the truth, not equal to it."""
    with pytest.raises(
        tm.DomainError, match=r"`y_pred` must contain integers.* got 9007199254740993 \(row 0, column 1\)"
    ):
        tm.metric(name)([2**53], [[2**53 - 1, ODD]])
    assert tm.coverage([2**53], [[2**53 - 1, 2**53]]) == 1.0


def test_functions_and_points_see_no_rounded_integers():
    """Neither a function of the rows nor a distance between points."""
    largest = tm.custom(lambda y, p: float(np.abs(y - p).max()), name="largest", better="lower")
    with pytest.raises(tm.DomainError, match="`y_pred` must contain integers that float64 represents exactly"):
        largest([2**62] * 3, [2**62 + 1] * 3)
    for metric in (tm.silhouette, tm.davies_bouldin, tm.calinski_harabasz):
        with pytest.raises(tm.DomainError, match=r"`y_true` must contain integers.*got 9007199254740993 \(row 1"):
            metric([[2**53], [ODD], [2**54], [2**54 + 2]], [0, 0, 1, 1])


@pytest.mark.parametrize("weights", [None, [1, 0, 2, 3, 1]])
@pytest.mark.parametrize("name", ["r2", "explained_variance", "pearson"])
def test_variances_of_large_integers_are_exact(name, weights):
    """Only differences count, on either side and against floats."""
    y, p = np.array([1, 2, 5, 9, 12]), np.array([2, 2, 4, 11, 12])
    metric = tm.metric(name)
    expected = metric(y, p, weights=weights)
    assert metric(y + 2**62, p + 2**62, weights=weights) == expected
    assert metric(2**62 - y, 2**62 - p, weights=weights) == expected
    far = (y.astype(np.uint64) + np.uint64(2**63), p.astype(np.uint64) + np.uint64(2**63))
    assert metric(*far, weights=weights) == expected
    assert metric(y + 2**62, 2.0**62 + 1024 * p, weights=weights) == metric(y, 1024.0 * p, weights=weights)
    tally = tm.Tally([name], kind="value")
    for rows in (slice(0, 2), slice(2, 5)):
        tally.update(y[rows] + 2**62, p[rows] + 2**62, weights=None if weights is None else weights[rows])
    assert tally.report()[name] == expected


def test_a_truth_of_large_integers_is_constant_where_they_are_equal():
    """And not where they only round to one float."""
    assert tm.evaluate([ODD] * 3, [1, 2, 3], ["r2"]).reasons == {"r2": "the truth is constant"}
    assert tm.evaluate([1e300] * 3, [1, 2, 3], ["r2"]).reasons == {"r2": "the truth is constant"}
    assert tm.evaluate([1.5e-162] * 3, [1, 2, 3], ["r2"]).reasons == {"r2": "the truth is constant"}
    assert tm.r2([2**62, 2**62 + 2], [2**62, 2**62 + 2]) == 1.0


def test_integers_among_floats_are_floats():
    """As in a column of a file, where a number that is whole need not be written as a fraction."""
    assert tm.mae([ODD, 0.5], [1.5, 10**20 + 1]) == tm.mae([float(ODD), 0.5], [1.5, 1e20])
    held = np.array([ODD, 0.5, None], object)
    assert tm.mae(held, held, missing="drop") == 0.0
    with pytest.raises(tm.DomainError, match="`y_true` must contain integers that float64 represents exactly"):
        tm.mae([10**30 + 1, 1], [1, 2])
