"""Which percentiles of resamples are the ends of an interval, by what single rows do to the value."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

import tallymark as tm
from tallymark.evaluation.percentiles import Influence, influence_of, percentile_interval

RNG = np.random.default_rng(2)


def test_percentiles_are_those_of_a_normal_sample():
    """On even replicates without bias or acceleration, the ends are the percentiles."""
    replicates = np.arange(1.0, 1000.0)
    ends = percentile_interval(500.0, replicates[::-1], 0.95, (0.0, 990.0), 10**9)
    assert (ends.lo, ends.hi) == (25.0, 975.0)
    assert percentile_interval(500.0, replicates, 0.99, (0.0, 990.0), 10**9).hi == 990.0
    few = percentile_interval(500.0, replicates, 0.95, (0.0, 990.0), 5)
    assert few.lo < 25.0 < 975.0 < few.hi
    skewed = percentile_interval(500.0, replicates, 0.95, (0.0, 1e9), 10**9, Influence(acceleration=0.1))
    assert skewed.lo > 25.0
    assert skewed.hi > 975.0


def test_bca_is_that_of_scipy():
    """The ends are SciPy's, given the same replicates and the same acceleration, where rows are many."""
    stats = importlib.import_module("scipy.stats")
    sample = np.random.default_rng(0).exponential(size=60)
    found = stats.bootstrap((sample,), np.mean, n_resamples=4999, method="BCa", rng=np.random.default_rng(1))
    without = np.array([np.delete(sample, k).mean() for k in range(60)])
    same = influence_of(without, 60)._replace(units=math.inf, doubt=math.inf)
    ends = percentile_interval(sample.mean(), found.bootstrap_distribution, 0.95, (0.0, math.inf), 10**9, same)
    expected = found.confidence_interval
    assert (ends.lo, ends.hi) == pytest.approx((expected.low, expected.high), rel=2e-3)


def test_the_influence_of_rows_is_that_of_their_moments():
    """The acceleration is the skewness of what rows do, the degrees of freedom follow from its kurtosis."""
    stats = importlib.import_module("scipy.stats")
    left_out = 3.0 - np.random.default_rng(0).exponential(size=60) / 59
    found = influence_of(left_out, 60)
    assert found.acceleration == pytest.approx(stats.skew(-left_out) / (6 * math.sqrt(60)))
    assert found.units == pytest.approx(1 + 2 * 60 / (stats.kurtosis(left_out, fisher=False) - 1))
    assert influence_of(left_out * 1e200, 60) == pytest.approx(found)
    for flat in (np.ones(5), np.array([1.0, math.nan, 2.0]), np.array([0.0])):
        assert influence_of(flat, 60) == Influence(0.0, math.inf)


def test_equal_values_have_no_influence():
    """Not even where their mean is another by rounding."""
    assert influence_of(np.full(6, 0.1), 6, 0.1) == Influence(0.0, math.inf)
    cell = tm.evaluate(np.zeros(6), np.full(6, 0.1), ["mae"], ci=0.95, ci_method="bootstrap").cell("mae")
    assert cell.lo is None or cell.lo <= cell.value <= cell.hi


def test_a_share_tells_its_own_error():
    """Rows of two kinds leave nothing unknown beside the value, however few are of one kind and however many do nothing
    to it; rows with tails leave much, but no more than their kurtosis says."""
    for hits in (5, 12, 19):
        share = hits / 20
        without = np.array([(hits - 1) / 19] * hits + [hits / 19] * (20 - hits) + [share] * 180)
        found = influence_of(without, 200, share)
        assert found.doubt == pytest.approx(-1.25 / 20, abs=1e-3)
        assert influence_of(without, 200, share, rests_on="counts").doubt == pytest.approx(found.doubt, abs=1e-3)
        plain, near = (
            percentile_interval(500.0, np.arange(1.0, 1000.0), 0.95, (0.0, 1e9), 10**9, each)
            for each in (Influence(), Influence(doubt=found.doubt))
        )
        assert plain.lo < near.lo < near.hi < plain.hi
    for rows in (RNG.normal(size=200), RNG.exponential(size=200) ** 2, RNG.standard_t(4, 200) ** 2):
        found = influence_of(-rows, 200)
        stats = importlib.import_module("scipy.stats")
        beside = stats.kurtosis(rows, fisher=False) - 1 - stats.skew(rows) ** 2
        assert found.doubt == pytest.approx((12 * beside - 2.5) / 400)


