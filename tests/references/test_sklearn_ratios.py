"""Agreement of precision, recall, F and other rates with scikit-learn: every average, and the positive class."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn import metrics as sk

import tallymark as tm
from tests.references.label_cases import (
    BETAS,
    RATIOS,
    agree,
    draw,
    peer,
    their_ratio,
    universe_of,
)

pytestmark = pytest.mark.slow

RATES = {  # scikit-learn has none of these: numerator and denominator of tp, fp, fn, tn
    "specificity": lambda tp, fp, fn, tn: (tn, tn + fp),
    "npv": lambda tp, fp, fn, tn: (tn, tn + fn),
    "fallout": lambda tp, fp, fn, tn: (fp, fp + tn),
    "fnr": lambda tp, fp, fn, tn: (fn, tp + fn),
    "fdr": lambda tp, fp, fn, tn: (fp, tp + fp),
    "jaccard": lambda tp, fp, fn, tn: (tp, tp + fp + fn),
}


def tables_of(case, labels):
    """The binary table of each class: tp, fp, fn and tn."""
    found = peer(sk.multilabel_confusion_matrix, case.y, case.p, sample_weight=case.w, labels=labels)
    return found[:, 1, 1], found[:, 0, 1], found[:, 1, 0], found[:, 0, 0]


@pytest.mark.parametrize("beta", BETAS)
def test_precision_recall_and_f_of_several_classes_agree_with_scikit_learn(beta):
    """Fifty cases of three metrics with eight averages each: absent=0, 1 and "skip" are zero_division."""
    rng = np.random.default_rng([3, int(beta * 10)])
    trio = (tm.precision, tm.recall, tm.FScore(beta=beta))
    undefined = 0
    for _ in range(50):
        case = draw(rng)
        facts, labels = universe_of(rng, case)
        asked = {"labels": labels, "beta": beta, "sample_weight": case.w}

        def check(theirs, case=case, facts=facts, **parameters):
            for metric, expected in zip(trio, theirs[:3], strict=True):
                ours = metric(*case.ours, weights=case.w, **facts, **parameters)
                agree(list(ours.values()) if isinstance(ours, dict) else ours, expected, metric, parameters, case)

        def theirs(average, absent, case=case, asked=asked):
            trio = sk.precision_recall_fscore_support
            return peer(trio, case.y, case.p, **asked, average=average, zero_division=absent)

        assert list(tm.precision(*case.ours, average=None, **facts)) == labels.tolist()
        *each, support = theirs(None, np.nan)
        check(each, average=None)
        check(theirs("micro", np.nan), average="micro")
        for absent in (0.0, 1.0):
            check(theirs("macro", absent), average="macro", absent=absent)
            check(theirs("weighted", absent), average="weighted", absent=absent)
        check(theirs("macro", np.nan), average="macro", absent="skip")
        p, r = theirs("macro", 0.0)[:2]
        below = beta**2 * p + r
        ours = trio[2](*case.ours, weights=case.w, average="macro_pr", **facts)
        agree(ours, (1 + beta**2) * p * r / below if below else 0.0, case)
        means = list(theirs("weighted", np.nan)[:3])
        for k, values in enumerate(each):
            if not support[~np.isnan(values)].any():
                means[k] = math.nan  # no class that has a value is true; scikit-learn takes their plain mean
        check(means, average="weighted", absent="skip")
        undefined += bool(np.isnan(each).any())
    assert undefined > 10


def test_a_mean_by_support_without_support():
    """Where no class that has a value is true in any row, the mean is undefined; there, weights are forgotten."""
    y, p = ["a", "a"], ["b", "b"]
    assert math.isnan(tm.precision(y, p, average="weighted", absent="skip"))
    assert peer(sk.precision_score, y, p, average="weighted", zero_division=np.nan) == 0.0
    nobody, all_of_them = [[0, 0]], [[1, 0]]
    assert math.isnan(tm.precision(nobody, all_of_them, average="weighted"))
    assert tm.precision(nobody, all_of_them, average="macro") == 0.0
    assert peer(sk.precision_score, nobody, all_of_them, average="weighted", zero_division=0) == 0.0


@pytest.mark.parametrize("name", list(RATES))
def test_rates_of_several_classes(name):
    """Eighty cases, each with five ways to average, from the tables that scikit-learn counts."""
    rng = np.random.default_rng([4, *name.encode()])
    metric = tm.metric(name)
    for _ in range(80):
        case = draw(rng, exact=True)
        facts, labels = universe_of(rng, case)
        table = tables_of(case, labels)
        with np.errstate(invalid="ignore"):
            each = np.divide(*RATES[name](*table))
            micro = np.divide(*RATES[name](*(part.sum() for part in table)))
        worst = 1.0 if metric.better == "lower" else 0.0
        filled = each if len(each) == 1 else np.nan_to_num(each, nan=worst)  # one class has nothing to be averaged with
        support = table[0] + table[2]
        expected = {None: each, "micro": micro, "macro": filled.mean(), "weighted": np.average(filled, weights=support)}
        for average, value in expected.items():
            found = metric(*case.ours, weights=case.w, average=average, **facts)
            agree(list(found.values()) if average is None else found, value, case)
        skip = np.nanmean(each) if not np.isnan(each).all() else math.nan
        agree(metric(*case.ours, weights=case.w, average="macro", absent="skip", **facts), skip, case)


@pytest.mark.parametrize("average", ["macro", "micro", "weighted", None])
def test_jaccard_of_several_classes(average):
    """A hundred cases each, against the function of that name; both give classes that nobody has 0 in an average."""
    rng = np.random.default_rng(5)
    for _ in range(100):
        case = draw(rng)
        facts, labels = universe_of(rng, case)
        theirs = peer(sk.jaccard_score, case.y, case.p, labels=labels, average=average, sample_weight=case.w)
        ours = tm.jaccard(*case.ours, weights=case.w, average=average, undefined=0, **facts)
        agree(list(ours.values()) if average is None else ours, theirs, case)


@pytest.mark.parametrize("seed", range(2))
def test_ratios_of_the_positive_class(seed):
    """Eighty cases each of fourteen metrics; without a denominator they are undefined, as zero_division=nan."""
    rng = np.random.default_rng([6, seed])
    undefined = 0
    for _ in range(80):
        case = draw(rng, binary=True, exact=True)
        positive = case.universe[int(rng.random() < 0.7)].item()
        facts = {} if positive == 1 else {"positive": positive}
        for name, beta in RATIOS:
            metric = tm.metric(name) if beta is None else tm.FScore(beta=beta)
            theirs = peer(
                their_ratio(name, beta),
                case.y,
                case.p,
                labels=[positive],
                average=None,
                sample_weight=case.w,
                zero_division=np.nan,
            )[0]
            found = metric(*case.ours, weights=case.w, **facts)
            agree(found, theirs, name, case)
            agree(metric(*case.ours, weights=case.w, average="binary", **facts), found)
            undefined += math.isnan(found)
            if positive in case.seen.tolist() and beta == 1.0:
                binary = peer(sk.f1_score, case.y, case.p, pos_label=positive, sample_weight=case.w)
                agree(found, binary, case)
        table = [float(part[0]) for part in tables_of(case, np.array([positive]))]
        for name, fraction in RATES.items():
            above, below = fraction(*table)
            agree(
                tm.metric(name)(*case.ours, weights=case.w, **facts), above / below if below else math.nan, name, case
            )
        tp, fp, fn, tn = table
        if min(tp + fn, tn + fp) > 0:
            agree(tm.informedness(*case.ours, weights=case.w, **facts), tp / (tp + fn) + tn / (tn + fp) - 1)
        if min(tp + fp, tn + fn) > 0:
            agree(tm.markedness(*case.ours, weights=case.w, **facts), tp / (tp + fp) + tn / (tn + fn) - 1)
    assert undefined > 2


def test_the_positive_class_of_several():
    """Two hundred cases: with positive= named, average="binary" is that class against the rest."""
    rng = np.random.default_rng(7)
    for _ in range(200):
        case = draw(rng)
        if len(case.universe) == 2:
            continue
        positive = case.universe[int(rng.integers(len(case.universe)))].item()
        theirs = peer(sk.fbeta_score, case.y == positive, case.p == positive, beta=2, zero_division=np.nan)
        ours = tm.fscore(
            *case.ours, beta=2, average="binary", positive=positive, classes=case.universe.tolist(), undefined=None
        )
        agree(ours, theirs, case)


@pytest.mark.filterwarnings("ignore")  # where theirs are undefined
def test_likelihood_ratios_agree_with_scikit_learn():
    """A thousand cases of two classes, many of them undefined: NaN on both sides."""
    rng, undefined = np.random.default_rng(8), 0
    for _ in range(1000):
        n = int(rng.integers(2, 30))
        y, p = rng.integers(0, 2, (2, n))
        y[:2] = 0, 1
        w = rng.uniform(0.1, 3, n) if rng.random() < 0.5 else None
        for ours, expected in zip(
            (tm.likelihood_ratio_positive, tm.likelihood_ratio_negative),
            sk.class_likelihood_ratios(y, p, sample_weight=w),
            strict=True,
        ):
            assert ours(y, p, weights=w) == pytest.approx(expected, rel=1e-12, nan_ok=True)
            undefined += math.isnan(expected)
    assert undefined > 10
