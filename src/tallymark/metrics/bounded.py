"""Metrics on scores that can be asked for in fixed memory: the value then comes with bounds that hold the exact one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from tallymark.metrics.answer import Answer, Undefined
from tallymark.metrics.parameters import bin_count
from tallymark.metrics.scores import RankMetric, average_classes
from tallymark.report import show_number
from tallymark.states import BoundedScores, BoundedScoresOf, Reads
from tallymark.target import Target

__all__ = ["Bounded", "BoundedMetric"]

_ROUNDING = 2.0**-50


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


class BoundedMetric(RankMetric, abstract=True):
    """A metric on the order of scores whose state can be kept in bins.

    A subclass writes `of_bins` beside `of_sums`: the value and its bounds from the weights of both classes in bins.
    """

    samples: ClassVar[tuple[dict[str, Any], ...]] = (*RankMetric.samples, {"bounded": 16})

    bounded: int | None = bin_count()
    """The most bins that the state may hold, and the value then comes with bounds; None for the exact value, from a
    state that grows with the distinct scores."""

    def of_bins(self, negative: list[int], positive: list[int], *, exact: bool) -> Bounds | Undefined:
        """The value of two classes. Bins are in order; with `exact`, each of them is one score."""
        raise NotImplementedError(f"{type(self).__name__} must define `of_bins`")

    def reads_of(self, target: Target) -> Reads:
        return super().reads_of(target) if self.bounded is None else BoundedScoresOf(target, self.bounded)

    def read(self, state: Any) -> Answer:
        if self.bounded is None:
            return super().read(state)
        found = self._of_columns(state) if state.several else self._of_two(state)
        if isinstance(found, Undefined):
            return self.settle(found)
        value, lo, hi = found
        lo, hi = max(lo, self.range[0]), min(hi, self.range[1])
        if math.isnan(value):
            return self.settle(value)
        least, most = show_number(lo), show_number(hi)
        notes = () if least == most else (f"the exact value lies between {least} and {most}",)
        return Answer(Bounded(value, lo, hi), None, notes, lo, hi, "bounded")

    def _of_two(self, state: BoundedScores) -> Bounds | Undefined:
        return self.of_bins(*state.binary(symmetric=self.symmetric_columns), exact=state.binned[0].exact)

    def _of_columns(self, state: BoundedScores) -> Bounds | Undefined:
        def value(place: int) -> Bounds | Undefined:
            return self.of_bins(*state.one_against_rest(place), exact=state.binned[place].exact)

        found = self.against_rest(state, value, Bounds(0.0, 0.0, 0.0))
        return found if isinstance(found, Undefined) else average_bounds(found, self.shares_of(state))


def average_bounds(found: Sequence[Bounds], weights: Sequence[int] | None) -> Bounds | Undefined:
    """The mean of values, and of their bounds, which hold the exact mean however that was rounded."""
    parts = [average_classes(list(part), weights) for part in zip(*found, strict=True)]
    for part in parts:
        if isinstance(part, Undefined):
            return part
    value, lo, hi = (float(part) for part in parts)  # type: ignore[arg-type]
    return Bounds(value, lo - _ROUNDING, hi + _ROUNDING)
