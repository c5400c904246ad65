"""Analytic intervals: in degenerate cases, of metrics of one's own, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench.interval_coverage import POPULATIONS, measure
from statsmodels.stats.proportion import proportion_confint
from tests.interval_rows import P2, P4, Y2, Y4, interval

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.intervals.analytic import NoInterval

SAME = "the rows do not vary in what the metric reads, so its variance cannot be estimated"
FOUR = "the variance of a correlation cannot be estimated from fewer than four rows"
END = "the metric is at its limit, so its variance cannot be estimated"


@pytest.mark.parametrize(
    ("name", "y", "p", "reason"),
    [
        ("auc", [0, 0, 1, 1], [1, 2, 3, 4], END),
        ("auc", [0, 0, 1, 1], [4, 3, 2, 1], END),
        ("auc", [0, 0, 1, 1], [1, 1, 1, 1], SAME),
        ("auc", [0, 0, 1], [1, 3, 2], "the variance cannot be estimated from one row of a class"),
        ("auc", [1, 1, 1], [1, 3, 2], "all rows are of one class"),
        ("mae", [1.0], [2.0], "the variance cannot be estimated from one row"),
        ("mae", [1.0, 2.0, 3.0], [2.0, 3.0, 4.0], SAME),
        ("rmse", [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], SAME),
        ("mean_bias", [1.0, 2.0], [2.0, 3.0], SAME),
        ("logloss", [0, 1], [0.5, 0.5], SAME),
        ("logloss(clip=0)", [0, 1, 1], [0.5, 0.5, 0.0], "a class that happened had probability 0"),
        ("pearson", [1.0, 2.0, 4.0], [1.0, 3.0, 2.0], FOUR),
        ("pearson", [1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0], END),
        ("pearson", [1.0, 1.0, 1.0, 1.0], [2.0, 4.0, 6.0, 8.0], "the truth is constant"),
        ("spearman", [1.0, 2.0, 3.0, 4.0], [1.0, 9.0, 10.0, 40.0], END),
        ("median_absolute_error", [1.0] * 5, [1.0, 2.0, 3.0, 4.0, 5.0], "5 rows are too few for a level of 0.95"),
        ("median_absolute_error", [1.0] * 9, [2.0] * 9, SAME),
        ("precision", [0, 1], [0, 0], "no row was predicted positive"),
        ("precision(average=None)", [], [], "no rows"),
    ],
)
def test_degenerate_rows_say_why_there_is_no_interval(name, y, p, reason):
    """An interval of no width would claim to know."""
    metric = tm.metric(name)
    reads = metric.interval_reads(Target()) or metric.needs(Target())
    state = reads.fold(Batch(y, p)) if y else reads.zero()
    assert metric.interval(state, 0.95) == NoInterval(reason)


def test_perfect_shares_still_have_an_interval():
    """Ten right of ten leave room below."""
    found = interval("accuracy", [0, 1] * 5, [0, 1] * 5)
    assert found.hi == 1.0
    assert found.lo == pytest.approx(0.7224672001371107)
    for name in ("recall", "fscore", "recall(average=weighted)", "fscore(average=micro)"):
        assert 0 < interval(name, [0, 1] * 5, [0, 1] * 5).lo < interval(name, [0, 1] * 5, [0, 1] * 5).hi == 1.0


def test_few_rows_are_said():
    """Of a class, or in all."""
    few = "coverage may be below the nominal level"
    y, p = [0] * 20 + [1] * 3, [0] * 18 + [1, 1] + [1, 1, 0]
    assert interval("recall", y, p).notes == (f"only 3 rows are truly positive: {few}",)
    assert interval("accuracy", y, p).notes == ()
    assert interval("auc", y, np.linspace(0, 1, 23)[::-1] + np.array(p)).notes == (f"only 3 rows of one class: {few}",)
    assert interval("mae", [1.0, 2.0, 3.0], [1.0, 3.0, 5.0]).notes == (f"only 3 rows: {few}",)


def test_few_rows_of_fscore_are_those_of_jaccard():
    """Of which it is a function: rows that are positive in truth or prediction, not the fewer of both."""
    y = [1] * 50 + [0] * 50
    assert interval("fscore", y, [0] * 100).notes == ()  # no row was predicted positive
    for positives in (4, 9, 10):
        y, p = [1] * positives + [0] * 30, [1] * 3 + [0] * (27 + positives)
        found, same = interval("fscore", y, p), interval("jaccard", y, p)
        assert found.notes == same.notes
        assert bool(found.notes) == (positives < 10)
        assert found[:2] == pytest.approx([2 * end / (1 + end) for end in same[:2]])


def test_some_rows_have_none():
    """Where values go together in a way that the state does not keep."""
    table = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    assert interval("fscore(average=macro)", table, table[::-1]) is None
    assert interval("fscore(average=macro_pr)", table, table[::-1]) is None
    assert interval("recall(average=micro)", table, table[::-1]) is None
    assert interval("hamming_loss", table, table[::-1]) is None
    assert interval("accuracy", table, table).method == "Wilson"
    assert interval("recall(average=None)", table, table).method == "Wilson"
    assert interval("auc", [0, 1, 2, 0, 1, 2], np.eye(3)[[0, 1, 2, 1, 2, 0]], classes=[0, 1, 2]) is None
    assert interval("auc(max_fpr=0.5)", [0, 1, 0, 1], [1, 2, 3, 4]) is None
    assert interval("auc(bounded=8)", [0, 1, 0, 1], [1, 2, 3, 4]) is None
    assert interval("r2", [1.0, 2.0], [1.0, 3.0]) is None
    assert interval("fscore(beta=1e-200, average=micro)", Y2, P2) is None  # whose square is beyond float64


def test_what_predictions_cannot_move_has_no_interval():
    """Every row is called one of four classes: their mean share is a quarter, whatever the model."""
    assert interval("selection_rate(average=micro)", Y4, P4) == NoInterval(SAME)
    mean = tm.evaluate(Y4, P4, ["selection_rate(average=macro)"], ci=0.95).cell("selection_rate(average=macro)")
    assert mean.notes == (f"no interval: {SAME}",)
    wanted = proportion_confint((P2 == 1).sum(), 300, 0.05, "wilson")
    assert interval("selection_rate", Y2, P2)[:2] == pytest.approx(wanted, rel=1e-10)


QUICK = {
    "two classes, 30 %": ("accuracy", "recall", "fscore", "f2", "informedness", "mcc"),
    "four classes": (
        "balanced_accuracy",
        "precision(average=macro)",
        "fscore(average=macro)",
        "fscore(average=weighted)",
    ),
    "scores, AUC 0.92": ("auc",),
    "scores with ties": ("auc",),
    "probabilities": ("logloss", "brier"),
    "normal errors": ("mae", "rmse", "mean_bias", "median_absolute_error"),
    "errors of t, 5 degrees": ("mae", "mse", "rmse"),
    "predicted intervals": ("interval_score",),
    "correlation 0.9": ("pearson", "spearman"),
}


@pytest.mark.slow
@pytest.mark.parametrize("title", QUICK)
def test_intervals_cover_about_as_often_as_they_say(title):
    """On 200 rows, 95 of 100 intervals contain the value, up to the shortfall that the documentation has and what 400
    trials can tell."""
    population = POPULATIONS[title]._replace(metrics=QUICK[title])
    for name, found in measure(population, 200, 400, seed=1).items():
        chance = 3 * math.sqrt(0.95 * 0.05 / 400)
        assert abs(found.held - 0.95) < 0.03 + chance, (name, found)


def test_a_cost_of_clipped_probabilities_has_no_interval():
    """Probabilities of 0 and 1 that are right are held off them, and differ by rounding only."""
    y = np.arange(40) % 2
    perfect = tm.evaluate(y, y.astype(float), ["logloss"], kind="probability", ci=0.95).cell("logloss")
    assert perfect.lo is None
    assert any("the rows do not vary" in note for note in perfect.notes)


def test_one_row_is_too_few():
    """And is told as one."""
    found = tm.evaluate([1.0], [2.0], ["median_absolute_error"], ci=0.95).cell("median_absolute_error")
    assert any("1 row is too few" in note for note in found.notes)
