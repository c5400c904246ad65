"""Agreement with scikit-learn on thousands of random cases: weights, several outputs, scales from 1e-100 to 1e100."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from sklearn import metrics as sk

import tallymark as tm

# Our name and parameters, the peer's function, its factor, and what the values must be.
PEERS = [
    ("mse", sk.mean_squared_error, 1, "any"),
    ("rmse", sk.root_mean_squared_error, 1, "any"),
    ("mae", sk.mean_absolute_error, 1, "any"),
    ("mape", sk.mean_absolute_percentage_error, 100, "away from zero"),
    ("r2", sk.r2_score, 1, "any"),
    ("explained_variance", sk.explained_variance_score, 1, "any"),
    ("max_error", sk.max_error, 1, "any"),
    ("median_absolute_error", sk.median_absolute_error, 1, "any"),
    ("msle", sk.mean_squared_log_error, 1, "positive"),
    ("rmsle", sk.root_mean_squared_log_error, 1, "positive"),
    ("poisson_deviance", sk.mean_poisson_deviance, 1, "positive"),
    ("gamma_deviance", sk.mean_gamma_deviance, 1, "positive"),
    ("tweedie_deviance(power=1.5)", lambda y, p, **k: sk.mean_tweedie_deviance(y, p, power=1.5, **k), 1, "positive"),
    ("tweedie_deviance(power=3)", lambda y, p, **k: sk.mean_tweedie_deviance(y, p, power=3, **k), 1, "positive"),
    ("tweedie_deviance(power=-1)", lambda y, p, **k: sk.mean_tweedie_deviance(y, p, power=-1, **k), 1, "positive"),
    ("d2_tweedie(power=1.5)", lambda y, p, **k: sk.d2_tweedie_score(y, p, power=1.5, **k), 1, "positive"),
    ("d2_absolute", sk.d2_absolute_error_score, 1, "any"),
    ("pinball(alphas=0.3)", lambda y, p, **k: sk.mean_pinball_loss(y, p, alpha=0.3, **k), 1, "any"),
]
SINGLE_OUTPUT = ("max_error", "d2_tweedie", "poisson", "gamma", "tweedie")
UNWEIGHTED = ("max_error", "d2_absolute", "median")
# A scale changes the meaning of these.
FIXED_SCALE = ("msle", "rmsle", "poisson")


def draw(rng, name, domain):
    """Truth, predictions and weights that a metric and its peer accept, at any scale that both can have."""
    n = int(rng.integers(3, 60))
    outputs = int(rng.integers(1, 4)) if not name.startswith(SINGLE_OUTPUT) else 1
    y = rng.normal(rng.normal(), rng.uniform(0.5, 3), (n, outputs))
    p = y + rng.normal(0, rng.uniform(0.2, 2), (n, outputs))
    if domain == "positive":
        y, p = np.abs(y) + 0.1, np.abs(p) + 0.1
    if domain == "away from zero":
        y = y + np.copysign(0.1, y)
    if not name.startswith(FIXED_SCALE):
        scale = 10.0 ** rng.integers(-100, 101)
        y, p = y * scale, p * scale
    if outputs == 1:
        y, p = y[:, 0], p[:, 0]
    weights = rng.uniform(0.01, 5, n) if rng.random() < 0.5 and not name.startswith(UNWEIGHTED) else None
    return y, p, weights


def both(name, peer, factor, y, p, weights):
    """Our value and that of scikit-learn."""
    metric = tm.metric(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name.startswith("mape"):
            expected = factor * peer(y, p, sample_weight=weights)
            return metric.replace(epsilon=float(np.finfo(float).eps))(y, p, weights=weights), expected
        expected = factor * (peer(y, p) if weights is None else peer(y, p, sample_weight=weights))
        return metric(y, p, weights=weights), expected


@pytest.mark.parametrize(("name", "peer", "factor", "domain"), PEERS, ids=[peer[0] for peer in PEERS])
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_scikit_learn(name, peer, factor, domain, seed):
    """Sixty cases per test, more than four thousand in all, to 1e-12 relative to the size of the terms."""
    rng = np.random.default_rng([seed, *name.encode()])
    metric = tm.metric(name)
    for _ in range(60):
        y, p, weights = draw(rng, name, domain)
        ours, expected = both(name, peer, factor, y, p, weights)
        size = max(abs(expected), 1.0) if metric.better == "higher" else abs(expected)
        assert abs(ours - expected) <= 1e-12 * size, (name, y.shape, ours, expected)


@pytest.mark.parametrize("alpha", [0.1, 0.25, 0.5, 0.9])
def test_d2_pinball_agrees_where_the_best_constant_does(alpha):
    """With weights scikit-learn too takes a value of the data as the baseline."""
    rng = np.random.default_rng(7)
    for _ in range(200):
        y = rng.normal(size=31)
        p = y + rng.normal(size=31)
        weights = rng.uniform(0.5, 2, 31)
        expected = sk.d2_pinball_score(y, p, alpha=alpha, sample_weight=weights)
        ours = tm.d2_pinball(y, p, alpha=alpha, weights=weights)
        assert math.isclose(ours, expected, rel_tol=1e-12, abs_tol=1e-12)


def test_d2_pinball_is_measured_against_the_best_constant():
    """No constant has a lower loss than the baseline."""
    rng = np.random.default_rng(8)
    for alpha in (0.05, 0.3, 0.5, 0.8):
        y = rng.normal(size=25)
        losses = [tm.pinball(y, np.full(25, c), alphas=alpha) for c in (*y, *rng.normal(size=200))]
        best = np.full(25, y[int(np.argmin(losses[:25]))])
        assert abs(tm.d2_pinball(y, best, alpha=alpha)) < 1e-15
        assert min(losses) == pytest.approx(min(losses[:25]), rel=1e-12)


def test_correlations_agree_with_scipy():
    """Ties and scales included."""
    from scipy import stats

    rng = np.random.default_rng(9)
    for _ in range(300):
        n = int(rng.integers(4, 50))
        y = np.round(rng.normal(size=n), int(rng.integers(0, 4))) * 10.0 ** rng.integers(-50, 50)
        p = np.round(y / np.abs(y).max() + rng.normal(size=n), 1)
        if np.ptp(y) == 0 or np.ptp(p) == 0:
            continue
        assert tm.pearson(y, p) == pytest.approx(float(stats.pearsonr(y / np.abs(y).max(), p)[0]), rel=1e-12, abs=1e-12)
        assert tm.spearman(y, p) == pytest.approx(float(stats.spearmanr(y, p)[0]), rel=1e-12, abs=1e-12)
