"""Analytic intervals: by hand, against SciPy, statsmodels and direct twins, in degenerate cases, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench.interval_coverage import POPULATIONS, interval_of, measure
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

import tallymark as tm
from tallymark._core import Tasks
from tallymark.batch import Batch
from tallymark.metrics import AveragedMetric, Interval, NoInterval
from tallymark.metrics.class_spread import cells_error, slopes
from tallymark.metrics.confidence import by_logit, mean_ends, sum_of_shares, wilson
from tallymark.metrics.delong import area_spread, place
from tallymark.states import Cells, ScoresOf, SumsOf, Term, moments
from tallymark.states.terms import CODES
from tallymark.target import Target

RNG = np.random.default_rng(7)
Y4 = RNG.integers(0, 4, 300)
P4 = np.where(RNG.random(300) < 0.7, Y4, RNG.integers(0, 4, 300))
Y2, P2 = (Y4 > 1).astype(int), (P4 > 1).astype(int)


def interval(name, y, p, level=0.95, **facts):
    return interval_of(tm.metric(name), y, p, facts, level)


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


def direct_delong(y, s):
    """The variance of the area from all pairs of rows, and Welch's degrees of freedom."""
    wins = np.sign(s[y == 1][:, None] - s[y == 0][None, :]) / 2 + 0.5
    m, n = wins.shape
    a, b = wins.mean(axis=1).var(ddof=1) / m, wins.mean(axis=0).var(ddof=1) / n
    return a + b, (a + b) ** 2 / max(a**2 / (m - 1) + b**2 / (n - 1), 1e-300)


@pytest.mark.parametrize("digits", [0, 1, 8])
def test_delong_is_that_of_all_pairs(digits):
    """With ties of every amount, and classes of any size."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = np.concatenate(([0, 0, 1, 1], rng.random(rng.integers(1, 150)) < rng.random())).astype(int)
        s = np.round(rng.normal(0, 1, len(y)) + y, digits)
        state = ScoresOf().fold(Batch(y, s))
        variance, freedom = direct_delong(y, s)
        found = area_spread(*state.binary())
        assert found.variance == pytest.approx(variance, rel=1e-10, abs=1e-15)
        ends = interval("auc", y, s)
        if isinstance(ends, Interval):
            value, reach = tm.auc(y, s), stats.t.ppf(0.975, freedom) * math.sqrt(variance)
            away = reach / (value * (1 - value))
            wanted = [1 / (1 + (1 - value) / value * math.exp(shift)) for shift in (away, -away)]
            assert ends[:2] == pytest.approx(wanted, rel=1e-9)
            assert interval("gini", y, s)[:2] == pytest.approx([2 * end - 1 for end in wanted], rel=1e-9, abs=1e-12)


def test_placements_are_shares_of_the_other_class():
    """Half of what ties counts."""
    negative, positive = ScoresOf().fold(Batch([0, 0, 0, 0, 1, 1, 1], [1, 2, 2, 5, 2, 2, 9])).binary()
    placed = place(positive, negative)
    assert placed.shares.tolist() == [0.5, 1.0]
    assert placed.counts.tolist() == [2, 1]


def test_correlations_are_those_of_scipy():
    """Fisher's z of values; for ranks the wider one of Bonett and Wright."""
    x, e = np.random.default_rng(3).normal(0, 1, (2, 80))
    y = 0.6 * x + 0.8 * e
    wanted = stats.pearsonr(x, y).confidence_interval(0.9)
    assert interval("pearson", x, y, 0.9)[:2] == pytest.approx(tuple(wanted), rel=1e-9)
    r = stats.spearmanr(x, y).statistic
    reach = stats.norm.ppf(0.95) * math.sqrt((1 + r * r / 2) / 77)
    wanted = np.tanh([math.atanh(r) - reach, math.atanh(r) + reach])
    assert interval("spearman", x, y, 0.9)[:2] == pytest.approx(wanted, rel=1e-9)


def test_a_median_lies_between_two_errors():
    """Those of SciPy's interval of a median, which are found in the same way."""
    e = np.abs(np.random.default_rng(4).normal(0, 1, 37))
    wanted = stats.quantile_test(e, p=0.5).confidence_interval(0.95)
    assert interval("median_absolute_error", np.zeros(37), e)[:2] == tuple(wanted)


