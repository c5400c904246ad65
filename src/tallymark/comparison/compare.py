"""tm.compare: several models on the same rows, and which of their differences are significant."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations
from typing import Any

import numpy as np

from tallymark.comparison.corrections import check_correction, correct_p_values
from tallymark.comparison.difference import (
    Difference,
    difference_between,
    largest_difference,
    minimum_detectable_difference,
)
from tallymark.comparison.paired_tests import (
    PairedTest,
    ResampledPair,
    bootstrap,
    delong,
    few_rows_note,
    max_t,
    mcnemar,
)
from tallymark.comparison.result import Comparison, ComparisonSettings
from tallymark.data.arguments import describe
from tallymark.data.arrays import Array, names_of, wrap_read_errors
from tallymark.data.batch import Batch, check_missing
from tallymark.data.target import Target, target_of
from tallymark.errors import (
    Argument,
    FormulaError,
    InputError,
    ParameterError,
    TallymarkError,
    Text,
    UndefinedError,
    brief,
)
from tallymark.evaluation.default_metrics import MetricsLike, default_kind, default_metrics, select_metrics
from tallymark.evaluation.evaluate import plan_metrics
from tallymark.evaluation.report import INFERRED_KINDS, Report
from tallymark.intervals.maker import bootstrap_name, check_nested, units_of
from tallymark.intervals.replicates import resample_values
from tallymark.intervals.settings import Intervals, comparison_settings, lacks_resamples
from tallymark.metrics.base import Metric
from tallymark.metrics.fairness.base import GroupMetric
from tallymark.states.resampling.keys import row_keys
from tallymark.states.resampling.paired_rows import PairedOutcomes, Placements


def compare(
    y_true: object,
    models: object,
    metrics: MetricsLike = None,
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
    correction: str = "max-t",
    baseline: str | None = None,
    **parameters: Any,
) -> Comparison:
    """Compare models on the same rows: differences with confidence intervals, p-values and their significance.

    One pair is tested by McNemar's test in accuracy, recall and other shares of rows, by DeLong's test in the area
    under the ROC curve, and by a paired bootstrap in everything else and wherever there are weights or a `cluster`.
    Several pairs are tested at once by single-step max-T on joint replicates. The p-value of a pair is below 1 − the
    level exactly where its interval excludes 0.

    Args:
        models: A mapping of names to predictions, or a table with a column per model.
        missing: "error" refuses missing values; "drop" leaves out rows that lack the truth or the prediction of any
            model.
        ci: The confidence level of the differences, or `Intervals(...)` for the number of bootstrap replicates (by
            default 1,000, or more if the level and the number of pairs need them) and the seed.
        correction: How to allow for the number of pairs in a metric. "max-t" adjusts p-values and makes intervals
            simultaneous, so that they agree. "holm", "bonferroni" and "fdr" correct the p-values of single pairs,
            "none" leaves them; their intervals are uncorrected.
        baseline: Compare every model with this one only, instead of every pair.
        parameters: Parameters such as `average="macro"` or `threshold=0.3`, for every metric that has them.

    >>> truth = [1, 1, 1, 1, 0, 0, 0, 0] * 10
    >>> old, new = [1, 1, 1, 0, 0, 0, 1, 1] * 10, [1, 1, 1, 1, 0, 0, 0, 1] * 10
    >>> found = compare(truth, {"old": old, "new": new}, ["accuracy"])
    >>> print(found[("old", "new"), "accuracy"])
    accuracy: new beats old by 0.25 [0.17, 0.35], p < 0.001 (McNemar)
    >>> found.groups("accuracy")
    {'new': 'a', 'old': 'b'}
    """
    for name in parameters.keys() & {"by", "group", "groups"}:
        hint = "Compare the models on the rows of each group"
        raise ParameterError(Text("compare has no argument {}", Argument(name)), argument=name, hint=hint)
    predictions = _read_models(models)
    names = list(predictions)
    _check_baseline(baseline, names)
    about = target_of(target, kind, classes, positive, normalize)
    tests = ComparisonSettings.tests(len(names), check_correction(correction), baseline)
    intervals = comparison_settings(ci, tests)
    settings = ComparisonSettings(intervals.level, correction, baseline, intervals.number_of_resamples, intervals.seed)
    batches = {name: _read_rows(name, y_true, predictions[name], weights, query, cluster) for name in names}
    check_missing(missing)
    if missing == "drop":
        _drop_incomplete_rows(batches)
    kind = _default_kind(batches, about) if metrics is None else None
    if kind is None:
        selected = select_metrics(metrics, parameters=parameters)
    else:
        selected = default_metrics(batches[names[0]], about, kind, parameters)
    _check_metrics(selected)
    reports = {name: _report(name, batch, selected, about) for name, batch in batches.items()}
    for report in reports.values():
        report.inferred_kind = kind if about.kind is None and kind in INFERRED_KINDS else None
    pairs = list(combinations(names, 2)) if baseline is None else [(baseline, n) for n in names if n != baseline]
    tester = PairTester(batches, reports, about, intervals, jointly=correction == "max-t" and len(pairs) > 1)
    differences = [found for key in selected for found in _differences_in_metric(key, pairs, tester, reports, settings)]
    for batch in batches.values():
        batch.memo.clear()  # the reports keep the rows, and should keep no more
    return Comparison(reports, differences, settings)


def _differences_in_metric(
    key: str,
    pairs: list[tuple[str, str]],
    tester: PairTester,
    reports: Mapping[str, Report],
    settings: ComparisonSettings,
) -> list[Difference]:
    """The differences of all pairs in one metric, corrected for each other."""
    report = next(iter(reports.values()))
    item, name = report.cell(key).metric, report.display_name(key)
    test_count = ComparisonSettings.tests(len(reports), settings.correction, settings.baseline)
    results = tester.test(key, pairs)
    corrected = correct_p_values([result.p for result in results], settings.correction)
    return [
        Difference(
            key,
            first,
            second,
            difference_between(item, reports[first][key], reports[second][key]),
            result.lo,
            result.hi,
            result.p,
            p,
            minimum_detectable_difference(result, settings.level, test_count),
            result.method,
            settings.level,
            item.better,
            result.reason,
            result.notes,
            name,
            settings.correction if len(pairs) > 1 else None,
            result.p_at_floor,
        )
        for (first, second), result, p in zip(pairs, results, corrected, strict=True)
    ]


def _read_models(models: Any) -> dict[str, object]:
    """The predictions by name: of a mapping, or of the columns of a table."""
    if isinstance(models, Report):
        raise ParameterError(
            argument="models",
            expected="map names to predictions",
            got="a report",
            hint='Pass the predictions: tm.compare(y_true, {"old": …, "new": …})',
        )
    if not isinstance(models, Mapping):
        with wrap_read_errors("models"):
            columns = names_of(models)
            models = models if columns is None else {name: models[name] for name in columns}
    if not isinstance(models, Mapping):
        raise ParameterError(
            argument="models",
            expected='map names to predictions, such as {"old": …, "new": …}',
            got=describe(models),
            hint='For columns of a table, call tm.compare(frame["y"], frame[["old", "new"]])'
            if isinstance(models, str)
            else None,
        )
    for name in models:
        if not isinstance(name, str) or not name:
            raise ParameterError(Text("the keys of {models} must be names; got {}", brief(name)))
        if hasattr(models[name], "predict"):
            raise ParameterError(
                argument="models",
                expected="map names to predictions",
                got=f"a {type(models[name]).__name__} for {name!r}",
                hint="Pass what it predicts, such as model.predict_proba(X)",
            )
    if len(models) < 2:
        raise ParameterError(argument="models", expected="contain at least two models", got=f"{len(models)}")
    return dict(models)


def _check_baseline(baseline: object, names: list[str]) -> None:
    if baseline is not None and (not isinstance(baseline, str) or baseline not in names):
        raise ParameterError(
            argument="baseline", expected=f"be one of the models {', '.join(map(repr, names))}", got=brief(baseline)
        )


def _default_kind(batches: Mapping[str, Batch], target: Target) -> str:
    """What the default metrics read, which must be the same for all models."""
    kinds = {}
    for name, batch in batches.items():
        with _name_model_in_errors(name):
            kinds[name] = default_kind(batch, target)
    if len(set(kinds.values())) > 1:
        found = ", ".join(f"{name!r} like kind={kind!r}" for name, kind in kinds.items())
        raise ParameterError(Text("{kind} must be given, since models look different: {}", found), argument="kind")
    return next(iter(kinds.values()))


def _check_metrics(metrics: dict[str, Metric]) -> None:
    for key, item in metrics.items():
        if isinstance(item, GroupMetric):
            raise ParameterError(
                Text("{metrics} must read rows, not groups of them, to be compared; {} compares groups", key),
                argument="metrics",
                hint="Compare the models on the rows of each group",
            )


@contextmanager
def _name_model_in_errors(name: str) -> Iterator[None]:
    """Errors say whose predictions they are about."""
    try:
        yield
    except TallymarkError as error:
        if isinstance(error, (FormulaError, UndefinedError)) or (
            isinstance(error, InputError) and error.names("y_pred")
        ):
            error.add_place(f"model {name!r}")
        raise


def _read_rows(name: str, y_true: object, y_pred: object, weights: object, query: object, cluster: object) -> Batch:
    with _name_model_in_errors(name):
        return Batch(y_true, y_pred, weights, query=query, cluster=cluster)


def _drop_incomplete_rows(batches: Mapping[str, Batch]) -> None:
    """Leave out rows that any of the models lacks: all are to be compared on the same."""
    missing = np.logical_or.reduce([batch.missing_rows() for batch in batches.values()])
    if missing.any():
        for batch in batches.values():
            batch.require_weights()
            batch.keep_rows(~missing)


def _report(name: str, batch: Batch, metrics: dict[str, Metric], target: Target) -> Report:
    batch.require_rows()
    with _name_model_in_errors(name):
        planned = plan_metrics(metrics, target, (batch.truth_columns, batch.prediction_columns), errors="raise")
        report = planned.report(planned.fold(batch), dropped=batch.dropped, errors="raise", batch=batch)
    for key, value in report.items():
        if not isinstance(value, float):
            raise ParameterError(
                Text("{metrics} must have one number each to be compared; {} has {}", key, _kind_of_value(value)),
                argument="metrics",
            )
    return report


def _kind_of_value(value: object) -> str | Text:
    if isinstance(value, dict):
        return Text("one per class: pass an average, or a class as {positive}")
    return Text('one per output: pass {outputs="mean"}') if isinstance(value, list) else "a table or a curve"


_ROUNDING = 1e-9


SAME = "the models predict the same in every row"


ByRow = PairedOutcomes | Placements


class PairTester:
    """The rows of several models, read once for all pairs: tested pair by pair, or `jointly` by max-T."""

    def __init__(
        self,
        batches: Mapping[str, Batch],
        reports: Mapping[str, Report],
        target: Target,
        settings: Intervals,
        *,
        jointly: bool,
    ) -> None:
        counted = {name: batch.without_zero_weights() for name, batch in batches.items()}
        one = next(iter(counted.values()))
        batches = self._batches = counted if one.n else batches
        self._reports = reports
        self._same_predictions: dict[tuple[str, str], bool] = {}  # whether two models predict the same
        self._settings = settings
        self._jointly = jointly
        report = next(iter(reports.values()))
        self._metrics: dict[str, Metric] = {key: report.cell(key).metric for key in report}
        single = batches if one.has_unit_weights and one.cluster_side is None else None
        self._rows = {key: found for key in report if single and (found := self._by_row(key, single, target))}
        rest = {
            key: item
            for key, item in self._metrics.items()
            if (jointly or key not in self._rows) and self._defined(key) and not (item.no_interval or item.no_bootstrap)
        }
        self._too_few_resamples = lacks_resamples(settings.level, settings.number_of_resamples)
        if one.cluster_side is not None and any(item.by_query for item in rest.values()):
            check_nested(one)
        reads = {item: item.needs(target) for item in rest.values()}
        self._resampled: dict[str, dict[Metric, Array]] = {}
        keys = row_keys(one)
        for name, batch in batches.items() if rest and not self._too_few_resamples else ():
            self._resampled[name] = resample_values(reads, batch, settings.seed, settings.number_of_resamples, keys)

    def _defined(self, key: str) -> bool:
        return sum(math.isfinite(report[key]) for report in self._reports.values()) > 1

    def _by_row(self, key: str, plain: Mapping[str, Batch], target: Target) -> dict[str, ByRow] | None:
        """The outcomes of single rows by model; None where they do not make up the values of this metric."""
        item = self._metrics[key]
        if isinstance(item.better, (int, float)):
            return None  # what is compared is the distance from the best value
        by_model = {
            name: item.paired_rows(batch, target) for name, batch in plain.items() if self._has_value(name, key)
        }
        rows = {name: rows_of_model for name, rows_of_model in by_model.items() if rows_of_model is not None}
        if not rows or len(rows) < len(by_model):
            return None
        # A metric may inherit its rows and have a formula of its own.
        offsets = [self._reports[name][key] - value_from_rows(rows_of_model) for name, rows_of_model in rows.items()]
        scale = next(iter(rows.values())).scale
        return rows if max(offsets) - min(offsets) <= _ROUNDING * scale else None

    def _has_value(self, name: str, key: str) -> bool:
        return math.isfinite(self._reports[name][key])

    def _same(self, first: str, second: str) -> bool:
        if (first, second) not in self._same_predictions:
            self._same_predictions[first, second] = self._batches[first].has_same_predictions(self._batches[second])
        return self._same_predictions[first, second]

    def test(self, key: str, pairs: list[tuple[str, str]]) -> list[PairedTest]:
        """The tests of pairs of models in a metric."""
        known = {pair: self._known(key, *pair) for pair in pairs}
        rest = [pair for pair in pairs if known[pair] is None]
        results = self._test_jointly(key, rest) if self._jointly else [self._test_pair(key, *pair) for pair in rest]
        tested = dict(zip(rest, results, strict=True))
        return [known[pair] or tested[pair] for pair in pairs]

    def _known(self, key: str, first: str, second: str) -> PairedTest | None:
        """The result where two models cannot be tested in a metric, or need not be."""
        without = [name for name in sorted((first, second)) if not self._has_value(name, key)]
        if without:
            return PairedTest("none", reason="; ".join(f"{n}: {self._reports[n].cell(key).reason}" for n in without))
        if self._same(first, second):
            return PairedTest("none", 1.0, reason=SAME)
        item = self._metrics[key]
        reason = item.no_interval or item.no_bootstrap or self._too_few_resamples
        return PairedTest("none", reason=reason) if reason and (self._jointly or key not in self._rows) else None

    def _test_pair(self, key: str, first: str, second: str) -> PairedTest:
        """The test of one pair: by single rows where they make up the metric, else by resamples."""
        level = self._settings.level
        if key in self._rows:
            one, other = self._rows[key][first], self._rows[key][second]
            if isinstance(one, PairedOutcomes) and isinstance(other, PairedOutcomes):
                return mcnemar(one, other, level)
            if isinstance(one, Placements) and isinstance(other, Placements):
                return delong(one, other, level)
        pair = self._resampled_pair(key, first, second)
        return self._within_range(key, bootstrap(pair.differences, level, *self._method_and_units(key), pair.sizes))

    def _test_jointly(self, key: str, pairs: list[tuple[str, str]]) -> list[PairedTest]:
        """The tests of all pairs at once."""
        resampled = [self._resampled_pair(key, *pair) for pair in pairs]
        results = max_t(resampled, self._settings.level, *self._method_and_units(key))
        rows = self._rows.get(key)
        few = [few_rows_note(rows[first], rows[second]) if rows else () for first, second in pairs]
        return [
            self._within_range(key, result._replace(notes=(*notes, *result.notes)))
            for result, notes in zip(results, few, strict=True)
        ]

    def _resampled_pair(self, key: str, first: str, second: str) -> ResampledPair:
        item = self._metrics[key]
        one, other = self._resampled[first][item], self._resampled[second][item]
        if len(one) != len(other):
            raise InputError("the input changed while it was being read")
        values = self._reports[first][key], self._reports[second][key]
        sizes = (*values, item.rounding_scale)
        with np.errstate(over="ignore", invalid="ignore"):  # infinite differences are left out
            differences = difference_between(item, one, other)
        return ResampledPair(difference_between(item, *values), differences, sizes)

    def _method_and_units(self, key: str) -> tuple[str, float]:
        """What is resampled for a metric, and how many of them there are."""
        by_query, batch = self._metrics[key].by_query, next(iter(self._batches.values()))
        name = bootstrap_name(clusters=batch.cluster_side is not None, by_query=by_query)
        return f"paired {name}", units_of(batch, by_query=by_query)

    def _within_range(self, key: str, result: PairedTest) -> PairedTest:
        """The interval cut to the largest difference that the metric allows."""
        most = largest_difference(self._metrics[key])
        return result._replace(lo=max(result.lo, -most), hi=min(result.hi, most))


def value_from_rows(rows: ByRow) -> float:
    """The value that the outcomes of single rows make up, up to a constant."""
    if isinstance(rows, PairedOutcomes):
        return rows.scale * int(np.count_nonzero(rows.counts)) / max(len(rows.counts), 1)
    pairs = max(2 * len(rows.positive) * len(rows.negative), 1)
    return rows.scale * (int(rows.positive.sum()) / pairs)
