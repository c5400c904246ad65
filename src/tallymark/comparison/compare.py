"""tm.compare: several models on the same rows, and which differences between them the data show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations
from typing import Any

import numpy as np

from tallymark.comparison.corrections import check_correction, correct
from tallymark.comparison.difference import Difference, detectable, difference_between
from tallymark.comparison.evidence import Evidence
from tallymark.comparison.result import Comparison, ComparisonSettings
from tallymark.data.arguments import describe
from tallymark.data.arrays import names_of, reading
from tallymark.data.batch import Batch, check_missing
from tallymark.data.target import Target, target_of
from tallymark.errors import InputError, ParameterError, Text, brief
from tallymark.evaluation.report import Report
from tallymark.evaluation.selection import Wanted, plan, select_metrics
from tallymark.intervals.settings import Intervals, comparison_settings
from tallymark.metrics.base import Metric
from tallymark.metrics.fairness.base import GroupMetric


def compare(
    y_true: object,
    models: object,
    metrics: Wanted = None,
    *,
    weights: object = None,
    query: object = None,
    target: Target | None = None,
    kind: str | None = None,
    classes: object = None,
    positive: object = None,
    normalize: bool = False,
    missing: str = "error",
    ci: float | Intervals = 0.95,
    cluster: object = None,
    correction: str = "holm",
    baseline: str | None = None,
) -> Comparison:
    """Compare models on the same rows: differences with intervals and p-values, and which of them the data show.

    `models` maps names to predictions, or is a table with a column for each. Every pair is compared, or each model with
    the `baseline`. A share of rows (accuracy, recall, …) is tested by McNemar's test, an area under the ROC curve by
    DeLong's; everything else, and whatever has weights or a `cluster`, by a paired bootstrap, which depends on nothing
    but the seed and the place of a row, with 1,000 resamples, or more where the level and the number of pairs need
    them; `ci=Intervals(...)` says another seed or number. `cluster` is a label per row: rows with the same one are
    drawn together. The p-value of a pair is below 1 − the level exactly where its interval excludes 0.

    `correction` of the p-values for the number of pairs is "holm", "bonferroni", "fdr" or "none". `missing="drop"`
    leaves out rows that lack the truth or the prediction of any model. The rest is as in `evaluate`.

    >>> truth = [1, 1, 1, 1, 0, 0, 0, 0] * 10
    >>> old, new = [1, 1, 1, 0, 0, 0, 1, 1] * 10, [1, 1, 1, 1, 0, 0, 0, 1] * 10
    >>> found = compare(truth, {"old": old, "new": new}, ["accuracy"])
    >>> print(found[("old", "new"), "accuracy"])
    accuracy: new beats old by 0.25 [0.17, 0.35], p < 0.001 (McNemar)
    >>> found.groups("accuracy")
    {'new': 'a', 'old': 'b'}
    """
    predictions = _read_models(models)
    names = list(predictions)
    _check_baseline(baseline, names)
    about = target_of(target, kind, classes, positive, normalize)
    tests = ComparisonSettings.tests(len(names), check_correction(correction), baseline)
    asked = comparison_settings(ci, tests)
    settings = ComparisonSettings(asked.level, correction, baseline, asked.number_of_resamples, asked.seed)
    batches = {name: _read(name, y_true, predictions[name], weights, query, cluster) for name in names}
    check_missing(missing)
    if missing == "drop":
        _drop_together(batches)
    chosen = select_metrics(metrics, batches[names[0]], about)
    _check_metrics(chosen)
    reports = {name: _report(name, batch, chosen, about) for name, batch in batches.items()}
    evidence = Evidence(batches, reports, about, asked)
    pairs = list(combinations(names, 2)) if baseline is None else [(baseline, n) for n in names if n != baseline]
    differences = [found for key in chosen for found in _compare_in(key, pairs, evidence, reports, settings)]
    for batch in batches.values():
        batch.memo.clear()  # the reports keep the rows, and should keep no more
    return Comparison(reports, differences, settings)


def _compare_in(
    key: str,
    pairs: list[tuple[str, str]],
    evidence: Evidence,
    reports: Mapping[str, Report],
    settings: ComparisonSettings,
) -> list[Difference]:
    """The differences of all pairs in one metric, corrected together."""
    item: Metric = next(iter(reports.values())).cell(key).metric
    tests = ComparisonSettings.tests(len(reports), settings.correction, settings.baseline)
    tested = [evidence.test(key, first, second) for first, second in pairs]
    corrected = correct([found.p for found in tested], settings.correction)
    return [
        Difference(
            key,
            first,
            second,
            difference_between(item, reports[first][key], reports[second][key]),
            found.lo,
            found.hi,
            found.p,
            p,
            detectable(found.error, settings.level, tests, found.freedom),
            found.method,
            settings.level,
            item.better,
            found.reason,
            found.notes,
        )
        for (first, second), found, p in zip(pairs, tested, corrected, strict=True)
    ]


def _read_models(models: Any) -> dict[str, object]:
    """The predictions by name: of a mapping, or of the columns of a table."""
    if not isinstance(models, Mapping):
        with reading("models"):
            columns = names_of(models)
            models = models if columns is None else {name: models[name] for name in columns}
    if not isinstance(models, Mapping):
        raise ParameterError(
            argument="models", expected='map names to predictions, such as {"old": …, "new": …}', got=describe(models)
        )
    for name in models:
        if not isinstance(name, str) or not name:
            raise ParameterError(Text("the keys of {models} must be names; one was {}", brief(name)))
    if len(models) < 2:
        raise ParameterError(argument="models", expected="be at least two, to be compared", got=f"{len(models)}")
    return dict(models)


def _check_baseline(baseline: object, names: list[str]) -> None:
    if baseline is not None and (not isinstance(baseline, str) or baseline not in names):
        raise ParameterError(
            argument="baseline", expected="be one of the models", got=f"{brief(baseline)}, and they are {names}"
        )


def _check_metrics(chosen: dict[str, Metric]) -> None:
    for key, item in chosen.items():
        if isinstance(item, GroupMetric):
            raise ParameterError(
                Text("{metrics} must read rows, not groups of them, to be compared; {} compares groups", key),
                argument="metrics",
                hint="Compare the models on the rows of each group",
            )


@contextmanager
def _of_model(name: str) -> Iterator[None]:
    """Errors say whose predictions they are about."""
    try:
        yield
    except InputError as error:
        if error.names("y_pred"):
            error.add_place(f"model {name!r}")
        raise


def _read(name: str, y_true: object, y_pred: object, weights: object, query: object, cluster: object) -> Batch:
    with _of_model(name):
        return Batch(y_true, y_pred, weights, query=query, cluster=cluster)


def _drop_together(batches: Mapping[str, Batch]) -> None:
    """Leave out rows that any of the models lacks: all are to be compared on the same."""
    missing = np.logical_or.reduce([batch.missing_rows() for batch in batches.values()])
    if missing.any():
        for batch in batches.values():
            batch.require_weights()
            batch.keep(~missing)


def _report(name: str, batch: Batch, chosen: dict[str, Metric], target: Target) -> Report:
    batch.require_rows()
    with _of_model(name):
        planned = plan(chosen, target, (batch.truth_columns, batch.prediction_columns), errors="raise")
        report = planned.report(planned.fold(batch), dropped=batch.dropped, errors="raise", batch=batch)
    for key, value in report.items():
        if not isinstance(value, float):
            raise ParameterError(
                Text("{metrics} must have one number each to be compared; {} has {}", key, _what(value)),
                argument="metrics",
            )
    return report


def _what(value: object) -> str | Text:
    if isinstance(value, dict):
        return Text("one per class: pass an average, or a class as {positive}")
    return Text('one per output: pass {outputs="mean"}') if isinstance(value, list) else "a table or a curve"
