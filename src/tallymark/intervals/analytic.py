"""Interval and NoInterval, and the formulas of analytic intervals: from what was counted or averaged to the two ends.

A metric says what it is (a share of rows, a mean of a term, a correlation, an area), and the formula follows. Formulas
ask for no more than exact totals: counts, runs of scores, or a term with its square and cube.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from tallymark.errors import Text
from tallymark.intervals.distributions import student_quantile, two_sided
from tallymark.states.base import divide
from tallymark.states.scores.runs import PlacementSums
from tallymark.states.sums import Moments

Ends = tuple[float, float]

_ROUNDING = 1e-12
TOO_LARGE = "the terms are too large or too small for float64"


class Interval(NamedTuple):
    """A confidence interval of the value in the population.

    Args:
        lo: The lower end, in the shape of the value; None in a part that has no interval.
        hi: The upper end.
        method: The method by which it was made.
        notes: What to know about it.
    """

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
    """Why there is no interval."""

    reason: str | Text


def is_rounding(spread: float, *sizes: float) -> bool:
    """Whether numbers of such sizes lie so far apart by errors of arithmetic alone. An infinite size says nothing.

    >>> is_rounding(2e-16, 0.1), is_rounding(2e-16, 1e-16), is_rounding(0.0)
    (True, False, True)
    """
    return spread <= _ROUNDING * max((abs(size) for size in sizes if math.isfinite(size)), default=0.0)


def numbers_of(value: Any) -> list[float]:
    """A value as numbers: one, or one per class or output; none where it is something else."""
    if isinstance(value, dict):
        value = list(value.values())
    items = value if isinstance(value, list) else [value]
    return [float(item) for item in items] if all(isinstance(item, (int, float)) for item in items) else []


WILSON, DELONG, STUDENT, HALL = "Wilson", "DeLong", "Student t", "Hall"
FISHER, BONETT_WRIGHT, SIGN_TEST = "Fisher z", "Bonett-Wright", "sign test"
NO_SPREAD = NoInterval("the rows do not vary in what the metric reads, so its variance cannot be estimated")
ONE_ROW = NoInterval("the variance cannot be estimated from one row")
AT_ITS_LIMIT = NoInterval("the metric is at its limit, so its variance cannot be estimated")
_FEW = 10


def few_rows_note(rows: float, of: str = "") -> tuple[str, ...]:
    """A note if there are too few rows for the formulas to keep their level; `of` says which rows they are.

    >>> few_rows_note(3, " is truly positive")
    ('only 3 rows are truly positive: coverage may be below the nominal level',)
    """
    if rows >= _FEW:
        return ()
    counted = f" row{of}" if rows == 1 else f" rows{of.replace(' is ', ' are ').replace(' was ', ' were ')}"
    return (f"only {rows:.0f}{counted}: coverage may be below the nominal level",)


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


def distribution_reach(rows: float, level: float) -> float:
    """How far the share of rows below a value may be from the true one, for all values at once (Dvoretzky, Kiefer and
    Wolfowitz 1956, with the constant of Massart 1990).

    >>> round(distribution_reach(100, 0.95), 4)
    0.1358
    """
    return min(math.sqrt(math.log(2.0 / (1.0 - level)) / (2.0 * rows)), 1.0)


def share_interval(hits: float, rows: float, level: float) -> Interval:
    """The interval of a share of rows."""
    return Interval(*wilson(hits, rows, level), WILSON, few_rows_note(rows))


def logit_ends(value: float, error: float, level: float, limits: Ends, freedom: float = math.inf) -> Ends | NoInterval:
    """A value and its standard error, on a scale where the limits are infinitely far: the ends stay between them. On
    limits of −1 and 1 the scale is Fisher's z. `freedom` says with how many degrees of freedom the error is known."""
    low, high = limits
    below, above = value - low, high - value
    if not (below > 0 and above > 0):
        return AT_ITS_LIMIT
    if is_rounding(error, high - low):
        return NO_SPREAD
    reach = two_sided(level) if math.isinf(freedom) else -student_quantile((1 - level) / 2, freedom)
    factor = math.exp(min(reach * error * (high - low) / (below * above), 700.0))
    # low + (high − low) x / (1 + x), with x the odds times or over the factor.
    ends = [low + (high - low) * below / (below + above * by) for by in (factor, 1 / factor)]
    return ends[0], ends[1]


