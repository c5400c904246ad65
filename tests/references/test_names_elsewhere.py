"""Values under the names of other libraries: the same, where the table of names has no note."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import sklearn.metrics as sk

import tallymark as tm
from tallymark.metrics.names_elsewhere import names_elsewhere
from tallymark.metrics.naming import known_metric

RNG = np.random.default_rng(3)
N = 60
LABELS, GUESSES = RNG.integers(0, 2, (2, N))
SCORES = RNG.random(N)
CLASSES = RNG.integers(0, 3, N)
GUESSED = np.where(RNG.random(N) < 0.5, CLASSES, RNG.integers(0, 3, N))
PROBABILITIES = RNG.dirichlet(np.ones(3), N)
TRUTH = RNG.gamma(2.0, 1.0, N) + 0.1
VALUES = TRUTH * RNG.gamma(4.0, 0.25, N) + 0.01
POINTS = RNG.normal(size=(N, 2)) + 2 * CLASSES[:, None]
QUERY = np.repeat(np.arange(6), 10)


def rows_of(library):
    """The rows of the table that promise the same value."""
    return [row for row in names_elsewhere() if row.library == library and row.here and not row.note]


def arrays(item, *, several=False):
    """Truth and predictions of the kind that a metric reads."""
    if isinstance(item, tm.extend.ShapeMetric):
        return POINTS, GUESSED
    if item.family == "clustering":
        return CLASSES, GUESSED
    if item.name == "top_k_accuracy" or (item.family in ("score", "probability") and several):
        return CLASSES, PROBABILITIES
    if item.family in ("score", "probability", "ranking"):
        return LABELS, SCORES
    if item.family == "classification":
        return (CLASSES, GUESSED) if several else (LABELS, GUESSES)
    return TRUTH, VALUES


def check_same(ours, theirs, rtol=1e-10):
    """Numbers, or curves without the precision where nothing is called positive."""
    if isinstance(ours, tm.metrics.Curve):
        assert [len(column) for column in ours] == [len(column) for column in theirs]
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one[1:-1], other[1:-1], rtol=rtol)
    else:
        np.testing.assert_allclose(np.asarray(ours, float), np.asarray(theirs, float), rtol=rtol, atol=1e-6 * rtol)


TABLES = ("classification_report", "precision_recall_fscore_support", "metric_at_thresholds")  # compared elsewhere
FUNCTIONS = [row for row in rows_of("scikit-learn") if inspect.isfunction(getattr(sk, row.name, None))]


@pytest.mark.parametrize("row", [row for row in FUNCTIONS if row.name not in TABLES], ids=lambda row: row.name)
def test_functions_of_scikit_learn(row):
    """Called with truth and predictions alone."""
    item, theirs = tm.metric(row.here), getattr(sk, row.name)
    y, p = arrays(item)
    if item.family == "ranking":
        y, p = y.reshape(6, 10), p.reshape(6, 10)
    if row.name in ("roc_curve", "precision_recall_curve"):
        check_same(item(y, p, drop=False), theirs(y, p, drop_intermediate=False))
    else:
        check_same(item(y, p), theirs(y, p))


@pytest.mark.parametrize("name", [name for name in sk.get_scorer_names() if known_metric(name) is not None])
def test_scorers_of_scikit_learn(name):
    """Without their sign, and in percent where it is a percentage."""
    scorer, item = sk.get_scorer(name), tm.metric(name)
    several = any(word in name for word in ("micro", "macro", "weighted", "ovr", "ovo"))
    y, p = arrays(item, several=several)
    given = {"k": 2} if item.name == "top_k_accuracy" else {}
    theirs = scorer._score_func(y, p, **scorer._kwargs, **given)
    check_same(item(y, p, **given), 100 * theirs if item.name == "mape" else theirs)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of its own deprecations
@pytest.mark.parametrize("row", rows_of("torchmetrics"), ids=lambda row: row.name)
def test_metrics_of_torchmetrics(row):
    """In the digits of float32."""
    import torch
    import torchmetrics.classification
    import torchmetrics.clustering

    item = tm.metric(row.here)
    homes = (torchmetrics, torchmetrics.clustering, torchmetrics.classification)
    theirs = next(getattr(home, row.name) for home in homes if hasattr(home, row.name))
    given = {"task": "binary"} if item.family in ("classification", "score", "probability") else {}
    several = row.name.startswith("Multiclass")
    if several or row.name.startswith("Binary"):
        given = {"num_classes": 3} if several else {}
    y, p = arrays(item, several=several)
    if row.name == "ExactMatch":
        y, p, given = np.stack([LABELS, GUESSES], 1), np.stack([GUESSES, GUESSES], 1), {"task": "multilabel"}
        given["num_labels"] = 2
    first, second = (y, p) if item.family == "clustering" and y is POINTS else (p, y)
    if item.family == "ranking":
        found = theirs()(torch.as_tensor(p), torch.as_tensor(y), indexes=torch.as_tensor(QUERY))
        check_same(item(y, p, query=QUERY, absent=0), found, rtol=1e-5)
    elif item.name in ("roc_curve", "pr_curve"):
        check_same(item(y, p, drop=False), theirs(**given)(torch.as_tensor(p), torch.as_tensor(y)), rtol=1e-5)
    else:
        check_same(item(y, p), theirs(**given)(torch.as_tensor(first), torch.as_tensor(second)), rtol=1e-4)


RANKED = ("quantile",)  # which needs an objective of its own
OBJECTIVES = {
    "value": ("reg:squarederror", "regression"),
    "two": ("binary:logistic", "binary"),
    "three": ("multi:softprob", "multiclass"),
}


def boosted_kind(row):
    """Which model has a metric: of values, two classes or three."""
    if row.name in ("mlogloss", "merror", "multi_logloss", "multi_error"):
        return "three"
    return "value" if tm.metric(row.here).family == "regression" else "two"


def boosted_truth(kind):
    """What such a model learns."""
    return {"value": TRUTH, "two": LABELS, "three": CLASSES}[kind]


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [row for row in rows_of("XGBoost") if row.name not in RANKED and row.name != "quantile"],
    ids=lambda r: r.name,
)
def test_metrics_of_xgboost(row):
    """Of a model after three rounds, in the digits of float32."""
    import xgboost as xgb

    kind = boosted_kind(row)
    y = boosted_truth(kind)
    data = xgb.DMatrix(POINTS, y)
    given = {"objective": OBJECTIVES[kind][0], "eval_metric": row.name, "verbosity": 0}
    given |= {"num_class": 3} if kind == "three" else {}
    log: dict = {}
    model = xgb.train(given, data, 3, evals=[(data, "rows")], evals_result=log, verbose_eval=False)
    (values,) = log["rows"].values()
    p = model.predict(data)
    check_same(tm.metric(row.here)(np.asarray(y, np.float32), np.maximum(p, 1e-6)), values[-1], rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in rows_of("LightGBM") if row.name not in RANKED], ids=lambda r: r.name)
def test_metrics_of_lightgbm(row):
    """Of a model after three rounds."""
    import lightgbm as lgb

    kind = boosted_kind(row)
    y = boosted_truth(kind)
    given = {"objective": OBJECTIVES[kind][1], "metric": row.name, "verbosity": -1, "num_threads": 1}
    given |= {"num_class": 3} if kind == "three" else {}
    log: dict = {}
    rows = lgb.Dataset(POINTS, y, params={"min_data_in_leaf": 3})
    model = lgb.train(given, rows, 3, valid_sets=[rows], valid_names=["rows"], callbacks=[lgb.record_evaluation(log)])
    (values,) = log["rows"].values()
    check_same(tm.metric(row.here)(np.asarray(y, np.float32), model.predict(POINTS)), values[-1], rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "row", [row for row in rows_of("Keras") if row.name != "acc" and "TopK" not in row.name], ids=lambda r: r.name
)
def test_metrics_of_keras(row):
    """In the digits of float32."""
    import keras

    item = tm.metric(row.here)
    y, p = arrays(item)
    if row.name in ("BinaryAccuracy", "Precision", "Recall"):
        y, p = LABELS, SCORES
    elif "Categorical" in row.name:
        y, p = CLASSES, PROBABILITIES
    elif row.name == "MeanIoU":
        y, p = CLASSES, GUESSED
    theirs = getattr(keras.metrics, row.name)(**({"num_classes": 3} if row.name == "MeanIoU" else {}))
    if row.name.startswith("Categorical"):
        theirs.update_state(np.eye(3)[y], p)
    elif row.name == "R2Score":
        theirs.update_state(y[:, None], p[:, None])
    else:
        theirs.update_state(y, p)
    check_same(item(y, p), float(theirs.result()), rtol=1e-4)
