"""The settings of a scoring, checked: columns, task, mode, metrics and limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tallymark.data.arguments import check_choice
from tallymark.errors import ParameterError, brief
from tallymark.evaluation.selection import RANKINGS, VALUES, Wanted, select_metrics
from tallymark.intervals.settings import Intervals, interval_settings
from tallymark.metrics.base import Metric
from tallymark.metrics.naming import metric
from tallymark.submissions.limits import Limits, check_limits
from tallymark.submissions.tasks import Names, class_names, task_columns, task_of

MODES = ("analysis", "challenge")
MISSING = ("count", "reject")
LABELS = {
    "accuracy": "accuracy",
    "macro precision": "precision(average=macro)",
    "macro recall": "recall(average=macro)",
    "F1 of macro precision and recall": "fscore(average=macro_pr)",
    "macro F1": "fscore(average=macro)",
}
PROBABILITIES = ["logloss", "brier", "accuracy"]


class ScoringSettings(NamedTuple):
    """What a call was told, checked."""

    names: Names
    task: str
    challenge: bool
    reject: bool
    limits: Limits
    metrics: dict[str, Metric]
    classes: list[str] | None
    positive: str | None
    interval: Intervals | None
    outcomes: tuple[str, ...] = ()
    tells_classes: bool = False
    task_named: bool = True


def settings_of(
    *,
    id: str = "row_id",
    label: str = "label",
    mode: str = "analysis",
    metrics: Wanted = None,
    task: str | None = None,
    query: str = "query",
    classes: object = None,
    positive: object = None,
    missing: str = "count",
    limits: Limits | None = None,
    ci: float | Intervals | None = None,
    outcomes: Sequence[str] = (),
    tells_classes: bool = False,
) -> ScoringSettings:
    """What a call was told, checked. `tells_classes` lets those of a challenge see the table of classes."""
    check_choice("mode", mode, MODES)
    check_choice("missing", missing, MISSING)
    chosen = None if metrics is None else select_metrics(metrics)
    names = task_columns(id, label, query)
    what = task_of(task, chosen)
    wanted = chosen or _default(what)
    return ScoringSettings(
        names,
        what,
        mode == "challenge",
        must_be_whole(what, missing, wanted.values()),
        check_limits(limits),
        wanted,
        class_names(classes, names, what),
        None if positive is None else str(positive),
        interval_settings(ci),
        _check_outcomes(outcomes, wanted),
        tells_classes,
        task is not None,
    )


def _default(task: str) -> dict[str, Metric]:
    wanted = {"numbers": VALUES, "ranking": RANKINGS, "probabilities": PROBABILITIES}.get(task)
    return {key: metric(text) for key, text in LABELS.items()} if wanted is None else select_metrics(wanted)


def _check_outcomes(outcomes: Sequence[str], metrics: dict[str, Metric]) -> tuple[str, ...]:
    if not isinstance(outcomes, (str, list, tuple)):
        raise ParameterError(argument="outcomes", expected="be a list of names of scores", got=brief(outcomes))
    names = [outcomes] if isinstance(outcomes, str) else list(outcomes)
    for name in names:
        if not isinstance(name, str) or name not in metrics:
            listed = ", ".join(map(repr, metrics))
            raise ParameterError(
                argument="outcomes", expected=f"name scores, of which there are {listed}", got=brief(name)
            )
    return tuple(names)


COUNTED = frozenset(
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
"""Metrics in which no prediction is never better than the right one, and costs what it should: it is wrong among all
rows, not found among those of its class, and no claim of any class. To others, such as specificity, it would be a row
rightly left alone, and to those of clusters a cluster of its own."""


def must_be_whole(task: str, missing: str, metrics: Iterable[Metric]) -> bool:
    """Whether a submission to a challenge needs a row for each answer."""
    return missing == "reject" or task != "labels" or any(each.name not in COUNTED for each in metrics)
