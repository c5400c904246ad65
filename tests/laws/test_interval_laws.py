"""Laws of analytic intervals, for every metric that has one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.intervals.analytic import Interval, NoInterval
from tallymark.metrics.base import Metric
from tests.laws.cases import METRICS, random_rows, tables

ANALYTIC = [metric for metric in METRICS if type(metric).analytic_interval is not Metric.analytic_interval]
BOTH = [metric for metric in ANALYTIC if getattr(metric, "bounded", None) is None]


def reads_of(metric, rows):
    target = Target(**rows.facts)
    return metric.interval_reads(target) or metric.needs(target)


def find(metric, rows, level=0.95, *, weighted=False):
    return metric.interval(reads_of(metric, rows).fold(rows.batch(weighted=weighted)), level)


def analytic(metric, rows):
    """The cell with its interval by a formula or by the posterior of a table."""
    asked = {"ci": tm.Intervals(method="analytic"), "query": rows.q, **rows.facts}
    return tm.evaluate(rows.y, rows.p, [metric], **asked).cell(metric)


def parts(found, value):
    """The ends of every part that has an interval, with its value."""
    if isinstance(value, dict):
        return [(found.lo[k], value[k], found.hi[k]) for k in value if found.lo[k] is not None]
    if isinstance(value, list):
        return [(a, v, b) for a, v, b in zip(found.lo, value, found.hi, strict=True) if a is not None]
    return [(found.lo, value, found.hi)]


@pytest.mark.parametrize("metric", ANALYTIC, ids=str)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_an_interval_holds_its_value_and_stays_in_the_range(metric, data):
    """lo <= value <= hi, within the range and finite, or a reason; on rows of any kind."""
    rows = data.draw(tables(metric))
    found = find(metric, rows)
    if found is None:
        return
    if isinstance(found, NoInterval):
        assert found.reason
        return
    assert isinstance(found, Interval)
    assert found.method
    low, high = metric.range
    held = parts(found, rows.call(metric, weights=None))
    assert held
    for lo, value, hi in held:
        assert low <= lo <= value <= hi <= high
        assert math.isfinite(lo)
        assert math.isfinite(hi)
        assert lo < hi


@pytest.mark.parametrize("metric", ANALYTIC, ids=str)
def test_a_higher_level_reaches_further(metric):
    """The interval at 0.8 lies within that at 0.99, and is narrower."""
    rows = random_rows(metric, 120, 5)
    inner, outer = find(metric, rows, 0.8), find(metric, rows, 0.99)
    if not isinstance(inner, Interval):
        assert type(inner) is type(outer)
        return
    value = rows.call(metric, weights=None)
    for (a, _, b), (c, _, d) in zip(parts(inner, value), parts(outer, value), strict=True):
        assert c <= a < b <= d
        assert d - c > b - a


@pytest.mark.parametrize("metric", ANALYTIC, ids=str)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_order_and_grouping_of_rows_change_nothing(metric, seed):
    """The interval is the same to the last bit, however the rows come; weights of 1 are none."""
    rng = np.random.default_rng(seed)
    rows = random_rows(metric, 60, int(rng.integers(1000)))
    found = find(metric, rows)
    moved = rows.take(rng.permutation(60))
    assert find(metric, moved) == found
    assert find(metric, moved._replace(w=np.ones(60)), weighted=True) == found
    reads = reads_of(metric, rows)
    cut = int(rng.integers(1, 59))
    pieces = [moved.take(np.arange(60) < cut), moved.take(np.arange(60) >= cut)]
    try:
        states = [reads.fold(piece.batch(weighted=False)) for piece in pieces]
        whole = states[1] + states[0]
    except ValueError:  # a piece that lacks a class cannot say which its columns are
        return
    assert metric.interval(whole, 0.95) == found


@pytest.mark.parametrize("metric", ANALYTIC, ids=str)
def test_weighted_rows_have_no_analytic_interval(metric):
    """They are left to resampling."""
    assert find(metric, random_rows(metric, 60, 3), weighted=True) is None


def test_most_metrics_have_one():
    """Those that lose theirs by accident are missed here."""
    names = {metric.name for metric in ANALYTIC}
    assert {"accuracy", "recall", "fscore", "auc", "mae", "rmse", "logloss", "brier", "pearson"} <= names
    found = [metric for metric in BOTH if isinstance(analytic(metric, random_rows(metric, 200, 1)).method, str)]
    assert len(found) > 0.8 * len(BOTH), [str(metric) for metric in BOTH if metric not in found]


@pytest.mark.parametrize("metric", ANALYTIC, ids=str)
def test_no_rows_have_no_interval(metric):
    """A state of no rows says so, or there is none."""
    assert metric.interval(metric.needs(Target()).zero(), 0.95) in (None, NoInterval("no rows"))


@pytest.mark.parametrize("metric", ANALYTIC, ids=str)
def test_an_undefined_value_has_no_interval_whatever_stands_for_it(metric):
    """`undefined=` fills in for the value only."""
    rows = random_rows(metric, 1, 2)
    batch = Batch(rows.y, rows.p)
    for choice in (None, 0.25, "raise"):
        found = metric.replace(undefined=choice)
        held = found.interval(reads_of(found, rows).fold(batch), 0.9)
        assert held == metric.interval(reads_of(metric, rows).fold(batch), 0.9)