def test_a_mean_bias_is_that_of_student():
    """SciPy's interval of a mean, even far from zero."""
    e = np.random.default_rng(3).normal(0, 1, 50)
    for far in (0.0, 2.0**40):
        wanted = stats.ttest_1samp(e, 0).confidence_interval(0.9)
        found = interval("mean_bias", np.full(50, -far), np.round(e, 4), 0.9)
        assert np.subtract(found[:2], far) == pytest.approx(tuple(wanted), abs=1e-3)
        assert found.method == "Student t"


def hall(x, level):
    """Hall's interval of a mean, in the words of his paper, with Student's quantiles for terms of such a skewness."""
    n, m, g = len(x), x.mean(), stats.skew(x)
    kurtosis = stats.gamma.stats(4 / g**2, moments="k") + 3
    t = stats.t.ppf(np.array([1 + level, 1 - level]) / 2, 2 * (n - 1) / (kurtosis - 1))
    q = (3 / (g / np.sqrt(n))) * (np.cbrt(1 + g / np.sqrt(n) * (t - g / (6 * np.sqrt(n)))) - 1)
    return m - q * x.std(ddof=1) / np.sqrt(n)


MEANS = {
    "mae": (lambda y, p: np.abs(p - y), lambda m: m),
    "mse": (lambda y, p: (p - y) ** 2, lambda m: m),
    "rmse": (lambda y, p: (p - y) ** 2, np.sqrt),
    "mase(scale=2)": (lambda y, p: np.abs(p - y), lambda m: m / 2),
    "msle": (lambda y, p: (np.log1p(p) - np.log1p(y)) ** 2, lambda m: m),
    "mape": (lambda y, p: np.abs(p - y) / np.abs(y), lambda m: 100 * m),
    "smape": (lambda y, p: np.abs(p - y) / (np.abs(y) + np.abs(p)), lambda m: 200 * m),
    "huber": (lambda y, p: np.where(abs(p - y) <= 1, 0.5 * (p - y) ** 2, abs(p - y) - 0.5), lambda m: m),
    "log_cosh": (lambda y, p: np.log(np.cosh(p - y)), lambda m: m),
    "poisson_deviance": (lambda y, p: 2 * (y * np.log(y / p) - y + p), lambda m: m),
    "gamma_deviance": (lambda y, p: 2 * (np.log(p / y) + y / p - 1), lambda m: m),
    "pinball(alphas=0.9)": (lambda y, p: np.where(p > y, 0.1 * (p - y), 0.9 * (y - p)), lambda m: m),
    "crps_quantile(alphas=0.5)": (lambda y, p: np.abs(p - y) / 2, lambda m: 2 * m),
}


@pytest.mark.parametrize("name", MEANS)
def test_means_are_those_of_hall(name):
    """From the exact totals of a term, its squares and its cubes."""
    rng = np.random.default_rng(11)
    y = rng.gamma(3, 2, 2500) + 0.5
    p = y * rng.gamma(20, 1 / 20, 2500)
    term, of_mean = MEANS[name]
    found = interval(name, y, p)
    assert found.method == "Hall"
    assert found[:2] == pytest.approx(of_mean(hall(term(y, p), 0.95)), rel=1e-9)


def test_costs_of_probabilities_are_those_of_hall():
    """One column, two, three, and margins."""
    rng = np.random.default_rng(5)
    p = rng.dirichlet([1, 2, 3], 400)
    y = (rng.random(400)[:, None] > p.cumsum(axis=1)[:, :2]).sum(axis=1)
    hot = np.eye(3)[y]
    facts = {"classes": [0, 1, 2]}
    assert interval("logloss", y, p, **facts)[:2] == pytest.approx(hall(-np.log((p * hot).sum(axis=1)), 0.95))
    assert interval("brier", y, p, **facts)[:2] == pytest.approx(hall(((p - hot) ** 2).sum(axis=1), 0.95))
    ranked = ((p.cumsum(axis=1) - hot.cumsum(axis=1)) ** 2)[:, :2].sum(axis=1) / 2
    assert interval("rps", y, p, **facts)[:2] == pytest.approx(hall(ranked, 0.95))
    b, q = (y == 2).astype(int), p[:, 2]
    loss = hall(-np.log(np.where(b == 1, q, 1 - q)), 0.95)
    assert interval("logloss", b, q)[:2] == pytest.approx(loss)
    assert interval("logloss", b, np.column_stack((1 - q, q)), classes=[0, 1])[:2] == pytest.approx(loss)
    assert interval("logloss", b, np.log(q / (1 - q)), kind="margin")[:2] == pytest.approx(loss)
    assert interval("brier", b, q)[:2] == pytest.approx(hall((b - q) ** 2, 0.95))