def test_counts_tell_their_own_error():
    """The mean of two shares, of which one rests on 20 rows, is as unsure as that one. Clusters tell no such thing."""
    y, p = np.arange(200) < 20, (np.arange(200) < 14) | (np.arange(200) >= 191)
    without = np.array([tm.balanced_accuracy(np.delete(y, k), np.delete(p, k)) for k in range(200)])
    value = tm.balanced_accuracy(y, p)
    assert influence_of(without, 200, value, rests_on="counts").doubt == pytest.approx(-1.25 / 20, rel=0.05)
    assert influence_of(without, 200, value).doubt > 0.2
    rows = (y.astype(int), p.astype(int), ["balanced_accuracy"])
    drawn, formula = (
        tm.evaluate(*rows, ci=0.95, ci_method=method).cell("balanced_accuracy") for method in ("bootstrap", "analytic")
    )
    assert drawn.hi - drawn.lo == pytest.approx(formula.hi - formula.lo, rel=0.1)
    clustered = tm.evaluate(*rows, ci=0.95, cluster=np.arange(200)).cell("balanced_accuracy")
    assert clustered.hi - clustered.lo > 1.1 * (drawn.hi - drawn.lo)


def test_pairs_tell_their_own_error_unless_very_few_rows_decide():
    """What an area does not tell goes with the square, and is never more than the rows that decide it leave unknown."""
    rng = np.random.default_rng(4)
    y = np.arange(200) < 20
    close, apart = rng.normal(0, 1, 200) + y, rng.normal(0, 1, 200) + 3.5 * y
    reaches = {}
    for name, score in (("close", close), ("apart", apart)):
        without = np.array([tm.auc(np.delete(y, k), np.delete(score, k)) for k in range(200)])
        pairs, sizes = (influence_of(without, 200, tm.auc(y, score), each) for each in ("pairs", "sizes"))
        assert (pairs.acceleration, pairs.units) == (sizes.acceleration, sizes.units)
        freedom = pairs.units - 1
        assert pairs.doubt == pytest.approx(16 / freedom**2 - 0.5 / freedom)
        reaches[name] = (pairs.doubt, 1 / freedom)
    assert reaches["close"][0] < reaches["close"][1] / 1.5
    assert reaches["apart"][0] > reaches["apart"][1]
    plain, weighted = (
        tm.evaluate(y, close, ["auc"], ci=0.95, ci_method="bootstrap", weights=weights).cell("auc")
        for weights in (None, np.where(np.arange(200) < 199, 1.0, 1.0001))
    )
    assert plain.hi - plain.lo < 0.99 * (weighted.hi - weighted.lo)
    assert [tm.metric(name).rests_on for name in ("auc", "gini", "ap", "rmse")] == ["pairs", "pairs", "sizes", "sizes"]


def test_weights_are_no_counts():
    """A few heavy rows decide a weighted share: its interval is as wide as that of clusters of one row, which are taken
    for no counts, and far wider than counts would have it. Nor does a miss by many places count as one row."""
    y = np.arange(200) % 2
    p = np.where(np.arange(200) % 10 < 8, y, 1 - y)
    heavy = np.random.default_rng(0).lognormal(0, 1.5, 200)
    weighted, clustered = (
        tm.evaluate(y, p, ["accuracy"], ci=0.95, weights=heavy, cluster=cluster).cell("accuracy")
        for cluster in (None, np.arange(200))
    )
    assert weighted.hi - weighted.lo == pytest.approx(clustered.hi - clustered.lo, rel=0.1)
    tally = tm.Tally(["accuracy"], ci=0.95).update(y, p, weights=heavy).report().cell("accuracy")
    assert (tally.lo, tally.hi) == (weighted.lo, weighted.hi)
    assert [tm.cohen_kappa.replace(weighting=each).rests_on for each in (None, "linear")] == ["counts", "sizes"]


