"""tm.accept: whether a report is good enough, and by how much each condition passes or fails."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple, Never, Self

from tallymark.acceptance.condition_parser import (
    ComparisonNode,
    Condition,
    ConditionGroup,
    Number,
    Value,
    parse_condition,
)
from tallymark.acceptance.quantities import MappingLookup, Quantity, ReportLookup, ValueLookup
from tallymark.errors import AcceptanceError, Argument, ParameterError, Text, brief
from tallymark.evaluation.report import Report
from tallymark.metrics.listing import show_range
from tallymark.metrics.naming import known_metric
from tallymark.rendering.exports import to_json
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import ShownNumber, Table, Verdict, show_number
from tallymark.rendering.text import to_text

_MOST_CONDITIONS = 1_000
_MOST_NAMED = 10  # conditions in a sentence
_MOST_DECIMALS = 9
_MOST_SHOWN = 1e15  # with decimals


class ConditionResult(NamedTuple):
    """One comparison of a condition, as it was decided.

    `margin` is by how much it passes; it is negative if it fails, and NaN where the value or the limit is undefined.
    Such a condition fails, and `reason` says why. `notes` say which groups decide a number over slices. `decimals` are
    those that the interval of the value supports; None without an interval.
    """

    text: str
    value: float
    limit: float
    passed: bool
    margin: float
    reason: str | None = None
    notes: tuple[str, ...] = ()
    decimals: int | None = None

    @property
    def decided(self) -> bool:
        """Whether there were two numbers to compare."""
        return not math.isnan(self.value) and not math.isnan(self.limit)

    def numbers(self) -> tuple[str, str, str]:
        """The value, the limit and the margin in the digits that the interval supports; more where the value would look
        like the limit."""
        plain = (show_number(self.value), show_number(self.limit), show_number(self.margin) if self.decided else "")
        if self.decimals is None or not math.isfinite(self.margin) or abs(self.value) >= _MOST_SHOWN:
            return plain
        decimals = self.decimals
        while decimals < _MOST_DECIMALS and self.margin != 0 and round(self.margin, decimals) == 0:
            decimals += 1
        value, margin = (f"{number:z,.{decimals}f}" for number in (self.value, self.margin))
        return value, plain[1], margin

    def to_dict(self) -> dict[str, Any]:
        """The condition and its numbers as plain data."""
        data = self._asdict()
        del data["decimals"]
        return data

    def __str__(self) -> str:
        if not self.decided:
            return f"{self.text} cannot be decided: {self.reason}"
        verb = "passes" if self.passed else "fails"
        because = f"; {self.reason}" if self.reason else ""
        value, limit, margin = self.numbers()
        if self.margin == 0:
            return f"{self.text} {verb}: the value is the limit, {limit}{because}"
        return f"{self.text} {verb} by {margin.removeprefix('-')} ({value} against {limit}{because})"


class Acceptance:
    """Whether a report meets a condition: true if it does. It prints its verdict, then every condition with its margin,
    failed ones first."""

    __slots__ = ("condition", "conditions", "failed")

    def __init__(
        self, condition: str, conditions: tuple[ConditionResult, ...], failed: tuple[ConditionResult, ...]
    ) -> None:
        self.condition = condition
        """What was asked for, as text."""
        self.conditions = conditions
        """Each comparison in it, in the order of the text."""
        self.failed = failed
        """The comparisons because of which the report is refused; none if it is accepted."""

    @property
    def passed(self) -> bool:
        """Whether the report meets the condition."""
        return not self.failed

    def __bool__(self) -> bool:
        return self.passed

    def require(self) -> Self:
        """Raise an `AcceptanceError` that says which conditions failed, and by how much, unless all is well."""
        if not self.passed:
            raise AcceptanceError(self.sentence)
        return self

    @property
    def verdict(self) -> Verdict:
        """In a word: "accepted" or "refused"."""
        return Verdict("accepted", "good") if self.passed else Verdict("refused", "poor")

    @property
    def summary(self) -> str:
        """How many conditions passed."""
        passed = sum(each.passed for each in self.conditions)
        return f"{passed:,} of {len(self.conditions):,} condition{'s' * (len(self.conditions) != 1)} passed"

    @property
    def sentence(self) -> str:
        """The outcome in one sentence."""
        if self.passed:
            return f"{self.verdict}: {self.summary}"
        more = f"; and {len(self.failed) - _MOST_NAMED:,} more" * (len(self.failed) > _MOST_NAMED)
        return f"{self.verdict}: {'; '.join(map(str, self.failed[:_MOST_NAMED]))}{more}"

    def to_dict(self) -> dict[str, Any]:
        """The outcome and its conditions as plain data."""
        return {
            "passed": self.passed,
            "condition": self.condition,
            "failed": [each.text for each in self.failed],
            "conditions": [each.to_dict() for each in self.conditions],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Acceptance:
        """The outcome that `to_dict` gave, or that was read from JSON."""
        results = []
        for each in data["conditions"]:
            numbers = {key: math.nan if each[key] is None else each[key] for key in ("value", "limit", "margin")}
            facts = {key: each[key] for key in ("text", "passed", "reason")}
            results.append(ConditionResult(**{**facts, **numbers, "notes": tuple(each["notes"])}))
        failed = tuple(each for each in results if each.text in data["failed"])
        return cls(data["condition"], tuple(results), failed)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The outcome and its conditions as JSON; NaN and infinity are null, with their reason beside them."""
        return to_json(self.to_dict(), indent)

    def table(self) -> Table:
        """One line for each condition, failed ones first."""
        in_order = sorted(self.conditions, key=lambda each: each.passed)
        rows = []
        for each in in_order:
            value, limit, margin = each.numbers()
            outcome = Verdict("passed", "good") if each.passed else Verdict("failed", "poor")
            shown = (ShownNumber(each.value, value), ShownNumber(each.limit, limit), ShownNumber(each.margin, margin))
            rows.append((each.text, outcome, *shown))
        notes = [f"{each.text}: {note}" for each in in_order for note in (each.reason, *each.notes) if note]
        if len(self.failed) != sum(not each.passed for each in self.conditions):  # there was a choice
            notes.append(f"asked for: {self.condition}")
        title = Verdict(f"{self.verdict} · {self.summary}", self.verdict.band)
        headings = ("condition", "outcome", "value", "limit", "margin")
        return Table(title, headings, rows, notes, headings[2:], named_rows=True)

    def __repr__(self) -> str:
        return to_text(self.table())

    def _repr_html_(self) -> str:
        return to_html(self.table())