def test_margins_of_counts_are_read_through_their_link():
    """The powers of a deviance are those of what the link makes of the margins."""
    rng = np.random.default_rng(5)
    y, margins = rng.poisson(2, 300).astype(float), rng.normal(0.7, 0.3, 300)
    found = interval("poisson_deviance", y, margins, kind="margin")
    assert found[:2] == pytest.approx(interval("poisson_deviance", y, np.exp(margins))[:2], rel=1e-12)


PARAMETERS = {"relative_error": (1.5,), "huber": (1.5,), "deviance": (1.5,), "pinball": (0.3,)}


def test_every_power_of_a_term_is_its_power():
    """The native totals against NumPy, weighted and not, over more than one block of rows."""
    rng = np.random.default_rng(2)
    y, w = rng.gamma(3, 1, 3000) + 0.1, rng.random(3000)
    p = y * rng.gamma(9, 1 / 9, 3000)
    for name in CODES:
        base, _, power = name.rpartition("_")
        if power not in ("squares", "cubes") or base.startswith("exact") or base in ("log_loss", "interval"):
            continue
        parameters = PARAMETERS.get(base, ())
        one, high = Term(base, parameters), Term(name, parameters)
        each = [SumsOf(one).fold(Batch([a], [b])).at(0).total(one) for a, b in zip(y[:50], p[:50], strict=True)]
        wanted = np.array(each) ** (2 if power == "squares" else 3)
        found = SumsOf(high).fold(Batch(y[:50], p[:50])).at(0).total(high)
        assert found == pytest.approx(wanted.sum(), rel=1e-13)
        heavy = SumsOf(high).fold(Batch(y[:50], p[:50], w[:50])).at(0).total(high)
        assert heavy == pytest.approx((wanted * w[:50]).sum(), rel=1e-13)
    high = Term("squared_error_cubes")
    assert SumsOf(high).fold(Batch(y, p)).at(0).total(high) == pytest.approx(((y - p) ** 6).sum(), rel=1e-12)


def test_terms_without_powers_are_refused():
    """The core knows no square of a count."""
    for code in (CODES["covered"] + 64, CODES["exact_error"] + 128, CODES["huber"] + 192, -1, 63):
        with pytest.raises(ValueError, match="no such term"):
            Tasks([(code, 1.0, 0, 0)])


def test_several_outputs():
    """Each has its own; the mean of them has none."""
    y = np.random.default_rng(1).normal(0, 1, (40, 2))
    p = y + np.random.default_rng(2).normal(0, 1, (40, 2))
    found = interval("mae(outputs=each)", y, p)
    for k in range(2):
        assert (found.lo[k], found.hi[k]) == interval("mae", y[:, k], p[:, k])[:2]
    assert interval("mae", y, p) is None
    p[:, 1] = y[:, 1]
    found = interval("mae(outputs=each)", y, p)
    assert found.lo[1] is None
    assert found.notes[0].startswith("output 1: the rows are all alike")


SAME = "the rows are all alike in what the metric reads, so they do not show how far it can move"
FOUR = "fewer than four rows do not show how far a correlation can move"
END = "the value is as far as it can go, where the rows show no variation"


