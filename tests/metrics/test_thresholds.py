"""Thresholds: the counts at each, any metric on labels there, and which one is best."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest

import tallymark as tm
from tallymark.metrics import registry
from tallymark.metrics.classification.base import LabelMetric
from tallymark.metrics.scores.threshold_table import _by_ratio, _is_ratio, _one_by_one
from tallymark.states.labels.counts import Cells, Counts

Y, S = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]


def one_number(metric):
    """Whether a metric has one value for labels of two classes, at no threshold of its own."""
    return metric.kind == "label" and metric.better is not None and getattr(metric, "average", "") is not None


EVERY = [cls(**sample) for cls in registry.classes.values() if issubclass(cls, LabelMetric) for sample in cls.samples]
EVERY = [metric for metric in EVERY if one_number(metric) and metric.threshold == 0.5]


def random_rows(seed, n=60):
    """Rows with ties and weights, some of them zero."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rng.choice([0.1, 0.5, 0.9])).astype(int)
    return y, np.round(y + rng.normal(0, 1, n), 1), rng.choice([0.0, 0.3, 1.0, 2.5, 7.1], n)


@pytest.fixture
def own_metrics(monkeypatch):
    """What a test defines is forgotten after it."""
    monkeypatch.setattr(registry, "classes", dict(registry.classes))


def same(found, expected):
    return (math.isnan(found) and math.isnan(expected)) or abs(found - expected) <= 1e-12 * max(1.0, abs(expected))


