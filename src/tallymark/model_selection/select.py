"""select: the best of several candidates by a metric, and which of the others do not differ significantly from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tallymark.comparison.result import Comparison
from tallymark.data.arguments import check_choice, describe
from tallymark.errors import ParameterError, Text
from tallymark.evaluation.report import Report
from tallymark.metrics.base import Metric, check_better
from tallymark.metrics.naming import metric
from tallymark.model_selection.cross_validate import CrossValidation, corrected_interval

_TIES = ("value", "first")


class Candidate(NamedTuple):
    """A candidate and its value; NaN ranks last."""

    name: str
    value: float
    tied: bool


class Selection(NamedTuple):
    """The candidate that was selected, its value, those that tie with the best one, and the ranking of all."""

    name: str
    value: float
    tied: tuple[str, ...]
    ranking: tuple[Candidate, ...]
    metric: str

    def __str__(self) -> str:
        others = [name for name in self.tied if name != self.name]
        rest = f"; not significantly different: {', '.join(others)}" if others else ""
        return f"{self.name} by {self.metric}: {self.value:.6g}{rest}"


def select(
    candidates: Mapping[str, Any] | Comparison,
    by: str | Metric,
    *,
    better: str | float | None = None,
    ties: str = "value",
) -> Selection:
    """Select the best of several candidates by a metric.

    Candidates that do not differ significantly from the best one tie with it: in cross-validation on the same splits by
    the corrected interval of their paired differences, in a comparison by its test, in reports made with `ci=` by
    intervals that overlap.

    Args:
        candidates: A mapping of names to reports, results of `cross_validate` or plain numbers; or a result of
            `compare`.
        by: The metric, or the key, to select by.
        better: "higher", "lower" or a value to be near to, instead of the direction of the metric; required for a key
            or a measure of your own.
        ties: "value" selects the best value; "first" the first candidate that ties with it, so put the simplest first.

    >>> str(select({"small": 0.71, "large": 0.74}, "auc"))
    'large by auc: 0.74'
    """
    check_choice("ties", ties, _TIES)
    direction = _direction(by, better)
    results: Mapping[str, Any] = (
        candidates.reports if isinstance(candidates, Comparison) else _check_candidates(candidates)
    )
    values = {name: _value(name, result, by) for name, result in results.items()}
    ranked = sorted(values, key=lambda name: (math.isnan(values[name]), _distance(values[name], direction)))
    best = ranked[0]
    if math.isnan(values[best]):
        raise ParameterError(
            Text("{candidates} must have a value of {}; it is undefined for all of them", by), argument="candidates"
        )
    significantly_different = _difference_test(candidates, results, by)
    tied = tuple(
        name
        for name in results
        if name == best or (not math.isnan(values[name]) and not significantly_different(best, name))
    )
    name = tied[0] if ties == "first" else best
    ranking = tuple(Candidate(each, values[each], each in tied) for each in ranked)
    return Selection(name, values[name], tied, ranking, str(by))


def _direction(by: str | Metric, better: str | float | None) -> str | float:
    if better is not None:
        return check_better(better)
    item = metric(by)
    if item.better is None:
        raise ParameterError(argument="better", expected=f"be given: {item} does not define which values are better")
    return item.better


def _distance(value: float, better: str | float) -> float:
    """Less is better."""
    if isinstance(better, str):
        return -value if better == "higher" else value
    return abs(value - better)


def _check_candidates(candidates: Any) -> Mapping[str, Any]:
    if not isinstance(candidates, Mapping) or isinstance(candidates, (Report, CrossValidation)) or not candidates:
        raise ParameterError(
            argument="candidates",
            expected="map names to reports, cross-validations or numbers",
            got=describe(candidates),
        )
    return candidates


def _value(name: str, result: Any, by: str | Metric) -> float:
    if isinstance(result, (Report, CrossValidation)):
        try:
            value = result[by].mean if isinstance(result, CrossValidation) else result[by]
        except KeyError as error:
            raise ParameterError(f"candidate {name!r}: {error.args[0]}") from None
    else:
        value = result
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise ParameterError(f"candidate {name!r} must have one number to be selected by; got {describe(value)}")
    return float(value)


def _difference_test(candidates: Any, results: Mapping[str, Any], by: str | Metric) -> Callable[[str, str], bool]:
    """Whether two candidates can be told apart."""
    if isinstance(candidates, Comparison):
        return lambda one, other: candidates[(one, other), by].significant
    if all(isinstance(result, CrossValidation) for result in results.values()):
        return lambda one, other: _folds_differ(results[one], results[other], by)
    if all(isinstance(result, Report) for result in results.values()):
        return lambda one, other: _intervals_differ(results[one], results[other], by)
    return lambda one, other: float(results[one]) != float(results[other])


def _intervals_differ(one: Report, other: Report, by: str | Metric) -> bool:
    first, second = one.cell(by), other.cell(by)
    if None in (first.lo, first.hi, second.lo, second.hi):
        return bool(first.value != second.value)
    return bool(first.lo > second.hi or second.lo > first.hi)


def _folds_differ(one: CrossValidation, other: CrossValidation, by: str | Metric) -> bool:
    """By the paired differences where the splits are the same, else by whether the intervals overlap."""
    same = len(one.folds) == len(other.folds) and all(
        np.array_equal(a.test, b.test) and a.train_rows == b.train_rows
        for a, b in zip(one.folds, other.folds, strict=True)
    )
    first, second = one[by], other[by]
    if not same:
        if math.isnan(first.lo) or math.isnan(second.lo):
            return first.mean != second.mean
        return first.lo > second.hi or second.lo > first.hi
    pairs = zip(first.values, second.values, strict=True)
    differences = [b - a for a, b in pairs if math.isfinite(a) and math.isfinite(b)]
    lo, hi = corrected_interval(differences, one.ratio, one.level)
    return first.mean != second.mean if math.isnan(lo) else lo > 0 or hi < 0
