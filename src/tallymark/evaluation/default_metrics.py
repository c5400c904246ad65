"""Which metrics are evaluated: those that were asked for, or the defaults for the types of truth and prediction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import ParameterError, Text, brief
from tallymark.metrics.base import Metric
from tallymark.metrics.naming import describe_other, metric

REGRESSION_METRICS = ["rmse", "mae", "r2"]
LABEL_METRICS = ["accuracy", "precision(average=macro)", "recall(average=macro)", "fscore(average=macro)"]
PROBABILITY_METRICS = ["auc", "logloss", "brier", "accuracy"]
SCORE_METRICS = ["auc", "average_precision"]
RANKING_METRICS = ["ndcg", "map", "mrr"]
DEFAULTS_BY_KIND = {
    "value": REGRESSION_METRICS,
    "label": LABEL_METRICS,
    "probability": PROBABILITY_METRICS,
    "margin": PROBABILITY_METRICS,
    "score": SCORE_METRICS,
}

MetricsLike = str | Metric | Mapping[str, Any] | Iterable[Any] | None


def select_metrics(metrics: MetricsLike, batch: Batch | None = None, target: Target | None = None) -> dict[str, Metric]:
    """The metrics under their keys; without any, the defaults for the types of truth and prediction."""
    if metrics is None and batch is not None and target is not None:
        return select_metrics(_default_metrics(batch, target))
    if isinstance(metrics, Mapping):
        return {_check_key(key): metric(value) for key, value in metrics.items()} or _refuse_no_metrics()
    if isinstance(metrics, (str, Metric)):
        metrics = [metrics]
    if not isinstance(metrics, Iterable):
        raise ParameterError(
            argument="metrics", expected="be a metric, a name, or a list of them", got=f"{describe_other(metrics)}"
        )
    try:
        items = list(metrics)
    except Exception as error:  # an array of no dimensions, say
        raise ParameterError(
            argument="metrics", expected="be a list of metrics or names", got=f"{describe_other(metrics)}"
        ) from error
    selected: dict[str, Metric] = {}
    for item in map(metric, items):
        if selected.setdefault(str(item), item) != item:
            raise ParameterError(
                f"two metrics are called {str(item)!r}; give them names: {{'first': ..., 'second': ...}}"
            )
    return selected or _refuse_no_metrics()


def _check_key(key: object) -> str:
    if not isinstance(key, str) or not key:
        raise ParameterError(Text("the keys of {metrics} must be names; got {}", brief(key)))
    return key


def _refuse_no_metrics() -> dict[str, Metric]:
    raise ParameterError(argument="metrics", expected="name at least one metric", got="none")


def _default_metrics(batch: Batch, target: Target) -> list[str]:
    """By the kind that was declared, or by the types; never by the values."""
    if batch.has_query and target.kind in (None, "score"):
        return RANKING_METRICS
    if target.kind is not None:
        return DEFAULTS_BY_KIND[target.kind]
    truth, prediction = _type_of(batch, 0), _type_of(batch, 1)
    table = batch.truth_columns == 1 and batch.prediction_columns > 1 and prediction == "real"
    if truth == "real" and not table:
        return REGRESSION_METRICS
    if prediction != "real":
        return LABEL_METRICS
    if truth == "integer" and not table:
        raise ParameterError(
            Text(
                "{metrics} or {kind} must be given: whole numbers as truth with floats as "
                'predictions can be numbers to predict ({kind="value"}), or labels with '
                'probabilities ({kind="probability"}), scores ({kind="score"}) or labels '
                '({kind="label"})'
            ),
            argument="metrics",
        )
    return PROBABILITY_METRICS


def _type_of(batch: Batch, side: int) -> str:
    """boolean, integer, real or text, from the type of an input."""
    columns = (batch.truth_columns, batch.prediction_columns)[side]
    if columns == 1:
        return batch.labels(side).type
    kind = (batch.truth if side == 0 else batch.prediction).dtype.kind
    return "real" if kind == "f" else "boolean" if kind == "b" else "integer"
