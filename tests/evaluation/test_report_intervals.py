"""Intervals in a report: where they come from, what they hold, and what is said where there is none."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import tallymark as tm
from tallymark import _core
from tallymark.intervals.bca import acceleration_of, bca_ends
from tallymark.intervals.settings import least_resamples

RNG = np.random.default_rng(2)
Y = RNG.normal(3, 2, 120)
P = Y + RNG.normal(0, 1, 120)


def bootstrap(*args, method="bootstrap", resamples=99, seed=0, **facts):
    return tm.evaluate(*args, ci=tm.Intervals(0.9, method, resamples, seed), **facts)


def test_an_interval_holds_the_value_and_says_its_method():
    """lo and hi surround the value; the report keeps how they were asked for."""
    report = bootstrap(Y, P, ["rmse", "mae"], seed=7)
    for cell in map(report.cell, report):
        assert cell.lo < cell.value < cell.hi
        assert cell.method == "bootstrap"
    assert report.interval == tm.Intervals(0.9, "bootstrap", 99, 7)
    assert tm.evaluate(Y, P, ["rmse"]).interval is None


@pytest.mark.parametrize("heavy", [1.0, 2.5])
@pytest.mark.parametrize("method", ["auto", "bootstrap"])
def test_rows_that_weigh_nothing_are_not_there(method, heavy):
    """The others have the intervals that they have alone, of slices and of what compares them too; the number of rows
    is that of all. Their places among all are their keys."""
    rng = np.random.default_rng(6)
    y, p, by = rng.integers(0, 2, 90), rng.random(90), np.repeat(["a", "b", "c"], 30)
    weights = np.where(rng.random(90) < 0.7, rng.choice([1.0, heavy], 90), 0.0)
    weights[by == "c"] = 0.0
    once = weights > 0
    metrics = ["auc", "logloss", "fscore", "average_precision", "gap(recall)"]
    facts = {"ci": tm.Intervals(0.9, method=method, resamples=199)}
    found = tm.evaluate(y, p, metrics, kind="probability", weights=weights, by=by, **facts)
    alone = {"weights": weights[once], "by": by[once], "keys": np.flatnonzero(once)}
    expected = tm.evaluate(y[once], p[once], metrics, kind="probability", **alone, **facts)
    for held, other in ((found, expected), *((found.slices[g], expected.slices[g]) for g in "ab")):
        for key in held:
            cell, twin = held.cell(key), other.cell(key)
            assert (cell.lo, cell.hi, cell.method) == (twin.lo, twin.hi, twin.method)
    assert found.cell("auc").lo < found.cell("auc").value
    assert found.n == 90
    assert found.slices["c"].cell("auc").lo is None
    assert found.slices["c"].interval == found.interval
    assert tm.evaluate(y, p, ["brier"], kind="probability", weights=np.zeros(90), ci=0.9).cell("brier").lo is None


def test_the_seed_decides_the_bootstrap_interval():
    """The same seed gives the same interval, another one another; threads do not matter."""
    ends = [bootstrap(Y, P, ["rmse"], seed=seed).cell("rmse").lo for seed in (0, 0, 1)]
    assert ends[0] == ends[1] != ends[2]


def test_without_weights_is_weights_of_one():
    """Weights of 1 change no interval, whatever the method; rows of weight 0 take no part."""
    for method in ("auto", "bootstrap"):
        plain, ones = (bootstrap(Y, P, ["rmse", "r2"], method=method, weights=w) for w in (None, np.ones(120)))
        for key in ("rmse", "r2"):
            assert (plain.cell(key).lo, plain.cell(key).hi) == (ones.cell(key).lo, ones.cell(key).hi)
    weighted = tm.evaluate(Y, P, ["rmse"], weights=RNG.uniform(0, 2, 120), ci=tm.Intervals(0.9, resamples=99))
    assert weighted.cell("rmse").method == "bootstrap"


def test_parts_have_intervals_of_their_own():
    """A value per output or class has ends of the same shape, in data frames and JSON too."""
    two = np.column_stack([Y, P])
    report = bootstrap(two, two + RNG.normal(0, 1, (120, 2)), [tm.metric("mae(outputs=each)")])
    cell = report.cell("mae(outputs=each)")
    assert [lo < value < hi for lo, value, hi in zip(cell.lo, cell.value, cell.hi, strict=True)] == [True, True]
    assert report.to_pandas()["lo"].tolist() == cell.lo
    labels = np.where(Y > 3, "high", "low"), np.where(P > 3, "high", "low")
    report = bootstrap(*labels, [tm.Recall(average=None)])
    cell = report.cell(tm.Recall(average=None))
    assert set(cell.lo) == set(cell.value) == {"high", "low"}
    held = json.loads(report.to_json())
    assert held["interval"] == {"level": 0.9, "method": "bootstrap", "resamples": 99, "seed": 0}
    assert held["metrics"]["recall(average=None)"]["hi"] == cell.hi


def test_the_table_shows_intervals_only_if_asked_for():
    """A column of its own, under the level."""
    assert "90 % interval" in str(bootstrap(Y, P, ["rmse"]))
    assert "interval" not in str(tm.evaluate(Y, P, ["rmse"]))
    assert "90 % interval" in bootstrap(Y, P, ["rmse"])._repr_html_()


def test_curves_tables_and_failures_have_none():
    """What is no number has no interval, and a failed metric stays failed."""
    report = bootstrap(Y > 3, P, ["roc_curve", "msle", "auc"], kind="score", errors="report")
    assert report.cell("roc_curve").lo is None
    assert report.cell("msle").error is not None
    assert report.cell("auc").lo is not None


def test_bounds_are_not_overwritten():
    """A bounded metric keeps its bounds, and says that they are no interval."""
    plain, asked = (tm.evaluate(Y > 3, P, ["auc(bounded=8)"], ci=ci).cell("auc(bounded=8)") for ci in (None, 0.9))
    assert (plain.lo, plain.hi, plain.method) == (asked.lo, asked.hi, "bounded")
    assert any("not an interval" in note for note in asked.notes)


def test_every_group_has_intervals_of_its_own_rows():
    """Every slice has intervals, of its own rows by their places in the whole; so have metrics that compare groups."""
    by = np.arange(120) % 3
    said = (P > 2.5).astype(int)
    report = bootstrap((Y > 3).astype(int), said, ["recall", "equal_opportunity"], by=by)
    for group in range(3):
        part = report.slices[group].cell("recall")
        rows = by == group
        values = []
        for replicate in range(99):
            times = _core.poisson_counts(0, replicate, np.flatnonzero(rows).astype(np.uint64))
            values.append(tm.recall((Y > 3)[rows], said[rows], weights=times))
        without = [tm.recall(np.delete((Y > 3)[rows], k), np.delete(said[rows], k)) for k in range(rows.sum())]
        ends = bca_ends(part.value, np.array(values), 0.9, (0, 1), len(without), acceleration_of(np.array(without)))
        assert (part.lo, part.hi) == pytest.approx((ends.lo, ends.hi))
    gap = report.cell("equal_opportunity")
    assert 0 <= gap.lo <= gap.hi <= 1
    assert gap.method == "simultaneous intervals"


def test_groups_without_a_value_cost_no_width():
    """The level is shared by the groups that have a value: one of them has the interval of its rows alone."""
    y, p = [1] * 30 + [0] * 30, [1] * 20 + [0] * 40
    by = ["a"] * 40 + ["b"] * 20  # where no row is truly positive
    keys = ["recall", "worst(recall)"]
    tally = tm.Tally(keys, by="group", ci=0.95).update(y, p, by=by)
    for report in (tm.evaluate(y, p, keys, by=by, ci=0.95), tally.report()):
        alone, worst = report.slices["a"].cell("recall"), report.cell("worst(recall)")
        assert (worst.lo, worst.hi) == (alone.lo, alone.hi)
        assert worst.notes == ("recall has no value for b: left out", "recall is 0.67 for a")


def test_every_metric_has_its_own_groups():
    """Of two metrics one may lack a value where the other has one: as many intervals as values hold at once."""
    y, p = [1, 0] * 30 + [0] * 20, [1, 0, 0, 0, 1, 1] * 10 + [0, 1] * 10
    by = ["a"] * 30 + ["b"] * 30 + ["c"] * 20  # where there is no recall, but fallout
    found = tm.evaluate(y, p, ["equalized_odds"], by=by, ci=0.95).cell("equalized_odds")
    parts = tm.evaluate(y, p, ["recall", "fallout"], by=by, ci=1 - 0.05 / 5).slices
    of_each = [[parts[group].cell(key) for group in "abc"] for key in ("recall", "fallout")]
    held = [[cell for cell in cells if cell.lo is not None] for cells in of_each]
    assert list(map(len, held)) == [2, 3]
    highs = [max(c.hi for c in cells) - min(c.lo for c in cells) for cells in held]
    assert found.hi == pytest.approx(max(highs), rel=1e-12)


def test_a_group_without_an_interval_still_counts():
    """It has a value, which may be anywhere: what compares groups has no interval then."""
    y, p = [1.0, 2.0, 4.0, 7.0, 5.0], [1.5, 2.0, 3.0, 7.5, 5.5]
    found = tm.evaluate(y, p, ["worst(mae)"], by=["a"] * 4 + ["b"], ci=0.95).cell("worst(mae)")
    assert found.lo is None
    assert found.notes[-1].startswith("no interval: a group has none: ")


def test_clusters_widen_the_interval():
    """Rows that repeat each other tell less: clusters of ten equal rows give a much wider interval than single rows."""
    y, p = np.repeat(Y[:40], 10), np.repeat(P[:40], 10)
    single, clustered = (bootstrap(y, p, ["mae"], cluster=c).cell("mae") for c in (None, np.repeat(np.arange(40), 10)))
    assert clustered.hi - clustered.lo > 2 * (single.hi - single.lo)
    assert clustered.method == "bootstrap of clusters"


def test_queries_name_their_bootstrap():
    """Metrics of rankings say that queries were resampled; clusters must not cut through them."""
    query = np.repeat(np.arange(30), 4)
    rows = (RNG.integers(0, 3, 120), RNG.random(120), ["ndcg"])
    assert bootstrap(*rows, query=query).cell("ndcg").method == "bootstrap of queries"
    assert bootstrap(*rows, query=query, cluster=query // 2).cell("ndcg").method == "bootstrap of clusters"
    with pytest.raises(tm.TallymarkError, match="all rows of a query"):
        bootstrap(*rows, query=query, cluster=np.arange(120))


def test_dropped_rows_lose_their_cluster():
    """Rows with missing values are dropped with their clusters."""
    y, cluster = Y.copy(), np.arange(120) // 4
    y[5] = math.nan
    kept = np.arange(120) != 5
    dropped = bootstrap(y, P, ["mae"], cluster=cluster, missing="drop").cell("mae")
    without = bootstrap(y[kept], P[kept], ["mae"], cluster=cluster[kept]).cell("mae")
    assert (dropped.lo, dropped.hi) == (without.lo, without.hi)


@pytest.mark.parametrize(("level", "least"), [(0.95, 39), (0.9, 19), (0.5, 3), (0.99, 199)])
def test_resamples_must_reach_beyond_the_ends(level, least):
    """There are enough resamples that one lies beyond either end."""
    assert least_resamples(level) == least
    tm.evaluate(Y, P, ["mae"], ci=tm.Intervals(level, resamples=least))
    with pytest.raises(tm.TallymarkError, match="resamples"):
        tm.evaluate(Y, P, ["mae"], ci=tm.Intervals(level, resamples=least - 1))


def test_notes_name_the_part_that_they_are_of():
    """An output without errors, a class that is always right; what is true of all is said once."""
    two = np.column_stack([Y, Y])
    cell = bootstrap(two, np.column_stack([Y, P]), ["rmse(outputs=each)"]).cell("rmse(outputs=each)")
    assert cell.notes == ("output 0: the metric has the same value in every resample",)
    assert (cell.lo[0], cell.hi[0]) == (None, None)
    labels = np.tile(["a", "b", "c"], 20)
    found = np.where((labels == "c") & (np.arange(60) % 4 == 0), "b", labels)
    cell = bootstrap(labels, found, ["recall(average=none)"], weights=np.full(60, 2.0)).cell("recall(average=none)")
    assert cell.notes[0] == "class 'a', 'b': the metric has the same value in every resample"
    cell = bootstrap(two[:8], two[:8] + np.array([1.0, 2.0]), ["rmse(outputs=each)"]).cell("rmse(outputs=each)")
    assert cell.notes == ("no interval: the metric has the same value in every resample",)


@pytest.mark.parametrize("metric", ["auc", "mae", "fscore"])
@pytest.mark.slow
def test_intervals_cover_what_they_should(metric):
    """Of 120 intervals at 90 % from 200 rows each, about 108 hold the value of the population."""

    def rows(rng, n):
        y = (rng.random(n) < 0.3).astype(int)
        return y, 1 / (1 + np.exp(0.9 - 1.5 * y - rng.normal(size=n)))

    truth = tm.metric(metric)(*rows(np.random.default_rng(0), 400_000))
    held = 0
    for seed in range(120):
        y, p = rows(np.random.default_rng(1 + seed), 200)
        cell = bootstrap(y, p, [metric], resamples=199).cell(metric)
        held += cell.lo <= truth <= cell.hi
    assert 97 <= held <= 117  # within some three standard errors


@pytest.mark.parametrize("scale", [1e60, 1e-60])
def test_huge_and_tiny_values_have_intervals(scale):
    """No power of them overflows."""
    cell = bootstrap(Y * scale, P * scale, ["mse"]).cell("mse")
    assert 0 < cell.lo < cell.value < cell.hi


def test_clusters_of_huge_numbers_stay_apart():
    """They are told apart beyond 64 bits, as strings of them would be."""
    names = [(k // 4) * 2**64 + k % 4 for k in range(len(Y))]
    ends = [bootstrap(Y, P, ["r2"], cluster=held).cell("r2").lo for held in (names, [str(name) for name in names])]
    assert ends[0] != bootstrap(Y, P, ["r2"], cluster=[k % 4 for k in range(len(Y))]).cell("r2").lo
    assert all(math.isfinite(end) for end in ends)


@pytest.mark.slow
def test_intervals_of_compared_groups_hold():
    """Of ten equal groups the gap is 0 and the worst as good as all: intervals hold that as often as they say."""
    held = {"gap(accuracy)": 0, "ratio(accuracy)": 0, "worst(accuracy)": 0}
    truth = {"gap(accuracy)": 0.0, "ratio(accuracy)": 1.0, "worst(accuracy)": 0.8}
    groups = np.arange(1000) % 10
    for seed in range(200):
        right = (np.random.default_rng(seed).random(1000) < 0.8).astype(int)
        report = tm.evaluate(np.ones(1000, int), right, list(held), by=groups, ci=0.9, classes=[0, 1])
        for key in held:
            cell = report.cell(key)
            assert cell.lo <= cell.value <= cell.hi
            held[key] += cell.lo <= truth[key] <= cell.hi
    assert min(held.values()) >= 180
