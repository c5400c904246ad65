"""tm.accept: whether a report is good enough, and by how much each clause holds or fails."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple, Self

from tallymark.acceptance.condition_parser import (
    ComparisonNode,
    Condition,
    ConditionGroup,
    Number,
    Value,
    parse_condition,
)
from tallymark.acceptance.quantities import MappingLookup, Quantity, ReportLookup, ValueLookup
from tallymark.errors import AcceptanceError, ParameterError, Text, brief
from tallymark.evaluation.report import Report
from tallymark.metrics.listing import show_range
from tallymark.rendering.exports import to_json
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import Table, show_number
from tallymark.rendering.text import to_text

_MOST_CONDITIONS = 1_000
_MOST_NAMED = 10  # clauses in a sentence


class Clause(NamedTuple):
    """One comparison of a condition, as it was decided.

    `margin` is by how much it holds; it is negative if it fails, and NaN where the value or the limit is undefined.
    Such a clause fails, and `reason` says why. `notes` say which groups a number over slices is made of.
    """

    text: str
    value: float
    limit: float
    passed: bool
    margin: float
    reason: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def decided(self) -> bool:
        """Whether there were two numbers to compare."""
        return not math.isnan(self.value) and not math.isnan(self.limit)

    def __str__(self) -> str:
        if not self.decided:
            return f"{self.text} cannot be decided: {self.reason}"
        verb = "holds" if self.passed else "fails"
        because = f"; {self.reason}" if self.reason else ""
        if self.margin == 0:
            return f"{self.text} {verb}: the value is the limit, {show_number(self.value)}{because}"
        numbers = f"{show_number(self.value)} against {show_number(self.limit)}"
        return f"{self.text} {verb} by {show_number(abs(self.margin))} ({numbers}{because})"


class Acceptance:
    """Whether a report meets a condition: true if it does. It prints with every clause and its margin."""

    __slots__ = ("clauses", "condition", "failed")

    def __init__(self, condition: str, clauses: tuple[Clause, ...], failed: tuple[Clause, ...]) -> None:
        self.condition = condition
        self.clauses = clauses
        self.failed = failed
        """The clauses because of which the condition fails; none if it holds."""

    @property
    def passed(self) -> bool:
        """Whether the report meets the condition."""
        return not self.failed

    def __bool__(self) -> bool:
        return self.passed

    def require(self) -> Self:
        """Raise an `AcceptanceError` that says which clauses failed, and by how much, unless all is well."""
        if not self.passed:
            raise AcceptanceError(self.sentence)
        return self

    @property
    def sentence(self) -> str:
        """The outcome in one sentence."""
        if self.passed:
            return self._title()
        more = f"; and {len(self.failed) - _MOST_NAMED:,} more" * (len(self.failed) > _MOST_NAMED)
        return f"not accepted: {'; '.join(map(str, self.failed[:_MOST_NAMED]))}{more}"

    def _title(self) -> str:
        passed = sum(clause.passed for clause in self.clauses)
        return (
            f"{'accepted' if self.passed else 'not accepted'} · clauses that hold: {passed:,} of {len(self.clauses):,}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The outcome and its clauses as plain data."""
        return {
            "passed": self.passed,
            "condition": self.condition,
            "clauses": [clause._asdict() for clause in self.clauses],
            "failed": [clause.text for clause in self.failed],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Acceptance:
        """The outcome that `to_dict` gave, or that was read from JSON."""
        clauses = []
        for each in data["clauses"]:
            numbers = {key: math.nan if each[key] is None else each[key] for key in ("value", "limit", "margin")}
            clauses.append(Clause(**{**each, **numbers, "notes": tuple(each["notes"])}))
        failed = tuple(clause for clause in clauses if clause.text in data["failed"])
        return cls(data["condition"], tuple(clauses), failed)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The outcome and its clauses as JSON; NaN and infinity are null, with their reason beside them."""
        return to_json(self.to_dict(), indent)

    def table(self) -> Table:
        """One line for each clause."""
        rows = [
            (c.text, c.value, c.limit, "passed" if c.passed else "failed", c.margin if c.decided else None)
            for c in self.clauses
        ]
        notes = [f"{c.text}: {note}" for c in self.clauses for note in (c.reason, *c.notes) if note]
        if len(self.failed) != sum(not c.passed for c in self.clauses):  # there was a choice
            notes.append(f"asked for: {self.condition}")
        numbers = ("value", "limit", "margin")
        return Table(
            self._title(), ("clause", "value", "limit", "outcome", "margin"), rows, notes, numbers, named_rows=True
        )

    def __repr__(self) -> str:
        return to_text(self.table())

    def _repr_html_(self) -> str:
        return to_html(self.table())


def accept(report: Report | Mapping[str, Any], condition: str | Iterable[str]) -> Acceptance:
    """Decide whether a report meets a condition, such as ``"r2 > 0.8 and rmse < 5"``; of a list, all must hold.

    `report` is a report, or a plain mapping from names to numbers. A clause whose value is undefined or failed cannot
    be decided and fails, under `not` and `!=` too. A metric that is not in the report is an error.

    >>> accept({"r2": 0.75, "rmse": 4.5}, "r2 > 0.8 and rmse < 5")
    not accepted · clauses that hold: 1 of 2
    <BLANKLINE>
    clause    value  limit  outcome  margin
    ────────  ─────  ─────  ───────  ──────
    r2 > 0.8   0.75    0.8  failed    -0.05
    rmse < 5   4.5     5    passed     0.5
    >>> bool(accept({"r2": 0.95}, "0.9 <= r2 < 1"))
    True
    """
    if not isinstance(report, Mapping):
        given = f"{type(report).__name__}{'; its report() is one' if hasattr(report, 'report') else ''}"
        raise ParameterError(
            argument="report",
            expected="be a report or a mapping from names to numbers",
            got=f"an object of type {given}",
        )
    texts = _condition_texts(condition)
    condition_text = texts[0] if len(texts) == 1 else " and ".join(f"({text})" for text in texts)
    clauses, failed = decide(report, texts)
    return Acceptance(" ".join(condition_text.split()), tuple(clauses), tuple(failed))


def check_condition(condition: str | Iterable[str]) -> None:
    """Raise if a condition cannot be read, before there is a report."""
    for text in _condition_texts(condition):
        parse_condition(text)


def _condition_texts(condition: object) -> list[str]:
    texts = [condition] if isinstance(condition, str) else condition
    if not isinstance(texts, Iterable) or isinstance(texts, (bytes, Mapping)):
        raise ParameterError(
            argument="condition",
            expected="be a text or a list of texts",
            got=f"an object of type {type(condition).__name__}",
        )
    try:
        items = list(islice(texts, _MOST_CONDITIONS + 1))
    except Exception as error:  # an array of no dimensions, say
        raise ParameterError(
            argument="condition", expected="be a text or a list of texts", got=brief(condition)
        ) from error
    checked: list[str] = []
    for text in items:
        if not isinstance(text, str):
            raise ParameterError(
                argument="condition",
                expected="be a text or a list of texts",
                got=f"an object of type {type(text).__name__}",
            )
        if not text.strip() or len(checked) == _MOST_CONDITIONS:
            problem = f"have at most {_MOST_CONDITIONS:,} texts" if text.strip() else "say something; got a blank text"
            raise ParameterError(argument="condition", expected=f"{problem}")
        checked.append(text)
    if not checked:
        raise ParameterError(Text("{condition} must say something; the list was empty"), argument="condition")
    return checked


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def decide(report: Report | Mapping[str, Any], texts: list[str]) -> tuple[list[Clause], list[Clause]]:
    """All clauses of the conditions, and those because of which one of the conditions fails."""
    source: ValueLookup = ReportLookup(report) if isinstance(report, Report) else MappingLookup(report)
    return _decide_condition(ConditionGroup(True, tuple(map(parse_condition, texts))), source)


def _decide_condition(condition: Condition, source: ValueLookup) -> tuple[list[Clause], list[Clause]]:
    """The clauses of a condition, and those because of which it fails. All are looked at: no slip stays hidden."""
    if isinstance(condition, ComparisonNode):
        clause = _compare(condition, source)
        return [clause], [] if clause.passed else [clause]
    judged = [_decide_condition(part, source) for part in condition.parts]
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
        left, sign, right = right, _MIRRORED[sign], left
    assert isinstance(left, Value)  # the language has no comparison of two numbers
    value = source.quantity(left, sign)
    if isinstance(right, Value):
        limit = source.quantity(right, _MIRRORED[sign])
    else:
        limit = Quantity(_limit(right, left, value.unit))
        _check_reachable(text, left, right, limit.number, value)
    reason = "; ".join(dict.fromkeys(filter(None, (value.reason, limit.reason)))) or None
    passed, margin = _holds_by(value.number, sign, limit.number)
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


def _check_reachable(clause: str, value: Value, limit: Number, number: float, of: Quantity) -> None:
    """Refuse a limit that no value can reach: the clause would be decided before there was a model."""
    low, high = of.reachable
    if low <= number <= high:
        return
    meant = (low, high) == (0, 1) and 1 < number <= 100 and limit.share is None and not of.unit
    raise ParameterError(
        Text(
            "{condition} says {}, but {} lies in {} and never reaches {}",
            clause,
            value.text,
            show_range(of.reachable),
            limit.text,
        ),
        argument="condition",
        hint=f"For a percentage write {limit.text}%" if meant else None,
    )


def _holds_by(value: float, sign: str, limit: float) -> tuple[bool, float]:
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
