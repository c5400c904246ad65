"""Values with bounds that hold the exact one, as metrics on scores have them in fixed memory."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from tallymark.metrics.answer import Answer, Undefined
from tallymark.metrics.base import Metric
from tallymark.report import show_number

__all__ = ["Bounded"]


class Bounded(float):
    """A number with bounds: the exact value lies in [lo, hi].

    >>> Bounded(0.75, 0.74, 0.76)
    0.75 in [0.74, 0.76]
    """

    __slots__ = ("hi", "lo")
    lo: float
    hi: float

    def __new__(cls, value: float, lo: float, hi: float) -> Bounded:
        out = super().__new__(cls, value)
        out.lo, out.hi = lo, hi
        return out

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (float(self), self.lo, self.hi)

    def __repr__(self) -> str:
        return f"{float(self)!r} in [{self.lo!r}, {self.hi!r}]"


class Bounds(NamedTuple):
    """A value, and the lowest and highest that the exact one can be."""

    value: float
    lo: float
    hi: float


def bounded_answer(metric: Metric, found: Bounds | Undefined) -> Answer:
    """The answer of a metric that was read from bins."""
    if isinstance(found, Undefined) or math.isnan(found.value):
        return metric.settle(found if isinstance(found, Undefined) else found.value)
    lo, hi = max(found.lo, metric.range[0]), min(found.hi, metric.range[1])
    least, most = show_number(lo), show_number(hi)
    notes = () if least == most else (f"the exact value lies between {least} and {most}",)
    return Answer(Bounded(found.value, lo, hi), None, notes, lo, hi, "bounded")
