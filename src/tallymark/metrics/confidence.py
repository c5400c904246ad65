"""The formulas of analytic intervals: from what was counted or averaged to the two ends."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from tallymark.metrics.answer import TOO_LARGE, Interval, NoInterval, is_rounding
from tallymark.quantiles import student_quantile, two_sided
from tallymark.states import Moments

Ends = tuple[float, float]

FEW = 10
_TAILS = 2.5
WILSON, SUMMED, DELTA, STUDENT, HALL = "Wilson", "sum of Wilson", "delta", "Student t", "Hall"
NO_SPREAD = NoInterval("the rows are all alike in what the metric reads, so they do not show how far it can move")
ONE_ROW = NoInterval("one row does not show how far the value can move")
AT_ITS_END = NoInterval("the value is as far as it can go, where the rows show no variation")


def few_rows(rows: float, of: str = "") -> tuple[str, ...]:
    """What to say where there are too few rows for the formulas to be true to their level."""
    if rows >= FEW:
        return ()
    held = f"{rows:.0f} row{'' if rows == 1 else 's'}{of}"
    return (f"with {held} the interval may hold the value less often than its level says",)


def few_deciding(found: Moments | None, rows: int) -> tuple[str, ...]:
    """What to say where so few terms make most of the mean that its variance is known no better than from ten rows."""
    if found is None or 2 * (rows - 1) >= (FEW - 1) * (found.kurtosis - 1):
        return ()
    return ("so few rows decide the value that the interval may hold it less often than its level says",)


def wilson(hits: float, rows: float, level: float) -> Ends:
    """The shares that a test would not reject (Wilson 1927): never outside [0, 1], and never of no width.

    >>> [round(end, 4) for end in wilson(9, 10, 0.95)]
    [0.5958, 0.9821]
    """
    z = two_sided(level)
    share, square = hits / rows, z * z
    middle = share + square / (2 * rows)
    reach = z * math.sqrt(share * (1 - share) / rows + square / (4 * rows * rows))
    below = 1 + square / rows
    # At 0 and at 1 the end is the share itself, to the last bit.
    lo = 0.0 if hits == 0 else (middle - reach) / below
    return lo, 1.0 if hits == rows else (middle + reach) / below


def share_interval(hits: float, rows: float, level: float) -> Interval:
    """The interval of a share of rows."""
    return Interval(*wilson(hits, rows, level), WILSON, few_rows(rows))


def sum_of_shares(parts: Sequence[tuple[float, float, float]], level: float) -> Ends:
    """A weighted sum of shares of different rows, each given by its weight, hits and rows.

    Half the widths of the Wilson intervals add as independent errors do. How far each is off centre is a matter of its
    third cumulant over its second, and of the sum it is too. One share alone has its own Wilson interval.

    >>> sum_of_shares([(1.0, 9, 10)], 0.95) == wilson(9, 10, 0.95)
    True
    """
    values, squares, shifts = [], [], []
    for weight, hits, rows in parts:
        lo, hi = wilson(hits, rows, level)
        share, square = hits / rows, (weight * (hi - lo) / 2) ** 2
        values.append(weight * share)
        squares.append(square)
        shifts.append(square * weight * ((lo + hi) / 2 - share))
    reach = math.fsum(squares)
    middle, reach = math.fsum(values) + math.fsum(shifts) / reach, math.sqrt(reach)
    return middle - reach, middle + reach


def by_logit(value: float, error: float, level: float, limits: Ends, freedom: float = math.inf) -> Ends | NoInterval:
    """A value and its standard error, on a scale where the limits are infinitely far: the ends stay between them. On
    limits of −1 and 1 the scale is Fisher's z. `freedom` says with how many degrees of freedom the error is known."""
    low, high = limits
    below, above = value - low, high - value
    if not (below > 0 and above > 0):
        return AT_ITS_END
    if is_rounding(error, high - low):
        return NO_SPREAD
    reach = two_sided(level) if math.isinf(freedom) else -student_quantile((1 - level) / 2, freedom)
    factor = math.exp(min(reach * error * (high - low) / (below * above), 700.0))
    # low + (high − low) x / (1 + x), with x the odds times or over the factor.
    ends = [low + (high - low) * below / (below + above * by) for by in (factor, 1 / factor)]
    return ends[0], ends[1]


def mean_ends(found: Moments | None, rows: int, level: float, typical: float = 0.0) -> Ends | NoInterval:
    """A mean of rows, by the moments of its terms. A skewed mean misses to one side more often than to the other; its
    ends are moved until it does not (Hall 1992). Nor is the variance of skewed terms well known: it has 2n / (kurtosis
    − 1) degrees of freedom. Of kurtosis − 1 the square of the skewness is what the mean tells of the variance: nearly
    all where few terms are large, and those alike. Such terms are held to a multiple of the rest, which was fitted by
    simulation. Terms without tails are as Student has them."""
    if found is None or not math.isfinite(found.variance):
        return NoInterval(TOO_LARGE)
    if is_rounding(math.sqrt(found.variance), found.mean, typical):
        return NO_SPREAD
    error = math.sqrt(found.variance / rows)
    unsure = found.kurtosis - 1
    unsure = max(min(unsure, _TAILS * (unsure - found.skewness**2)), 2.0)
    reach = -student_quantile((1 - level) / 2, 2 * (rows - 1) / unsure)
    skew = found.skewness / math.sqrt(rows)
    up, down = (_unskewed(t, skew) for t in (-reach, reach))
    return found.mean - down * error, found.mean - up * error


def _unskewed(t: float, skew: float) -> float:
    """The inverse of Hall's cubic, u + skew/3 u² + skew²/27 u³ + skew/6."""
    if abs(skew) < 1e-8:
        return t
    return 3 * (math.cbrt(1 + skew * (t - skew / 6)) - 1) / skew


def whole_interval(found: Ends | NoInterval, method: str, notes: tuple[str, ...] = ()) -> Interval | NoInterval:
    """The interval of a value that is one number."""
    return found if isinstance(found, NoInterval) else Interval(*found, method, notes)


def outputs_interval(found: Sequence[Ends | NoInterval], method: str, notes: tuple[str, ...]) -> Interval | NoInterval:
    """The interval of a value that is a number per output."""
    by_output = parts_interval({k: (ends, ()) for k, ends in enumerate(found)}, method, "output")
    if isinstance(by_output, NoInterval):
        return by_output
    lo, hi = (list(ends.values()) for ends in (by_output.lo, by_output.hi))
    return Interval(lo, hi, method, (*by_output.notes, *notes))


def parts_interval(
    found: Mapping[Hashable, tuple[Ends | NoInterval, tuple[str, ...]]], method: str, what: str
) -> Interval | NoInterval:
    """The interval of a value that is a number per class: parts without one are None, and a note says why."""
    lo: dict[Any, float | None] = {}
    hi: dict[Any, float | None] = {}
    notes: list[str] = []
    for key, (ends, said) in found.items():
        lo[key], hi[key] = (None, None) if isinstance(ends, NoInterval) else ends
        notes += [f"{what} {key!r}: {note}" for note in ((ends.reason,) if isinstance(ends, NoInterval) else said)]
    if not any(end is not None for end in lo.values()):
        return NoInterval("; ".join(notes))
    return Interval(lo, hi, method, tuple(notes))
