"""Laws of intervals, for every metric that is one number."""

from __future__ import annotations

import math

import pytest

import tallymark as tm
from tallymark.intervals.analytic import numbers_of
from tests.laws.cases import METRICS, random_rows


@pytest.mark.parametrize("method", ["auto", "bootstrap"])
@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_an_interval_lies_within_the_range_or_there_is_a_reason(metric, method):
    """With ci=, lo <= hi within the range of the metric; where there is no interval, the cell says why."""
    rows = random_rows(metric, 60, seed=1)
    facts = {"query": rows.q, "ci": tm.Intervals(0.9, method=method, resamples=19), **rows.facts}
    for weights in (None, rows.w):
        cell = tm.evaluate(rows.y, rows.p, [metric], weights=weights, errors="raise", **facts).cell(metric)
        if cell.is_table or cell.method == "bounded":
            continue
        assert numbers_of(cell.value)
        low, high = metric.range
        for (_, value), (lo, hi) in zip(cell.parts(), cell.bounds(), strict=True):
            if lo is None or hi is None:
                assert not math.isfinite(value) or any(
                    "no interval" in note or "resample" in note for note in cell.notes
                )
            else:
                assert low <= lo <= hi <= high
                assert cell.method is not None