def mean_ends(found: Moments | None, rows: int, level: float, rounding_scale: float = 0.0) -> Ends | NoInterval:
    """A mean of rows, by the moments of its terms: Hall's (1992) transformed t-interval. The cubic of Hall removes the
    skewness of the studentized mean; its inverse is taken at the quantiles of Student's t with n − 1 degrees of
    freedom, so that terms without skewness have Student's interval."""
    if found is None or not math.isfinite(found.variance):
        return NoInterval(TOO_LARGE)
    if is_rounding(math.sqrt(found.variance), found.mean, rounding_scale):
        return NO_SPREAD
    error = math.sqrt(found.variance / rows)
    reach = -student_quantile((1 - level) / 2, rows - 1)
    skew = found.skewness / math.sqrt(rows)
    up, down = (_unskewed(t, skew) for t in (-reach, reach))
    return found.mean - down * error, found.mean - up * error


_DOMINATED = 0.5  # of the skewness of a mean, from which on Hall's cubic is far from the distribution


def dominated_note(found: Moments | None, rows: int) -> tuple[str, ...]:
    """What to say where a few rows make up most of a mean, of which Hall's interval then knows little."""
    if found is None or not abs(found.skewness) > _DOMINATED * math.sqrt(rows):
        return ()
    return ("a few rows dominate the mean: coverage may be below the nominal level",)


def _unskewed(t: float, skew: float) -> float:
    """The inverse of Hall's cubic, u + skew/3 u² + skew²/27 u³ + skew/6."""
    if abs(skew) < 1e-8:
        return t
    return 3 * (math.cbrt(1 + skew * (t - skew / 6)) - 1) / skew


def single_interval(found: Ends | NoInterval, method: str, notes: tuple[str, ...] = ()) -> Interval | NoInterval:
    """The interval of a value that is one number."""
    return found if isinstance(found, NoInterval) else Interval(*found, method, notes)


def interval_by_output(
    found: Sequence[Ends | NoInterval], method: str, notes: tuple[str, ...]
) -> Interval | NoInterval:
    """The interval of a value that is a number per output."""
    by_output = interval_by_part({k: (ends, ()) for k, ends in enumerate(found)}, method, "output")
    if isinstance(by_output, NoInterval):
        return by_output
    lo, hi = (list(ends.values()) for ends in (by_output.lo, by_output.hi))
    return Interval(lo, hi, method, (*by_output.notes, *notes))


def interval_by_part(
    found: Mapping[Hashable, tuple[Ends | NoInterval, tuple[str, ...]]], method: str, what: str
) -> Interval | NoInterval:
    """The interval of a value that is a number per class: parts without one are None, and a note says why."""
    lo: dict[Any, float | None] = {}
    hi: dict[Any, float | None] = {}
    notes: list[str] = []
    for key, (ends, own_notes) in found.items():
        lo[key], hi[key] = (None, None) if isinstance(ends, NoInterval) else ends
        notes += [f"{what} {key!r}: {note}" for note in ((ends.reason,) if isinstance(ends, NoInterval) else own_notes)]
    if not any(end is not None for end in lo.values()):
        return NoInterval("; ".join(notes))
    return Interval(lo, hi, method, tuple(notes))


class VarianceEstimate(NamedTuple):
    """The variance of an area, or of a difference of two, and the degrees of freedom that it is known with."""

    variance: float
    freedom: float


def delong_variance(places: PlacementSums) -> VarianceEstimate:
    """The spread of the area of two classes with two rows or more each."""
    negatives, positives, wins, of_negatives, of_positives = places
    return welch_variance(
        [
            (_variance(positives, negatives, wins, of_positives), positives),
            (_variance(negatives, positives, wins, of_negatives), negatives),
        ]
    )


def _variance(rows: int, others: int, total: int, squares: int) -> float:
    """The variance over the rows of a class of the share of the others on one side of them, from the total of twice
    those rows and their squares: a fraction of whole numbers."""
    return divide(rows * squares - total * total, rows * (rows - 1) * (2 * others) ** 2)


def welch_variance(classes: Sequence[tuple[float, int]]) -> VarianceEstimate:
    """The spread of a sum of means, given by the variance and the number of rows of each. The degrees of freedom are
    those of Welch, as Brunner and Munzel (2000) have them for ranks: few rows of one class do not know their variance
    well."""
    parts = [variance / rows for variance, rows in classes]
    unsure = sum(part * part / (rows - 1) for part, (_, rows) in zip(parts, classes, strict=True))
    return VarianceEstimate(sum(parts), sum(parts) ** 2 / unsure if unsure else 1.0)
