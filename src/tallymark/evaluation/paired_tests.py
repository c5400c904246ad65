"""Tests of two models on the same rows: McNemar for shares of rows, DeLong for areas, a paired bootstrap for the rest.

Each gives the same with the models the other way round, with the signs turned, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.evaluation.percentiles import ALIKE, LEAST_DEFINED, LEAST_UNITS, Influence, few_units, too_few
from tallymark.metrics.answer import NoInterval, is_rounding
from tallymark.metrics.confidence import Ends, by_logit
from tallymark.metrics.delong import Spread, join_spreads
from tallymark.quantiles import binomial_tail, normal_quantile, normal_tail, student_quantile, student_tail, two_sided
from tallymark.states import Outcomes, Placements

_FEW = 25  # rows on which one model alone is right, below which the test is the exact one
_HALVINGS = 60  # of an interval of length 2, down to the digits of a float


class Tested(NamedTuple):
    """What a test says about a difference; NaN is what it cannot say, with the reason.

    `error` is the standard error of the difference, `freedom` with how many degrees of freedom it is known.
    """

    method: str
    p: float = math.nan
    lo: float = math.nan
    hi: float = math.nan
    error: float = math.nan
    reason: str | None = None
    notes: tuple[str, ...] = ()
    freedom: float = math.inf


def mcnemar(first: Outcomes, second: Outcomes, level: float) -> Tested:
    """McNemar's test, with Tango's score interval for the difference of two shares of the same rows."""
    n = len(first.counts)
    gains = int(np.count_nonzero(second.counts & ~first.counts))
    losses = int(np.count_nonzero(first.counts & ~second.counts))
    if n == 0:
        return Tested("McNemar", reason="no rows")
    z = two_sided(level)
    p, which = mcnemar_p(gains, losses)
    spread = (gains + losses) * n - (gains - losses) ** 2
    error = math.sqrt(spread / n) / n
    scale = first.scale
    return Tested(
        f"McNemar, {which}",
        p,
        -scale * _highest_difference(losses, gains, n, z),
        scale * _highest_difference(gains, losses, n, z),
        scale * error if spread else math.nan,
    )


def mcnemar_p(gains: int, losses: int) -> tuple[float, str]:
    """Whether rows that changed went one way more often than a coin would, and by which form of the test."""
    changed, most = gains + losses, max(gains, losses)
    if changed < _FEW:
        return min(1.0, 2 * binomial_tail(most, changed)), "exact"
    return min(1.0, binomial_tail(most, changed) + binomial_tail(most + 1, changed)), "mid-p"


def _highest_difference(gains: int, losses: int, n: int, z: float) -> float:
    """The highest difference of two shares that a score test does not refuse (Tango 1998)."""
    below, above = (gains - losses) / n, 1.0
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        # The likeliest share of losses if the difference is the one in the middle.
        b = (2 * n - gains + losses) * middle - gains - losses
        share = (math.sqrt(max(b * b + 8 * n * losses * middle * (1 - middle), 0.0)) - b) / (4 * n)
        variance = n * (2 * share + middle * (1 - middle))
        if (gains - losses - n * middle) ** 2 > z * z * variance:
            above = middle
        else:
            below = middle
    return below


def delong(first: Placements, second: Placements, level: float) -> Tested:
    """DeLong's test of two areas under the ROC curve, from how the placement of each row differs, with the degrees of
    freedom of Brunner and Munzel: by the normal distribution, five rows of a class find a difference in about one of
    ten data sets that have none. The interval holds 0 just where the p-value is above 1 − level."""
    positives, negatives = len(first.positive), len(first.negative)
    if min(positives, negatives) < 2:
        return Tested("DeLong", reason="the test needs two rows of each class")
    mean, spread = _area(second.positive - first.positive, second.negative - first.negative)
    error = math.sqrt(spread.variance)
    areas = _area(*first[:2]), _area(*second[:2])
    if is_rounding(error, 1.0):
        if is_rounding(abs(mean), 1.0):
            return Tested("DeLong", 1.0, reason="every row stands at the same place in the order of both models")
        if is_rounding(math.sqrt(max(area.variance for _, area in areas)), 1.0):
            # Of a model that orders all pairs alike, right or wrong or not at all: so many pairs have no row in common.
            p, _ = mcnemar_p(min(positives, negatives), 0)
            return Tested("sign test", p, notes=("all pairs of rows change by the same, so nothing tells an interval",))
        return Tested("DeLong", reason="the order of the rows changes by the same for all, so nothing tells the error")
    few = ("with fewer than ten rows of a class the level may not be kept",) if min(positives, negatives) < 10 else ()
    reach, scale = -student_quantile((1 - level) / 2, spread.freedom) * error, first.scale
    low, high = _skewed_ends(*areas, spread, level)
    # Only the end away from 0 is moved, and outwards: the other one says what the p-value says.
    lo = max(min(mean - reach, low) if mean <= 0 else mean - reach, -1.0)
    hi = min(max(mean + reach, high) if mean >= 0 else mean + reach, 1.0)
    p = 2 * student_tail(abs(mean) / error, spread.freedom)
    return Tested("DeLong", p, scale * lo, scale * hi, scale * error, notes=few, freedom=spread.freedom)


def _area(positive: Array, negative: Array) -> tuple[float, Spread]:
    """The area, or difference of areas, that doubled placements make, and its spread."""
    sizes = len(positive), len(negative)
    mean, of_positives = _mean_and_variance(positive / (2 * sizes[1]))
    _, of_negatives = _mean_and_variance(negative / (2 * sizes[0]))
    return mean, join_spreads([(of_positives, sizes[0]), (of_negatives, sizes[1])])


def _skewed_ends(first: tuple[float, Spread], second: tuple[float, Spread], spread: Spread, level: float) -> Ends:
    """The ends of a difference of two areas from those that each has on the logit scale, which know that an area near 1
    has more room below than above; `spread` is that of the difference (MOVER: Zou and Donner 2008)."""
    (one, of_one), (other, of_other) = first, second
    errors = math.sqrt(of_one.variance), math.sqrt(of_other.variance)
    ends = by_logit(one, errors[0], level, (0.0, 1.0), spread.freedom)
    others = by_logit(other, errors[1], level, (0.0, 1.0), spread.freedom)
    if isinstance(ends, NoInterval) or isinstance(others, NoInterval):
        return math.inf, -math.inf
    shared = (of_one.variance + of_other.variance - spread.variance) / (errors[0] * errors[1])  # twice the correlation
    below, above = ((other - others[0], ends[1] - one), (others[1] - other, one - ends[0]))
    reach = [math.sqrt(max(x * x + y * y - shared * (x * y), 0.0)) for x, y in (below, above)]
    return other - one - reach[0], other - one + reach[1]


def _mean_and_variance(values: Array) -> tuple[float, float]:
    """In any order of the values the same."""
    mean = math.fsum(values.tolist()) / len(values)
    return mean, math.fsum(((values - mean) ** 2).tolist()) / (len(values) - 1)


def bootstrap(
    differences: Array,
    level: float,
    method: str,
    units: float = math.inf,
    influence: Influence = ALIKE,
    sizes: Sequence[float] = (),
) -> Tested:
    """The paired bootstrap of so many units: percentiles of the differences in resamples, and how often these are on
    one side of 0. Both are as far out as those of Student's t with the degrees of freedom of what the units do.

    The interval holds 0 just where the p-value is above 1 − level. Beside values of such `sizes` errors of rounding are
    nothing.
    """
    defined = np.sort(differences[np.isfinite(differences)])
    count = len(defined)
    if units < LEAST_UNITS:
        return Tested(method, reason=too_few(units))
    notes = few_units(units)
    if count < len(differences):
        notes += (f"undefined in {len(differences) - count:,} of {len(differences):,} resamples, which are left out",)
    if count < LEAST_DEFINED * len(differences) or (count + 1) * (1 - level) / 2 < 1 - 1e-9:
        return Tested(method, reason="it is undefined in too many resamples", notes=notes)
    if is_rounding(float(defined[-1]) - float(defined[0]), *sizes):
        if is_rounding(float(np.abs(defined).max()), *sizes):
            return Tested(method, 1.0, reason="both models have the same value in every resample", notes=notes)
        return Tested(method, reason="the difference is the same in every resample", notes=notes)
    exponent = int(np.frexp(defined)[1].max())  # squares of what is near 1 are neither too large nor too small
    _, variance = _mean_and_variance(np.ldexp(defined, -exponent))
    error = float(np.ldexp(math.sqrt(variance), exponent))
    freedom = min(units, influence.units) - 1
    widening = 1.0 if math.isinf(units) else math.sqrt(units / (units - 1))  # resamples of so many spread too little
    reach = -student_quantile((1 - level) / 2, freedom) * widening
    lo, hi = _lowest(defined, reach, error), -_lowest(-defined[::-1], reach, error)
    away = max(_steps_to_zero(defined, error), _steps_to_zero(-defined[::-1], error)) / widening
    p = min(1.0, max(2 * student_tail(away, freedom), 2 / (count + 1)))
    return Tested(method, p, lo, hi, error * widening, notes=notes, freedom=freedom)


def _lowest(ordered: Array, reach: float, error: float) -> float:
    """The end of an interval that reaches so many steps of a normal distribution down. Beyond the last resample such a
    step is one standard error."""
    place = math.floor((len(ordered) + 1) * normal_tail(reach) + 1e-9)  # of 0.95, say, whose rest is not quite 0.05
    return float(ordered[place - 1]) if place else float(ordered[0]) - (reach - _outermost(ordered)) * error


def _steps_to_zero(ordered: Array, error: float) -> float:
    """How many such steps 0 lies below the middle."""
    below = int(np.searchsorted(ordered, 0.0, "right"))
    if below == 0:
        return _outermost(ordered) + float(ordered[0]) / error
    return -normal_quantile((below + 1) / (len(ordered) + 1)) if below < len(ordered) else -math.inf


def _outermost(ordered: Array) -> float:
    """How many steps the last resample is away."""
    return -normal_quantile(1 / (len(ordered) + 1))
