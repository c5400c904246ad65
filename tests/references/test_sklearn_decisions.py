"""Agreement with scikit-learn where predictions become labels: probabilities, margins, the first few of several."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk

import tallymark as tm
from tests.references.label_cases import (
    NUMBERS,
    TEXTS,
    agree,
    peer,
    their_ratio,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(2))
def test_top_k_accuracy_agrees_with_scikit_learn(seed):
    """A hundred and fifty cases each without ties: scores need no sum and no sign."""
    rng = np.random.default_rng([10, seed])
    for _ in range(150):
        classes = sorted(TEXTS[2]) if rng.random() < 0.5 else NUMBERS[int(rng.integers(2, 5))]
        n, k = int(rng.integers(1, 40)), int(rng.integers(1, len(classes) + 2))
        y = np.array(classes)[rng.integers(0, len(classes), n)]
        scores = rng.normal(0, 10, (n, len(classes)))
        w = rng.uniform(0.1, 5, n) if rng.random() < 0.5 else None
        theirs = peer(sk.top_k_accuracy_score, y, scores, k=k, labels=classes, sample_weight=w)
        agree(tm.top_k_accuracy(y, scores, k=k, classes=classes, weights=w), theirs)
        order = rng.permutation(len(classes))
        shuffled = tm.top_k_accuracy(y, scores[:, order], k=k, classes=np.array(classes)[order], weights=w)
        agree(shuffled, theirs)


def test_ties_in_top_k_accuracy_count_the_first_class():
    """A class that ties counts as the first of its equals here; there its column decides."""
    y, scores = [0, 1, 2], np.full((3, 3), 1 / 3)
    assert tm.top_k_accuracy(y, scores, k=1) == 1.0
    assert sk.top_k_accuracy_score(y, scores, k=1) == pytest.approx(1 / 3)


def same_on_labels(case_y, given, derived, w, *context, **facts):
    """Several metrics on predictions of another kind, against scikit-learn on the labels that follow from them."""
    agree(tm.accuracy(case_y, given, weights=w, **facts), sk.accuracy_score(case_y, derived, sample_weight=w), *context)
    macro = {"average": "macro", "sample_weight": w, "zero_division": 0, "labels": facts.get("classes")}
    for name in ("precision", "recall", "fscore"):
        theirs = peer(their_ratio(name), case_y, derived, **macro)
        agree(tm.metric(name)(case_y, given, average="macro", weights=w, **facts), theirs, *context)
    theirs = peer(sk.confusion_matrix, case_y, derived, labels=facts.get("classes"), sample_weight=w)
    assert np.allclose(tm.confusion_matrix(case_y, given, weights=w, **facts), theirs, rtol=1e-12, atol=0)


def test_probabilities_and_margins_of_two_classes():
    """A hundred and fifty cases of six calls: positive from the threshold on, also in two columns, in any order."""
    rng = np.random.default_rng(11)
    for _ in range(150):
        universe = [np.array(pair) for pair in ([0, 1], [-1, 1], [False, True], ["no", "yes"])][int(rng.integers(4))]
        n = int(rng.integers(2, 40))
        y = universe[rng.integers(0, 2, n)]
        q = np.round(rng.random(n), int(rng.integers(1, 9)))
        w = rng.uniform(0.1, 5, n) if rng.random() < 0.5 else None
        threshold = 0.5 if rng.random() < 0.3 else float(np.round(rng.random(), 1))
        said = universe[(q >= threshold).astype(int)]
        facts = {"classes": universe.tolist(), "positive": universe[1].item()}
        asked = {"labels": [universe[1]], "average": None, "sample_weight": w, "zero_division": np.nan}
        precision, recall = (peer(f, y, said, **asked)[0] for f in (sk.precision_score, sk.recall_score))
        columns, turned = np.column_stack((1 - q, q)), {**facts, "classes": universe[::-1].tolist()}
        agree(tm.accuracy(y, q, weights=w, threshold=threshold, **facts), sk.accuracy_score(y, said, sample_weight=w))
        agree(tm.recall(y, q, weights=w, threshold=threshold, **facts), recall)
        agree(tm.precision(y, columns, weights=w, threshold=threshold, **facts), precision)
        agree(tm.precision(y, columns[:, ::-1], weights=w, threshold=threshold, **turned), precision)
        margins = np.round(rng.normal(0, 2, n), 1)
        right = sk.accuracy_score(y, universe[(margins >= 0).astype(int)], sample_weight=w)
        agree(tm.accuracy(y, margins, weights=w, kind="margin", **facts), right)
        agree(tm.margin_accuracy(y, margins, weights=w, **facts), right)


def test_probabilities_and_margins_of_several_classes():
    """Fifty cases of five metrics each, twice: the column of the largest, the first of equals, names the class."""
    rng = np.random.default_rng(12)
    for _ in range(50):
        classes = rng.permutation(np.array(TEXTS[2] if rng.random() < 0.5 else NUMBERS[int(rng.integers(2, 5))]))
        n = int(rng.integers(1, 40))
        y = classes[rng.integers(0, len(classes), n)]
        w = rng.uniform(0.1, 5, n) if rng.random() < 0.5 else None
        table = rng.integers(0, 9, (n, len(classes))) + 0.125  # many ties
        facts = {"classes": classes.tolist()}
        derived = classes[table.argmax(axis=1)]
        same_on_labels(y, table / table.sum(axis=1, keepdims=True), derived, w, **facts)
        agree(tm.accuracy(y, table, normalize=True, weights=w, **facts), sk.accuracy_score(y, derived, sample_weight=w))
        margins = rng.normal(0, 5, table.shape)
        derived = classes[margins.argmax(axis=1)]
        same_on_labels(y, margins, derived, w, kind="margin", **facts)