@pytest.mark.parametrize("metric", EVERY, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_every_metric_on_labels_at_every_threshold(metric, seed):
    """The value is that of the labels `score >= threshold`, with and without weights; undefined where that is."""
    y, s, w = random_rows(seed)
    for weights in (None, w):
        table = tm.threshold_table(y, s, weights=weights, metrics=())
        for found, threshold in zip(table[metric], table.threshold, strict=True):
            assert same(found, metric(y, s >= threshold, weights=weights)), threshold


@pytest.mark.parametrize("metric", EVERY, ids=str)
@pytest.mark.parametrize("truth", [0, 1])
def test_every_metric_where_all_rows_are_of_one_class(metric, truth):
    """The other class comes and goes with the predictions."""
    y, s = np.full(5, truth), np.array([0.1, 0.5, 0.5, 0.7, 0.9])
    table = tm.threshold_table(y, s, metrics=metric)
    for found, threshold in zip(table[str(metric)], table.threshold, strict=True):
        assert same(found, metric(y, s >= threshold)), threshold


@pytest.mark.parametrize("metric", EVERY, ids=str)
def test_formulas_over_arrays_keep_their_digits(metric):
    """One positive in a hundred thousand rows, and weights of any size: as exact as one threshold at a time."""
    rng = np.random.default_rng(5)
    tp, fn = rng.random(50), rng.random(50)
    for size in (1.0, 2.0**-600, 2.0**400):
        cells = tuple(size * held for held in (tp, rng.random(50) * 1e5, fn, rng.random(50) * 1e5))
        cells = (cells[0], cells[1], cells[0].max() * 2 - cells[0], cells[1].max() * 2 - cells[1])
        quick = _by_ratio(metric, cells) if _is_ratio(metric) else None
        if quick is None:
            assert getattr(metric, "average", "auto") not in ("auto", "binary")
            return
        slow = _one_by_one(metric, cells)
        assert np.allclose(quick, slow, rtol=1e-12, atol=1e-14 if metric.name != "error" else 0.0)


def test_the_table_has_a_row_per_distinct_score_with_its_counts():
    """Infinite first, then every distinct score; the counts add up, and follow the weights."""
    y, s, w = random_rows(1)
    table = tm.threshold_table(y, s, weights=w)
    assert table.threshold.tolist() == [math.inf, *sorted(set(s[w > 0].tolist()), reverse=True)]
    for k, t in enumerate(table.threshold):
        said = s >= t
        expected = [w[said & (y == 1)], w[said & (y == 0)], w[~said & (y == 1)], w[~said & (y == 0)]]
        assert [held[k] for held in table.cells] == pytest.approx([part.sum() for part in expected], abs=1e-12)
    assert (table.fn[-1], table.tn[-1], table.tp[0], table.fp[0]) == (0.0, 0.0, 0.0, 0.0)


def test_little_that_is_left_keeps_its_digits():
    """Below the lowest scores of heavy rows there may be light ones."""
    table = tm.threshold_table([1, 1, 0, 0], [0.9, 0.1, 0.8, 0.2], weights=[1e16, 1.25e-3, 1e16, 0.75e-3])
    assert table.fn.tolist() == [1e16, 1.25e-3, 1.25e-3, 1.25e-3, 0.0]
    assert table["npv"][2] == 0.375


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("metric", ["fscore", "accuracy", "error_rate", "mcc", "fdr", "fscore(beta=2)", "npv"])
def test_the_best_threshold_is_the_highest_with_the_best_value(metric, seed):
    """The best value of all thresholds in the metric's direction; of equal ones the highest threshold; never NaN."""
    y, s, w = random_rows(seed)
    table = tm.threshold_table(y, s, weights=w)
    best = table.best(metric)
    values = table[metric]
    wanted = np.nanmax(values) if tm.metric(metric).better == "higher" else np.nanmin(values)
    assert best.value == wanted
    assert best.threshold == table.threshold[values == wanted].max()
    assert same(best.value, tm.metric(metric)(y, s >= best.threshold, weights=w))
    place = table.threshold.tolist().index(best.threshold)
    assert best[2:] == tuple(held[place] for held in table.cells)
    assert tm.best_threshold(y, s, weights=w, metric=metric) == best.threshold


def test_a_metric_with_a_target_picks_the_nearest_threshold(own_metrics):
    """A metric that is best at a value: the nearest threshold."""

    class FlaggedShare(tm.extend.AveragedMetric):
        """The share of rows that is called positive, best at 0.5."""

        better = 0.5

        def fraction(self, c: Cells):
            return c.tp + c.fp, c.tp + c.fp + c.fn + c.tn

    table = tm.threshold_table([0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5])
    assert table.best(FlaggedShare()).threshold == 0.4
    assert table.best("flagged_share").value == 0.4


@pytest.mark.parametrize("cost", [{"fp": 1, "fn": 5}, {"fn": 0.5, "fp": 3}, {"tp": -2, "fp": 1, "tn": 0.5}, {"fn": 1}])
def test_the_cheapest_threshold_is_found(cost):
    """The least total, by hand; the highest of equal thresholds."""
    y, s, w = random_rows(2)
    table = tm.threshold_table(y, s, weights=w)
    totals = sum(cost.get(name, 0) * held for name, held in zip(("tp", "fp", "fn", "tn"), table.cells, strict=True))
    best = table.best(cost=cost)
    assert best.value == pytest.approx(totals.min(), rel=1e-12)
    assert best.threshold == table.threshold[totals == totals.min()].max()
    if set(cost) == {"fp", "fn"}:
        assert tm.best_threshold(y, s, weights=w, **cost) == best.threshold


@pytest.mark.parametrize("cost", [{"fp": 1e308, "fn": -1e308}, {"tp": -1e308}, {"fp": 1e308, "tn": -1e308}])
def test_costs_that_float64_cannot_add_have_no_least(cost):
    """Gains that overflow cannot be told apart; costs that overflow are only never the least."""
    table = tm.threshold_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    with pytest.raises(tm.UndefinedError, match="too large"):
        table.best(cost=cost)
    assert table.best(cost={"fp": 1e308, "fn": 1.0}).threshold == 0.8


def test_one_cost_alone_is_measured_against_one():
    """Of best_threshold: the other error then costs 1."""
    y, s, _ = random_rows(4)
    assert tm.best_threshold(y, s, fn=3) == tm.best_threshold(y, s, fp=1, fn=3)
    assert tm.best_threshold(y, s, fp=3) == tm.best_threshold(y, s, fp=3, fn=1)


def test_any_threshold_leads_to_the_row_with_the_same_decisions():
    """The row of the table that calls the same rows positive."""
    table = tm.threshold_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    assert table.at(0.4) == (0.4, 0.4, 1, 1, 1, 1)
    assert table.at(0.37)[2:] == table.at(0.4)[2:]
    assert table.at(0.81).threshold == math.inf
    assert table.at(-1)[2:] == (2, 2, 0, 0)
    with pytest.raises(tm.ParameterError, match="`threshold` must be a finite number"):
        table.at(math.nan)


def test_costs_are_not_negative():
    """Of an error: a profit is for the table's own `cost`."""
    for bad in (-1, math.inf, "much"):
        with pytest.raises(tm.ParameterError, match="a finite number of at least 0"):
            tm.BestThreshold(fp=bad)


def test_calling_no_row_positive_can_be_best():
    """An infinite threshold, with its reason."""
    report = tm.evaluate([1, 0, 0, 0], [0.1, 0.2, 0.3, 0.4], ["best_threshold(metric=accuracy)"])
    assert report["best_threshold(metric=accuracy)"] == math.inf
    assert list(report.reasons.values()) == ["calling no row positive is best"]


def test_one_class_has_no_best_threshold():
    """Of one class there is nothing to tell apart; where a metric has no value anywhere, no record is the best."""
    report = tm.evaluate([0, 0], [0.1, 0.2], ["best_threshold(metric=recall)", "best_threshold(fp=1, fn=2)"])
    assert list(report.reasons.values()) == ["all rows are of one class"] * 2
    with pytest.raises(tm.UndefinedError, match="recall is undefined at every threshold"):
        tm.threshold_table([0, 0], [0.1, 0.2]).best("recall")


def test_metrics_of_the_users_own(own_metrics):
    """A formula over arrays, one over whole numbers only, and one that a subclass wrote anew: each is what it says."""

    class Ugly(tm.extend.LabelMetric):
        """The root of the share of right rows, if more than half are."""

        better = "higher"
        range = (0.0, 1.0)

        def formula_value(self, c: Counts):
            return math.sqrt(c.right / c.total) if 2 * c.right > c.total else 0.0

    class Branching(tm.extend.AveragedMetric):
        """Precision that counts a single hit double."""

        why = "nothing"

        def fraction(self, c: Cells):
            return (2 * c.tp if c.tp == 1 else c.tp), c.tp + c.fp + 1

    class HalfAccuracy(tm.Accuracy):
        """Accuracy, the half of it."""

        aliases = {}

        def formula_value(self, c: Counts):
            return super().formula_value(c) / 2

    class Shifted(tm.Precision):
        """Precision, less a tenth."""

        aliases = {}

        def read(self, state):
            return self.to_answer(super().read(state).value - 0.1)

    class Odds(tm.extend.AveragedMetric):
        """Hits for one false alarm: more than the range that it did not declare."""

        why = "no false alarms"

        def fraction(self, c: Cells):
            return c.tp, c.fp

    y, s, _ = random_rows(3)
    table = tm.threshold_table(y, s)
    for metric in (Ugly(), Branching(), HalfAccuracy(), Shifted(), Odds()):
        for found, threshold in zip(table[metric], table.threshold, strict=True):
            assert same(found, metric(y, s >= threshold)), (metric, threshold)


def test_undefined_values_follow_the_metric():
    """A number stands for them, or an error."""
    table = tm.threshold_table(Y, S)
    assert table["precision(undefined=0.25)"][0] == 0.25
    assert table["precision(average=macro, undefined=0.25)"][0] == tm.precision(Y, [0] * 4, average="macro")
    with pytest.raises(tm.UndefinedError, match="no row was predicted positive"):
        table.values(tm.Precision(undefined="raise"))


def test_a_beta_too_large_for_floats():
    """The exact formula steps in."""
    table = tm.threshold_table(Y, S)
    for beta in (1e-200, 1e200):
        expected = [tm.fscore(Y, np.array(S) >= t, beta=beta) for t in table.threshold]
        assert table[tm.FScore(beta=beta)].tolist() == expected


def test_requested_metrics_stand_beside_the_counts():
    """The metrics that were asked for stand beside the counts; others are computed when asked for."""
    table = tm.threshold_table(Y, S, metrics=["mcc", "f2", tm.fscore, "f1"])
    assert list(table.columns) == ["threshold", "tp", "fp", "fn", "tn", "mcc", "fscore(beta=2)", "fscore"]
    assert str(tm.ThresholdTable(metrics="f2")) == "threshold_table(metrics=('fscore(beta=2)',))"
    assert np.array_equal(table["f1"], table.fscore)
    other = table.with_metrics("recall")
    assert list(other.columns)[5:] == ["recall"]
    assert other.to_pandas()["recall"].tolist() == table["recall"].tolist() == [0, 0.5, 0.5, 1, 1]
    assert json.loads(other.to_json())["threshold"][0] is None
    back = pickle.loads(pickle.dumps(table))
    assert back == table
    assert back.best() == table.best()
    assert type(back) is type(table)


def test_a_stream_gives_the_same_table():
    """To the last bit."""
    y, s, w = random_rows(8, 400)
    names = ["threshold_table", "best_threshold", "best_threshold(metric='fscore(beta=2)')", "best_threshold(fn=3)"]
    left, right = (tm.Tally(names).update(y[k], s[k], weights=w[k]) for k in (slice(None, 150), slice(150, None)))
    merged, whole = (right + left).report(), tm.evaluate(y, s, names, weights=w)
    for name in names:
        assert merged[name] == whole[name]
    assert all(
        held.tobytes() == merged["threshold_table"].columns[name].tobytes()
        for name, held in whole["threshold_table"].columns.items()
    )
    assert "threshold table" in str(whole)


def test_margins_keep_their_unit():
    """A threshold of margins is a margin."""
    table = tm.threshold_table([0, 1, 1], [-2.0, 0.5, 3.0], kind="margin")
    assert table.threshold.tolist() == [math.inf, 3.0, 0.5, -2.0]
    assert tm.best_threshold([0, 1, 1], [-2.0, 0.5, 3.0], kind="margin") == 0.5