def test_a_share_is_about_as_wide_as_wilson_has_it():
    """Not as wide as the few rows that decide it would make it: 20 positives of 200 rows, and 10 errors of 200."""
    y = (np.arange(200) < 20).astype(int)
    p = np.where(np.arange(200) < 14, 1, 0)
    p[190:] = 1
    for name, truth, said in (("recall", y, p), ("accuracy", y, np.where(np.arange(200) % 20 == 7, 1 - y, y))):
        drawn, formula = (
            tm.evaluate(truth, said, [name], ci=0.95, ci_method=method, resamples=2000).cell(name)
            for method in ("bootstrap", "analytic")
        )
        assert drawn.hi - drawn.lo == pytest.approx(formula.hi - formula.lo, rel=0.06)


def test_groups_of_rows_tell_what_single_rows_do():
    """Leaving out 25 rows at a time finds the same degrees of freedom, whatever the tails."""
    rng = np.random.default_rng(3)
    for rows in (rng.normal(size=50_000), rng.exponential(size=50_000) ** 2):
        single, grouped = (influence_of(-each, 50_000) for each in (rows, rows.reshape(2_000, 25).sum(axis=1)))
        assert grouped.acceleration == pytest.approx(single.acceleration, abs=0.003)
        assert 2 / (grouped.units - 1) == pytest.approx(2 / (single.units - 1), abs=3 * math.sqrt(24 / 2_000**3) + 2e-4)


def test_few_rows_that_decide_widen_the_interval_and_are_told():
    """With four positives among 200 rows the interval reaches further out, and a note says that it may not hold."""
    y = np.zeros(200, int)
    y[::50] = 1
    asked = {"kind": "score", "ci": 0.9, "ci_method": "bootstrap", "resamples": 99}
    cell = tm.evaluate(y, RNG.normal(size=200) + y, ["auc"], **asked).cell("auc")
    assert any("so few rows, clusters or queries decide the value" in note for note in cell.notes)
    replicates = np.arange(1.0, 1000.0)
    wide, narrow = (
        percentile_interval(500.0, replicates, 0.95, (0.0, 1e9), 200, Influence(units=units)) for units in (9.0, 200.0)
    )
    assert wide.lo < narrow.lo < narrow.hi < wide.hi
    assert not narrow.notes


def test_resamples_that_lean_to_one_side_are_told():
    """A value that is higher in most resamples than in the rows is held less often."""
    replicates = np.arange(1.0, 1000.0)
    far, leaning, even = (
        percentile_interval(value, replicates, 0.95, (0.0, 1e9), 200) for value in (300.0, 350.0, 500.0)
    )
    assert "to one side of the value" in leaning.notes[0]
    assert not even.notes
    assert far.lo is None
    assert "so many resamples lie on one side" in far.notes[0]


def test_what_chance_adds_to_has_no_interval():
    """Shared information is larger in resamples of many small groups, and no percentiles of them hold it; three large
    groups have an interval, and so have pairs."""
    y = RNG.integers(0, 8, 200)
    p = np.where(RNG.random(200) < 0.6, y, RNG.integers(0, 8, 200))
    report = tm.evaluate(
        y, p, ["v_measure", "adjusted_mutual_information", "mutual_information"], ci=0.95, kind="label"
    )
    assert all(report.cell(key).lo is None for key in report)
    few = tm.evaluate(y % 3, np.where(RNG.random(200) < 0.8, y % 3, p % 3), ["v_measure", "adjusted_rand"], ci=0.95)
    assert all(few.cell(key).lo < few[key] < few.cell(key).hi for key in few)
    threshold = tm.evaluate(y > 3, RNG.random(200), ["best_threshold"], ci=0.95).cell("best_threshold")
    assert threshold.lo is None
    assert any("jump between them" in note for note in threshold.notes)


def test_a_value_that_resamples_do_not_surround_has_no_interval():
    """Rather than one that does not hold it, or has no width."""
    found = percentile_interval(0.5, np.linspace(1, 2, 999), 0.95, (0.0, 9.0), 200)
    assert found.lo is None
    assert "one side of the value" in found.notes[0]
