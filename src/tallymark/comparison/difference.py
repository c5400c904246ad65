"""Difference: how two models differ in one metric, with its interval and test."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeVar

from tallymark.comparison.corrections import CORRECTIONS
from tallymark.comparison.paired_tests import PairedTest
from tallymark.data.arrays import Array
from tallymark.intervals.distributions import student_quantile
from tallymark.metrics.base import Metric
from tallymark.rendering.table import show_estimate, show_number

POWER = 0.8  # the probability that a detectable difference is found


class Difference(NamedTuple):
    """By how much the second model differs from the first in a metric; NaN is what is undefined, with its reason.

    `value` is the second less the first, in the metric or, where that is best at some value, in the distance from it.
    `lo` and `hi` are its interval at `level`, and `p` is below 1 − level exactly where the interval excludes 0.
    `p_corrected` allows for the other pairs and decides whether the difference is significant. After "max-t" it is `p`,
    and the interval is simultaneous; after any other `correction`, interval and `p` are those of the single pair. One
    pair has no correction: None. `p_at_floor` says that only more resamples could show a smaller p. `detectable` is the
    minimum detectable difference at a power of 80 %, and `name` the metric's name for people.
    """

    metric: str
    first: str
    second: str
    value: float
    lo: float
    hi: float
    p: float
    p_corrected: float
    detectable: float
    method: str
    level: float
    better: str | float | None
    reason: str | None = None
    notes: tuple[str, ...] = ()
    name: str = ""
    correction: str | None = None
    p_at_floor: bool = False

    @property
    def significant(self) -> bool:
        """Whether the corrected p-value is below 1 − level."""
        return self.p_corrected < 1 - self.level

    @property
    def winner(self) -> str | None:
        """The model that is significantly better; None if neither is, or if the metric has no better."""
        if not self.significant or self.better is None or self.value == 0:
            return None
        return self.second if (self.value > 0) == (self.better == "higher") else self.first

    @property
    def _equal(self) -> bool:
        """Whether the models are alike in every row, or in every resample."""
        return self.p == 1 and math.isnan(self.lo)

    def flipped(self) -> Difference:
        """The same with the models the other way round."""
        return self._replace(
            first=self.second, second=self.first, value=0.0 - self.value, lo=0.0 - self.hi, hi=0.0 - self.lo
        )

    @property
    def verdict(self) -> str:
        """Which model is better, in a few words."""
        if self.winner is not None:
            return f"{self.winner} is better"
        if math.isnan(self.p):
            return "undefined" if math.isnan(self.value) else "not testable"
        return "different" if self.significant else "no difference" if self._equal else "not significant"

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain data."""
        out: dict[str, Any] = self._asdict()
        out["notes"] = list(self.notes)
        return out | {"winner": self.winner}

    def __str__(self) -> str:
        name, first, second = self.name or self.metric, self.first, self.second
        if math.isnan(self.p):
            return f"{name}: the difference between {second} and {first} is {self.verdict}: {self.reason}"
        if self._equal:
            return f"{name}: no difference between {second} and {first}: {self.reason}"
        outcome = f"{self.shown_p()} ({', '.join(filter(None, (self.method, self._correction_name)))})"
        if self.winner is not None:
            loser = first if self.winner == second else second
            oriented = self if self.value > 0 else self.flipped()
            return f"{name}: {self.winner} beats {loser} by {oriented._labelled_amount()}, {outcome}"
        verdict = "significant" if self.significant else "no significant"
        by = f"{second} − {first} = {self._labelled_amount()}"
        return f"{name}: {verdict} difference between {second} and {first}: {by}, {outcome}"

    def shown_p(self) -> str:
        """The corrected p-value with its sign, such as "p = 0.03"."""
        return f"p {show_p(self.p_corrected, self.level, at_floor=self.p_at_floor)}"

    @property
    def _correction_name(self) -> str:
        return CORRECTIONS[self.correction] if self.correction else ""

    def _labelled_amount(self) -> str:
        """The difference, with a word where its interval does not allow for the other pairs."""
        uncorrected = self.correction not in (None, "max-t") and not math.isnan(self.lo)
        return f"{self.amount()} (uncorrected)" if uncorrected else self.amount()

    def amount(self) -> str:
        """The difference and its interval if any, rounded by the width of the interval."""
        if math.isnan(self.lo):
            return show_number(self.value)
        value, interval = show_estimate(self.value, self.lo, self.hi)
        return f"{value} [{interval.replace(' to ', ', ')}]"


Numbers = TypeVar("Numbers", float, Array)


def difference_between(item: Metric, first: Numbers, second: Numbers) -> Numbers:
    """The second value less the first, by their distances where the metric is best at some value."""
    best = item.better
    if isinstance(best, (int, float)):
        return abs(second - best) - abs(first - best)
    return second - first


def largest_difference(item: Metric) -> float:
    """The largest possible difference of two values, or of two distances."""
    best, (low, high) = item.better, item.range
    return max(abs(low - best), abs(high - best)) if isinstance(best, (int, float)) else high - low


def minimum_detectable_difference(result: PairedTest, level: float, tests: int) -> float:
    """The true difference that a test at this level finds with a probability of 80 %; with several tests to correct
    for, by Bonferroni's bound or by the critical value of max-T."""
    critical = result.critical
    if math.isnan(critical):
        critical = -student_quantile((1 - level) / tests / 2, result.freedom)
    return (student_quantile(POWER, result.freedom) + critical) * result.error


def show_p(p: float, level: float, *, at_floor: bool = False) -> str:
    """A p-value with its sign, in more digits where two would put it on the other side of 1 − level. At the floor of a
    bootstrap it is an upper bound.

    >>> show_p(0.0496, 0.95), show_p(0.0512, 0.95), show_p(0.0000123, 0.95)
    ('= 0.0496', '= 0.051', '< 0.001')
    >>> show_p(2 / 1001, 0.95, at_floor=True)
    '≤ 0.002'
    """
    if p >= 0.995:
        return "= 1"
    if p < 0.001 and not at_floor:
        return "< 0.001"
    alpha, sign = round(1 - level, 15), "≤" if at_floor else "="
    for digits in range(2, 7):
        shown = f"{_rounded_up(p, digits) if at_floor else p:.{digits}g}"
        if (float(shown) < alpha) == (p < alpha):
            return f"{sign} {shown}"
    return f"{'<' if p < alpha else '='} {alpha:.6g}"


def _rounded_up(p: float, digits: int) -> float:
    """A p-value that is not above what is shown of it."""
    decimals = digits - 1 - math.floor(math.log10(p))
    return math.ceil(round(p * 10.0**decimals, 6)) / 10.0**decimals
