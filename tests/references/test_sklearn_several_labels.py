"""Agreement of the metrics on labels with scikit-learn, where rows have several labels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn import metrics as sk

import tallymark as tm
from tests.references.label_cases import (
    RATIOS,
    agree,
    peer,
    same_scores,
    their_ratio,
)

pytestmark = pytest.mark.slow


def draw_tables(rng):
    """Truth and predictions of several labels per row, weights; now and then a label that nobody has."""
    n, k = int(rng.integers(1, 40)), int(rng.integers(2, 6))
    rare = rng.random(k) * (rng.random(k) < 0.8)
    y = (rng.random((n, k)) < rare).astype(int)
    p = np.where(rng.random((n, k)) < rng.random(), y, rng.random((n, k)) < rare * (rng.random(k) < 0.8)).astype(int)
    return y, p, rng.uniform(0.1, 5, n) if rng.random() < 0.5 else None


def indicators(table):
    """A table as scikit-learn reads it even if it has one row, and so looks like something else."""
    from scipy.sparse import csr_matrix

    return csr_matrix(table)


MULTILABEL = [*RATIOS[:4], ("jaccard", None)]


@pytest.mark.parametrize(("name", "beta"), MULTILABEL, ids=[f"{name}-{beta}" for name, beta in MULTILABEL])
def test_averages_over_several_labels_agree_with_scikit_learn(name, beta):
    """Sixty cases of four averages, as tables of numbers, bools and probabilities."""
    rng = np.random.default_rng([13, *name.encode()])
    undecided = 0
    for _ in range(60):
        y, p, w = draw_tables(rng)
        forms = (
            p,
            p.astype(bool),
            p.tolist(),
            np.where(p == 1, rng.uniform(0.5, 1, p.shape), rng.random(p.shape) / 2.1),
        )
        given = forms[int(rng.integers(4))]
        metric = tm.metric(name) if beta is None else tm.FScore(beta=beta)
        function = sk.jaccard_score if name == "jaccard" else their_ratio(name, beta)
        for average in ("macro", "micro", "weighted", None):
            theirs = peer(function, indicators(y), indicators(p), average=average, sample_weight=w, zero_division=0)
            ours = metric(y, given, average=average, weights=w)
            if average is None:
                assert list(ours) == list(range(y.shape[1]))
                blank = np.isnan(list(ours.values()))
                agree(np.nan_to_num(list(ours.values())), theirs, y, p)
                if name != "jaccard":
                    nans = peer(
                        function, indicators(y), indicators(p), average=None, sample_weight=w, zero_division=np.nan
                    )
                    assert np.array_equal(blank, np.isnan(nans))
            elif average == "weighted" and not y.any():
                assert math.isnan(ours)
                undecided += 1
            elif average == "micro":
                agree(np.nan_to_num(ours), theirs, y, p)
            else:
                agree(ours, theirs, average, y, p)
    assert undecided > 0


def test_accuracy_and_hamming_loss_of_several_labels_agree_with_scikit_learn():
    """A hundred and fifty cases of accuracy, error rate and Hamming loss of rows with several labels."""
    rng = np.random.default_rng(14)
    for _ in range(150):
        y, p, w = draw_tables(rng)
        one, two = indicators(y), indicators(p)
        agree(tm.accuracy(y, p, weights=w), sk.accuracy_score(one, two, sample_weight=w))
        agree(tm.error_rate(y, p, weights=w), sk.zero_one_loss(one, two, sample_weight=w))
        agree(tm.hamming_loss(y, p, weights=w), sk.hamming_loss(one, two, sample_weight=w))


def test_reports_of_several_labels_per_row():
    """Fifty cases: the report has a micro average too."""
    rng = np.random.default_rng(15)
    for _ in range(50):
        y, p, w = draw_tables(rng)
        ours = tm.classification_report(y, p, weights=w)
        asked = {"sample_weight": w, "output_dict": True}
        each = peer(sk.classification_report, indicators(y), indicators(p), **asked, zero_division=np.nan)
        means = peer(sk.classification_report, indicators(y), indicators(p), **asked, zero_division=0)
        for label in ours.classes:
            same_scores(ours[label], each[str(label)], y, p)
        same_scores(ours.averages["micro"], each["micro avg"], y, p)
        same_scores(ours.averages["macro"], means["macro avg"], y, p)
        if y.any():
            same_scores(ours.averages["weighted"], means["weighted avg"], y, p)
        else:
            assert all(map(math.isnan, ours.averages["weighted"][:3]))
