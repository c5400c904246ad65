"""tm.evaluate_model: a fitted model on rows with their truth; metrics ask the model for the predictions they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallymark.data.target import Target, target_of
from tallymark.errors import KindError, TallymarkError
from tallymark.evaluation.default_metrics import CALL_ARGUMENTS, MetricsLike, select_metrics
from tallymark.evaluation.evaluate import check_errors, evaluate, raise_failures
from tallymark.evaluation.group_slices import Slices
from tallymark.evaluation.model_predictions import (
    CALL,
    ModelPredictions,
    check_model,
    default_metrics_of_model,
    known_classes,
    predict,
    prediction_method,
)
from tallymark.evaluation.report import Cell, Report
from tallymark.metrics.base import Metric
from tallymark.metrics.fairness.base import GroupMetric

_BY_DETAIL = ("predict_proba", "decision_function", "predict", CALL)  # the most detailed predictions first


def evaluate_model(
    model: Any,
    X: Any,  # noqa: N803 - as theirs
    y: Any,
    metrics: MetricsLike = None,
    *,
    target: Target | None = None,
    kind: str | None = None,
    classes: object = None,
    positive: object = None,
    normalize: bool = False,
    **keywords: Any,
) -> Report:
    """Evaluate a fitted model on rows `X` with the truth `y`.

    Each metric asks the model for what it reads: labels and values from `predict`, probabilities from `predict_proba`,
    scores from that or `decision_function`. One call can mix them, and nothing is asked for that no metric reads.

    Args:
        model: A fitted estimator, such as those of scikit-learn, or a function of `X`.
        X: The features: an array, a data frame or anything else that the model takes.
        y: The truth, one value or label per row.
        metrics: As in `evaluate`; by default those of the most detailed predictions that the model has.
        kind: What the predictions of a function are.
        classes: All classes; by default `model.classes_`.
        keywords: The other keywords of `evaluate`, such as `weights`, `by` and `ci`.

    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier().fit([[0], [0], [0]], ["ham", "ham", "spam"])
    >>> report = evaluate_model(model, [[0], [0]], ["ham", "spam"], ["accuracy", "logloss"])
    >>> report["accuracy"], round(report["logloss"], 4)
    (0.5, 0.752)
    """
    check_model(model)
    errors = keywords.get("errors", "raise")
    check_errors(errors)
    about = target_of(target, kind, classes, positive, normalize)
    named = metrics is not None
    if metrics is None:
        metrics = default_metrics_of_model(model)
    if metrics is None:  # as for any predictions
        method = "predict" if hasattr(model, "predict") else CALL
        return _evaluate(y, predict(model, X, method), None, about, keywords)
    facts = about.keywords()
    if facts["classes"] is None:
        facts["classes"] = known_classes(model, y, keywords.get("weights"))
    arguments = {*CALL_ARGUMENTS, "weights", "query", "missing"}
    parameters = {key: keywords.pop(key) for key in list(keywords) if key not in arguments}
    selected = select_metrics(metrics, parameters=parameters)
    predicted: dict[str, ModelPredictions] = {}
    read: dict[tuple[str, str | None], dict[str, Metric]] = {}
    failed: dict[str, TallymarkError] = {}
    for key, item in selected.items():
        try:
            method = prediction_method(item, model)
        except KindError as error:
            if errors == "raise":
                raise
            failed[key] = error
            continue
        if method not in predicted:
            predicted[method] = predict(model, X, method, facts["classes"])
        own_kind = method == "predict" or item.kind == "margin"
        read.setdefault((method, item.kind if own_kind else predicted[method].kind or about.kind), {})[key] = item
    if not read:
        raise next(iter(failed.values()))
    reports = [
        _evaluate(y, predicted[method], items, Target(**{**facts, "kind": each}), {**keywords, "errors": "report"})
        for (method, each), items in sorted(read.items(), key=lambda one: _BY_DETAIL.index(one[0][0]))
    ]
    report = reports[0] if len(reports) == 1 and not failed else _combine(reports, selected, failed)
    report.of_model = True
    if errors == "raise" and (named or len(report.failures) == len(report)):
        raise_failures(report)
    return report


def _evaluate(
    y: Any, predictions: ModelPredictions, metrics: MetricsLike, target: Target, keywords: dict[str, Any]
) -> Report:
    try:
        report = evaluate(y, predictions.y_pred, metrics, target=target, **keywords)
    except TallymarkError as error:
        error.rename(y_true="y")
        raise
    for part in (report, *(report.slices or {}).values()):
        for failure in part.failures.values():
            failure.rename(y_true="y")
    return report


def _combine(reports: Sequence[Report], selected: Mapping[str, Metric], failed: Mapping[str, TallymarkError]) -> Report:
    """One report of these metrics, whose plots are those of the first of the reports."""
    first = reports[0]
    cells = {key: report.cell(key) for report in reports for key in report}
    for key, error in failed.items():
        cells[key] = Cell(selected[key], None, first.n, first.total_weight, error=error)
    slices = [each.slices for each in reports if each.slices is not None]
    out = Report(
        {key: cells[key] for key in selected if key in cells},
        n=first.n,
        total_weight=first.total_weight,
        dropped=first.dropped,
        kind=first.kind,
        slices=_combine_slices(slices, selected, failed),
        positive=first._positive,
    )
    out.interval, out._source = first.interval, first._source
    return out


def _combine_slices(
    parts: Sequence[Slices], selected: Mapping[str, Metric], failed: Mapping[str, TallymarkError]
) -> Slices | None:
    if not parts:
        return None
    first = parts[0]
    of_rows = {key: error for key, error in failed.items() if not isinstance(selected[key], GroupMetric)}
    groups = {group: _combine([each[group] for each in parts], selected, of_rows) for group in first}
    out = Slices(first.names, groups, first.min_rows)
    if len(first.names) > 1:

        def read_column(name: str) -> Slices:
            found = _combine_slices([each.by(name) for each in parts], selected, failed)
            assert found is not None
            return found

        out.read_column = read_column
    return out
