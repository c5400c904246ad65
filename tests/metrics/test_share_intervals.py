"""Analytic intervals of shares of rows and what is made of them, against statsmodels and jackknives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench.interval_coverage import interval_of
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint
from tests.interval_rows import P2, P4, Y2, Y4, interval

import tallymark as tm
from tallymark.metrics import AveragedMetric
from tallymark.metrics.class_spread import cells_error, slopes
from tallymark.metrics.confidence import by_logit, sum_of_shares, wilson
from tallymark.states import Cells


def test_wilson_is_that_of_statsmodels():
    """For counts of any size and any level."""
    for rows in (1, 2, 9, 10, 57, 1_000, 10**9):
        for hits in {0, 1, rows // 3, rows - 1, rows}:
            for level in (0.5, 0.9, 0.95, 0.999):
                wanted = proportion_confint(hits, rows, 1 - level, "wilson")
                assert wilson(hits, rows, level) == pytest.approx(wanted, rel=1e-10, abs=1e-15)


def test_a_sum_of_shares_holds_as_often_as_it_says():
    """Two classes or fifty, large or of ten rows."""
    rng = np.random.default_rng(0)
    cases = [((0.8, 0.9), (60, 140)), ((0.64, 0.76, 0.86, 0.94), (20, 40, 60, 80)), ((0.9,) * 50, (10,) * 50)]
    for chances, rows in cases:
        hits, weight = rng.binomial(rows, chances, (4_000, len(rows))), 1 / len(rows)
        ends = [sum_of_shares([(weight, h, n) for h, n in zip(one, rows, strict=True)], 0.95) for one in hits]
        held = np.mean([lo <= np.mean(chances) <= hi for lo, hi in ends])
        assert abs(held - 0.95) < 0.015 + 3 * math.sqrt(0.95 * 0.05 / 4000)


def test_a_difference_of_shares_turns_around():
    """The first less the second is the second less the first, with the signs changed; near to Newcombe's."""
    for a, n, b, m in ((7, 10, 3, 12), (0, 5, 9, 9), (45, 60, 20, 70)):
        lo, hi = sum_of_shares([(1, a, n), (-1, b, m)], 0.95)
        assert sum_of_shares([(1, b, m), (-1, a, n)], 0.95) == pytest.approx((-hi, -lo), rel=1e-12)
        wanted = confint_proportions_2indep(a, n, b, m, method="newcomb", compare="diff")
        assert (lo, hi) == pytest.approx(wanted, abs=0.12 if min(n, m) < 10 else 0.06)


@pytest.mark.parametrize(
    ("name", "hits", "rows"),
    [
        ("accuracy", Y2 == P2, None),
        ("error_rate", Y2 != P2, None),
        ("precision", Y2 == 1, P2 == 1),
        ("fdr", Y2 == 0, P2 == 1),
        ("recall", P2 == 1, Y2 == 1),
        ("fnr", P2 == 0, Y2 == 1),
        ("specificity", P2 == 0, Y2 == 0),
        ("fallout", P2 == 1, Y2 == 0),
        ("npv", Y2 == 0, P2 == 0),
        ("jaccard", Y2 == P2, (Y2 == 1) | (P2 == 1)),
    ],
)
def test_shares_of_rows(name, hits, rows):
    """Each is a share of the rows that its denominator counts."""
    rows = np.ones(300, bool) if rows is None else rows
    wanted = proportion_confint((hits & rows).sum(), rows.sum(), 0.05, "wilson")
    assert interval(name, Y2, P2)[:2] == pytest.approx(wanted, rel=1e-10)


def test_classes_have_intervals_of_their_own():
    """Under the same keys as the values."""
    found = interval("recall(average=None)", Y4, P4)
    for k in range(4):
        wanted = proportion_confint(((k == Y4) & (k == P4)).sum(), (k == Y4).sum(), 0.05, "wilson")
        assert (found.lo[k], found.hi[k]) == pytest.approx(wanted, rel=1e-10)


def test_a_class_without_rows_says_so():
    """Its ends are None, and those of the others stand."""
    found = interval("precision(average=None)", [0, 1, 2, 2], [0, 1, 1, 0])
    assert found.lo[2] is None
    assert found.hi[2] is None
    assert found.lo[0] < 0.5 < found.hi[0]
    assert "class 2: nothing was predicted positive" in found.notes


def test_micro_averages_are_functions_of_accuracy():
    """With one label per row, all rows count alike."""
    ends = interval("accuracy", Y4, P4)[:2]
    for name in ("precision", "recall", "fscore", "f2"):
        assert interval(f"{name}(average=micro)" if name != "f2" else "fscore(beta=2, average=micro)", Y4, P4)[
            :2
        ] == pytest.approx(ends, rel=1e-12)
    assert interval("jaccard(average=micro)", Y4, P4)[:2] == pytest.approx([a / (2 - a) for a in ends], rel=1e-12)
    assert interval("specificity(average=micro)", Y4, P4)[:2] == pytest.approx([1 - (1 - a) / 3 for a in ends])


