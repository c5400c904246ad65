"""The metrics that are usually reported for a classifier or a regression, with the times of fitting and scoring."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

from tallymark.data.batch import Batch
from tallymark.data.target import Target, target_of
from tallymark.errors import ParameterError, brief
from tallymark.evaluation.evaluate import evaluate_batch
from tallymark.evaluation.report import Report
from tallymark.rendering.exports import to_json
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import Table
from tallymark.rendering.text import to_text
from tallymark.states.labels.encoding import encode_labels

_REGRESSION = ("rss", "mse", "rmse", "mae", "r2")
_BINARY = ("error", "accuracy", "precision", "recall", "specificity", "fscore", "mcc")
_SEVERAL = (
    "error",
    "accuracy",
    "precision(average=macro)",
    "recall(average=macro)",
    "fscore(average=macro)",
    "mcc",
)
_PROBABILITIES = ("auc", "logloss", "brier")


class Bundle(Mapping[str, float]):
    """Values by name: `fit_time` and `score_time` in seconds where they were given, `size`, and the metrics that apply.

    A metric has the names that it has in a report. What does not apply is absent; `left_out` says why.
    """

    def __init__(self, values: dict[str, float], left_out: dict[str, str], reports: Sequence[Report] = ()) -> None:
        self._values = values
        self._reports = reports
        self.left_out = left_out

    def __getitem__(self, key: str) -> float:
        name = self._resolve(key)
        try:
            return self._values[name]
        except KeyError:
            why = self.left_out.get(name)
            problem = f"does not apply: {why}" if why else f"is not in the bundle; it has {', '.join(self)}"
            raise KeyError(f"{key} {problem}") from None

    def _resolve(self, key: str) -> str:
        """The key of a metric, which may be given by any name that its report knows."""
        if key not in self._values:
            for report in self._reports:
                if key in report:
                    return report.key_of(key)
        return key

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def to_dict(self) -> dict[str, Any]:
        """The bundle as plain data."""
        return {**self._values, "left_out": dict(self.left_out)}

    def to_json(self, *, indent: int | None = 2) -> str:
        """The bundle as JSON."""
        return to_json(self.to_dict(), indent)

    def _table(self) -> Table:
        notes = [f"{key}: {why}" for key, why in self.left_out.items()]
        return Table("", ("measure", "value"), list(self._values.items()), notes, numbers=("value",))

    def __str__(self) -> str:
        return to_text(self._table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return to_html(self._table())


def regression_metrics(
    y_true: object,
    y_pred: object,
    *,
    weights: object = None,
    fit_time: float | None = None,
    score_time: float | None = None,
    missing: str = "error",
) -> Bundle:
    """Return the usual metrics of a regression: size, RSS, MSE, RMSE, MAE and R², and times if given.

    Args:
        fit_time: Seconds of training.
        score_time: Seconds of prediction.

    >>> regression_metrics([3, -0.5, 2, 7], [2.5, 0, 2, 8], fit_time=0.5)["mae"]
    0.5
    """
    times = _times(fit_time, score_time)
    report = evaluate_batch(
        Batch(y_true, y_pred, weights, missing=missing), _REGRESSION, Target("value"), errors="raise"
    )
    return _bundle(times, report)


def classification_metrics(
    y_true: object,
    y_pred: object,
    *,
    probabilities: object = None,
    weights: object = None,
    target: Target | None = None,
    classes: object = None,
    positive: object = None,
    fit_time: float | None = None,
    score_time: float | None = None,
    missing: str = "error",
) -> Bundle:
    """Return the usual metrics of a classifier, such as accuracy, precision, recall, F1 and MCC, and times if given.

    Two classes have binary precision, recall, specificity and F1; more have macro averages.

    Args:
        y_pred: The predicted labels.
        probabilities: The probabilities of the positive class, or one column per class; they add ROC AUC, log loss and
            Brier score.
        fit_time: Seconds of training.
        score_time: Seconds of prediction.

    >>> found = classification_metrics([1, 1, 0, 0], [1, 0, 0, 0], probabilities=[0.9, 0.4, 0.3, 0.2])
    >>> found["accuracy"], found["auc"], found["size"]
    (0.75, 1.0, 4)
    """
    times = _times(fit_time, score_time)
    facts = target_of(target, None, classes, positive).keywords()
    if facts["kind"] is not None:
        raise ParameterError(
            argument="target", expected="have no kind: labels and probabilities are given", got=repr(facts["kind"])
        )
    about = Target(**{**facts, "kind": "label"})
    rows = Batch(y_true, y_pred, weights, missing=missing)
    rows.require_rows()
    labels = about.classes or set(encode_labels(rows, 0)[0]) | set(encode_labels(rows, 1)[0])
    report = evaluate_batch(rows, _BINARY if len(labels) <= 2 else _SEVERAL, about, errors="raise")
    if probabilities is None:
        return _bundle(times, report)
    with_probabilities = Batch(y_true, probabilities, weights, missing=missing)
    about = Target(**{**facts, "kind": "probability"})
    return _bundle(times, report, evaluate_batch(with_probabilities, _PROBABILITIES, about, errors="raise"))


def _bundle(times: dict[str, float], *reports: Report) -> Bundle:
    values: dict[str, float] = {**times, "size": reports[0].n}
    left_out = {}
    for report in reports:
        for key, value in report.items():
            reason = report.cell(key).reason
            if math.isnan(value):
                left_out[key] = reason or "undefined"
            else:
                values[key] = value
    return Bundle(values, left_out, reports)


def _times(fit_time: object, score_time: object) -> dict[str, float]:
    times = {}
    for name, value in (("fit_time", fit_time), ("score_time", score_time)):
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < math.inf:
            raise ParameterError(argument=name, expected="be a non-negative number of seconds", got=brief(value))
        times[name] = float(value)
    return times
