"""Metrics of rankings by tallymark are those of scikit-learn, in values, types, warnings and errors."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tallymark.sklearn import metrics, patch, status
from tests.sklearn.adapters.agreement import check
from tests.sklearn.adapters.test_curves import (
    INDICATORS,
    LABELS,
    PLAIN,
    SCORES,
    draw_classes,
    draw_labels,
    draw_rows,
    draw_weights,
    pick,
)

GAINS = ("dcg_score", "ndcg_score")
LABEL_RANKINGS = ("coverage_error", "label_ranking_average_precision_score", "label_ranking_loss")
RELEVANCES = {
    **INDICATORS,
    "grades": lambda v: v * np.arange(v.shape[1]),
    "fractions": lambda v: v / 3,
    "negative": lambda v: v - 1,
    "many": lambda v: np.arange(v.size).reshape(v.shape),
    "one column": lambda v: v[:, :1],
}


def draw_call(name, rng, choose):
    rows, width = draw_rows(rng, choose), choose.choice([2, 3, 3, 5, 9])
    table = SCORES[pick(choose, SCORES, PLAIN[:3])](rng.random((rows, width)))
    options = {}
    weights = draw_weights(rng, choose, rows)
    if weights is not None:
        options["sample_weight"] = weights
    if name == "top_k_accuracy_score":
        y_true, _ = draw_labels(rng, choose, rows, max(width, 2))
        if width == 2 and choose.random() < 0.6:
            table = SCORES[pick(choose, SCORES, PLAIN[:3])](
                rng.random(rows) * choose.choice([1, 2]) - choose.choice([0, 1])
            )
        if choose.random() < 0.7:
            options["k"] = choose.choice([1, 2, 3, 7, 0, 1.5, True, np.int64(1)])
        if choose.random() < 0.3:
            options["normalize"] = choose.choice([True, False, 1])
        if choose.random() < 0.3:
            options["labels"] = draw_classes(choose, width)
        return (y_true, table), options
    forms = RELEVANCES if name in GAINS else INDICATORS
    truth = forms[choose.choice(list(forms))]((rng.random((rows, width)) < 0.4).astype(int))
    if name in GAINS:
        if choose.random() < 0.5:
            options["k"] = choose.choice([None, 1, 2, 3, 20, 0, 2.0])
        if choose.random() < 0.4:
            options["ignore_ties"] = choose.choice([True, True, False, 0])
        if name == "dcg_score" and choose.random() < 0.3:
            options["log_base"] = choose.choice([2, 10, 2.5, 1, 0, -1, "2", 0.5])
    return (truth, table), options


@pytest.mark.slow
@pytest.mark.parametrize("name", ["top_k_accuracy_score", *GAINS, *LABEL_RANKINGS])
def test_random_calls_agree_with_scikit_learn(name):
    seed = sum(map(ord, name))
    rng, choose = np.random.default_rng(seed), random.Random(seed)
    served = 0
    for _ in range(300):
        args, options = draw_call(name, rng, choose)
        served += check(name, *args, tolerance=rounding(name, args[1]), **options)
    assert served > 30


def rounding(name, table):
    """Since SciPy 1.18, scikit-learn's ranks of float32 scores are float32."""
    ranks = name == "label_ranking_average_precision_score"
    return 1e-6 if ranks and np.asarray(table).dtype == np.float32 else 1e-12


@pytest.mark.parametrize("form", ["float64", "float32", "tied", "integers", "lists", "Fortran order"])
@pytest.mark.parametrize("name", [*GAINS, *LABEL_RANKINGS])
def test_plain_tables_are_always_served(name, form):
    rng = np.random.default_rng(0)
    truth, table = rng.integers(0, 2, (50, 4)), SCORES[form](rng.random((50, 4)))
    tolerance = rounding(name, table)
    assert check(name, truth, table, tolerance=tolerance)
    assert check(name, truth > 0, table, tolerance=tolerance)
    assert check(name, truth, table, tolerance=tolerance, sample_weight=rng.random(50) + 0.5)


@pytest.mark.parametrize("labels", ["whole numbers", "strings", "objects", "list", "series"])
def test_the_first_k_without_ties_are_always_served(labels):
    rng = np.random.default_rng(0)
    y_true, table = LABELS[labels](rng.integers(0, 4, 60)), rng.random((60, 4))
    for options in ({}, {"k": 1}, {"k": 3, "normalize": False}, {"sample_weight": rng.random(60) + 0.5}):
        assert check("top_k_accuracy_score", y_true, table, **options)


def test_the_first_of_two_classes_is_decided_by_a_threshold():
    rng = np.random.default_rng(0)
    for scores in (rng.random(50), rng.normal(size=50)):
        assert check("top_k_accuracy_score", rng.integers(0, 2, 50), scores, k=1)
        assert check("top_k_accuracy_score", ["no", "yes"] * 25, scores, k=1, sample_weight=rng.random(50) + 0.5)


def test_ties_among_the_first_k_are_scikit_learns_unless_ours_is_wished():
    y_true, table = [0, 1, 2, 2], [[0.5, 0.5, 0.5], [0.2, 0.3, 0.1], [0.2, 0.3, 0.1], [0.2, 0.3, 0.4]]
    assert not check("top_k_accuracy_score", y_true, table, k=1)
    with patch(strict=False):
        from sklearn.metrics import top_k_accuracy_score

        assert top_k_accuracy_score(y_true, table, k=1) == 0.75
    assert top_k_accuracy_score is not metrics.top_k_accuracy_score
    assert check("top_k_accuracy_score", y_true, np.add(table, [0, 1e-9, 2e-9]), k=1)


def test_the_status_says_that_ties_decide():
    status(reset=True)
    metrics.top_k_accuracy_score([0, 1, 2], [[0.5, 0.5, 0.5]] * 3, k=1)
    metrics.dcg_score([[0, 1, 2]], [[0.5, 0.5, 0.5]], ignore_ties=True)
    assert "equal scores" in next(iter(status().calls["top_k_accuracy_score"].reasons))
    assert "equal scores" in next(iter(status().calls["dcg_score"].reasons))