def jackknife(metric, y, p):
    """The standard error by leaving out rows, which every smooth value has."""
    values, counts = [], []
    for i, j in {(int(a), int(b)) for a, b in zip(y, p, strict=True)}:
        same = (y == i) & (p == j)
        keep = np.ones(len(y), bool)
        keep[np.flatnonzero(same)[0]] = False
        values.append(metric(y[keep], p[keep]))
        counts.append(same.sum())
    values, counts, n = np.array(values), np.array(counts), len(y)
    return math.sqrt((n - 1) / n * np.sum(counts * (values - np.average(values, weights=counts)) ** 2))


@pytest.mark.parametrize(
    "name",
    [
        *(
            f"{n}(average={a})"
            for n in ("fscore", "jaccard", "specificity", "informedness")
            for a in ("macro", "weighted")
        ),
        *("precision(average=weighted)", "fscore(beta=2, average=macro)", "fscore(average=macro_pr)"),
        *("fscore(beta=2, average=macro_pr)", "mcc", "kappa", "kappa(weighting=linear)", "kappa(weighting=quadratic)"),
    ],
)
def test_the_delta_method_is_what_leaving_out_rows_says(name):
    """The standard error behind the interval is that of the jackknife, nearly."""
    y, p = np.tile(Y4, 20), np.tile(P4, 20)
    metric = tm.metric(name)
    value = metric(y, p)
    wanted = by_logit(value, jackknife(metric, y, p), 0.95, metric.range)
    found = interval(name, y, p)
    assert found.method == "delta"
    assert found[:2] == pytest.approx(wanted, rel=2e-5)


def test_two_classes_of_f():
    """F1 is a function of the share of rows in the intersection; other betas go by the delta method."""
    tp, either = ((Y2 == 1) & (P2 == 1)).sum(), ((Y2 == 1) | (P2 == 1)).sum()
    lo, hi = proportion_confint(tp, either, 0.05, "wilson")
    assert interval("fscore", Y2, P2)[:2] == pytest.approx((2 * lo / (1 + lo), 2 * hi / (1 + hi)), rel=1e-10)
    y, p = np.tile(Y2, 20), np.tile(P2, 20)
    wanted = by_logit(tm.fscore(y, p, beta=2), jackknife(tm.FScore(beta=2), y, p), 0.95, (0, 1))
    assert interval("f2", y, p)[:2] == pytest.approx(wanted, rel=2e-5)


def test_the_standard_error_of_binary_f_is_that_of_takahashi():
    """F (1 − F) (2 − F) / (2 TP + FP + FN), as Takahashi and others (2022) have it."""
    for tp, fp, fn, tn in ((60, 13, 22, 5), (1, 1, 1, 0), (900, 3, 1, 10**6)):
        f, below = 2 * tp / (2 * tp + fp + fn), 2 * tp + fp + fn
        found = cells_error(tm.fscore.fraction, Cells(tp, fp, fn, tn))
        assert found == pytest.approx(math.sqrt(f * (1 - f) * (2 - f) / below), rel=1e-12)


def test_slopes_are_exact():
    """A quotient of squares has the derivative that calculus says; what does not go by shares has none."""
    found = slopes(lambda c: (c.tp * c.tp, c.fp * c.fn), Cells(3.0, 2.0, 5.0, 1.0))
    assert list(found) == pytest.approx([0.6, -0.45, -0.18, 0.0], rel=1e-14)
    with pytest.raises(TypeError, match="no slopes"):
        slopes(lambda c: (c.tp, c.tp + c.fp + 1), Cells(3.0, 2.0, 5.0, 1.0))


def test_rounding_never_takes_the_slopes_from_a_perfect_class():
    """Slopes of 0 come with rounding errors, which are no reason to resample."""
    for metric in (tm.precision, tm.fdr, tm.recall, tm.fnr, tm.specificity, tm.fallout, tm.npv, tm.fscore, tm.jaccard):
        for rows in range(1, 30):
            for fp, fn in ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0)):
                slopes(metric.fraction, Cells(float(rows), fp, fn, float(rows)))


def test_a_rate_of_ones_own_has_an_interval_without_a_formula_of_its_own():
    """By the delta method, if its fraction is one of any numbers."""

    class Threat(AveragedMetric, abstract=True):
        name = "threat"
        why = "nothing happened"

        def fraction(self, c):
            return c.tp, c.tp + 2 * c.fp + c.fn

    class WholeThreat(Threat, abstract=True):
        def fraction(self, c):
            return c.tp, c.tp + 2 * c.fp + int(c.fn)

    y, p = np.tile(Y2, 20), np.tile(P2, 20)
    metric = Threat()
    wanted = by_logit(metric(y, p), jackknife(metric, y, p), 0.95, (0, 1))
    assert interval_of(metric, y, p, {})[:2] == pytest.approx(wanted, rel=2e-5)
    assert interval_of(WholeThreat(), y, p, {}) is None
