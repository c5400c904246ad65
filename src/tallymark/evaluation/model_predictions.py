"""Asks a model for the predictions that a metric reads: labels, probabilities of classes, or scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arguments import describe
from tallymark.data.arrays import Array, as_array
from tallymark.data.batch import Batch
from tallymark.data.labels import Label, label_or_none
from tallymark.data.target import show_labels
from tallymark.errors import KindError, ParameterError, ShapeError, Text
from tallymark.evaluation.default_metrics import (
    PROBABILITY_METRICS,
    REGRESSION_METRICS,
    SCORE_METRICS,
)
from tallymark.metrics.base import Metric
from tallymark.states.labels.encoding import encode_labels

_BY_KIND = {
    "value": ("predict",),
    "label": ("predict",),
    "probability": ("predict_proba",),
    "score": ("predict_proba", "decision_function", "predict"),
    "margin": ("decision_function",),
}
CALL = "call"


class ModelPredictions(NamedTuple):
    """Predictions of a model, and of which kind they are; None where their type tells."""

    y_pred: Array
    kind: str | None


def prediction_method(item: Metric, model: Any) -> str:
    """The method of a model that gives what a metric reads; "call" for a model that is a function."""
    wanted = ("predict",) if item.by_query else _BY_KIND[item.kind]
    if item.kind == "label" and "threshold" in item.to_dict():  # which a model's own labels do not know
        wanted = ("predict_proba",)
    for name in wanted:
        if callable(getattr(model, name, None)):
            return name
    if callable(model) and not hasattr(model, "predict"):
        return CALL
    calibrated = wanted == ("predict_proba",) and hasattr(model, "decision_function")
    raise KindError(
        f"{item} needs {' or '.join(wanted)}, which {type(model).__name__} does not have",
        hint="CalibratedClassifierCV of scikit-learn gives it probabilities" if calibrated else None,
    )


def check_model(model: Any) -> None:
    """Require a model that can predict."""
    if isinstance(model, type) or not (callable(model) or callable(getattr(model, "predict", None))):
        raise ParameterError(
            argument="model", expected="be a fitted model with `predict`, or a function of X", got=describe(model)
        )


def is_classifier(model: Any) -> bool:
    """Whether an estimator says that it predicts classes."""
    return _is_of_type(model, "classifier") or hasattr(model, "classes_") or hasattr(model, "predict_proba")


def default_metrics_of_model(model: Any) -> list[str] | None:
    """The default metrics for the most detailed predictions of an estimator; None if they follow from its labels, or
    if it does not say what it is."""
    if _is_of_type(model, "regressor"):
        return REGRESSION_METRICS
    if hasattr(model, "predict_proba"):
        return PROBABILITY_METRICS
    if not is_classifier(model):
        return None
    two_classes = len(getattr(model, "classes_", ())) == 2
    return [*SCORE_METRICS, "accuracy"] if two_classes and hasattr(model, "decision_function") else None


def _is_of_type(model: Any, name: str) -> bool:
    try:
        return bool(model.__sklearn_tags__().estimator_type == name)
    except Exception:  # an older release of scikit-learn, another library, or a model that has no tags
        return getattr(model, "_estimator_type", None) == name


def known_classes(model: Any, y: Any, weights: Any = None) -> list[Label] | None:
    """The classes that a fitted model knows, and those of these rows that it has never seen; None if it says none."""
    known = getattr(model, "classes_", None)
    if known is None:
        return None
    names: list[Any] = [label_or_none(item) for item in known]
    new = [label for label in encode_labels(Batch(y, y, weights), 0)[0] if label not in names]
    return sorted([*names, *new]) if new else names


def predict(model: Any, X: Any, method: str, classes: Sequence[Label] | None = None) -> ModelPredictions:  # noqa: N803 - as theirs
    """The predictions by a method; those of classes with one column for each of `classes`, in their order."""
    if method == CALL:
        return ModelPredictions(as_array(model(X), "y_pred"), None)
    output = getattr(model, method)(X)
    if isinstance(output, list) and output and getattr(output[0], "ndim", 1) == 2:
        raise ShapeError(f"{method} must give one table; it gave {len(output)}, one for each output")
    table = as_array(output, "y_pred")
    if method == "predict":
        return ModelPredictions(table, None)
    known = getattr(model, "classes_", None)
    if method == "decision_function" and table.ndim == 1:
        if known is None:
            return ModelPredictions(table, "score")
        # Two margins of which the second is as far above the first: then it is known whose it is.
        table = np.column_stack([np.zeros(len(table)), table])
        return ModelPredictions(_align_columns(table, known, classes, -np.inf), "margin")
    if known is not None:
        table = _align_columns(table, known, classes, 0.0 if method == "predict_proba" else -np.inf)
    return ModelPredictions(table, "probability" if method == "predict_proba" else "score")


def _align_columns(table: Array, known: Any, classes: Sequence[Label] | None, absent: float) -> Array:
    """The columns in the order of the classes; one that the model has never seen has the same number in all rows."""
    names = [label_or_none(item) for item in known]
    if len(names) != table.shape[1]:
        raise ShapeError(f"predictions must have one column per class; got {table.shape[1]} for {len(names)}")
    if classes is None or names == list(classes):
        return table
    extra = [name for name in names if name not in classes]
    if extra:
        raise ParameterError(f"the model knows the class {extra[0]!r}, which is none of {show_labels(classes)}")
    if np.isinf(absent):
        absent = float(table.min()) - 1.0 if table.size else 0.0  # ranks last, and is finite
    return np.column_stack([table[:, names.index(c)] if c in names else np.full(len(table), absent) for c in classes])


def take_rows(rows: Any, places: Array) -> Any:
    """Some of the rows of a table, a sequence, or columns by name, as what they were."""
    if hasattr(rows, "iloc"):
        return rows.iloc[places]
    if isinstance(rows, (list, tuple)):
        return [rows[k] for k in places.tolist()]
    if isinstance(rows, dict):
        return {name: take_rows(column, places) for name, column in rows.items()}
    if type(rows).__module__.startswith("pyarrow"):
        return rows.take(places)
    if hasattr(rows, "tocsr"):
        rows = rows.tocsr()  # not all sparse formats can be indexed
    try:
        return rows[places]
    except Exception as error:  # of the code that holds the rows
        raise ParameterError(
            Text("rows of {X} could not be taken: {}", error), hint=f"It was {describe(rows)}"
        ) from error
