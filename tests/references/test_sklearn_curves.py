"""Agreement of the curves and thresholds with scikit-learn on random cases with ties and weights."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from sklearn import metrics as sk

import tallymark as tm

pytestmark = pytest.mark.slow

CASES = 250
by_seed = pytest.mark.parametrize("seed", range(4))


def draw(rng):
    n = int(rng.integers(2, 120))
    y = (rng.random(n) < rng.choice([0.1, 0.5, 0.9])).astype(int)
    y[:2] = 0, 1
    s = np.round(rng.normal(size=n) + y * rng.choice([0.0, 1.0, 3.0]), int(rng.integers(0, 4)))
    s = s * 10.0 ** rng.integers(-50, 51)
    return y, s, None if rng.random() < 0.4 else rng.uniform(0.01, 5, n)


def cases(seed):
    """Rows of two classes: few or many ties, scores of any scale, with and without weights."""
    rng = np.random.default_rng(seed)
    return (draw(rng) for _ in range(CASES))


def close(found, expected):
    return found.shape == np.shape(expected) and np.allclose(found, expected, rtol=1e-12, atol=1e-12)


@by_seed
def test_roc_curves_agree_with_scikit_learn(seed):
    """All points are the same; dropping leaves a part of what the peer leaves, and the same line."""
    for y, s, weights in cases(seed):
        fpr, tpr, thresholds = sk.roc_curve(y, s, sample_weight=weights, drop_intermediate=False)
        ours = tm.roc_curve(y, s, weights=weights, drop=False)
        assert np.array_equal(ours.threshold, thresholds)
        assert close(ours.fpr, fpr)
        assert close(ours.tpr, tpr)
        few = tm.roc_curve(y, s, weights=weights)
        _, _, kept = sk.roc_curve(y, s, sample_weight=weights)
        if weights is None:  # the peer's sums of weights round, and turns come and go with them
            assert set(few.threshold.tolist()) <= set(kept.tolist())
        assert math.isclose(sk.auc(few.fpr, few.tpr), sk.auc(fpr, tpr), rel_tol=1e-12, abs_tol=1e-12)


def test_the_first_finite_threshold_of_a_roc_curve_may_be_dropped():
    """Where it lies on the line from (0, 0) to the next; scikit-learn always keeps it."""
    for y, s, kept, theirs in (
        ([1, 0, 1, 0], [0.9, 0.9, 0.5, 0.5], [math.inf, 0.5], [math.inf, 0.9, 0.5]),
        ([1, 1, 1, 0], [0.9, 0.8, 0.7, 0.1], [math.inf, 0.7, 0.1], [math.inf, 0.9, 0.7, 0.1]),
    ):
        assert tm.roc_curve(y, s).threshold.tolist() == kept
        assert sk.roc_curve(y, s)[2].tolist() == theirs


@by_seed
def test_precision_recall_curves_agree_with_scikit_learn(seed):
    """The same points in the other order. The peer has no threshold for its last one, where nothing is positive."""
    for y, s, weights in cases(seed):
        precision, recall, thresholds = sk.precision_recall_curve(y, s, sample_weight=weights)
        precision[-1] = precision[-2]  # ours starts level, theirs from 1
        ours = tm.pr_curve(y, s, weights=weights, drop=False)
        assert np.array_equal(ours.threshold[1:], thresholds[::-1])
        assert close(ours.precision, precision[::-1])
        assert close(ours.recall, recall[::-1])


@by_seed
def test_thinned_precision_recall_curves_are_part_of_scikit_learns(seed):
    """Those that the peer keeps, less the highest score where ours comes from recall 0 to recall 0."""
    for y, s, _ in cases(seed):
        _, _, thresholds = sk.precision_recall_curve(y, s, drop_intermediate=True)
        ours = tm.pr_curve(y, s)
        expected = set(thresholds.tolist())
        if tm.pr_curve(y, s, drop=False).recall[:3].max() == 0:
            expected -= {s.max()}
        assert set(ours.threshold[1:].tolist()) == expected


@by_seed
def test_det_curves_agree_with_scikit_learn(seed):
    """The peer leaves out the ends: of points without false positives the first, of those without misses the last."""
    for y, s, weights in cases(seed):
        fpr, fnr, thresholds = sk.det_curve(y, s, sample_weight=weights, drop_intermediate=False)
        ours = tm.det_curve(y, s, weights=weights)
        first = int(np.flatnonzero(ours.fpr == 0)[-1])
        last = int(np.flatnonzero(ours.fnr == 0)[0])
        if weights is not None:  # its last sum may fall short of the whole
            last = first + len(thresholds) - 1
        assert np.array_equal(ours.threshold[first : last + 1], thresholds[::-1])
        assert close(ours.fpr[first : last + 1], fpr[::-1])
        assert close(ours.fnr[first : last + 1], fnr[::-1])


@by_seed
def test_counts_at_thresholds_agree_with_scikit_learn(seed):
    """True and false negatives and positives at every distinct score."""
    for y, s, weights in cases(seed):
        tn, fp, fn, tp, thresholds = sk.confusion_matrix_at_thresholds(y, s, sample_weight=weights)
        ours = tm.threshold_table(y, s, weights=weights)
        assert np.array_equal(ours.threshold[1:], thresholds)
        for found, expected in zip(ours.cells, (tp, fp, fn, tn), strict=True):
            assert close(found[1:], expected)


@by_seed
def test_metrics_at_thresholds_agree_with_scikit_learn(seed):
    """F, Matthews' correlation and kappa of the labels at a threshold or two of each case."""
    rng = np.random.default_rng(seed)
    for y, s, weights in cases(seed):
        ours = tm.threshold_table(y, s, weights=weights)
        k = int(rng.integers(1, len(ours)))
        said = (s >= ours.threshold[k]).astype(int)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = {
                "fscore": sk.f1_score(y, said, sample_weight=weights),
                "accuracy": sk.accuracy_score(y, said, sample_weight=weights),
                "balanced_accuracy": sk.balanced_accuracy_score(y, said, sample_weight=weights),
                "mcc": sk.matthews_corrcoef(y, said, sample_weight=weights),
                "cohen_kappa": sk.cohen_kappa_score(y, said, sample_weight=weights),
            }
        for name, value in expected.items():
            found = ours[name][k]
            assert abs(found - value) <= 1e-12 or (math.isnan(found) and said.all()), name
