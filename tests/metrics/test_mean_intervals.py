"""Analytic intervals of areas, correlations, medians and means, against SciPy and direct twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from tests.interval_rows import interval

import tallymark as tm
from tallymark._core import Tasks
from tallymark.data.batch import Batch
from tallymark.intervals.analytic import Interval, NoInterval, delong_variance, mean_ends
from tallymark.states.scores.scores import ScoresOf
from tallymark.states.sums import CODES, POWERS, Moments, SumsOf, Term, moments


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
        found = delong_variance(state.placements())
        assert found.variance == pytest.approx(variance, rel=1e-10, abs=1e-15)
        ends = interval("auc", y, s)
        if isinstance(ends, Interval):
            value, reach = tm.auc(y, s), stats.t.ppf(0.975, freedom) * math.sqrt(variance)
            away = reach / (value * (1 - value))
            wanted = [1 / (1 + (1 - value) / value * math.exp(shift)) for shift in (away, -away)]
            assert ends[:2] == pytest.approx(wanted, rel=1e-9)
            assert interval("gini", y, s)[:2] == pytest.approx([2 * end - 1 for end in wanted], rel=1e-9, abs=1e-12)


def test_ranks_among_the_other_class_count_ties_half():
    """Twice the rows on one side, and half of what ties."""
    found = ScoresOf().fold(Batch([0, 0, 0, 0, 1, 1, 1], [1, 2, 2, 5, 2, 2, 9])).placements()
    below, above = [4, 4, 8], [6, 4, 4, 2]
    assert found == (4, 3, sum(below), sum(k * k for k in above), sum(k * k for k in below))
    assert sum(above) == sum(below)


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


@pytest.mark.parametrize(("rows", "level"), [(2, 0.4), (6, 0.95), (7, 0.9), (37, 0.95), (200, 0.95), (5001, 0.99)])
def test_a_median_lies_just_inside_two_errors(rows, level):
    """Those of SciPy's interval of a median, drawn in towards the next errors until errors of Laplace about the median
    would keep the level exactly: there the gaps on either side of it are exponential."""
    e = np.arange(1.0, rows + 1)  # the next error is always one away
    wide = stats.quantile_test(e, p=0.5).confidence_interval(level)
    lo, hi = interval("median_absolute_error", np.zeros(rows), e, level)[:2]
    inward = lo - wide.low
    assert 0 <= inward < 1
    assert wide.high - hi == pytest.approx(inward, rel=1e-9, abs=1e-12)
    below = int(wide.low)  # errors at or below the lower end of SciPy
    crossed = inward * below / (inward * below + (1 - inward) * (rows - below))
    missed = stats.binom.cdf(below - 1, rows, 0.5) + stats.binom.pmf(below, rows, 0.5) * crossed
    assert 2 * missed == pytest.approx(1 - level, rel=1e-9)


def test_a_mean_bias_is_that_of_student():
    """SciPy's interval of a mean, even far from zero."""
    e = np.random.default_rng(3).normal(0, 1, 50)
    for far in (0.0, 2.0**40):
        wanted = stats.ttest_1samp(e, 0).confidence_interval(0.9)
        found = interval("mean_bias", np.full(50, -far), np.round(e, 4), 0.9)
        assert np.subtract(found[:2], far) == pytest.approx(tuple(wanted), abs=1e-3)
        assert found.method == "Student t"


def hall(x, level):
    """Hall's interval of a mean, in the words of his paper, with Student's quantiles."""
    n, m, g = len(x), x.mean(), stats.skew(x)
    t = stats.t.ppf(np.array([1 + level, 1 - level]) / 2, n - 1)
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
    """From the exact totals of a term and its powers."""
    rng = np.random.default_rng(11)
    y = rng.gamma(3, 2, 2500) + 0.5
    p = y * rng.gamma(20, 1 / 20, 2500)
    term, from_mean = MEANS[name]
    found = interval(name, y, p)
    assert found.method == "Hall"
    assert found[:2] == pytest.approx(from_mean(hall(term(y, p), 0.95)), rel=1e-9)


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
        if power not in POWERS or base.startswith("exact") or base in ("log_loss", "interval"):
            continue
        parameters = PARAMETERS.get(base, ())
        one, high = Term(base, parameters), Term(name, parameters)
        each = [SumsOf(one).fold(Batch([a], [b])).at(0).total(one) for a, b in zip(y[:50], p[:50], strict=True)]
        wanted = np.array(each) ** (2 + POWERS.index(power))
        found = SumsOf(high).fold(Batch(y[:50], p[:50])).at(0).total(high)
        assert found == pytest.approx(wanted.sum(), rel=1e-13)
        heavy = SumsOf(high).fold(Batch(y[:50], p[:50], w[:50])).at(0).total(high)
        assert heavy == pytest.approx((wanted * w[:50]).sum(), rel=1e-13)
    for power, name in enumerate(POWERS, 2):
        high = Term(f"squared_error_{name}")
        wanted = ((y - p) ** (2 * power)).sum()
        assert SumsOf(high).fold(Batch(y, p)).at(0).total(high) == pytest.approx(wanted, rel=1e-12)


def test_terms_without_powers_are_refused():
    """The core knows no square of a count."""
    for code in (CODES["covered"] + 64, CODES["exact_error"] + 128, CODES["huber"] + 256, -1, 63):
        with pytest.raises(ValueError, match="no such term"):
            Tasks([(code, 1.0, 0, 0)])


def test_each_output_has_an_interval_and_their_mean_has_none():
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
    assert found.notes[0].startswith("output 1: the rows do not vary")


def test_moments_know_their_digits():
    """A variance that is a matter of rounding is none; a skewness that is, too."""
    x = np.array([1.0, 2.0, 4.0, 8.0])
    assert moments(4, 4, 15, 85, 585) == pytest.approx((x.mean(), x.var(ddof=1), stats.skew(x)), rel=1e-14)
    far = 10**3
    found = moments(4, 4, *(sum((far + k) ** power for k in (1, 2, 4, 8)) for power in (1, 2, 3)))
    assert found.skewness == pytest.approx(stats.skew(x), rel=1e-12)
    assert moments(4, 4, 4 * 10**9, 4 * 10**18 + 10, 4 * 10**27).variance == 0.0
    assert mean_ends(None, 4, 0.95) == NoInterval("the terms are too large or too small for float64")


def test_terms_without_skewness_have_the_interval_of_student():
    """Hall's cubic is then the identity."""
    for rows in (2, 10, 1000):
        reach = stats.t.ppf(0.95, rows - 1) * math.sqrt(2.0 / rows)
        assert mean_ends(Moments(5.0, 2.0, 0.0), rows, 0.9) == pytest.approx((5 - reach, 5 + reach), rel=1e-9)


@pytest.mark.parametrize("metric", ["mae", "rmse", "mse"])
def test_ends_follow_the_unit_or_are_not_there(metric):
    """Powers of very small and very large errors leave float64 before the errors do."""
    rng = np.random.default_rng(3)
    y, p = rng.normal(size=(2, 300))
    own = interval(metric, y, p)
    step = 2 if metric == "mse" else 1
    kept = 0
    for power in range(-500, 501, 20):
        found = interval(metric, np.ldexp(y, power), np.ldexp(p, power))
        if isinstance(found, NoInterval):
            assert "too large or too small" in found.reason
            continue
        kept += 1
        # Near the edge the cubes lose digits, and with them the skewness.
        np.testing.assert_allclose(np.ldexp([found.lo, found.hi], -step * power), [own.lo, own.hi], rtol=0.01)
    assert kept > 12
