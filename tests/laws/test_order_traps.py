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
@pytest.mark.parametrize("name", ["mean_bias", "mae", "rss", "mse", "rmse", "max_error", "explained_variance"])
def test_any_order_gives_one_value(errors, name):
    """Two hundred orders, and one value."""
    shuffler = random.Random(4)
    truth = np.zeros(len(errors)) if name != "explained_variance" else np.arange(float(len(errors))) * 0
    seen = []
    for _ in range(200):
        order = errors.copy()
        shuffler.shuffle(order)
        seen.append(tm.metric(name)(truth, order))
    assert all(same_bits(seen[0], other) for other in seen)


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
    assert math.isnan(report["smape"])
    assert report.cell("smape").reason