@pytest.mark.parametrize(
    ("name", "y", "p", "reason"),
    [
        ("auc", [0, 0, 1, 1], [1, 2, 3, 4], END),
        ("auc", [0, 0, 1, 1], [4, 3, 2, 1], END),
        ("auc", [0, 0, 1, 1], [1, 1, 1, 1], SAME),
        ("auc", [0, 0, 1], [1, 3, 2], "one row of a class does not show how far the value can move"),
        ("auc", [1, 1, 1], [1, 3, 2], "all rows are of one class"),
        ("mae", [1.0], [2.0], "one row does not show how far the value can move"),
        ("mae", [1.0, 2.0, 3.0], [2.0, 3.0, 4.0], SAME),
        ("rmse", [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], SAME),
        ("mean_bias", [1.0, 2.0], [2.0, 3.0], SAME),
        ("logloss", [0, 1], [0.5, 0.5], SAME),
        ("logloss(clip=0)", [0, 1, 1], [0.5, 0.5, 0.0], "a class that happened had probability 0"),
        (
            "pearson",
            [1.0, 2.0, 4.0],
            [1.0, 3.0, 2.0],
            "fewer than four rows do not show how far a correlation can move",
        ),
        ("pearson", [1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0], END),
        ("pearson", [1.0, 1.0, 1.0, 1.0], [2.0, 4.0, 6.0, 8.0], "the truth is constant"),
        ("spearman", [1.0, 2.0, 3.0, 4.0], [1.0, 9.0, 10.0, 40.0], END),
        ("median_absolute_error", [1.0] * 5, [1.0, 2.0, 3.0, 4.0, 5.0], "5 rows are too few for a level of 0.95"),
        ("median_absolute_error", [1.0] * 9, [2.0] * 9, SAME),
        ("precision", [0, 1], [0, 0], "nothing was predicted positive"),
        ("precision(average=None)", [], [], "no rows"),
        ("f2", [0, 1, 1], [0, 1, 1], END),
        ("fscore(average=macro)", [0, 1, 1], [0, 1, 1], END),
        ("fscore(average=macro_pr)", [0, 1, 1], [0, 1, 1], END),
        ("fscore(average=macro_pr)", [0, 1, 1], [1, 0, 0], END),
        ("mcc", [0, 1, 1], [0, 1, 1], END),
        ("mcc", [0, 1, 1], [1, 1, 1], "the predictions are constant"),
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
    for name in ("recall", "fscore", "balanced_accuracy", "informedness", "recall(average=macro)"):
        assert 0 < interval(name, [0, 1] * 5, [0, 1] * 5).lo < interval(name, [0, 1] * 5, [0, 1] * 5).hi == 1.0


def test_few_rows_are_said():
    """Of a class, or in all."""
    few = "the interval may hold the value less often than its level says"
    y, p = [0] * 20 + [1] * 3, [0] * 18 + [1, 1] + [1, 1, 0]
    assert interval("recall", y, p).notes == (f"with 3 rows {few}",)
    assert interval("accuracy", y, p).notes == ()
    assert interval("balanced_accuracy", y, p).notes == (f"with 3 rows of a class {few}",)
    assert interval("auc", y, np.linspace(0, 1, 23)[::-1] + np.array(p)).notes == (f"with 3 rows of a class {few}",)
    assert interval("mae", [1.0, 2.0, 3.0], [1.0, 3.0, 5.0]).notes == (f"with 3 rows {few}",)


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
    for average in ("binary", "macro", "micro"):  # beta as a fraction of whole numbers is beyond float64
        assert interval(f"fscore(beta=1e-200, average={average})", Y2, P2) is None


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


def test_what_predictions_cannot_move_has_no_interval():
    """Every row is called one of four classes: their mean share is a quarter, whatever the model."""
    for average in ("micro", "macro"):
        assert interval(f"selection_rate(average={average})", Y4, P4) == NoInterval(SAME)
    wanted = proportion_confint((P2 == 1).sum(), 300, 0.05, "wilson")
    assert interval("selection_rate", Y2, P2)[:2] == pytest.approx(wanted, rel=1e-10)


def test_slopes_are_exact():
    """A quotient of squares has the derivative that calculus says; what does not go by shares has none."""
    found = slopes(lambda c: (c.tp * c.tp, c.fp * c.fn), Cells(3.0, 2.0, 5.0, 1.0))
    assert list(found) == pytest.approx([0.6, -0.45, -0.18, 0.0], rel=1e-14)
    with pytest.raises(TypeError, match="no slopes"):
        slopes(lambda c: (c.tp, c.tp + c.fp + 1), Cells(3.0, 2.0, 5.0, 1.0))


def test_moments_know_their_digits():
    """A variance that is a matter of rounding is none; a skewness that is, too."""
    x = np.array([1.0, 2.0, 4.0, 8.0])
    found = moments(4, 4, 15, 85, 585)
    assert found == pytest.approx((x.mean(), x.var(ddof=1), stats.skew(x)), rel=1e-14)
    assert moments(4, 4, 4 * 10**9, 4 * 10**18 + 10, 4 * 10**27).variance == 0.0
    assert mean_ends(None, 4, 0.95) == NoInterval("the terms are too large or too small for float64")


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
    "normal errors": ("mae", "rmse", "mean_bias"),
    "errors of t, 5 degrees": ("mae", "mse", "rmse"),
    "correlation 0.9": ("pearson", "spearman"),
}


@pytest.mark.slow
@pytest.mark.parametrize("title", QUICK)
def test_intervals_hold_as_often_as_they_say(title):
    """On 200 rows, 95 of 100 intervals hold the value: within a point and a half, and what 1,000 trials can tell."""
    population = POPULATIONS[title]._replace(metrics=QUICK[title])
    for name, found in measure(population, 200, 1000, seed=1).items():
        chance = 3 * math.sqrt(0.95 * 0.05 / 1000)
        assert abs(found.held - 0.95) < 0.015 + chance, (name, found)
