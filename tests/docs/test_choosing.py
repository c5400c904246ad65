"""The page on choosing a metric: what its table says of the regression metrics is so on data."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tallymark as tm
from tests.docs.pages import DOCS

sys.path.insert(0, str(DOCS))
from generators.decision_page import BETWEEN, KINK, MEAN, MEDIAN, MINIMISED, RANKS, YES

sys.path.pop(0)

Y = np.random.default_rng(8).lognormal(1.0, 0.8, 401)
GRID = np.linspace(Y.min(), Y.max(), 2001)
STEP = GRID[1] - GRID[0]
LOGS = np.log1p(Y)


def metric_of(name):
    """The metric, with the error of a naive forecast if it needs one."""
    return tm.metric(name, scale=1.0) if name == "mase" else tm.metric(name)


def weighted_median(values, weights):
    order = np.argsort(values)
    return values[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)]


def shortest_half(values):
    ranked, half = np.sort(values), len(values) // 2
    k = np.argmin(ranked[half:] - ranked[: len(ranked) - half])
    return (ranked[k] + ranked[k + half]) / 2


ESTIMATED = {
    MEAN: Y.mean(),
    MEDIAN: np.median(Y),
    "the centre of the range": (Y.min() + Y.max()) / 2,
    "the centre of the shortest half": shortest_half(Y),
    "the median weighted by 1 / y: below the median": weighted_median(Y, 1 / Y),
    "the mean of log(1 + y), transformed back: below the mean": np.expm1(LOGS.mean()),
}


def test_every_regression_metric_is_in_the_table():
    """And nothing else; metrics that other tests define do not count."""
    assert set(MINIMISED) == {row.name for row in tm.list_metrics("regression") if row.name in tm.__all__}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, row in MINIMISED.items() if row.estimates in ESTIMATED])
def test_the_best_constant_is_what_the_table_says(name):
    """Over a fine grid of constants on skewed data, on which mean, median and centre differ."""
    metric = metric_of(name)
    sign = -1 if metric.better == "higher" else 1
    values = [sign * metric(Y, np.full(len(Y), constant)) for constant in GRID]
    assert GRID[int(np.argmin(values))] == pytest.approx(ESTIMATED[MINIMISED[name].estimates], abs=2 * STEP)


@pytest.mark.parametrize("name", [name for name, row in MINIMISED.items() if row.estimates == BETWEEN])
def test_a_compromise_lies_between_median_and_mean(name):
    """Nearer to one or the other, as the errors are large or small."""
    metric = metric_of(name)
    values = [metric(Y, np.full(len(Y), constant)) for constant in GRID]
    assert np.median(Y) < GRID[int(np.argmin(values))] < Y.mean()


def test_percentage_errors_of_both_sides_estimate_a_weighted_median():
    """The weights depend on the constant: at the best one, it is the median under the weights it gives."""
    best = GRID[int(np.argmin([tm.smape(Y, np.full(len(Y), constant)) for constant in GRID]))]
    assert best == pytest.approx(weighted_median(Y, Y / (Y + best) ** 2), abs=2 * STEP)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_quantile_losses_estimate_their_quantile(alpha):
    """Pinball loss, its share removed, and the ends of intervals."""
    wanted = np.quantile(Y, alpha)
    for metric, sign in ((tm.pinball.replace(alphas=(alpha,)), 1), (tm.d2_pinball.replace(alpha=alpha), -1)):
        values = [sign * metric(Y, np.full(len(Y), constant)) for constant in GRID]
        assert GRID[int(np.argmin(values))] == pytest.approx(wanted, abs=3 * STEP)
    if alpha == 0.9:
        low = np.full(len(Y), np.quantile(Y, 0.1))
        values = [tm.interval_score(Y, np.stack([low, np.full(len(Y), high)], 1), level=0.8) for high in GRID[200:]]
        assert GRID[200 + int(np.argmin(values))] == pytest.approx(wanted, abs=3 * STEP)


def slopes(metric, p, row):
    """The slope in one prediction from the left and from the right."""
    at, h = metric(Y[:9], p), 1e-6
    out = []
    for side in (-1, 1):
        moved = p.copy()
        moved[row] += side * h
        out.append((metric(Y[:9], moved) - at) / (side * h))
    return out


SINGLE = [name for name in MINIMISED if name not in ("coverage", "crps_quantile", "interval_score")]


@pytest.mark.parametrize("name", SINGLE)
def test_metrics_are_differentiable_as_the_table_says(name):
    """At an error of 0 the slopes of both sides agree or differ; elsewhere they agree, and are 0 for ranks only."""
    metric, told = metric_of(name), MINIMISED[name].differentiable
    exact = np.round(Y[:9] + np.array([0.5, 1, -0.3, 2, 0.7, -0.1, 0.2, 3, 0.4]), 3)
    exact[4] = Y[4]
    left, right = slopes(metric, exact, 4)
    if told == KINK:
        assert abs(left - right) > 1e-3
    else:
        assert left == pytest.approx(right, abs=1e-3)
    left, right = slopes(metric, exact, 7)
    assert left == pytest.approx(right, rel=1e-3, abs=1e-5)
    if told in (YES, KINK) or told.startswith("yes"):
        assert abs(left) > 1e-6
    if told == RANKS:
        assert left == right == 0