def accept(
    report: Report | Mapping[str, Any], condition: str | Iterable[str] | None = None, **unknown: Never
) -> Acceptance:
    """Decide whether a report meets a condition, such as ``"r2 > 0.8 and rmse < 5"``; of a list, all must hold.

    `report` is a report, or a plain mapping from names to numbers. A condition whose value is undefined cannot be
    decided and fails, under `not` and `!=` too. A metric that is not in the report is an error.

    >>> accept({"r2": 0.75, "rmse": 4.5}, "rmse < 5 and r2 > 0.8")
    refused · 1 of 2 conditions passed
    <BLANKLINE>
    condition  outcome  value  limit  margin
    ─────────  ───────  ─────  ─────  ──────
    r2 > 0.8   failed    0.75    0.8   -0.05
    rmse < 5   passed    4.5     5      0.5
    >>> bool(accept({"r2": 0.95}, "0.9 <= r2 < 1"))
    True
    """
    inside = next((f"; pass {words}" for name, words in _REPORTS_INSIDE.items() if hasattr(report, name)), "")
    if inside or not isinstance(report, Mapping):
        given = f"{type(report).__name__}{inside}"
        raise ParameterError(
            argument="report",
            expected="be a report or a mapping from names to numbers",
            got=f"an object of type {given}",
        )
    _refuse_limits(unknown)
    texts = _condition_texts(condition)
    condition_text = texts[0] if len(texts) == 1 else " and ".join(f"({text})" for text in texts)
    results, failed = decide(report, texts)
    return Acceptance(" ".join(condition_text.split()), tuple(results), tuple(failed))


_REPORTS_INSIDE = {"report": "its report()", "reports": "one of its reports", "out_of_fold": "its out_of_fold"}
"""Where tallies, comparisons and cross-validations have the reports that can be accepted."""


