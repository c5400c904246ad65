"""Agreement with scikit-learn on thousands of random cases of probabilities and margins: weights, ties, strings, many
classes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve

import tallymark as tm

pytestmark = pytest.mark.slow
EPS = float(np.finfo(float).eps)  # where scikit-learn clips
LABELS = [np.array([0, 1]), np.array([-1, 1]), np.array(["no", "yes"]), np.array([False, True])]


def rows(rng, classes):
    """Codes of labels, all of them there, probabilities with ties, and weights or none."""
    n = int(rng.integers(classes + 2, 80))
    codes = rng.integers(0, classes, n)
    codes[:classes] = np.arange(classes)
    p = rng.dirichlet(np.full(classes, rng.uniform(0.1, 3)), n)
    if rng.random() < 0.5:
        p = np.round(p, 1) + 0.01
        p /= p.sum(axis=1, keepdims=True)
    return codes, p, rng.uniform(0, 3, n) if rng.random() < 0.5 else None


@pytest.mark.parametrize("seed", range(10))
def test_losses_of_two_classes_agree_with_scikit_learn(seed):
    """Log loss and the Brier score, a hundred cases per seed, to 1e-12."""
    rng = np.random.default_rng([seed, 1])
    for _ in range(100):
        codes, p, w = rows(rng, 2)
        labels = LABELS[rng.integers(len(LABELS))]
        y, chance = labels[codes], p[:, 1]
        facts = {"positive": "yes"} if y.dtype.kind == "U" else {}
        expected = sk.log_loss(y, chance, sample_weight=w)
        assert tm.logloss(y, chance, weights=w, clip=EPS, **facts) == pytest.approx(expected, rel=1e-12)
        expected = sk.brier_score_loss(y, chance, sample_weight=w, pos_label=labels[1], scale_by_half=True)
        assert tm.brier(y, chance, weights=w, **facts) == pytest.approx(expected, rel=1e-12)
        expected = sk.d2_log_loss_score(y, chance, sample_weight=w)
        assert tm.d2_logloss(y, chance, weights=w, clip=EPS, **facts) == pytest.approx(expected, rel=1e-12, abs=1e-12)
        expected = sk.d2_brier_score(y, chance, sample_weight=w, pos_label=labels[1])
        assert tm.d2_brier(y, chance, weights=w, **facts) == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert tm.d2_brier(y, p, weights=w, **facts) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_losses_of_many_classes_agree_with_scikit_learn(seed):
    """Log loss, and the Brier score that sums over classes, a hundred cases per seed, to 1e-12."""
    rng = np.random.default_rng([seed, 2])
    for _ in range(100):
        classes = int(rng.integers(3, 12))
        codes, p, w = rows(rng, classes)
        y = codes if rng.random() < 0.5 else np.array([f"c{k:02d}" for k in range(classes)])[codes]
        expected = sk.log_loss(y, p, sample_weight=w)
        assert tm.logloss(y, p, weights=w, clip=EPS) == pytest.approx(expected, rel=1e-12)
        expected = sk.brier_score_loss(y, p, sample_weight=w, scale_by_half=False)
        assert tm.brier(y, p, weights=w) == pytest.approx(expected, rel=1e-12)
        expected = sk.d2_log_loss_score(y, p, sample_weight=w)
        assert tm.d2_logloss(y, p, weights=w, clip=EPS) == pytest.approx(expected, rel=1e-12, abs=1e-12)
        expected = sk.d2_brier_score(y, p, sample_weight=w)
        assert tm.d2_brier(y, p, weights=w) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_hinge_losses_agree_with_scikit_learn(seed):
    """One margin for two classes, or a margin for each of several: a hundred cases per seed, to 1e-12."""
    rng = np.random.default_rng([seed, 4])
    for _ in range(100):
        classes = int(rng.integers(2, 6))
        codes, _, w = rows(rng, classes)
        y = codes if rng.random() < 0.5 else np.array([f"c{k}" for k in range(classes)])[codes]
        margins = rng.normal(0, 2, (len(y), classes)).round(int(rng.integers(1, 16)))
        facts = {"positive": "c1"} if classes == 2 and y.dtype.kind == "U" else {}
        margins = margins[:, 0] if classes == 2 else margins
        expected = sk.hinge_loss(y, margins, sample_weight=w)
        assert tm.hinge_loss(y, margins, weights=w, **facts) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_calibration_bins_agree_with_scikit_learn(seed):
    """Mean probabilities and shares of positives in the bins that have rows, a hundred cases per seed."""
    rng = np.random.default_rng([seed, 3])
    for _ in range(100):
        codes, p, _ = rows(rng, 2)
        bins = int(rng.choice([2, 4, 8, 16]))  # powers of two: both sides then agree about the edges
        chance = np.where(p[:, 1] * bins == np.floor(p[:, 1] * bins), p[:, 1] + 1e-3, p[:, 1])  # theirs are (low, high]
        shares, means = calibration_curve(codes, chance, n_bins=bins)
        curve = tm.reliability_curve(codes, chance, bins=bins)
        assert np.allclose(curve.accuracy, shares, rtol=1e-12)
        assert np.allclose(curve.confidence, means, rtol=1e-12)
