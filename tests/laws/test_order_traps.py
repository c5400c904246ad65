"""Sums whose plain, or even double-double, total depends on the order of the terms."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

import tallymark as tm
from tests.laws.cases import same_bits

HALFWAY = [1.0, 2.0**-27, 2.0**-27, *[2.0**-54] * 8]
CANCELLING = [1e200, 1e100, 1.0, -1e200, -1e100]
OVERFLOWING = [1e308, 1e308, -1e308]
TINY = [5e-324, 1.0, -1.0, 5e-324]


@pytest.mark.parametrize("errors", [HALFWAY, CANCELLING, OVERFLOWING, TINY], ids=["half", "cancel", "overflow", "tiny"])
@pytest.mark.parametrize("name", ["mean_bias", "mae", "rss", "mse", "rmse", "max_error", "r2", "explained_variance"])
def test_any_order_gives_one_value(errors, name):
    """Two hundred orders, and one value."""
    shuffler = random.Random(4)
    varying = name in ("explained_variance", "r2")  # which need a truth that varies
    rows = [(k * 0.1 if varying else 0.0, error) for k, error in enumerate(errors)]
    seen = []
    for _ in range(200):
        shuffler.shuffle(rows)
        seen.append(tm.metric(name)(*zip(*rows, strict=True)))
    assert all(same_bits(seen[0], other) for other in seen)
    assert not math.isnan(seen[0])


@pytest.mark.parametrize("errors", [HALFWAY, CANCELLING, OVERFLOWING, TINY], ids=["half", "cancel", "overflow", "tiny"])
def test_the_mean_is_the_exact_mean_rounded_once(errors):
    """Equal to rational arithmetic, to the last bit."""
    exact = sum(map(Fraction, errors)) / len(errors)
    assert tm.mean_bias([0.0] * len(errors), errors) == float(exact)


def test_a_huge_sum_that_fits_is_finite():
    """1e308 + 1e308 - 1e308 is 1e308, whatever overflows on the way."""
    assert tm.mean_bias([0.0] * 3, OVERFLOWING) == float(Fraction(1e308) / 3)


def test_a_total_out_of_range_is_infinite_with_its_reason():
    """Not a crash, and not a quiet number."""
    report = tm.evaluate([0.0, 0.0], [1e200, 1.0], ["rss", "r2", "mae"])
    assert report["rss"] == math.inf
    assert "too large" in report.cell("rss").reason
    assert report["mae"] == 5e199
    report = tm.evaluate([0.0] * 4, [1e308] * 4, ["mae", "rss"])
    assert report["mae"] == 1e308
    report = tm.evaluate([-1e308], [1e308], ["mae", "mean_bias", "smape"])
    assert report["mae"] == math.inf
    assert report["smape"] == 200.0
    assert tm.smape([1.5e308], [1e308]) == pytest.approx(40.0, rel=1e-15)
    assert tm.mae([[0, 0]], [[1.7e308, 1.7e308]]) == pytest.approx(1.7e308, rel=1e-15)
    assert tm.mae([[0, 0]], [[1.7e308, 1e308]], outputs=(1e308, 1e308)) == pytest.approx(1.35e308, rel=1e-15)
    report = tm.evaluate([[-1e308, 0]], [[1e308, 1]], ["mae"])
    assert report["mae"] == math.inf
    assert "output 0" in report.reasons["mae"]


def test_squares_that_vanish_are_undefined():
    """An error of 1e-200 must not look like none; where nothing is lost, nothing is undefined."""
    names = ["rmse", "mse", "rss", "mae", "max_error"]
    report = tm.evaluate([0.0, 0.0], [1e-200, 0.0], names)
    assert set(report.reasons) == {"rmse", "mse", "rss"}
    assert report["mae"] == 5e-201
    assert tm.rmse([0.0], [1e-200], undefined=7) == 7.0
    with pytest.raises(tm.UndefinedError, match="too large or too small"):
        tm.rmse([0.0], [1e-200], undefined="raise")
    tiny = np.array([1.0, 2.0, 4.0]) * 1e-162
    report = tm.evaluate(tiny, tiny + np.array([0, 1e-162, 0]), ["r2", "explained_variance", "pearson"])
    assert set(report.reasons) == {"r2", "explained_variance", "pearson"}
    report = tm.evaluate(np.array([1.0, 2.0, 4.0]), [1.0, 2.0, 4.0 + 1e-15], [*names, "r2"])
    assert report.reasons == {}
    assert tm.evaluate([1.0, 2.0], np.array([1.0, 2.0]) * 1e-170, ["pearson"]).reasons
    assert dict(tm.evaluate(tiny, tiny, names)) == dict.fromkeys(names, 0.0)
    assert tm.r2([0.0, 1.0], [1e-200, 1.0]) == tm.explained_variance([0.0, 1.0], [1e-200, 1.0]) == 1.0
    close = np.array([1.0, 1.0 + 1e-9]) * 1e-144
    report = tm.evaluate(close, close + np.array([0, 1e-160]), ["r2", "explained_variance"])
    assert set(report.reasons.values()) == {"the squares of the errors are too small for float64"}
    assert tm.rmse([0.0], [1e-140]) == pytest.approx(1e-140, rel=1e-15)


@pytest.mark.parametrize(
    "name", ["mae", "rmse", "r2", "mape", "pearson", "spearman", "median_absolute_error", "d2_absolute"]
)
def test_the_scale_of_the_weights_does_not_matter(name):
    """Or the value is undefined and says so."""
    rng = np.random.default_rng(6)
    y, w = rng.normal(size=30), rng.uniform(0.5, 2, 30)
    p = y + rng.normal(size=30)
    expected = tm.metric(name)(y, p, weights=w)
    for scale in (2.0**-250, 2.0**-100, 2.0**100, 2.0**500):
        assert tm.metric(name)(y, p, weights=w * scale) == pytest.approx(expected, rel=1e-14)
    for scale in (2.0**-330, 1e-310):
        assert "weights are too small" in tm.evaluate(y, p, [name], weights=w * scale).reasons[name]


def test_both_zeros_in_any_order_and_on_any_thread():
    """-0.0 is the lower of the two, whichever comes first."""
    from tallymark.data.batch import Batch
    from tallymark.states.sums import SumsOf, Term

    reads = SumsOf(Term("truth_range"), Term("highest_absolute_error"))
    y = np.zeros(200_000)
    y[150_000:] = -0.0
    before = tm.get_threads()
    found = set()
    try:
        for threads in (1, 2, 3):
            tm.set_threads(threads)
            for order in (y, y[::-1]):
                found.add(reads.fold(Batch(order, np.zeros(len(y)))).to_bytes())
                halves = np.array_split(order, 2)
                found.add(sum_of([reads.fold(Batch(half, np.zeros(len(half)))) for half in halves]).to_bytes())
    finally:
        tm.set_threads(before)
    assert len(found) == 1


def sum_of(states):
    return states[0] + states[1]
