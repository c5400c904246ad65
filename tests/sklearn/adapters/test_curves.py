"""Curves and areas by tallymark are those of scikit-learn, in values, types, warnings and errors."""

from __future__ import annotations

import contextlib
import random

import numpy as np
import pandas as pd
import pytest

from tallymark.sklearn import metrics, status
from tests.sklearn.adapters.agreement import check

LABELS = {
    "whole numbers": lambda v: v,
    "-1 and 1": lambda v: v * 2 - 1,
    "booleans": lambda v: v > 0,
    "floats": lambda v: v.astype(float),
    "fractions": lambda v: v / 2,
    "strings": lambda v: v.astype(str),
    "objects": lambda v: np.array([f"c{x}" for x in v], object),
    "list": lambda v: v.tolist(),
    "series": lambda v: pd.Series(v, index=range(5, 5 + len(v))),
    "int8": lambda v: v.astype(np.int8),
    "missing": lambda v: np.where(np.arange(len(v)) == 0, np.nan, v),
    "column": lambda v: v[:, None],
    "mixed": lambda v: [1, "a"] * (len(v) // 2) + [1] * (len(v) % 2),
}
INDICATORS = {
    "table": lambda v: v,
    "booleans": lambda v: v > 0,
    "lists": lambda v: v.tolist(),
    "floats": lambda v: v.astype(float),
    "0 and 2": lambda v: v * 2,
}
SCORES = {
    "float64": lambda v: v,
    "float32": lambda v: v.astype(np.float32),
    "tied": lambda v: np.round(v, 1),
    "integers": lambda v: (v * 20).astype(int),
    "uint8": lambda v: np.abs(v * 20).astype(np.uint8),
    "booleans": lambda v: v > 0.5,
    "lists": lambda v: v.tolist(),
    "constant": lambda v: np.full_like(v, 0.5),
    "NaN": lambda v: np.where(np.arange(v.size).reshape(v.shape) == 0, np.nan, v),
    "Fortran order": np.asfortranarray,
    "float16": lambda v: v.astype(np.float16),
    "large integers": lambda v: (v / 9 * 2**62).astype(np.int64) | 1,
}
WEIGHTS = {
    "none": lambda rng, n: None,
    "whole": lambda rng, n: rng.integers(1, 4, n),
    "fractions": lambda rng, n: rng.random(n) + 0.1,
    "float32": lambda rng, n: rng.integers(1, 9, n).astype(np.float32) / 8,
    "list": lambda rng, n: rng.integers(1, 4, n).tolist(),
    "series": lambda rng, n: pd.Series(rng.integers(1, 4, n)),
    "huge": lambda rng, n: np.full(n, 1e308),
    "tiny": lambda rng, n: np.full(n, 1e-310),
    "booleans": lambda rng, n: np.ones(n, bool),
    "zeros": lambda rng, n: rng.integers(0, 2, n),
    "negative": lambda rng, n: rng.integers(-1, 3, n),
    "too many": lambda rng, n: np.ones(n + 1),
}
PLAIN = ("float64", "float32", "tied", "integers", "lists", "uint8")
CURVES = ("confusion_matrix_at_thresholds", "det_curve", "precision_recall_curve", "roc_curve")
AREAS = ("average_precision_score", "roc_auc_score")
AVERAGES = [None, "micro", "macro", "weighted", "samples", "binary"]
POSITIVE = [0, 1, 1.0, True, "1", "c1", 2, None, np.int64(1), [1]]


def pick(choose, choices, usual):
    """One of the choices, mostly one of the usual ones."""
    return choose.choice(usual if choose.random() < 0.75 else list(choices))


def draw_rows(rng, choose):
    return choose.choice([1, 2, 3, 6, 15, 40, 200])


def draw_weights(rng, choose, rows):
    return WEIGHTS[pick(choose, WEIGHTS, ["none", "none", "whole", "fractions"])](rng, rows)


def draw_labels(rng, choose, rows, classes):
    codes = rng.integers(0, classes, rows)
    codes[:classes] = np.arange(classes)[:rows]
    return LABELS[pick(choose, LABELS, ["whole numbers", "whole numbers", "strings", "list"])](codes), codes


def draw_classes(choose, width):
    places = range(width)
    return choose.choice([list(places), [str(k) for k in places], np.array(places), list(places)[::-1], [0, 0, 1], 1])


def draw_curve_call(name, rng, choose):
    rows = draw_rows(rng, choose)
    y_true, codes = draw_labels(rng, choose, rows, choose.choice([1, 2, 2, 2, 2, 2, 3]))
    scores = SCORES[pick(choose, SCORES, PLAIN)](np.clip(rng.random(rows) * 0.7 + 0.3 * (codes > 0), 0, 1))
    options = {"pos_label": choose.choice(POSITIVE)} if choose.random() < 0.5 else {}
    weights = draw_weights(rng, choose, rows)
    if weights is not None:
        options["sample_weight"] = weights
    if name in CURVES[1:] and choose.random() < 0.5:
        options["drop_intermediate"] = choose.choice([True, False, False, 1])
    if choose.random() < 0.03:
        scores = scores[:-1]
    return (y_true, scores), options


def draw_area_call(name, rng, choose):
    kind = choose.choice(["two classes", "classes", "tables"])
    if kind == "two classes":
        args, options = draw_curve_call(name, rng, choose)
        if name == "roc_auc_score":
            options.pop("pos_label", None)
            if choose.random() < 0.4:
                options["max_fpr"] = choose.choice([0.1, 0.5, 0.37, 1, 1.0, 0, 1.5, None])
    else:
        rows, width = draw_rows(rng, choose), choose.choice([2, 3, 3, 5])
        table = rng.random((rows, width))
        if kind == "tables":
            truth = (rng.random((rows, width)) < 0.5).astype(int)
            if choose.random() < 0.5:
                truth[:, 0], truth[:, -1] = 0, 1
            y_true = INDICATORS[pick(choose, INDICATORS, ["table"])](truth)
        else:
            y_true, _ = draw_labels(rng, choose, rows, width)
            if choose.random() < 0.8:
                table = table.round(1) + 0.01
                table /= table.sum(axis=1, keepdims=True)
        args = (y_true, SCORES[pick(choose, SCORES, PLAIN[:2])](table))
        options = {"average": pick(choose, AVERAGES, AVERAGES[:4])} if choose.random() < 0.8 else {}
        weights = draw_weights(rng, choose, rows)
        if weights is not None:
            options["sample_weight"] = weights
        if name == "average_precision_score" and choose.random() < 0.2:
            options["pos_label"] = choose.choice(POSITIVE)
        if name == "roc_auc_score":
            options["multi_class"] = pick(choose, ["raise", "ovr", "ovo", "x"], ["ovr", "ovo"])
            if choose.random() < 0.1:
                options["max_fpr"] = choose.choice([0.5, 1.0])
            if choose.random() < 0.2:
                options["labels"] = choose.choice(
                    [range(width), list(range(width)), list(range(width))[::-1], ["0", "1", "2"]]
                )
    return args, options


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CURVES, *AREAS])
def test_random_calls_agree_with_scikit_learn(name):
    seed = sum(map(ord, name))
    rng, choose = np.random.default_rng(seed), random.Random(seed)
    draw = draw_curve_call if name in CURVES else draw_area_call
    served = 0
    for _ in range(300):
        args, options = draw(name, rng, choose)
        served += check(name, *args, **options)
    assert served > 40


