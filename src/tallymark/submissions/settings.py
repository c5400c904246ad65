"""What is predicted and how it is scored: columns, task, mode, metrics and limits, checked before a file is read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tallymark.data.arguments import check_choice
from tallymark.data.target import Target, target_of
from tallymark.errors import Argument, ParameterError, Text, brief
from tallymark.evaluation.default_metrics import RANKING_METRICS, REGRESSION_METRICS, MetricsLike, select_metrics
from tallymark.evaluation.report import Cell, Report
from tallymark.intervals.settings import Intervals, interval_settings
from tallymark.metrics.base import Metric
from tallymark.sources.columns import NUMBER
from tallymark.sources.csv.fields import TEXT
from tallymark.sources.streams import SizeLimits
from tallymark.submissions.normalize import normalize_name

_PREDICTIONS = ("prediction", "pred", "y_pred", "score", "probability")  # what columns of predictions are called
TASKS = ("labels", "numbers", "probabilities", "ranking")
MODES = ("analysis", "challenge")
MISSING = ("count", "reject")
_TASK_OF_TARGET = {"value": "numbers", "label": "labels", "probability": "probabilities", "score": "ranking"}
_TASK_OF_KIND = {"value": "numbers", "label": "labels", "probability": "probabilities", "score": "probabilities"}
LABEL_METRICS = [
    "accuracy",
    "precision(average=macro)",
    "recall(average=macro)",
    "fscore(average=macro_pr)",
    "fscore(average=macro)",
]
PROBABILITY_METRICS = ["logloss", "brier", "accuracy"]


class Limits(NamedTuple):
    """The largest file that is accepted; None for no limit.

    Args:
        bytes: The size of the file.
        rows: The number of rows.
        columns: The number of columns.
        field_length: The characters of a field.
        labels: The number of distinct labels.
        unpacked_bytes: What a compressed file may unpack to.
        ratio: What it may unpack to, as a multiple of its size; this applies from 8 MB on.
    """

    bytes: int | None = None
    rows: int | None = None
    columns: int | None = 10_000
    field_length: int | None = 100_000
    labels: int | None = None
    unpacked_bytes: int | None = 1 << 34
    ratio: float | None = 100.0

    def sizes(self) -> SizeLimits:
        """The limits that the reader of files enforces."""
        return SizeLimits(self.bytes, self.unpacked_bytes, self.ratio)


def check_limits(limits: object) -> Limits:
    """The limits, each a positive number or None."""
    if limits is None:
        return Limits()
    if not isinstance(limits, Limits):
        raise ParameterError(argument="limits", expected="be tm.submissions.Limits(...)", got=brief(limits))
    for name, most in limits._asdict().items():
        if most is not None and (isinstance(most, bool) or not isinstance(most, (int, float)) or not most > 0):
            raise ParameterError(argument=f"limits.{name}", expected="be a positive number or None", got=brief(most))
    return limits


class ColumnNames(NamedTuple):
    """The names of the columns."""

    id: str
    label: str
    query: str
    prediction: str | None = None


def check_column_names(id: object, label: object, query: object = "query", prediction: object = None) -> ColumnNames:
    """The names of the columns, normalized as names in a header are."""
    given = {"id": id, "label": label, "query": query, **({} if prediction is None else {"prediction": prediction})}
    for argument, value in given.items():
        if not isinstance(value, str) or not value.strip():
            raise ParameterError(argument=argument, expected="be the name of a column", got=brief(value))
    names = ColumnNames(*(normalize_name(str(value)) for value in given.values()))
    for other in ("label", "prediction"):
        if names.id == getattr(names, other):
            raise ParameterError(
                Text("{id} and {} must be two columns; both were {}", Argument(other), repr(names.id)), argument="id"
            )
    return names


def resolve_task(task: str | None, metrics: Mapping[str, Any] | None) -> str:
    """The task that was named; else that of the first metric; else labels."""
    if task is None:
        first = next(iter(metrics.values())) if metrics else None
        if first is None:
            return "labels"
        return "ranking" if first.family == "ranking" else _TASK_OF_KIND.get(first.kind, "labels")
    check_choice("task", task, TASKS)
    return task


def read_target(
    target: Target | None, task: str | None, classes: object, positive: object = None
) -> tuple[str | None, object, object]:
    """The task, the classes and the positive class of a call, which a `target` can say instead of keywords."""
    if target is None:
        return task, classes, positive
    found = target_of(target, None, classes, positive)
    if found.kind is not None and task is not None:
        raise ParameterError(Text("{target} and {task} must not both be given: leave {task} out"), argument="target")
    if found.kind == "margin" or found.normalize or found.unanswered is not None:
        raise ParameterError(
            argument="target",
            expected='be of kind "value", "label", "probability" or "score", without normalize and unanswered, since a '
            "submission has values as they are",
            got=repr(found),
        )
    return task if found.kind is None else _TASK_OF_TARGET[found.kind], found.classes, found.positive


def check_classes(classes: object, names: ColumnNames, task: str) -> list[str] | None:
    """The classes, each of which names a column of probabilities, normalized as names in a header are."""
    if classes is None:
        return None
    if task != "probabilities":
        raise ParameterError(
            argument="classes", expected=f"be left out for the task {task}: it names columns of probabilities"
        )
    if isinstance(classes, (str, bytes)) or not isinstance(classes, Iterable):
        raise ParameterError(argument="classes", expected="be a list of labels", got=brief(classes))
    normalized = [normalize_name(str(each)) for each in classes]
    if names.id in normalized:
        raise ParameterError(
            Text("{classes} must not be called like the column of ids; one of them was {}", repr(names.id)),
            argument="classes",
        )
    return normalized


def answer_columns(task: str, names: ColumnNames) -> Mapping[str, str]:
    """The columns of the answers, each as text or number."""
    label_type = NUMBER if task in ("numbers", "ranking") else TEXT
    return {names.id: TEXT, names.label: label_type, **({names.query: TEXT} if task == "ranking" else {})}


def prediction_columns(
    task: str, names: ColumnNames, header: Sequence[str], classes: Callable[[], Sequence[str]]
) -> Mapping[str, str]:
    """The columns of a submission, each as text or number. Probabilities are in one column, or in one per class."""
    column = _find_prediction(names, header)
    if task != "probabilities" or (column in (names.prediction, names.label) and column in header):
        return {names.id: TEXT, column: TEXT if task == "labels" else NUMBER}
    by_class = dict.fromkeys(classes(), NUMBER)
    if column in header and not set(by_class) <= set(header):
        return {names.id: TEXT, column: NUMBER}
    return {names.id: TEXT, **by_class}


def _find_prediction(names: ColumnNames, header: Sequence[str]) -> str:
    """The column that was named; else the one called as that of the answers, or the only one with a usual name."""
    if names.prediction is not None:
        return names.prediction
    usual = [name for name in header if name.lower() in _PREDICTIONS and name != names.id]
    return usual[0] if names.label not in header and len(usual) == 1 else names.label


class ScoringSettings(NamedTuple):
    """The checked arguments of a call."""

    columns: ColumnNames
    task: str
    challenge: bool
    reject_missing: bool
    limits: Limits
    metrics: dict[str, Metric]
    classes: list[str] | None
    positive: str | None
    interval: Intervals | None
    outcomes: tuple[str, ...] = ()
    details: bool = False
    task_given: bool = True


def scoring_settings(
    *,
    id: str = "row_id",
    label: str = "label",
    prediction: str | None = None,
    mode: str = "analysis",
    metrics: MetricsLike = None,
    task: str | None = None,
    query: str = "query",
    target: Target | None = None,
    classes: object = None,
    positive: object = None,
    missing: str = "count",
    limits: Limits | None = None,
    ci: float | Intervals | None = None,
    outcomes: Sequence[str] = (),
    details: bool = False,
) -> ScoringSettings:
    """Check the arguments of a call. With `details`, the result of a challenge keeps the number of correct rows and the
    scores of classes, for an app that decides who may see them."""
    check_choice("mode", mode, MODES)
    check_choice("missing", missing, MISSING)
    named_metrics = None if metrics is None else select_metrics(metrics)
    names = check_column_names(id, label, query, prediction)
    task, classes, positive = read_target(target, task, classes, positive)
    resolved_task = resolve_task(task, named_metrics)
    selected = named_metrics or _default_metrics(resolved_task)
    return ScoringSettings(
        names,
        resolved_task,
        mode == "challenge",
        requires_every_row(resolved_task, missing, selected.values()),
        check_limits(limits),
        selected,
        check_classes(classes, names, resolved_task),
        None if positive is None else str(positive),
        interval_settings(ci),
        _check_outcomes(outcomes, selected),
        details,
        task is not None,
    )


def _default_metrics(task: str) -> dict[str, Metric]:
    names = {
        "labels": LABEL_METRICS,
        "numbers": REGRESSION_METRICS,
        "ranking": RANKING_METRICS,
        "probabilities": PROBABILITY_METRICS,
    }
    return select_metrics(names[task])


def _check_outcomes(outcomes: Sequence[str], metrics: dict[str, Metric]) -> tuple[str, ...]:
    if not isinstance(outcomes, (str, list, tuple)):
        raise ParameterError(argument="outcomes", expected="be a list of names of scores", got=brief(outcomes))
    names = Report({key: Cell(each, math.nan, 0, 0.0) for key, each in metrics.items()}, n=0, total_weight=0.0)
    keys = []
    for name in [outcomes] if isinstance(outcomes, str) else outcomes:
        if not isinstance(name, str) or name not in names:
            raise ParameterError(
                argument="outcomes", expected=f"name scores among {', '.join(metrics)}", got=brief(name)
            )
        keys.append(names.key_of(name))
    return tuple(keys)


COUNTS_MISSING_ROWS = frozenset(
    {
        "accuracy",
        "balanced_accuracy",
        "cohen_kappa",
        "error",
        "error_rate",
        "fdr",
        "fnr",
        "fscore",
        "hamming_loss",
        "jaccard",
        "mcc",
        "precision",
        "recall",
        "sensitivity",
    }
)
"""Metrics for which a missing prediction is never better than the right one: it is an error among all rows, a false
negative of its class, and a false positive of none. Other metrics would reward it: specificity would count it as a true
negative, and metrics of clusters as a cluster of its own."""


def requires_every_row(task: str, missing: str, metrics: Iterable[Metric]) -> bool:
    """Whether a submission to a challenge needs a row for each answer."""
    return missing == "reject" or task != "labels" or any(each.name not in COUNTS_MISSING_ROWS for each in metrics)
