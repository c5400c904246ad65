"""Metrics of numbers by tallymark are those of scikit-learn, in values, types, warnings and errors."""

from __future__ import annotations

import contextlib
import inspect
import random

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics

from tallymark.sklearn import metrics, status
from tallymark.sklearn.adapters import regression
from tests.sklearn.adapters.agreement import check

COLUMNS = {
    "amounts": lambda rng, shape: rng.gamma(2.0, 2.0, shape) + 0.01,
    "counts": lambda rng, shape: rng.poisson(3.0, shape),
    "signed": lambda rng, shape: rng.normal(0.0, 10.0, shape),
    "positive counts": lambda rng, shape: rng.integers(1, 6, shape),
    "constant": lambda rng, shape: np.full(shape, 3.0),
    "fractions, constant": lambda rng, shape: np.full(shape, 0.1),
    "far from 0": lambda rng, shape: rng.normal(1e6, 1.0, shape),
    "tiny": lambda rng, shape: rng.random(shape) * 1e-7,
}
FORMS = {
    "array": lambda v: v,
    "list": lambda v: v.tolist(),
    "series": lambda v: pd.Series(v) if v.ndim == 1 else pd.DataFrame(v),
    "float32": lambda v: v.astype(np.float32),
    "int32": lambda v: np.round(v).astype(np.int32),
    "uint8": lambda v: np.round(np.abs(v) % 200).astype(np.uint8),
    "booleans": lambda v: v > 1,
    "strided": lambda v: np.repeat(v, 2, axis=0)[::2],
    "strings": lambda v: v.astype(str),
    "missing": lambda v: np.where(np.arange(v.size).reshape(v.shape) == 0, np.nan, v),
}
WEIGHTS = {
    "fractions": lambda rng, rows: rng.random(rows) + 0.1,
    "whole": lambda rng, rows: rng.integers(1, 5, rows),
    "some zero": lambda rng, rows: rng.integers(0, 3, rows),
    "negative": lambda rng, rows: rng.normal(size=rows),
    "list": lambda rng, rows: (rng.random(rows) + 0.1).tolist(),
}
CHOICES = {
    "multioutput": ["raw_values", "uniform_average", "variance_weighted", None, "x", [0.3, 0.7], [1, 2, 3], [0, 0]],
    "alpha": [0, 0.1, 0.5, 0.75, 1, -0.1, 2, True, np.float64(0.3)],
    "power": [0, 1, 2, 3, 1.5, 1.2, -1, -0.5, 0.5, 1.0, True],
    "force_finite": [True, False, 1],
}


def blur(name, args, kwargs):
    """How far scikit-learn's own rounding goes, beside values near 1."""
    floats = [each.dtype for each in (*args, kwargs.get("sample_weight")) if hasattr(each, "dtype")]
    if np.float32 in floats:
        return 2e-6
    return 1e-9 if "log_error" in name or "deviance" in name or "tweedie" in name else 1e-12


def draw(name, rng, choose):
    """The arguments of a call."""
    rows, outputs = choose.choice([1, 2, 3, 10, 60, 500]), choose.choice([1, 1, 1, 2, 3])
    shape = (rows,) if outputs == 1 else (rows, outputs)
    truth = COLUMNS[choose.choice(list(COLUMNS))](rng, shape)
    other = COLUMNS[choose.choice(list(COLUMNS))](rng, shape)
    prediction = other if choose.random() < 0.3 else truth * rng.gamma(5.0, 0.2, shape)
    form = choose.choices(list(FORMS), [4] + [1] * (len(FORMS) - 1), k=2)
    kwargs = {}
    for parameter in inspect.signature(getattr(sklearn.metrics, name)).parameters:
        if parameter == "sample_weight" and choose.random() < 0.4:
            kwargs[parameter] = WEIGHTS[choose.choice(list(WEIGHTS))](rng, rows)
        elif parameter in CHOICES and choose.random() < 0.6:
            kwargs[parameter] = choose.choice(CHOICES[parameter])
    return (FORMS[form[0]](truth), FORMS[form[1]](prediction)), kwargs


@pytest.mark.parametrize("name", regression.__all__)
def test_random_calls_agree(name):
    choose, rng = random.Random(name), np.random.default_rng(sum(name.encode()))
    served = 0
    for _ in range(150):
        args, kwargs = draw(name, rng, choose)
        tolerance = blur(name, args, kwargs)
        near = tolerance if "score" in name else 1e-14  # scores are differences from 1
        served += check(name, *args, tolerance=tolerance, near=near, **kwargs)
    assert served >= 15


TRUTH = np.array([3.0, 0.5, 2.0, 7.0, 1.0])
PREDICTION = np.array([2.5, 1.0, 2.0, 8.0, 1.5])