def _refuse_limits(unknown: Mapping[str, object]) -> None:
    """Refuse limits that are given as keywords, and say how to write them."""
    for name, value in unknown.items():
        item = known_metric(name)
        sign = "<" if item is not None and item.better == "lower" else ">"
        hint = f'Write the condition as a string: "{name} {sign} {value}"'
        raise ParameterError(Text("accept has no argument {}", Argument(name)), argument=name, hint=hint)


def check_condition(condition: str | Iterable[str]) -> None:
    """Raise if a condition cannot be read, before there is a report."""
    for text in _condition_texts(condition):
        parse_condition(text)


def _condition_texts(condition: object) -> list[str]:
    texts = [condition] if isinstance(condition, str) else condition
    if not isinstance(texts, Iterable) or isinstance(texts, (bytes, Mapping)):
        raise ParameterError(
            argument="condition",
            expected="be a string or a list of strings",
            got=f"an object of type {type(condition).__name__}",
        )
    try:
        items = list(islice(texts, _MOST_CONDITIONS + 1))
    except Exception as error:  # an array of no dimensions, say
        raise ParameterError(
            argument="condition", expected="be a string or a list of strings", got=brief(condition)
        ) from error
    checked: list[str] = []
    for text in items:
        if not isinstance(text, str):
            raise ParameterError(
                argument="condition",
                expected="be a string or a list of strings",
                got=f"an object of type {type(text).__name__}",
            )
        if not text.strip() or len(checked) == _MOST_CONDITIONS:
            problem = f"have at most {_MOST_CONDITIONS:,} texts" if text.strip() else "not be empty; got a blank string"
            raise ParameterError(argument="condition", expected=f"{problem}")
        checked.append(text)
    if not checked:
        raise ParameterError(Text("{condition} must not be empty; got an empty list"), argument="condition")
    return checked


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def decide(report: Report | Mapping[str, Any], texts: list[str]) -> tuple[list[ConditionResult], list[ConditionResult]]:
    """All comparisons of the conditions, and those because of which one of the conditions fails."""
    source: ValueLookup = ReportLookup(report) if isinstance(report, Report) else MappingLookup(report)
    return _decide_condition(ConditionGroup(True, tuple(map(parse_condition, texts))), source)


def _decide_condition(condition: Condition, source: ValueLookup) -> tuple[list[ConditionResult], list[ConditionResult]]:
    """The comparisons of a condition, and those because of which it fails. All are evaluated: no typo stays hidden."""
    if isinstance(condition, ComparisonNode):
        result = _compare(condition, source)
        return [result], [] if result.passed else [result]
    decided = [_decide_condition(part, source) for part in condition.parts]
    failed = [fault for _, fault in decided]
    fails = any(failed) if condition.every else all(failed)
    return list(chain.from_iterable(results for results, _ in decided)), list(
        chain.from_iterable(failed)
    ) if fails else []


def _compare(comparison: ComparisonNode, source: ValueLookup) -> ConditionResult:
    """Compare the operands. A number is the limit, also if it comes first."""
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
    notes = (*value.notes, *limit.notes)
    return ConditionResult(text, value.number, limit.number, passed, margin, reason, notes, value.decimals)


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


def _check_reachable(comparison: str, value: Value, limit: Number, number: float, of: Quantity) -> None:
    """Reject a limit that no value can reach: the condition would be decided before there was a model."""
    low, high = of.reachable
    if low <= number <= high:
        return
    meant = (low, high) == (0, 1) and 1 < number <= 100 and limit.share is None and not of.unit
    raise ParameterError(
        Text(
            "{condition} says {}, but {} lies in {} and never reaches {}",
            comparison,
            value.text,
            show_range(of.reachable),
            limit.text,
        ),
        argument="condition",
        hint=f"For a percentage write {limit.text}%" if meant else None,
    )


def _holds_by(value: float, sign: str, limit: float) -> tuple[bool, float]:
    """Whether a comparison is true, and by how much; with NaN none is, not even `!=`."""
    if math.isnan(value) or math.isnan(limit):
        return False, math.nan
    above = 0.0 if value == limit else value - limit  # two infinities have no difference
    if sign == "==":
        return value == limit, -abs(above) if above else 0.0
    if sign == "!=":
        return value != limit, abs(above)
    margin = above if sign in (">", ">=") else 0.0 - above
    return margin > 0 or (margin == 0 and sign in ("<=", ">=")), margin
