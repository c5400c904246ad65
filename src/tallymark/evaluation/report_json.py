"""Reads the JSON of a report: values, reasons, intervals, notes, baselines, groups, acceptance; it has no rows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from tallymark.data.arguments import check_choice
from tallymark.errors import ParameterError, TallymarkError, brief
from tallymark.evaluation.baselines import Baseline
from tallymark.evaluation.group_slices import Slices
from tallymark.evaluation.report import INFERRED_KINDS, Cell, Report
from tallymark.intervals.analytic import TOO_LARGE
from tallymark.intervals.settings import restore_intervals
from tallymark.metrics.base import Metric
from tallymark.metrics.naming import metric

_SETTINGS = ("level", "method", "resamples", "seed")  # of intervals


def read_report(text: object) -> Report:
    """The report whose `to_json` gave this text."""
    try:
        data = json.loads(text)  # type: ignore[arg-type]
        return _report(data)
    except TallymarkError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
        raise ParameterError(
            argument="text", expected="be what to_json() of a report wrote", got=brief(text)
        ) from error


def _report(data: Mapping[str, Any]) -> Report:
    n, weight = int(data["n"]), _weight(data["total_weight"])
    slices = data.get("slices")
    report = Report(
        {str(key): _cell(cell, n, weight) for key, cell in data["metrics"].items()},
        n=n,
        total_weight=weight,
        dropped=int(data["dropped"]),
        kind=data["kind"],
        slices=None if slices is None else _slices(slices),
        positive=data.get("positive"),
    )
    for key, found in data.get("baselines", {}).items():
        report._baselines[report.cell(key).metric] = [Baseline(float(each["value"]), each["name"]) for each in found]
    if "interval" in data:
        report.interval = restore_intervals(**{name: data["interval"][name] for name in _SETTINGS})
    if "inferred_kind" in data:
        check_choice("inferred_kind", data["inferred_kind"], INFERRED_KINDS)
        report.inferred_kind = data["inferred_kind"]
    return report


def _slices(data: Mapping[str, Any]) -> Slices:
    names = tuple(data["by"])
    groups = [(tuple(each["group"][name] for name in names), _report(each)) for each in data["groups"]]
    reports = {labels if len(names) > 1 else labels[0]: report for labels, report in groups}
    return Slices(names, reports, data.get("min_rows", 1), map(_slices, data.get("by_column", ())))


def _cell(data: Mapping[str, Any], n: int, weight: float) -> Cell:
    item = metric(data["metric"])
    labels, error, reason = data.get("labels"), data.get("error"), data.get("reason")
    absent = math.inf * data["infinite"] if "infinite" in data else _sign(item) if reason == TOO_LARGE else math.nan
    value = item.restore_value(_numbers(data["value"], labels, absent))
    cell = Cell(
        item,
        None if error is not None else value,
        int(data.get("n", n)),
        _weight(data.get("weight", weight)),
        reason,
        tuple(data.get("notes", ())),
        None if error is None else TallymarkError(error),
        _end(data["lo"], labels, -math.inf) if "lo" in data else None,
        _end(data["hi"], labels, math.inf) if "hi" in data else None,
        data.get("method"),
    )
    cell.interval_notes = tuple(data.get("interval_notes", ()))
    return cell


def _weight(value: Any) -> float:
    """A sum of weights; null is one beyond the doubles."""
    return math.inf if value is None else float(value)


def _sign(item: Metric) -> float:
    """The infinity that one of several values beyond the doubles is: JSON has none."""
    return math.inf if item.range[1] == math.inf else -math.inf


def _end(value: Any, labels: list[Any] | None, infinite: float) -> Any:
    """One side of an interval, or of several, of which some are absent."""
    return infinite if value is None else _numbers(value, labels, None)


def _numbers(value: Any, labels: list[Any] | None, absent: float | None) -> Any:
    """One number, or several by class or output; what JSON has as null is `absent`."""
    if value is None:
        return absent
    if isinstance(value, list):
        return [_numbers(each, None, absent) for each in value]
    if isinstance(value, dict) and all(each is None or isinstance(each, (int, float)) for each in value.values()):
        numbers = [_numbers(each, None, absent) for each in value.values()]
        return dict(zip(value if labels is None else labels, numbers, strict=True))
    return value
