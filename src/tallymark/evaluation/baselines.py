"""Baselines: the values that a metric has on the same rows when predictions use no feature.

A value means little by itself: an accuracy of 94 % is poor where 95 % of the rows are of one class. So reports show the
value of the majority class, of a constant prediction, of uniform guessing, and say when a model does worse. A metric
names its baselines in `Metric.baselines`; here are the predictions that they stand for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import TallymarkError
from tallymark.metrics.base import Metric
from tallymark.metrics.classification.accuracy import accuracy
from tallymark.metrics.regression.weighted_quantile import weighted_median, weighted_quantile
from tallymark.rendering.table import show_estimate, show_number
from tallymark.states.labels.counts import Counts

if TYPE_CHECKING:
    from tallymark.evaluation.report import ReportSource


class Baseline(NamedTuple):
    """The value of predictions that look at no feature, and what they are."""

    value: float
    words: str


WORDS = {
    "mean": "always predicting the mean",
    "median": "always predicting the median",
    "quantiles": "always predicting the quantiles of the truth",
    "majority": "always predicting the majority class",
    "positive": "always predicting the positive class",
    "shares": "always predicting the class shares",
    "uniform": "uniform guessing",
    "constant": "random guessing",
    "order": "random order",
}
_GUESSING = "random guessing"  # how the landmark of a metric begins that is a baseline on any rows
_ROUNDING = 1e-12


def find_baselines(source: ReportSource, item: Metric) -> list[Baseline]:
    """The baselines of a metric on the rows of a report; none where the rows are gone, or have several labels."""
    batch = source.batch
    fixed = [Baseline(mark, words) for mark, words in item.landmarks if words == _GUESSING]
    if batch is None or batch.truth_columns > 1:
        return fixed
    found: dict[float, Baseline] = {}
    for name in item.baselines:
        try:
            predictions = _constant(name, item, batch, source)
            constant = batch.with_predictions(np.broadcast_to(predictions, (batch.n, *np.shape(predictions))))
            value = item.answer(item.needs(source.target).fold(constant), constant).value
        except TallymarkError:  # there is no such prediction, or no value of it
            continue
        if isinstance(value, float) and math.isfinite(value):
            value = 0.0 if abs(value) < _ROUNDING else value
            found.setdefault(value, Baseline(value, WORDS[name]))
    return list(found.values()) or fixed


def compare_with_baselines(
    item: Metric, value: float, baselines: list[Baseline], lo: float | None = None, hi: float | None = None
) -> str:
    """Which baseline the value is worse than, no better than, or by its interval not clearly better than, or what the
    worst possible value means; else empty. With an interval, the baseline is rounded as the value is."""

    def is_within(item: Metric, value: float, baseline: float) -> bool:
        return isinstance(item.better, str) and lo is not None and hi is not None and lo <= baseline <= hi

    for verb, fits in (
        ("worse than", _is_worse),
        ("no better than", _is_equal),
        ("not clearly better than", is_within),
    ):
        worst = [each for each in baselines if fits(item, value, each.value)]
        if worst:
            return f"{verb} {worst[0].words} ({show_beside(worst[0].value, value, lo, hi)})"
    ends = {"higher": item.range[0], "lower": item.range[1]}
    return next((words for mark, words in item.landmarks if value == mark == ends.get(str(item.better))), "")


def show_beside(baseline: float, value: float, lo: float | None, hi: float | None) -> str:
    """A baseline rounded as the value beside it; to four digits where the two would look the same and are not.

    >>> show_beside(0.94475, 0.94475, 0.9372, 0.9514), show_beside(0.9448, 0.945, 0.9372, 0.9514)
    ('0.945', '0.9448')
    >>> show_beside(0.5, 0.668, 0.633, 0.701), show_beside(0.05525, 0.103, 0.082, 0.130)
    ('0.5', '0.055')
    """
    text = show_estimate(baseline, lo, hi)[0]
    if math.isclose(value, baseline, rel_tol=_ROUNDING, abs_tol=_ROUNDING):
        return text
    exact = show_number(baseline)
    return exact if text == show_estimate(value, lo, hi)[0] else min(exact, text, key=len)


def _is_worse(item: Metric, value: float, baseline: float) -> bool:
    worse = value < baseline if item.better == "higher" else value > baseline
    return isinstance(item.better, str) and worse and not _is_equal(item, value, baseline)


def _is_equal(item: Metric, value: float, baseline: float) -> bool:
    return isinstance(item.better, str) and math.isclose(value, baseline, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


def _constant(name: str, item: Metric, batch: Batch, source: ReportSource) -> Any:
    """The prediction of every row: a number, a label, or a number per class or quantile."""
    if name in _NUMBERS:
        number = _NUMBERS[name](item, batch.truth, batch.weights)
        logs = source.target.kind == "margin" or getattr(item, "link", None) == "log"
        return math.log(number) if logs and number > 0 else number
    if name in ("constant", "order"):
        return 0.0 if batch.prediction_columns == 1 else np.zeros(batch.prediction_columns)
    counts = source.state(accuracy).counts()  # type: ignore[attr-defined]
    shares = _class_shares(name, counts)
    if not _reads_numbers(batch, source.target):
        return counts.classes[int(np.argmax(shares))]
    if batch.prediction_columns == 1:
        place = counts.positive()
        positive = (
            shares[place] if place is not None else 1 - shares[0]
        )  # none of the rows, or the second of two classes
        return _as_kind(np.array([1 - positive, positive]), source.target)[1]
    order = list(counts.classes if source.target.classes is None else source.target.classes)
    places = [order.index(label) for label in counts.classes]
    by_column = np.zeros(batch.prediction_columns)
    by_column[places] = shares
    return _as_kind(by_column, source.target)


def _mean(item: Metric, truth: Array, weights: Array | None) -> float:
    return float(np.average(np.asarray(truth, float), weights=weights))


def _median(item: Metric, truth: Array, weights: Array | None) -> float:
    return weighted_median(np.asarray(truth, float), weights)


def _quantiles(item: Any, truth: Array, weights: Array | None) -> Array | float:
    alphas = (item.alpha,) if hasattr(item, "alpha") else item.alphas
    found = [weighted_quantile(np.asarray(truth, float), weights, alpha) for alpha in alphas]
    return np.array(found) if len(found) > 1 else found[0]


_NUMBERS: dict[str, Callable[[Any, Array, Array | None], Any]] = {
    "mean": _mean,
    "median": _median,
    "quantiles": _quantiles,
}


def _class_shares(name: str, counts: Counts) -> Any:
    """The probability of every class: certainty of one, the shares in the truth, or the same for all."""
    truth = np.array([float(each) for each in counts.truth])
    if name == "shares":
        return truth / truth.sum()
    if name == "uniform":
        return np.full(len(truth), 1 / max(len(truth), 2))  # rows of one class are still those of a choice of two
    place = int(np.argmax(truth)) if name == "majority" else counts.positive()
    return np.array([float(k == place) for k in range(len(truth))])


def _reads_numbers(batch: Batch, target: Target) -> bool:
    """Whether predictions are numbers per class, and not labels."""
    if target.kind is not None:
        return target.kind != "label"
    return batch.prediction_columns > 1 or batch.labels(1).type == "real"


def _as_kind(probabilities: Array, target: Target) -> Array:
    """Probabilities in the kind of the predictions; certainty is a large margin."""
    if target.kind != "margin":
        return probabilities
    logs: Array = np.log(np.clip(probabilities, 1e-300, None))
    return logs if len(logs) != 2 else np.array([0.0, logs[1] - logs[0]])
