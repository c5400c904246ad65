"""Agreement of the metrics on scores with scikit-learn and SciPy, and with exact fractions: ties, weights, few rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk

import tallymark as tm
from tests.references.exact_ranks import exact_ranks

pytestmark = pytest.mark.slow

CASES = 500  # for each of several seeds and metrics: 11,000 in all
TABLES = 120  # scikit-learn takes its time with these


def draw(rng, least=2):
    """Truth of both classes, scores (often with many ties) and weights or None."""
    n = int(rng.integers(least, 60))
    y = rng.permutation(np.append([0, 1], rng.random(n - 2) < rng.uniform(0.05, 0.95)).astype(int))
    style = rng.integers(4)
    s = rng.normal(0, 1, n) + rng.uniform(-1, 2) * y
    if style == 0:
        s = np.round(s)
    elif style == 1:
        s = np.round(s, 1)
    elif style == 2:
        s = rng.choice([0.0, -0.0, 0.25, 0.5, 1.0], n)
    w = [None, rng.uniform(0.01, 5, n), rng.integers(1, 4, n).astype(float)][rng.integers(3)]
    return y, s, w


def agree(ours, theirs, *context):
    assert abs(ours - theirs) <= 1e-12, (ours, theirs, *context)


def their_pr_auc(y, s, w):
    """The curve ends in recall 0 and precision 1; ours is level before the first threshold."""
    precision, recall, _ = sk.precision_recall_curve(y, s, sample_weight=w)
    precision[-1] = precision[-2]
    return sk.auc(recall, precision)


def their_ks(y, s, w):
    fpr, tpr, _ = sk.roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    return np.abs(tpr - fpr).max()


THEIRS = {
    "auc": lambda y, s, w: sk.roc_auc_score(y, s, sample_weight=w),
    "gini": lambda y, s, w: 2 * sk.roc_auc_score(y, s, sample_weight=w) - 1,
    "average_precision": lambda y, s, w: sk.average_precision_score(y, s, sample_weight=w),
    "pr_auc": their_pr_auc,
    "ks": their_ks,
}


@pytest.mark.parametrize("name", THEIRS)
@pytest.mark.parametrize("seed", range(3))
def test_areas_of_two_classes_agree_with_scikit_learn(name, seed):
    """Five hundred cases each, exact; with a bin for every score, the bounded form gives the same."""
    rng = np.random.default_rng([seed, *name.encode()])
    metric = tm.metric(name)
    for _ in range(CASES):
        y, s, w = draw(rng)
        expected = THEIRS[name](y, s, w)
        agree(metric(y, s, weights=w), expected, y, s, w)
        if name != "pr_auc":
            agree(metric(y, s, weights=w, bounded=64), expected, y, s, w)


@pytest.mark.parametrize("seed", range(4))
def test_partial_areas_agree_with_scikit_learn(seed):
    """Five hundred cases each, up to any rate."""
    rng = np.random.default_rng([seed, 1])
    for _ in range(CASES):
        y, s, w = draw(rng)
        most = float(rng.choice([rng.uniform(0.01, 0.99), 0.5, 0.25, 1.0]))
        agree(
            tm.auc(y, s, weights=w, max_fpr=most), sk.roc_auc_score(y, s, sample_weight=w, max_fpr=most), y, s, w, most
        )


@pytest.mark.parametrize("seed", range(2))
def test_ks_and_auc_agree_with_scipy(seed):
    """Five hundred cases each against the statistic of SciPy's test, and AUC against its U."""
    rng = np.random.default_rng([seed, 2])
    for _ in range(CASES):
        y, s, _ = draw(rng)
        a, b = s[y == 1] + 0.0, s[y == 0] + 0.0
        with np.errstate(divide="ignore"):  # in the p-value of few rows
            theirs = stats.ks_2samp(a, b, method="asymp").statistic
        agree(tm.ks(y, s), theirs, y, s)
        agree(tm.auc(y, s), stats.mannwhitneyu(a, b, method="asymptotic").statistic / len(a) / len(b), y, s)


def draw_table(rng, k):
    n = int(rng.integers(2 * k, 50))
    y = rng.permutation(np.append(np.arange(k), rng.integers(0, k, n - k)))
    table = rng.integers(1, 6, (n, k)).astype(float) + (np.arange(k) == y[:, None]) * rng.integers(0, 3, (n, 1))
    return y, table / table.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_areas_of_several_classes_agree_with_scikit_learn(multiclass, average):
    """A hundred and twenty cases each, classes in any order; scikit-learn takes no weights for pairs."""
    rng = np.random.default_rng(3)
    for _ in range(TABLES):
        k = int(rng.integers(3, 6))
        y, table = draw_table(rng, k)
        w = rng.uniform(0.1, 3, len(y)) if multiclass == "ovr" and rng.random() < 0.5 else None
        theirs = sk.roc_auc_score(y, table, multi_class=multiclass, average=average, sample_weight=w)
        given = {"multiclass": multiclass, "average": average, "weights": w}
        agree(tm.auc(y, table, **given), theirs, y, table, w)
        order = rng.permutation(k)
        agree(tm.auc(y, table[:, order], classes=order.tolist(), **given), theirs, y, table, w)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_pairs_with_a_class_that_no_row_has_are_undefined(average):
    """scikit-learn gives the mean over the other pairs."""
    y, table = draw_table(np.random.default_rng(5), 3)
    rows = y != 2
    name = f"auc(multiclass=ovo, average={average})"
    cell = tm.evaluate(y[rows], table[rows], [name], kind="probability", classes=[0, 1, 2]).cell(name)
    assert math.isnan(cell.value)
    assert cell.reason == "class 2: no row has this class"
    theirs = sk.roc_auc_score(y[rows], table[rows], multi_class="ovo", average=average, labels=[0, 1, 2])
    assert theirs == np.mean([sk.roc_auc_score(y[rows] == k, table[rows, k]) for k in (0, 1)])


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_average_precision_of_several_classes(average):
    """A hundred and twenty cases each, as scikit-learn does it on indicators."""
    rng = np.random.default_rng(4)
    for _ in range(TABLES):
        k = int(rng.integers(3, 6))
        y, table = draw_table(rng, k)
        w = rng.uniform(0.1, 3, len(y)) if rng.random() < 0.5 else None
        theirs = sk.average_precision_score(np.eye(k)[y], table, average=average, sample_weight=w)
        agree(tm.average_precision(y, table, average=average, weights=w), theirs, y, table, w)


@pytest.mark.parametrize("seed", range(2))
def test_areas_are_within_one_unit_of_the_exact_fraction(seed):
    """Weighted and not: within one unit in the last place of the correctly rounded value."""
    rng = np.random.default_rng([seed, 5])
    for _ in range(300):
        n = int(rng.integers(2, 14))
        y = rng.permutation(np.append([0, 1], rng.integers(0, 2, n - 2)))
        s = rng.integers(0, 7, n).astype(float)
        w = [np.ones(n), rng.uniform(0.01, 9, n), 10.0 ** rng.integers(-12, 13, n)][rng.integers(3)]
        expected = exact_ranks(y, s, w)
        for name in ("auc", "average_precision", "pr_auc", "ks"):
            right = float(expected[name])
            found = tm.metric(name)(y, s, weights=w)
            assert abs(found - right) <= math.ulp(right), (name, found, right, y, s, w)
