"""Metrics of probabilities by tallymark are those of scikit-learn, in values, types, warnings and errors."""

from __future__ import annotations

import contextlib
import random

import numpy as np
import pytest

from tallymark.sklearn import metrics, status
from tests.sklearn.adapters.agreement import check
from tests.sklearn.adapters.test_curves import (
    INDICATORS,
    LABELS,
    PLAIN,
    POSITIVE,
    SCORES,
    draw_classes,
    draw_labels,
    draw_rows,
    draw_weights,
    pick,
)

COSTS = ("brier_score_loss", "d2_brier_score", "d2_log_loss_score", "log_loss")
KINDS = {
    "plain": lambda rng, shape: rng.random(shape),
    "sharp": lambda rng, shape: rng.integers(0, 2, shape).astype(float),
    "tiny": lambda rng, shape: rng.random(shape) ** 40,
    "outside": lambda rng, shape: rng.random(shape) * 1.5 - 0.1,
}


def draw_probabilities(rng, choose, rows, width):
    """One probability per row, or a table whose rows mostly sum to 1."""
    shape = rows if width == 0 else (rows, width)
    found = KINDS[pick(choose, KINDS, ["plain"])](rng, shape)
    if width > 1 and choose.random() < 0.85:
        found = found + 1e-3
        found /= found.sum(axis=1, keepdims=True)
    return SCORES[pick(choose, SCORES, ["float64", "float64", "float32", "lists"])](found)


def draw_call(name, rng, choose):
    rows, width = draw_rows(rng, choose), choose.choice([0, 0, 0, 1, 2, 3, 4])
    y_true, _ = draw_labels(rng, choose, rows, choose.choice([max(width, 2), max(width, 2), 1, 2, 3]))
    if width > 1 and choose.random() < 0.2:
        y_true = INDICATORS[choose.choice(list(INDICATORS))](np.eye(width, dtype=int)[rng.integers(0, width, rows)])
    options = {}
    weights = draw_weights(rng, choose, rows)
    if weights is not None:
        options["sample_weight"] = weights
    missing = (
        getattr(y_true, "dtype", np.dtype(int)).kind == "f" and np.isnan(y_true).any()
    )  # which an error lists in any order
    if choose.random() < 0.25 and not missing:
        options["labels"] = draw_classes(choose, max(width, 2))
    if name == "hinge_loss":
        shape = (rows, width) if width else rows
        return (y_true, SCORES[pick(choose, SCORES, PLAIN[:4])](rng.normal(size=shape) * 2)), options
    if "brier" in name and choose.random() < 0.5:
        options["pos_label"] = choose.choice(POSITIVE)
    if name == "brier_score_loss" and choose.random() < 0.3:
        options["scale_by_half"] = choose.choice([True, False, "auto", 1, "x"])
    if name == "log_loss" and choose.random() < 0.3:
        options["normalize"] = choose.choice([True, False, 0])
    if "log" in name and choose.random() < 0.05:
        return (y_true,), {**options, "y_pred": draw_probabilities(rng, choose, rows, width)}
    return (y_true, draw_probabilities(rng, choose, rows, width)), options


def tolerance_of(name, args):
    """A difference of float32 values has few digits in common."""
    short = any(getattr(each, "dtype", None) in (np.float32, np.float16) for each in args)
    return (1e-4 if name.startswith("d2") else 1e-6) if short else 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", [*COSTS, "hinge_loss"])
def test_random_calls_agree_with_scikit_learn(name):
    seed = sum(map(ord, name))
    rng, choose = np.random.default_rng(seed), random.Random(seed)
    served = 0
    for _ in range(400):
        args, options = draw_call(name, rng, choose)
        served += check(name, *args, tolerance=tolerance_of(name, [*args, *options.values()]), **options)
    assert served > 50


