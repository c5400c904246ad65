"""Difference: two models in one metric, with what the rows can say about it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from tallymark.intervals.distributions import student_quantile
from tallymark.metrics.base import Metric
from tallymark.rendering.table import show_number

POWER = 0.8  # the chance with which a detectable difference shows


class Difference(NamedTuple):
    """By how much the second model differs from the first in a metric; NaN is what is undefined, with its reason.

    `value` is the second less the first, in the metric or, where that is best at some value, in the distance from it.
    `lo` and `hi` are its interval at `level`; `p` is the chance of a difference at least as large if there were none,
    and is below 1 − level exactly where the interval excludes 0. `p_corrected` is the same in view of the other pairs;
    `detectable` is the smallest difference that such data would show in eight of ten cases.
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

    @property
    def significant(self) -> bool:
        """Whether the data tell the two models apart: the corrected p-value is below 1 − level."""
        return self.p_corrected < 1 - self.level

    @property
    def winner(self) -> str | None:
        """The model that the data show to be better; None if they do not, or if the metric has no better."""
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
        """Who is better, in a few words."""
        if self.winner is not None:
            return f"{self.winner} is better"
        if self.significant:
            return "they differ"
        if math.isnan(self.p):
            return "undefined"
        return "no difference" if self._equal else "no difference shown"

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain data."""
        out: dict[str, Any] = self._asdict()
        out["notes"] = list(self.notes)
        return out | {"winner": self.winner}

    def __str__(self) -> str:
        outcome = f"p {show_p(self.p_corrected, self.level)} ({self.method})"
        if math.isnan(self.p):
            return f"{self.metric}: {self.second} and {self.first} cannot be compared: {self.reason}"
        if self.winner is not None:
            loser = self.first if self.winner == self.second else self.second
            oriented = self if self.value > 0 else self.flipped()
            return f"{self.metric}: {self.winner} beats {loser} by {oriented.amount()}, {outcome}"
        if self._equal:
            return f"{self.metric}: no difference between {self.second} and {self.first}: {self.reason}"
        verdict = "differ" if self.significant else "cannot be told apart"
        by = f"{self.second} − {self.first} = {self.amount()}"
        return f"{self.metric}: {self.second} and {self.first} {verdict}: {by}, {outcome}"

    def amount(self) -> str:
        """The difference and its interval if any, with as many decimals as the interval bears."""
        if math.isnan(self.lo):
            return show_number(self.value)
        lo, hi = self.bounds()
        decimals = len(lo.partition(".")[2])
        value = show_number(self.value) if "e" in lo + hi else f"{self.value:z,.{decimals}f}"
        return f"{value} [{lo}, {hi}]"

    def bounds(self) -> tuple[str, str]:
        """The ends of the interval, with two digits of its width, and more where an end would read as 0."""
        width = self.hi - self.lo
        if not 1e-6 < width < 1e15:
            return f"{self.lo:.3g}", f"{self.hi:.3g}"
        decimals = max(0, 1 - int(f"{width:e}".partition("e")[2]))
        while decimals < 6 and any(end != 0 and round(end, decimals) == 0 for end in (self.lo, self.hi)):
            decimals += 1
        return f"{self.lo:,.{decimals}f}", f"{self.hi:,.{decimals}f}"


def difference_between(item: Metric, first: float, second: float) -> float:
    """The second value less the first, by their distances where the metric is best at some value."""
    best = item.better
    if isinstance(best, (int, float)):
        return abs(second - best) - abs(first - best)
    return second - first


def largest_difference(item: Metric) -> float:
    """How far two values, or two distances, can be apart."""
    best, (low, high) = item.better, item.range
    return max(abs(low - best), abs(high - best)) if isinstance(best, (int, float)) else high - low


def minimum_detectable_difference(error: float, level: float, pairs: int, freedom: float = math.inf) -> float:
    """The difference that a test at this level shows with a chance of 0.8, from its standard error and the degrees of
    freedom of that; with other pairs to correct for, one that would show if none of them differed."""
    return (student_quantile(POWER, freedom) - student_quantile((1 - level) / pairs / 2, freedom)) * error


def show_p(p: float, level: float) -> str:
    """A p-value as a person reads it, with more digits where two would put it on the other side of 1 − level.

    >>> show_p(0.0496, 0.95), show_p(0.0512, 0.95), show_p(0.0000123, 0.95)
    ('= 0.0496', '= 0.051', '< 0.001')
    """
    if p < 0.001 or p >= 0.995:
        return "< 0.001" if p < 0.001 else "= 1"
    alpha = round(1 - level, 15)
    for digits in range(2, 7):
        shown = f"{p:.{digits}g}"
        if (float(shown) < alpha) == (p < alpha):
            return f"= {shown}"
    return f"{'<' if p < alpha else '='} {alpha:.6g}"
