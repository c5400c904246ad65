"""BCa: which percentiles of the values in resamples are the ends of an interval."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

import tallymark as tm
from tallymark.intervals.bca import acceleration_of, bca_ends

RNG = np.random.default_rng(2)


def test_without_bias_and_acceleration_the_ends_are_percentiles():
    """Of even replicates, whatever their order and however many units there are, within the range of the metric."""
    replicates = np.arange(1.0, 1000.0)
    for units in (10, 10**9):
        ends = bca_ends(500.0, replicates[::-1], 0.95, (0.0, 990.0), units)
        assert (ends.lo, ends.hi, ends.notes) == (25.0, 975.0, ())
    assert bca_ends(500.0, replicates, 0.99, (0.0, 990.0), 10**9).hi == 990.0
    skewed = bca_ends(500.0, replicates, 0.95, (0.0, 1e9), 10**9, 0.1)
    assert skewed.lo > 25.0
    assert skewed.hi > 975.0


@pytest.mark.parametrize("statistic", [np.mean, np.std])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_ends_are_those_of_scipy(statistic, level):
    """Given the same replicates and the values without each row."""
    stats = importlib.import_module("scipy.stats")
    sample = np.random.default_rng(0).exponential(size=60)
    asked = {"confidence_level": level, "n_resamples": 9999, "method": "BCa", "rng": np.random.default_rng(1)}
    found = stats.bootstrap((sample,), statistic, **asked)
    without = np.array([statistic(np.delete(sample, k)) for k in range(60)])
    given = (statistic(sample), found.bootstrap_distribution, level, (0.0, math.inf), 60)
    ends = bca_ends(*given, acceleration_of(without))
    ordered = np.sort(found.bootstrap_distribution)
    places, wanted = (np.searchsorted(ordered, pair) for pair in ((ends.lo, ends.hi), found.confidence_interval))
    assert places == pytest.approx(wanted, abs=2)  # SciPy has other places between two replicates
    assert places != pytest.approx(10_000 * np.array([1 - level, 1 + level]) / 2, abs=20)


def test_a_report_has_the_ends_of_efron():
    """From the replicates that a report makes, in the words of the paper."""
    stats = importlib.import_module("scipy.stats")
    y = RNG.lognormal(size=50)
    p = y * RNG.lognormal(0, 0.3, 50)
    cell = tm.evaluate(y, p, ["wape"], ci=0.9).cell("wape")
    core = importlib.import_module("tallymark._core")
    draws = [core.poisson_counts_of_places(0, k, 0, 50) for k in range(1000)]
    values = np.sort([tm.wape(y, p, weights=times) for times in draws])
    without = np.array([tm.wape(np.delete(y, k), np.delete(p, k)) for k in range(50)])
    away = without.mean() - without
    a = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    z0 = stats.norm.ppf(((values < cell.value).sum() + (values == cell.value).sum() / 2) / 1000)
    z = z0 + stats.norm.ppf([0.05, 0.95])
    shares = stats.norm.cdf(z0 + z / (1 - a * z))
    assert (cell.lo, cell.hi) == pytest.approx(np.interp(shares * 1001 - 1, np.arange(1000), values), rel=1e-6)


def test_the_acceleration_is_a_sixth_of_the_skewness():
    """Of the values without one row after the other, by the root of their number; of any size, and 0 where they are
    equal or too few."""
    stats = importlib.import_module("scipy.stats")
    left_out = 3.0 - np.random.default_rng(0).exponential(size=60) / 59
    wanted = stats.skew(-left_out) / (6 * math.sqrt(60))
    for scale in (1.0, 1e200, 1e-200):
        assert acceleration_of(left_out * scale) == pytest.approx(wanted)
    assert acceleration_of(-left_out[::-1]) == -acceleration_of(left_out)
    for flat in (np.ones(5), np.full(6, 0.1), np.array([1.0, math.nan, 2.0]), np.array([0.0])):
        assert acceleration_of(flat) == 0.0


def test_groups_of_rows_have_the_acceleration_of_single_rows():
    """Leaving out 25 rows at a time finds nearly the same."""
    rng = np.random.default_rng(3)
    for rows in (rng.normal(size=50_000), rng.exponential(size=50_000) ** 2):
        single, grouped = (acceleration_of(-each) for each in (rows, rows.reshape(2_000, 25).sum(axis=1)))
        assert grouped == pytest.approx(single, abs=0.003)


def test_a_biased_bootstrap_is_noted_or_refused():
    """From a quarter of a standard error on there is a note; from a half on, and where all replicates lie on one side,
    there is no interval."""
    replicates = np.arange(1.0, 1000.0)
    far, leaning, even = (bca_ends(value, replicates, 0.95, (0.0, 1e9), 200) for value in (300.0, 350.0, 500.0))
    assert "biased by more than a quarter" in leaning.notes[0]
    assert not even.notes
    outside = bca_ends(0.5, np.linspace(1, 2, 999), 0.95, (0.0, 9.0), 200)
    for found in (far, outside):
        assert found.lo is None
        assert "one side of the value" in found.notes[0]


def test_what_chance_makes_larger_has_no_interval():
    """Mutual information is larger in resamples of many small groups; three large groups have an interval, and so have
    pairs."""
    y = RNG.integers(0, 8, 200)
    p = np.where(RNG.random(200) < 0.6, y, RNG.integers(0, 8, 200))
    names = ["v_measure", "adjusted_mutual_information", "mutual_information"]
    report = tm.evaluate(y, p, names, ci=0.95, kind="label")
    assert all(report.cell(key).lo is None for key in report)
    few = tm.evaluate(y % 3, np.where(RNG.random(200) < 0.8, y % 3, p % 3), ["v_measure", "adjusted_rand"], ci=0.95)
    assert all(few.cell(key).lo < few[key] < few.cell(key).hi for key in few)
    threshold = tm.evaluate(y > 3, RNG.random(200), ["best_threshold"], ci=0.95).cell("best_threshold")
    assert threshold.lo is None
    assert any("jump between them" in note for note in threshold.notes)
