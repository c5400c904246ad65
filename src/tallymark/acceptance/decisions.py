"""How conditions are decided: each comparison by the numbers that it names, the whole by its parts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import chain
from typing import Any

from tallymark.acceptance.accept import Clause
from tallymark.acceptance.condition_parser import (
    ComparisonNode,
    Condition,
    ConditionGroup,
    Number,
    Value,
    read_condition,
)
from tallymark.acceptance.quantities import MappingLookup, Quantity, ReportLookup, ValueLookup
from tallymark.errors import ParameterError, Text
from tallymark.evaluation.report import Report
from tallymark.metrics.listing import show_range

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def decide(report: Report | Mapping[str, Any], texts: list[str]) -> tuple[list[Clause], list[Clause]]:
    """All clauses of the conditions, and those because of which one of the conditions fails."""
    source: ValueLookup = ReportLookup(report) if isinstance(report, Report) else MappingLookup(report)
    return _judge(ConditionGroup(True, tuple(map(read_condition, texts))), source)


def _judge(condition: Condition, source: ValueLookup) -> tuple[list[Clause], list[Clause]]:
    """The clauses of a condition, and those because of which it fails. All are looked at: no slip stays hidden."""
    if isinstance(condition, ComparisonNode):
        clause = _compare(condition, source)
        return [clause], [] if clause.passed else [clause]
    judged = [_judge(part, source) for part in condition.parts]
    faults = [fault for _, fault in judged]
    fails = any(faults) if condition.every else all(faults)
    return list(chain.from_iterable(clauses for clauses, _ in judged)), list(
        chain.from_iterable(faults)
    ) if fails else []


def _compare(comparison: ComparisonNode, source: ValueLookup) -> Clause:
    """Compare what the operands stand for. A number that stands first is the limit all the same."""
    left, sign, right = comparison
    text = f"{left.text} {sign} {right.text}"
    if isinstance(left, Number):
        left, sign, right = right, _TURNED[sign], left
    assert isinstance(left, Value)  # the language has no comparison of two numbers
    value = source.quantity(left, sign)
    if isinstance(right, Value):
        limit = source.quantity(right, _TURNED[sign])
    else:
        limit = Quantity(_limit(right, left, value.unit))
        _check_ends(text, left, right, limit.number, value)
    reason = "; ".join(dict.fromkeys(filter(None, (value.reason, limit.reason)))) or None
    passed, margin = _outcome(value.number, sign, limit.number)
    return Clause(text, value.number, limit.number, passed, margin, reason, (*value.notes, *limit.notes))


def _limit(limit: Number, value: Value, unit: str) -> float:
    """The limit in the unit of the value: 5% is 5 where values are percentages, and 0.05 where they are shares."""
    if limit.share is None or unit == "percent":
        return limit.value
    if unit:
        raise ParameterError(
            Text(
                '{condition} compares {} with {}, but its unit is "{}"; write a plain number',
                value.text,
                limit.text,
                unit,
            ),
            argument="condition",
        )
    return limit.share


def _check_ends(clause: str, value: Value, limit: Number, number: float, of: Quantity) -> None:
    """Refuse a limit that no value can reach: the clause would be decided before there was a model."""
    low, high = of.ends
    if low <= number <= high:
        return
    meant = (low, high) == (0, 1) and 1 < number <= 100 and limit.share is None and not of.unit
    raise ParameterError(
        Text(
            "{condition} says {}, but {} lies in {} and never reaches {}",
            clause,
            value.text,
            show_range(of.ends),
            limit.text,
        ),
        argument="condition",
        hint=f"For a percentage write {limit.text}%" if meant else None,
    )


def _outcome(value: float, sign: str, limit: float) -> tuple[bool, float]:
    """Whether a comparison holds, and by how much; with NaN none does, not even that of being different."""
    if math.isnan(value) or math.isnan(limit):
        return False, math.nan
    above = 0.0 if value == limit else value - limit  # two infinities have no difference
    if sign == "==":
        return value == limit, -abs(above) if above else 0.0
    if sign == "!=":
        return value != limit, abs(above)
    margin = above if sign in (">", ">=") else 0.0 - above
    return margin > 0 or (margin == 0 and sign in ("<=", ">=")), margin
