"""Metrics of labels by tallymark are those of scikit-learn, in values, types, warnings and errors."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest

from tests.sklearn.adapters.agreement import check

FORMS = {
    "whole numbers": lambda v: v,
    "-1 and up": lambda v: v * 2 - 1,
    "booleans": lambda v: v > 0,
    "floats": lambda v: v.astype(float),
    "fractions": lambda v: v / 2,
    "strings": lambda v: v.astype(str),
    "objects": lambda v: np.array([f"c{x}" for x in v], object),
    "list": lambda v: v.tolist(),
    "list of strings": lambda v: [f"c{x}" for x in v],
    "series": lambda v: pd.Series(v, index=range(5, 5 + len(v))),
    "series of strings": lambda v: pd.Series([f"c{x}" for x in v]),
    "int8": lambda v: v.astype(np.int8),
    "float32": lambda v: v.astype(np.float32),
    "missing": lambda v: np.where(np.arange(len(v)) == 0, np.nan, v),
    "column": lambda v: v[:, None],
    "mixed": lambda v: np.array([1, "a"] * len(v), object)[: len(v)],
    "none": lambda v: [None] * len(v),
}
TABLES = {
    "table": lambda v: v,
    "table of booleans": lambda v: v > 0,
    "lists": lambda v: v.tolist(),
    "table of floats": lambda v: v.astype(float),
    "table of 0 and 2": lambda v: v * 2,
}
UNSERVED = ("fractions", "missing", "column", "mixed", "none")
CHOICES = {
    "normalize": [True, False, "true", "pred", "all", None, "x"],
    "adjusted": [True, False, 1],
    "samplewise": [True, False],
    "output_dict": [True, False],
    "labels": [[0, 1], [1, 0], [2], list(range(7)), ["0", "1"], ["c0", "c2", "c1"], [1.0, 0.0], [], [-1, 1], [0, 0, 1]],
    "weights": ["linear", "quadratic", None, "x"],
    "replace_undefined_by": [0.0, 1.0, np.nan, -1.0],
    "pos_label": [0, 1, "1", "c1", 2, True],
    "average": [None, "micro", "macro", "weighted", "samples", "binary", "x"],
    "zero_division": ["warn", 0, 1, np.nan, 0.0, 1.0, 2, "x", True],
    "beta": [0, 0.5, 1, 2, np.inf, -1, True],
    "digits": [0, 1, 4],
    "target_names": [["a", "b"], ["a", "b", "c"]],
}
SET_WISE = ["labels", "pos_label", "average", "zero_division"]
SET_WISE_FUNCTIONS = ("precision_score", "recall_score", "f1_score", "fbeta_score", "jaccard_score")
FUNCTIONS = {
    "accuracy_score": ["normalize"],
    "zero_one_loss": ["normalize"],
    "hamming_loss": [],
    "balanced_accuracy_score": ["adjusted"],
    "cohen_kappa_score": ["labels", "weights", "replace_undefined_by"],
    "confusion_matrix": ["labels", "normalize"],
    "multilabel_confusion_matrix": ["labels", "samplewise"],
    "matthews_corrcoef": [],
    "class_likelihood_ratios": ["labels"],
    "precision_score": SET_WISE,
    "recall_score": SET_WISE,
    "f1_score": SET_WISE,
    "jaccard_score": SET_WISE,
    "fbeta_score": ["beta", *SET_WISE],
    "precision_recall_fscore_support": ["beta", *SET_WISE],
    "classification_report": ["labels", "zero_division", "output_dict", "digits", "target_names"],
}


def draw(rng, choose, forms, rows, classes):
    """Labels of both sides, mostly of the same form, and weights or none."""
    first = choose.choice(list(forms))
    second = first if choose.random() < 0.75 else choose.choice(list(forms))
    shape = (rows, classes + 1) if forms is TABLES else rows
    top = 2 if forms is TABLES else classes
    columns = [forms[form](rng.integers(0, top, shape)) for form in (first, second)]
    good = [None, rng.integers(1, 4, rows), list(range(1, rows + 1)), rng.integers(1, 9, rows) / 8]
    bad = [rng.integers(0, 2, rows), rng.integers(-1, 2, rows), np.ones(rows + 1)]
    weights = choose.choice([None, *good, *bad])
    return columns, weights


def test_likelihood_ratios_of_one_label_warn_once():
    assert not check("class_likelihood_ratios", ["cat", "cat", "dog"], ["cat", "cat", "dog"], labels=["cat"])


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("forms", [FORMS, TABLES], ids=["labels", "several labels"])
def test_random_calls_agree_with_scikit_learn(name, forms):
    seed = sum(map(ord, name))
    rng, choose, served = np.random.default_rng(seed), random.Random(seed), 0
    for _ in range(120):
        rows, classes = choose.choice([1, 2, 3, 5, 12, 30]), choose.choice([1, 2, 2, 2, 3, 4, 7])
        (y_true, y_pred), weights = draw(rng, choose, forms, rows, classes)
        if choose.random() < 0.05:
            y_pred = y_pred[:-1]
        options = {each: choose.choice(CHOICES[each]) for each in FUNCTIONS[name] if choose.random() < 0.5}
        if name == "fbeta_score":
            options.setdefault("beta", 1)
        if weights is not None:
            options["sample_weight"] = weights
        served += check(name, y_true, y_pred, **options)
    several = {"accuracy_score", "zero_one_loss", "hamming_loss", "multilabel_confusion_matrix", *SET_WISE_FUNCTIONS}
    assert served or (forms is TABLES and name not in several)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "form", ["whole numbers", "booleans", "floats", "strings", "objects", "list", "series", "int8"]
)
def test_plain_labels_are_always_served(name, form):
    rng = np.random.default_rng(0)
    y_true, y_pred = (FORMS[form](rng.integers(0, 2, 50)) for _ in range(2))
    options = {"beta": 2} if name == "fbeta_score" else {}
    if name in SET_WISE_FUNCTIONS:
        options["average"] = "macro"
    if "report" in name:
        options["output_dict"] = True
    assert check(name, y_true, y_pred, **options)
    assert check(name, y_true, y_pred, sample_weight=rng.integers(1, 9, 50) / 8, **options)
