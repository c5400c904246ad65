"""Asks a model for the predictions that a metric reads: labels, probabilities of classes, or scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arguments import describe
from tallymark.data.arrays import Array, as_array
from tallymark.data.labels import Label, label_or_none
from tallymark.data.target import show_labels
from tallymark.errors import KindError, ParameterError, ShapeError, Text
from tallymark.metrics.base import Metric

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
    for name in wanted:
        if callable(getattr(model, name, None)):
            return name
    if callable(model) and not hasattr(model, "predict"):
        return CALL
    raise KindError(
        f"{item} reads predictions of kind {item.kind!r}: the model must have {' or '.join(wanted)}, and "
        f"{type(model).__name__} has not"
    )


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
