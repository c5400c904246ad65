"""Intervals of functions of a table of labels: quantiles of draws from its posterior."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.interval_rows import P2, P4, Y2, Y4
from tests.laws.cases import METRICS

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.intervals import posterior
from tallymark.intervals.analytic import numbers_of
from tallymark.intervals.posterior import DRAWS, MOST_CLASSES, count_table, draw_tables
from tallymark.metrics import registry
from tallymark.metrics.classification.base import AveragedMetric, LabelMetric
from tallymark.states.labels.counts import DrawnCounts

TWO = np.array([[60.0, 4.0], [9.0, 27.0]])
THREE = np.array([[20.0, 3.0, 0.0], [1.0, 30.0, 4.0], [0.0, 2.0, 40.0]])


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """Metrics that are written in a test are known in it alone."""
    monkeypatch.setattr(registry, "classes", dict(registry.classes))


def analytic(y, p, metric, level=0.95, **facts):
    return tm.evaluate(y, p, [metric], ci=tm.Intervals(level, method="analytic"), **facts).cell(metric)


@pytest.mark.parametrize(("table", "prior"), [(TWO, 0.5), (THREE, 1 / 9)])
def test_posterior_cells_follow_the_dirichlet_distribution(table, prior):
    """The draws have the means and variances of Dirichlet(count + 1/2), or + 1/K² with more than two classes."""
    drawn = draw_tables(table, range(len(table)), np.random.default_rng(0), 200_000)
    n, alpha = table.sum(), table + prior
    assert drawn.sum(axis=(1, 2)) == pytest.approx(n)
    mean = alpha / alpha.sum()
    assert drawn.mean(axis=0) / n == pytest.approx(mean, abs=4e-4)
    assert drawn.var(axis=0) / n**2 == pytest.approx(mean * (1 - mean) / (alpha.sum() + 1), rel=0.03, abs=2e-6)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_ends_are_quantiles_of_a_dirichlet_of_numpy(level):
    """Up to the error of so many draws, for two classes and for four."""
    rng = np.random.default_rng(1)
    for y, p, prior in ((Y2, P2, 1 / 2), (Y4, P4, 1 / 16)):
        k = y.max() + 1
        counts = np.bincount(y * k + p, minlength=k * k)
        drawn = rng.dirichlet(counts + prior, 40_000).reshape(-1, k, k)
        hits, truth, said = np.einsum("nii->ni", drawn), drawn.sum(axis=2), drawn.sum(axis=1)
        wanted = {
            "balanced_accuracy": (hits / truth).mean(axis=1),
            "fscore(average=macro)": (2 * hits / (truth + said)).mean(axis=1),
            "cohen_kappa": (hits.sum(axis=1) - (truth * said).sum(axis=1)) / (1 - (truth * said).sum(axis=1)),
        }
        for name, values in wanted.items():
            cell = analytic(y, p, name, level)
            ends = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
            assert (cell.lo, cell.hi) == pytest.approx(ends, abs=0.1 * np.ptp(ends))
            assert cell.method == ("Jeffreys posterior" if k == 2 else "Perks posterior")


def label_metrics():
    """Those whose interval on four classes is that of the posterior."""
    return [each for each in METRICS if isinstance(each, LabelMetric) and not each.no_interval]


@pytest.mark.parametrize("metric", label_metrics(), ids=str)
def test_tables_read_at_once_are_tables_read_one_by_one(metric, monkeypatch):
    """The formula of arrays gives the value of the table, and the ends that the formula of whole numbers gives."""
    y, p = (Y2, P2) if getattr(metric, "average", "auto") == "auto" else (Y4, P4)
    monkeypatch.setattr(posterior, "DRAWS", 60)
    fast = analytic(y, P2 - 0.5 if metric.kind == "margin" else p, metric, 0.9)
    if "posterior" not in (fast.method or ""):
        return
    state = metric.needs(Target()).fold(Batch(y, p))
    counts = DrawnCounts(state.classes()[0], count_table(state)[None], Target())
    assert np.ravel(metric.values_of_draws(counts)) == pytest.approx(numbers_of(fast.value), rel=1e-9)
    monkeypatch.setattr(type(metric), "values_of_draws", lambda *_: None)
    slow = analytic(y, p, metric, 0.9)
    assert [fast.lo, fast.hi] == [pytest.approx(end, rel=1e-6) for end in (slow.lo, slow.hi)]


def test_a_formula_that_cannot_be_read_from_fractions_is_resampled():
    """One that takes whole numbers only, or that goes by the size of the counts."""

    class InPairs(AveragedMetric):
        def fraction(self, c):
            return math.comb(c.tp, 2), math.comb(c.tp + c.fn, 2)

    class Total(LabelMetric):
        range = (0.0, 1e9)

        def formula_value(self, c):
            return float(c.hits[0])

    found = tm.evaluate(Y2, P2, {"in pairs": InPairs(), "total": Total()}, ci=tm.Intervals(0.9, resamples=99))
    assert {found.cell(key).method for key in ("in pairs", "total")} == {"bootstrap"}


def test_a_formula_without_arrays_is_read_table_by_table():
    """As most that users write."""

    class Worse(LabelMetric):
        range = (0.0, 1.0)

        def formula_value(self, c):
            return min(hits / truth for hits, truth in zip(c.hits, c.truth, strict=True))

    cell = analytic(Y4, P4, Worse())
    assert cell.method == "Perks posterior"
    assert cell.lo < cell.value < cell.hi


def test_unseen_outcomes_are_possible():
    """Where all rows are right, others may not be: the interval ends at the value and has a width."""
    y = [0, 1] * 10
    for name in ("mcc", "balanced_accuracy", "f2", "fscore(average=macro)", "informedness"):
        cell = analytic(y, y, name)
        assert 0.5 < cell.lo < cell.hi == cell.value == 1.0
    slices = tm.evaluate([1] * 12 + y, [1] * 12 + y, ["f2"], by=["a"] * 12 + ["b"] * 20, ci=0.95).slices
    assert slices["a"].cell("f2").lo < slices["a"].cell("f2").hi == 1.0


def test_draws_go_by_seed_and_labels_alone():
    """The order of rows and of declared classes does not matter; the seed does."""
    names = np.array(["ash", "beech", "cedar", "elm"])
    y, p, order = names[Y4], names[P4], np.random.default_rng(0).permutation(300)
    own = analytic(y, p, "fscore(average=macro)")
    moved = analytic(y[order], p[order], "fscore(average=macro)", classes=["elm", "cedar", "ash", "beech"])
    assert (own.lo, own.hi) == pytest.approx((moved.lo, moved.hi), rel=1e-12)
    asked = {"ci": tm.Intervals(method="analytic")}
    seeded = tm.Intervals(method="analytic", seed=1)
    other = tm.evaluate(y, p, ["fscore(average=macro)"], ci=seeded).cell("fscore(average=macro)")
    assert other.lo != own.lo
    assert other.lo == pytest.approx(own.lo, abs=0.01)
    together = tm.evaluate(y, p, ["mcc", "fscore(average=macro)"], **asked).cell("fscore(average=macro)")
    assert (together.lo, together.hi) == (own.lo, own.hi)


def test_classes_without_rows_stay_without():
    """A declared class that no row has, and one that was only predicted, move no value of the others."""
    y, p = np.where(Y4 == 3, 0, Y4), P4
    own = analytic(y, np.where(p == 3, 0, p), "precision(average=macro, absent=skip)")
    declared = analytic(y, np.where(p == 3, 0, p), "precision(average=macro, absent=skip)", classes=list(range(9)))
    assert own.hi - own.lo == pytest.approx(declared.hi - declared.lo, rel=0.15)
    assert analytic(y, p, "balanced_accuracy").lo < tm.balanced_accuracy(y, p) < analytic(y, p, "balanced_accuracy").hi


def test_small_classes_are_noted():
    """Of one or two rows; with fewer than ten rows in all, that is said instead."""
    y, p = [0] * 30 + [1] * 20 + [2] * 2, [0] * 28 + [1] * 22 + [2, 0]
    note = "class 2 has only 1 or 2 rows: coverage may be below the nominal level"
    assert analytic(y, p, "fscore(average=macro)").notes == (note,)
    assert analytic(y[:50], p[:50], "fscore(average=macro)").notes == ()
    assert "only 8 rows" in analytic([0, 1] * 4, [0, 1] * 3 + [1, 0], "mcc").notes[0]


def test_many_classes_are_resampled():
    """Beyond a hundred, whose cells would take too long; a tally, which kept no resamples, says so."""
    y = np.arange(3 * (MOST_CLASSES + 1)) // 3
    p = np.where(np.arange(len(y)) % 3 == 0, (y + 1) % (MOST_CLASSES + 1), y)
    assert tm.evaluate(y, p, ["mcc"], ci=tm.Intervals(0.9, resamples=19)).cell("mcc").method == "bootstrap"
    assert "tm.Intervals(" in tm.Tally(["mcc"], ci=0.9).update(y, p).report().cell("mcc").notes[0]


def test_a_level_beyond_the_draws_has_no_interval():
    """Two thousand draws reach to 99.9 %."""
    assert analytic(Y2, P2, "mcc", 0.999).lo is not None
    cell = analytic(Y2, P2, "mcc", 0.9999)
    assert cell.lo is None
    assert f"there are {DRAWS:,}" in cell.notes[0]


def test_weights_and_clusters_are_resampled():
    """Their tables are not multinomial."""
    for more in ({"weights": np.linspace(0.5, 1.5, 300)}, {"cluster": np.arange(300) // 3}):
        assert (
            "bootstrap" in tm.evaluate(Y2, P2, ["mcc"], ci=tm.Intervals(0.9, resamples=99), **more).cell("mcc").method
        )
    assert tm.evaluate(Y2, P2, ["mcc"], ci=0.9, weights=np.ones(300)).cell("mcc").method == "Jeffreys posterior"