@pytest.mark.parametrize("form", ["float64", "float32", "tied", "lists"])
@pytest.mark.parametrize("labels", ["whole numbers", "booleans", "floats", "list", "series", "int8", "strings"])
@pytest.mark.parametrize("name", [*COSTS, "hinge_loss"])
def test_probabilities_of_two_classes_are_always_served(name, labels, form):
    rng = np.random.default_rng(0)
    y_true, chances = LABELS[labels](rng.integers(0, 2, 50)), SCORES[form](rng.random(50))
    options = {"pos_label": "1"} if labels == "strings" and "brier" in name else {}
    options["tolerance"] = 1e-6 if form == "float32" else 1e-12
    assert check(name, y_true, chances, **options)
    assert check(name, y_true, chances, sample_weight=rng.random(50) + 0.5, **options)


@pytest.mark.parametrize("form", ["float64", "float32", "lists", "Fortran order"])
@pytest.mark.parametrize("name", [*COSTS, "hinge_loss"])
def test_tables_of_probabilities_are_always_served(name, form):
    rng = np.random.default_rng(0)
    table = SCORES[form](rng.dirichlet(np.ones(4), 60))
    tolerance = 1e-6 if form == "float32" else 1e-12
    for labels in ("whole numbers", "strings", "objects"):
        y_true = LABELS[labels](rng.integers(0, 4, 60))
        assert check(name, y_true, table, tolerance=tolerance)
        assert check(name, y_true, table, sample_weight=rng.random(60) + 0.5, tolerance=tolerance)
    assert check(name, [0, 1] * 30, table, labels=[0, 1, 2, 3], tolerance=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_probabilities_are_clipped_as_their_type_says(dtype):
    chances = np.array([0, 1, 0, 1, 1e-9], dtype)
    for y_true in ([1, 0, 0, 1, 1], [0, 1, 0, 1, 0]):
        assert check("log_loss", y_true, chances, tolerance=1e-6)
        assert check("log_loss", y_true, np.stack([1 - chances, chances]).T, tolerance=1e-6)


@pytest.mark.parametrize("name", ["d2_brier_score", "d2_log_loss_score"])
def test_the_shares_of_the_classes_improve_on_nothing(name):
    y_true, weights = [0, 1, 1, 0, 0, 1], [2, 2, 3, 1, 1, 1]
    assert getattr(metrics, name)(y_true, [0.6] * 6, sample_weight=weights) == 0
    assert getattr(metrics, name)([0, 1, 2, 2], [[0.25, 0.25, 0.5]] * 4) == 0


@pytest.mark.parametrize("name", COSTS)
def test_a_column_for_each_class_is_a_label(name):
    rng = np.random.default_rng(0)
    for width in (2, 3):
        truth, table = np.eye(width, dtype=int)[rng.integers(0, width, 50)], rng.dirichlet(np.ones(width), 50)
        assert check(name, truth, table)
        assert not check(name, 1 - truth[:, ::-1] if width > 2 else truth[:, :1], table)


def test_whole_margins_are_served():
    assert check("hinge_loss", [0, 1, 1], [-2, 1, 3])
    assert check("hinge_loss", [0, 1, 2], [[2, 1, 3], [0, 5, 1], [1, 0, 1]])


@pytest.mark.parametrize(
    ("name", "args", "options", "reason"),
    [
        ("brier_score_loss", ([0, 1, 0, 1], [0.1, 0.2, 1.3, 0.4]), {}, "not between 0 and 1"),
        ("brier_score_loss", ([3, 3, 5, 5], [0.1, 0.2, 0.3, 0.4]), {"pos_label": 4}, "pos_label is not a label"),
        ("log_loss", ([0, 1], [0.1, 0.2]), {"labels": [0, 0, 1]}, "not distinct and in order"),
        ("log_loss", ([0, 0], [0.1, 0.2]), {}, "one column for each of two or more classes"),
        ("d2_log_loss_score", ([0, 0], [0.1, 0.2]), {"labels": [0, 1]}, "one class only"),
        ("hinge_loss", ([0, 1], [True, False]), {}, "dtype bool"),
    ],
)
def test_the_status_says_why_a_call_fell_back(name, args, options, reason):
    status(reset=True)
    with contextlib.suppress(ValueError):
        getattr(metrics, name)(*args, **options)
    assert reason in next(iter(status().calls[name].reasons))
