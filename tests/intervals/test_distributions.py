"""Quantiles and tails against SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tallymark.intervals.distributions import (
    binomial_tail,
    coin_limit,
    normal_quantile,
    normal_tail,
    student_quantile,
    student_tail,
    two_sided,
)

FREEDOM = [0.5, 1, 1.3, 2, 3, 5, 9.7, 30, 199, 1_000, 54_321.5, 999_999, 1_000_000, 1e8, 1e12, 1e300]
SHARES = [1e-9, 1e-4, 0.001, 0.005, 0.025, 0.05, 0.1, 0.25, 0.4, 0.499, 0.5, 0.6, 0.9, 0.975, 0.9995]


def near(found, wanted, tolerance=1e-10):
    return abs(found - wanted) <= tolerance * abs(wanted) + 1e-300


def test_normal_quantiles_and_tails_agree_with_scipy():
    """They agree with SciPy far into the tails."""
    for share in SHARES:
        assert near(normal_quantile(share), stats.norm.ppf(share)) or share == 0.5
    for x in np.linspace(-8, 35, 60):
        assert near(normal_tail(x), stats.norm.sf(x))
    assert two_sided(0.95) == pytest.approx(1.959963984540054, rel=1e-14)


@pytest.mark.parametrize("freedom", FREEDOM)
def test_student_quantiles_agree_with_scipy(freedom):
    """They agree with SciPy from half a degree of freedom to the normal distribution."""
    for share in SHARES:
        wanted = stats.t.ppf(share, freedom) if freedom < 1e12 else stats.norm.ppf(share)
        assert near(student_quantile(share, freedom), wanted, 2e-10) or share == 0.5, (share, wanted)
    assert student_quantile(0.5, freedom) == 0.0


@pytest.mark.parametrize("freedom", FREEDOM)
def test_student_tails_agree_with_scipy(freedom):
    """They agree with SciPy, on either side of zero and for huge values."""
    for t in [-50.0, -3.0, -1e-3, 0.0, 1e-8, 0.1, 1.0, 1.96, 5.0, 12.0, 1e4, 1e40]:
        wanted = stats.t.sf(t, freedom) if freedom < 1e300 else stats.norm.sf(t)
        if freedom == 1:  # where SciPy has eight digits near zero
            wanted = math.atan2(1, t) / math.pi
        assert near(student_tail(t, freedom), wanted, 2e-10), (t, wanted)


def test_student_quantiles_of_the_smallest_freedoms_by_hand():
    """One and two degrees of freedom have closed forms."""
    for share in SHARES:
        assert student_quantile(share, 1) == pytest.approx(-1 / math.tan(math.pi * share), rel=1e-11, abs=1e-15)
        wanted = (2 * share - 1) / math.sqrt(2 * share * (1 - share))
        assert student_quantile(share, 2) == pytest.approx(wanted, rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("trials", [1, 2, 7, 40, 1_000, 123_457, 10_000_000])
@pytest.mark.parametrize("chance", [0.5, 0.01, 0.93])
def test_binomial_tails_agree_with_scipy(trials, chance):
    """They agree with SciPy from one trial to ten million."""
    spread = math.sqrt(trials * chance * (1 - chance))
    for away in (-6, -2, -0.5, 0, 0.5, 2, 6):
        least = round(trials * chance + away * spread)
        assert near(binomial_tail(least, trials, chance), stats.binom.sf(least - 1, trials, chance), 1e-9), least
    assert binomial_tail(0, trials, chance) == 1.0
    assert binomial_tail(trials + 1, trials, chance) == 0.0


def test_binomial_limits_agree_with_scipy():
    """The largest number that SciPy's binomial falls below seldom enough."""
    for tosses in (1, 2, 5, 6, 10, 11, 100, 1_001, 250_000):
        for share in (0.25, 0.05, 0.025, 0.005, 1e-6):
            found = coin_limit(tosses, share)
            assert found == 0 or stats.binom.cdf(found - 1, tosses, 0.5) <= share
            assert stats.binom.cdf(found, tosses, 0.5) > share
