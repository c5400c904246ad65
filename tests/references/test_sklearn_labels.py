"""Agreement of the metrics on labels with scikit-learn: every type of label, weights, classes that one side lacks."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import metrics as sk

import tallymark as tm
from tests.references.label_cases import (
    NUMBER_FORMS,
    NUMBERS,
    TEXT_FORMS,
    TEXTS,
    agree,
    draw,
    peer,
    same_scores,
    universe_of,
)

pytestmark = pytest.mark.slow

PLAIN = [
    ("accuracy", sk.accuracy_score),
    ("error_rate", sk.zero_one_loss),
    ("hamming_loss", sk.hamming_loss),
    ("balanced_accuracy", sk.balanced_accuracy_score),
]


@pytest.mark.parametrize(("name", "function"), PLAIN, ids=[name for name, _ in PLAIN])
@pytest.mark.parametrize("seed", range(2))
def test_accuracy_and_its_variants_agree_with_scikit_learn(name, function, seed):
    """A hundred and fifty cases each; given classes change nothing."""
    rng = np.random.default_rng([seed, *name.encode()])
    for _ in range(150):
        case = draw(rng)
        facts, _ = universe_of(rng, case)
        agree(
            tm.metric(name)(*case.ours, weights=case.w, **facts),
            peer(function, case.y, case.p, sample_weight=case.w),
            case,
        )


@pytest.mark.parametrize("seed", range(3))
def test_mcc_agrees_with_scikit_learn(seed):
    """Two hundred cases each; undefined where a side is constant, where scikit-learn says 0."""
    rng = np.random.default_rng([seed, 1])
    undefined = 0
    for _ in range(200):
        case = draw(rng)
        ours = tm.mcc(*case.ours, weights=case.w)
        if len(set(case.y.tolist())) == 1 or len(set(case.p.tolist())) == 1:
            assert math.isnan(ours)
            undefined += 1
        else:
            agree(ours, peer(sk.matthews_corrcoef, case.y, case.p, sample_weight=case.w), case)
    assert undefined > 20


@pytest.mark.parametrize("weighting", [None, "linear", "quadratic"])
@pytest.mark.parametrize("seed", range(2))
def test_cohen_kappa_agrees_with_scikit_learn(weighting, seed):
    """A hundred and twenty cases each; both are undefined where truth and predictions are one and the same class."""
    rng = np.random.default_rng([seed, 2])
    for _ in range(120):
        case = draw(rng)
        facts, labels = universe_of(rng, case)
        theirs = peer(sk.cohen_kappa_score, case.y, case.p, labels=labels, weights=weighting, sample_weight=case.w)
        ours = tm.cohen_kappa(*case.ours, weights=case.w, weighting=weighting, **facts)
        agree(ours, theirs, case)
        assert math.isnan(ours) == (len(case.seen) == 1)


@pytest.mark.parametrize("seed", range(2))
def test_confusion_matrices_agree_with_scikit_learn(seed):
    """Eighty cases each; counts are whole, weights floats, and shares those of normalize=."""
    rng = np.random.default_rng([8, seed])
    for _ in range(80):
        case = draw(rng)
        facts, labels = universe_of(rng, case)
        theirs = peer(sk.confusion_matrix, case.y, case.p, labels=labels, sample_weight=case.w)
        ours = tm.confusion_matrix(*case.ours, weights=case.w, **facts)
        assert ours.classes == labels.tolist()
        if case.w is None:
            assert np.asarray(ours).dtype == np.int64
            assert np.array_equal(ours, theirs)
        else:
            assert np.allclose(ours, theirs, rtol=1e-12, atol=0)
        by, normalize = [("truth", "true"), ("prediction", "pred"), ("all", "all")][int(rng.integers(3))]
        shares = peer(sk.confusion_matrix, case.y, case.p, labels=labels, sample_weight=case.w, normalize=normalize)
        agree(ours.normalized(by), shares, case)


@pytest.mark.parametrize("seed", range(2))
def test_class_reports_agree_with_scikit_learn(seed):
    """Forty cases each: undefined scores of a class stay so, and count as 0 in the averages."""
    rng = np.random.default_rng([9, seed])
    for _ in range(40):
        case = draw(rng)
        facts, labels = universe_of(rng, case)
        ours = tm.classification_report(*case.ours, weights=case.w, **facts)
        asked = {"labels": labels, "sample_weight": case.w, "output_dict": True}
        each = peer(sk.classification_report, case.y, case.p, **asked, zero_division=np.nan)
        means = peer(sk.classification_report, case.y, case.p, **asked, zero_division=0)
        assert ours.classes == labels.tolist()
        for label in ours.classes:
            same_scores(ours[label], each[str(label)], case)
        same_scores(ours.averages["macro"], means["macro avg"], case)
        same_scores(ours.averages["weighted"], means["weighted avg"], case)
        agree(ours.accuracy, means["accuracy"], case)


@pytest.mark.parametrize("texts", [False, True])
def test_every_form_of_labels_gives_the_same(texts):
    """All pairs of forms of truth and predictions, to the last bit."""
    rng = np.random.default_rng(16)
    for universe in TEXTS if texts else NUMBERS:
        y, p = (np.array(universe)[rng.integers(0, len(universe), 30)] for _ in range(2))
        expected = tm.fscore(y, p, average=None)
        theirs = peer(sk.f1_score, y, p, average=None)
        agree(list(expected.values()), theirs)
        forms = TEXT_FORMS if texts else NUMBER_FORMS
        for first in forms.values():
            for second in forms.values():
                assert tm.fscore(first(y), second(p), average=None) == expected


def test_true_is_1_and_false_is_0():
    """True is 1 and False is 0, on either side and in every container."""
    rng = np.random.default_rng(17)
    y, p = rng.random(40) < 0.5, rng.random(40) < 0.5
    theirs = [sk.precision_score(y, p), sk.recall_score(y, p), sk.matthews_corrcoef(y, p)]
    for form in (np.asarray, np.ndarray.tolist, pd.Series, pl.Series, pa.array, lambda a: a.astype(object)):
        for left, right in ((form(y), form(p)), (form(y), p.astype(int)), (y.astype(np.int8), form(p))):
            agree([tm.precision(left, right), tm.recall(left, right), tm.mcc(left, right)], theirs)


def test_a_weight_of_zero_leaves_the_row_and_its_class_out():
    """Scikit-learn keeps a class all of whose rows weigh nothing, and gives it 0 in the mean."""
    y, p, w = ["a", "b", "c"], ["a", "b", "c"], [1, 1, 0]
    assert tm.recall(y, p, weights=w, average=None) == {"a": 1.0, "b": 1.0}
    assert tm.recall(y, p, weights=w, average="macro") == 1.0
    assert peer(sk.recall_score, y, p, sample_weight=w, average="macro") == pytest.approx(2 / 3)
    assert math.isnan(tm.recall(y, p, weights=w, average=None, classes=["a", "b", "c"])["c"])
