"""What a metric answers: a value or why there is none, and an interval or why there is none."""

from __future__ import annotations

from typing import Any, NamedTuple


class Undefined(NamedTuple):
    """What a formula returns instead of a value: the reason."""

    reason: str


class Answer(NamedTuple):
    """A value, why it is not a plain number if it is not, what the reader should know, and its interval if any."""

    value: Any
    reason: str | None = None
    notes: tuple[str, ...] = ()
    lo: float | None = None
    hi: float | None = None
    method: str | None = None


NO_ROWS = Undefined("no rows")
NO_WEIGHT = Undefined("total weight is zero")
LIGHT = Undefined("the weights are too small for float64; multiply them by a constant")
