"""Interval and NoInterval: what every method gives."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from tallymark.errors import Text

_ROUNDING = 1e-12


class Interval(NamedTuple):
    """Where the value of the whole population lies, as far as these rows can say: between `lo` and `hi`, which have the
    shape of the value (None in a part that has no interval), and by which method they were found."""

    lo: Any
    hi: Any
    method: str
    notes: tuple[str, ...] = ()

    def around(self, value: Any, limits: tuple[float, float]) -> Interval:
        """The same, where rounding has not put an end on the wrong side of the value or outside the limits."""
        if isinstance(value, dict):
            parts = {key: _around(self.lo[key], self.hi[key], value[key], limits) for key in value}
            return self._replace(lo={k: e[0] for k, e in parts.items()}, hi={k: e[1] for k, e in parts.items()})
        if isinstance(value, list):
            ends = [_around(*part, limits) for part in zip(self.lo, self.hi, value, strict=True)]
            return self._replace(lo=[end[0] for end in ends], hi=[end[1] for end in ends])
        lo, hi = _around(self.lo, self.hi, value, limits)
        return self._replace(lo=lo, hi=hi)


def _around(lo: Any, hi: Any, value: float, limits: tuple[float, float]) -> tuple[Any, Any]:
    if lo is None or hi is None:
        return None, None
    return max(min(lo, value), limits[0]), min(max(hi, value), limits[1])


class NoInterval(NamedTuple):
    """What stands for an interval where the rows cannot give one: the reason."""

    reason: str | Text


def is_rounding(spread: float, *sizes: float) -> bool:
    """Whether numbers of such sizes lie so far apart by errors of arithmetic alone. An infinite size says nothing.

    >>> is_rounding(2e-16, 0.1), is_rounding(2e-16, 1e-16), is_rounding(0.0)
    (True, False, True)
    """
    return spread <= _ROUNDING * max((abs(size) for size in sizes if math.isfinite(size)), default=0.0)


TOO_LARGE = "the terms are too large or too small for float64"