@pytest.mark.parametrize("form", ["float64", "float32", "tied", "integers", "lists", "Fortran order"])
@pytest.mark.parametrize("labels", ["whole numbers", "booleans", "floats", "list", "series", "int8", "strings"])
@pytest.mark.parametrize("name", [*CURVES, *AREAS])
def test_plain_scores_of_two_classes_are_always_served(name, labels, form):
    rng = np.random.default_rng(0)
    y_true, scores = LABELS[labels](rng.integers(0, 2, 50)), SCORES[form](rng.random(50))
    options = {"pos_label": "1"} if labels == "strings" and name != "roc_auc_score" else {}
    assert check(name, y_true, scores, **options)
    assert check(name, y_true, scores, sample_weight=rng.integers(1, 9, 50), **options)


@pytest.mark.parametrize("average", [None, "micro", "macro", "weighted", "samples"])
@pytest.mark.parametrize("name", AREAS)
@pytest.mark.parametrize("form", ["float64", "float32", "tied"])
def test_tables_of_labels_are_always_served(name, average, form):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, (50, 4))
    truth[:, 0], truth[:, 1] = np.arange(50) % 2, np.arange(1, 51) % 2
    scores, weights = SCORES[form](rng.random((50, 4))), rng.random(50) + 0.5
    tolerance = 1e-6 if form == "float32" else 1e-12
    assert check(name, truth, scores, average=average, tolerance=tolerance)
    assert check(name, truth, scores, average=average, sample_weight=weights, tolerance=tolerance)


@pytest.mark.parametrize("average", [None, "micro", "macro", "weighted"])
@pytest.mark.parametrize("labels", ["whole numbers", "strings", "objects", "list"])
def test_classes_are_always_served(average, labels):
    rng = np.random.default_rng(0)
    y_true, table = LABELS[labels](rng.integers(0, 4, 60)), rng.dirichlet(np.ones(4), 60)
    weights = rng.random(60) + 0.5
    assert check("average_precision_score", y_true, table, average=average)
    assert check("roc_auc_score", y_true, table, average=average, multi_class="ovr", sample_weight=weights)
    if average in ("macro", "weighted"):
        assert check("roc_auc_score", y_true, table, average=average, multi_class="ovo")


def test_an_area_of_points_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 50):
        x, y = np.sort(rng.random(size)), rng.random(size)
        for form in (lambda v: v, lambda v: v[::-1], lambda v: v.tolist(), pd.Series, lambda v: (v * 9).astype(int)):
            assert check("auc", form(x), form(y)) == (size > 1)
        assert check("auc", x.astype(np.float32), y) == (size > 1)
        assert not check("auc", (x * 100).astype(np.uint8), y)
        assert not check("auc", x, y[:-1])
    assert not check("auc", [0, 2, 1], [1, 1, 1])
    assert not check("auc", [0, np.nan, 1], [1, 1, 1])


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("roc_curve", {"sample_weight": [0.1, 0.2, 0.3, 0.4]}, "rounding of fractional weights"),
        ("confusion_matrix_at_thresholds", {"pos_label": 7}, "pos_label is not a label"),
        ("roc_auc_score", {"sample_weight": [0, 1, 1, 1]}, "zero or negative weights"),
        ("roc_auc_score", {"max_fpr": 2}, "max_fpr is not a share"),
        ("average_precision_score", {"average": "some"}, "average is not one"),
    ],
)
def test_the_status_says_why_a_call_fell_back(name, options, reason):
    status(reset=True)
    with contextlib.suppress(ValueError):
        getattr(metrics, name)([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], **options)
    assert reason in next(iter(status().calls[name].reasons))
