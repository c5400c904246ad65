"""Laws of intervals of rows that come in pieces, for every metric: those of all rows, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import tallymark as tm
from tallymark.data.target import Target
from tallymark.intervals.maker import GROWS
from tallymark.states.resampling.replicates import KEPT, Resampled
from tests.laws.cases import METRICS, random_rows

pytestmark = pytest.mark.slow

N = 60
CASES = [("auto", "plain"), ("auto", "weighted"), ("auto", "clustered"), ("bootstrap", "plain")]


def columns_of(metric, form, seed=1):
    """Rows with what tells them apart: all of a law but the metric."""
    rows = random_rows(metric, N, seed)
    rng = np.random.default_rng(seed)
    given = {"keys": np.array([f"row {k}" for k in rng.permutation(N)])}
    if form == "weighted":
        given["weights"] = rows.w
    if form == "clustered":
        given["cluster"] = np.arange(N) // 4 if rows.q is None else rows.q
    if rows.q is not None:
        given["query"] = rows.q
    return rows, given


def tally_of(metric, rows, given, index, **asked):
    piece = {name: column[index] for name, column in given.items()}
    return tm.Tally([metric], **asked, **rows.facts).update(rows.y[index], rows.p[index], **piece)


def add_in_pieces(metric, rows, given, cut, **asked):
    """The rows in some order, cut somewhere, some pieces through bytes, added in some grouping."""
    rng = np.random.default_rng(cut)
    cuts = np.sort(rng.choice(np.arange(1, N), 3, replace=False))
    held = [tally_of(metric, rows, given, part, **asked) for part in np.split(rng.permutation(N), cuts)]
    held[0] = tm.Tally.from_bytes(held[0].to_bytes())
    while len(held) > 1:
        held.append(held.pop(rng.integers(len(held))) + held.pop(rng.integers(len(held))))
    return held[0]


@pytest.mark.parametrize(("method", "form"), CASES)
@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_pieces_have_the_interval_of_all_rows(metric, method, form):
    """Whatever the pieces, their order and grouping: the ends of evaluate, or the reason that the state grows."""
    rows, given = columns_of(metric, form)
    asked = {"ci": tm.Intervals(0.9, method=method, resamples=19, seed=5)}
    whole = tm.evaluate(rows.y, rows.p, [metric], **given, **asked, **rows.facts).cell(metric)
    tallies = [add_in_pieces(metric, rows, given, cut, **asked) for cut in (1, 2)]
    for tally in tallies:
        found = tally.report().cell(metric)
        grows = f"no interval: {GROWS.format(metric.name)}"
        if grows in found.notes:
            assert type(metric.needs(Target(**rows.facts)).zero()).size not in KEPT
            assert found.lo is None
            continue
        assert (found.lo, found.hi, found.method) == (whole.lo, whole.hi, whole.method)
        assert found.notes == whole.notes
    if type(metric.needs(Target(**rows.facts)).zero()).size in KEPT:
        assert tallies[0].to_bytes() == tallies[1].to_bytes()
        assert (
            any(isinstance(state, Resampled) for state in tallies[0]._contents.whole.intervals)
            or metric.no_interval
            or (metric.no_bootstrap)
        )


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_a_metric_that_says_so_needs_no_resamples(metric):
    """`has_analytic_interval` is kept: plain rows then have an analytic interval, or a reason that there is none."""
    rows = random_rows(metric, 120, 3)
    batch, target = rows.batch(weighted=False), Target(**rows.facts)
    asked = {"ci": tm.Intervals(0.9, method="analytic"), "query": rows.q, **rows.facts}
    cell = tm.evaluate(rows.y, rows.p, [metric], **asked).cell(metric)
    needs_resamples = any('use ci=tm.Intervals(method="bootstrap")' in note for note in cell.notes)
    if type(metric.needs(target).zero()).size in KEPT and not metric.no_interval and not metric.no_bootstrap:
        assert metric.has_analytic_interval((batch.truth_columns, batch.prediction_columns)) != needs_resamples


def test_most_small_states_have_an_interval():
    """Those that lose theirs by accident are missed here: weights leave nothing but resamples."""
    small = [metric for metric in METRICS if metric.size in KEPT and not metric.no_interval and not metric.no_bootstrap]
    found = []
    for metric in small:
        rows, given = columns_of(metric, "weighted")
        tally = tally_of(metric, rows, given, np.arange(N), ci=tm.Intervals(0.9, resamples=19))
        found.append(tally.report().cell(metric).method == "bootstrap")
    assert sum(found) > 0.8 * len(small)