@pytest.mark.parametrize("form", ["array", "list", "series", "float32", "int32", "strided"])
@pytest.mark.parametrize("name", regression.__all__)
def test_common_forms_are_served(name, form):
    logarithms = "log_error" in name or name.startswith(("mean_poisson", "mean_gamma"))
    args = (FORMS[form](TRUTH + 1), FORMS[form](PREDICTION + 1))
    served = check(name, *args, tolerance=1e-6 if form == "float32" else 1e-12)
    assert served is not (logarithms and form == "float32")


@pytest.mark.parametrize("weights", [[1, 2, 1, 3, 1], [0.5, 1.5, 2.0, 0.25, 1.0]])
@pytest.mark.parametrize("name", [name for name in regression.__all__ if name != "max_error"])
def test_weights_are_served(name, weights):
    assert check(name, TRUTH, PREDICTION, sample_weight=weights)


@pytest.mark.parametrize("multioutput", ["raw_values", "uniform_average", [0.25, 0.75], np.array([1, 3])])
@pytest.mark.parametrize(
    "name",
    [
        name
        for name in regression.__all__
        if "multioutput" in inspect.signature(getattr(sklearn.metrics, name)).parameters
    ],
)
def test_several_outputs_are_served(name, multioutput):
    truth, prediction = np.column_stack([TRUTH, PREDICTION]), np.column_stack([PREDICTION, TRUTH * 2])
    assert check(name, truth, prediction, multioutput=multioutput)
    assert check(name, pd.DataFrame(truth), prediction.tolist(), multioutput=multioutput)


@pytest.mark.parametrize("name", ["r2_score", "explained_variance_score"])
def test_outputs_weighted_by_variance_are_served(name):
    truth, prediction = np.column_stack([TRUTH, PREDICTION]), np.column_stack([PREDICTION, TRUTH * 2])
    assert check(name, truth, prediction, multioutput="variance_weighted")


@pytest.mark.parametrize("finite", [True, False])
@pytest.mark.parametrize("prediction", [[2, 2, 2], [1, 2, 3]])
def test_r2_of_a_constant_whole_truth_is_decided_by_scikit_learn(prediction, finite):
    assert check("r2_score", [2, 2, 2], prediction, force_finite=finite)


def reason(name, *args, **kwargs):
    """Why scikit-learn answers a call."""
    status(reset=True)
    with contextlib.suppress(Exception):
        getattr(metrics, name)(*args, **kwargs)
    (found,) = status().calls[name].reasons
    return found


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "expected"),
    [
        ("mean_absolute_error", ([1, 2], [1, 2, 3]), {}, "different lengths"),
        ("mean_absolute_error", ([1.0, np.nan], [1, 2]), {}, "NaN"),
        ("mean_absolute_error", (["1", "2"], [1, 2]), {}, "strings"),
        ("mean_absolute_error", ([[1, 2]], [1]), {}, "different numbers of columns"),
        ("mean_absolute_error", ([], []), {}, "not one or more columns"),
        ("mean_absolute_error", ([1, 2], [1, 3]), {"multioutput": [0.5]}, "one weight per output"),
        ("mean_absolute_error", ([1, 2], [1, 3]), {"sample_weight": [1]}, "one number per row"),
        ("mean_absolute_error", ([1, 2], [1, 3]), {"sample_weight": [1, -1]}, "negative weights"),
        ("mean_squared_error", ([1e200, 1.0], [-1e200, 1.0]), {}, "too large"),
        ("mean_squared_log_error", ([1, -1], [1, 2]), {}, "outside"),
        ("mean_poisson_deviance", ([1, 2], [1, 0]), {}, "outside"),
        ("mean_poisson_deviance", ([1, 2], [1, 1e-10]), {}, "below 1e-9"),
        ("mean_gamma_deviance", (TRUTH.astype("f"), TRUTH.astype("f")), {}, "float32"),
        ("mean_tweedie_deviance", ([1, 2], [1, 2]), {"power": 0.5}, "power"),
        ("max_error", ([True, False], [True, True]), {}, "truth values"),
        ("max_error", (np.array([1], np.uint8), np.array([2], np.uint8)), {}, "unsigned"),
        ("max_error", (np.array([100], np.int8), np.array([-100], np.int8)), {}, "may not fit"),
        ("median_absolute_error", ([1, 2], [1, 3]), {"sample_weight": [0.1, 0.1]}, "rounded"),
        ("r2_score", ([1], [1]), {}, "fewer than two rows"),
        ("r2_score", ([0.1, 0.1], [1, 2]), {}, "constant"),
        ("r2_score", ([1e9, 1e9 + 1], [1, 2]), {}, "too little"),
        ("explained_variance_score", ([1, 2, 4], [1e9, 1e9 + 1, 1e9 + 2]), {}, "vary too little"),
        ("d2_tweedie_score", ([1, 2], [1, 2]), {"power": True}, "power"),
        ("d2_pinball_score", ([1, 2], [1, 2]), {"alpha": 1}, "alpha"),
    ],
)
def test_the_original_answers_and_the_reason_is_counted(name, args, kwargs, expected):
    assert not check(name, *args, **kwargs)
    assert expected in reason(name, *args, **kwargs)
