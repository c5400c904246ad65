"""Tests of two models on the same rows: McNemar for proportions of rows, DeLong for areas, a paired bootstrap for the
rest; and single-step max-T for several pairs at once.

Each test comes with the interval that inverts it, so p < 1 − level exactly where the interval excludes 0. Where p is
1 − level, an end of the interval is 0, and the difference is not significant. With the models the other way round,
every test gives the same to the last bit, with the signs reversed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.intervals.analytic import Ends, NoInterval, VarianceEstimate, is_rounding, logit_ends, welch_variance
from tallymark.intervals.bca import LEAST_DEFINED, LEAST_UNITS, few_units_note, too_few_units
from tallymark.intervals.distributions import normal_quantile, normal_tail, student_quantile, student_tail, two_sided
from tallymark.states.resampling.paired_rows import PairedOutcomes, Placements

_FEW_DISCORDANT = 10  # rows, below which the normal distribution is a rough approximation
_FEW_OF_CLASS = 10  # rows
_FAR = 30.0  # standard errors, beyond which tails of the normal distribution are nearly 0
_TINY = 1e-300
_HALVINGS = 60  # of an interval of length 2, down to the digits of a float


class PairedTest(NamedTuple):
    """The result of a test of a difference; what is undefined is NaN, with the reason.

    `error` is the standard error of the difference, `freedom` its degrees of freedom. `critical` is how many standard
    errors a simultaneous interval reaches to either side. `p_at_floor`: more resamples could show a smaller p-value.
    """

    method: str
    p: float = math.nan
    lo: float = math.nan
    hi: float = math.nan
    error: float = math.nan
    reason: str | None = None
    notes: tuple[str, ...] = ()
    freedom: float = math.inf
    critical: float = math.nan
    p_at_floor: bool = False

    def consistent(self, level: float) -> PairedTest:
        """The same with a p-value on the side of 1 − level that the interval implies: without rounding errors the two
        agree, and 1 − 0.95 is not exactly 0.05."""
        below, above = sorted((1 - level, round(1 - level, 15)))
        excludes = self.lo > 0 or self.hi < 0
        return self._replace(p=min(self.p, math.nextafter(below, 0.0)) if excludes else max(self.p, above))


def mcnemar(first: PairedOutcomes, second: PairedOutcomes, level: float) -> PairedTest:
    """McNemar's test of two proportions of the same rows, with Tango's interval of their difference."""
    if len(first.counts) == 0:
        return PairedTest("McNemar", reason="no rows")
    tested = _test_proportions(*_discordant_rows(first, second), len(first.counts), level, first.scale)
    return tested._replace(notes=few_rows_note(first, second))


def _discordant_rows(first: PairedOutcomes, second: PairedOutcomes) -> tuple[int, int]:
    """How many rows count in the second alone, and in the first alone."""
    return int(np.count_nonzero(second.counts & ~first.counts)), int(np.count_nonzero(first.counts & ~second.counts))


def few_rows_note(first: PairedOutcomes | Placements, second: PairedOutcomes | Placements) -> tuple[str, ...]:
    """A note if too few rows differ for the test to be accurate."""
    if isinstance(first, PairedOutcomes) and isinstance(second, PairedOutcomes):
        discordant = sum(_discordant_rows(first, second))
        few = 0 < discordant < _FEW_DISCORDANT
        rows = f"{discordant} discordant row{'s' * (discordant != 1)}"
        return (f"only {rows}: p-value and interval are approximate",) if few else ()
    few = isinstance(first, Placements) and min(len(first.positive), len(first.negative)) < _FEW_OF_CLASS
    return (f"fewer than {_FEW_OF_CLASS} rows of one class: coverage may be below the nominal level",) if few else ()


def mcnemar_p(gains: int, losses: int) -> float:
    """The p-value of the score test of McNemar (1947), without a continuity correction.

    >>> round(mcnemar_p(16, 6), 6)
    0.033006
    """
    return 2 * normal_tail(abs(gains - losses) / math.sqrt(gains + losses)) if gains + losses else 1.0


def _test_proportions(gains: int, losses: int, n: int, level: float, scale: float) -> PairedTest:
    """McNemar's test with the score interval of Tango (1998), which inverts it."""
    p, discordant = mcnemar_p(gains, losses), gains + losses
    significant = p < 1 - level
    lo = -scale * _highest_difference(losses, gains, n, level, significant=significant)
    hi = scale * _highest_difference(gains, losses, n, level, significant=significant)
    spread = discordant * n - (gains - losses) ** 2
    error = scale * math.sqrt(spread / n) / n if spread else math.nan
    return PairedTest("McNemar", p, lo, hi, error).consistent(level)


def _highest_difference(gains: int, losses: int, n: int, level: float, *, significant: bool) -> float:
    """The highest difference of two proportions that Tango's score test does not reject. At a difference of 0 that test
    is McNemar's, whose result is known."""
    z = two_sided(level)
    below, above = (gains - losses) / n, 1.0
    if below < 0:
        below, above = (below, 0.0) if significant else (0.0, 1.0)
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


def delong(first: Placements, second: Placements, level: float) -> PairedTest:
    """DeLong's test of two areas under the ROC curve (1988) and an interval of the same standard error, both by
    Student's t with the degrees of freedom of Brunner and Munzel (2000): by the normal distribution, five rows of a
    class find a difference in about one of ten data sets that have none."""
    positives, negatives = len(first.positive), len(first.negative)
    fewest = min(positives, negatives)
    if fewest < 2:
        return PairedTest("DeLong", reason="the test needs two rows of each class")
    mean, spread = _area(second.positive - first.positive, second.negative - first.negative)
    error = math.sqrt(spread.variance)
    areas = _area(*first[:2]), _area(*second[:2])
    few = few_rows_note(first, second)
    if is_rounding(error, 1.0):
        if is_rounding(abs(mean), 1.0):
            return PairedTest("DeLong", 1.0, reason="both models rank the rows alike")
        if not is_rounding(math.sqrt(max(area.variance for _, area in areas)), 1.0):
            return PairedTest("DeLong", reason="every row changes its rank by the same amount: the variance is 0")
        # Each model ranks all pairs alike: right, wrong or tied. So many pairs have no row in common.
        gains, losses = (fewest, 0) if mean > 0 else (0, fewest)
        note = f"DeLong's variance is 0, so {fewest} pairs of a positive and a negative row are tested instead"
        result = _test_proportions(gains, losses, fewest, level, first.scale * abs(mean))
        return result._replace(notes=(note, *few))
    reach, scale = -student_quantile((1 - level) / 2, spread.freedom) * error, first.scale
    low, high = _skewed_ends(*areas, spread, level)
    # Only the end away from 0 is moved, and outwards: the other one agrees with the p-value.
    lo = max(min(mean - reach, low) if mean <= 0 else mean - reach, -1.0)
    hi = min(max(mean + reach, high) if mean >= 0 else mean + reach, 1.0)
    p = 2 * student_tail(abs(mean) / error, spread.freedom)
    result = PairedTest("DeLong", p, scale * lo, scale * hi, scale * error, notes=few, freedom=spread.freedom)
    return result.consistent(level)


def _area(positive: Array, negative: Array) -> tuple[float, VarianceEstimate]:
    """The area, or difference of areas, of doubled placements, and its variance."""
    sizes = len(positive), len(negative)
    mean, of_positives = _mean_and_variance(positive / (2 * sizes[1]))
    _, of_negatives = _mean_and_variance(negative / (2 * sizes[0]))
    return mean, welch_variance([(of_positives, sizes[0]), (of_negatives, sizes[1])])


def _skewed_ends(
    first: tuple[float, VarianceEstimate],
    second: tuple[float, VarianceEstimate],
    spread: VarianceEstimate,
    level: float,
) -> Ends:
    """The ends of a difference of two areas from the interval of each on the logit scale, which allows for an area near
    1 having more room below than above; `spread` is that of the difference (MOVER: Zou and Donner 2008)."""
    (one, of_one), (other, of_other) = first, second
    errors = math.sqrt(of_one.variance), math.sqrt(of_other.variance)
    ends = logit_ends(one, errors[0], level, (0.0, 1.0), spread.freedom)
    others = logit_ends(other, errors[1], level, (0.0, 1.0), spread.freedom)
    if isinstance(ends, NoInterval) or isinstance(others, NoInterval):
        return math.inf, -math.inf
    shared = (of_one.variance + of_other.variance - spread.variance) / (errors[0] * errors[1])  # twice the correlation
    below, above = ((other - others[0], ends[1] - one), (others[1] - other, one - ends[0]))
    reach = [math.sqrt(max(x * x + y * y - shared * (x * y), 0.0)) for x, y in (below, above)]
    return other - one - reach[0], other - one + reach[1]


def _mean_and_variance(values: Array) -> tuple[float, float]:
    """The mean and the variance of values, the same in any order."""
    mean = math.fsum(values.tolist()) / len(values)
    return mean, math.fsum(((values - mean) ** 2).tolist()) / (len(values) - 1)


def bootstrap(
    differences: Array, level: float, method: str, units: float = math.inf, sizes: Sequence[float] = ()
) -> PairedTest:
    """The paired bootstrap of n units: expanded percentiles of the differences in resamples, as far out as those of
    Student's t with n − 1 degrees of freedom (Hesterberg 2015). The p-value inverts the interval: it is the smallest
    1 − level at which the interval excludes 0, but not below 2 / (resamples + 1).

    Differences that are tiny beside values of such `sizes` are rounding errors.
    """
    found = _standard_error(differences, level, method, units, sizes)
    if found.reason is not None:
        return found
    defined = np.sort(differences[np.isfinite(differences)])
    error, freedom, widening = found.error, found.freedom, _widening(units)
    reach = -student_quantile((1 - level) / 2, freedom) * widening
    lo, hi = _lower_end(defined, reach, error), -_lower_end(-defined[::-1], reach, error)
    away = max(_steps_to_zero(defined, error), _steps_to_zero(-defined[::-1], error)) / widening
    # Just below 2 / (resamples + 1), which is the smallest 1 − level that so many resamples have an interval for.
    p, floor = 2 * student_tail(away, freedom), 2 / (len(defined) + 1) * (1 - 1e-12)
    found = found._replace(p=min(1.0, max(p, floor)), lo=lo, hi=hi, error=error * widening, p_at_floor=p <= floor)
    return found.consistent(level)


class ResampledPair(NamedTuple):
    """The difference of a pair of models, its values in resamples, and the values of the two models."""

    value: float
    differences: Array
    sizes: Sequence[float] = ()


def max_t(pairs: Sequence[ResampledPair], level: float, method: str, units: float = math.inf) -> list[PairedTest]:
    """Single-step max-T of several differences in the same resamples (Westfall and Young 1993).

    In every resample, the deviations of all pairs from their differences are divided by their standard errors, and the
    largest is kept. The quantile of these at the level gives intervals that contain all differences at once; the
    p-value of a pair is (1 + the number of resamples whose largest deviation is at least as large) / (resamples + 1).
    As in `bootstrap`, deviations are as far out as those of Student's t with n − 1 degrees of freedom. Pairs without a
    standard error have no part in it.
    """
    found = [_standard_error(pair.differences, level, method, units, pair.sizes) for pair in pairs]
    tested = [k for k, each in enumerate(found) if each.reason is None]
    if not tested:
        return found
    deviations = np.stack([_deviations(pairs[k], found[k].error) for k in tested])
    largest = np.where(np.isfinite(deviations), deviations, -1.0).max(axis=0)
    largest = np.sort(largest[largest >= 0])
    count = len(largest)
    # The most resamples that may reach as far as a significant difference: (1 + so many) / (count + 1) < 1 − level.
    beyond = math.ceil(round((1 - level) * (count + 1), 9)) - 2
    freedom = units - 1 if largest[-1] < _FAR else math.inf
    critical = _student_steps(float(largest[count - 1 - beyond]), freedom)
    for k in tested:
        value, error = pairs[k].value, found[k].error * _widening(units)
        further = count - int(np.searchsorted(largest, _normal_steps(abs(value) / error, freedom), "left"))
        found[k] = (
            found[k]
            ._replace(p=(1 + further) / (count + 1), lo=value - critical * error, hi=value + critical * error)
            ._replace(error=error, critical=critical, p_at_floor=further == 0)
            .consistent(level)
        )
    return found


def _student_steps(steps: float, freedom: float) -> float:
    """The quantile of Student's t at which the normal distribution is so many standard errors out."""
    return steps if math.isinf(freedom) else -student_quantile(normal_tail(steps), freedom)


def _normal_steps(steps: float, freedom: float) -> float:
    """The inverse of `_student_steps`, up to steps that are beyond all resamples."""
    return steps if math.isinf(freedom) else -normal_quantile(max(student_tail(steps, freedom), _TINY))


def _deviations(pair: ResampledPair, error: float) -> Array:
    """How many standard errors each resample is away from the difference."""
    exponent = -int(np.frexp(error)[1])  # so that no difference overflows
    apart = np.ldexp(pair.differences, exponent) - math.ldexp(pair.value, exponent)
    return np.abs(apart) / math.ldexp(error, exponent)


def _standard_error(differences: Array, level: float, method: str, units: float, sizes: Sequence[float]) -> PairedTest:
    """The standard error of a difference from its values in resamples; or the reason why it has none, with a p-value of
    1 where the models have the same value in all of them."""
    defined = differences[np.isfinite(differences)]
    if units < LEAST_UNITS:
        return PairedTest(method, reason=too_few_units(units))
    notes = few_units_note(units)
    if len(defined) < len(differences):
        left_out = len(differences) - len(defined)
        notes += (f"undefined in {left_out:,} of {len(differences):,} resamples, which are left out",)
    if len(defined) < LEAST_DEFINED * len(differences) or (len(defined) + 1) * (1 - level) / 2 < 1 - 1e-9:
        return PairedTest(method, reason="the difference is undefined in too many resamples", notes=notes)
    if is_rounding(float(defined.max()) - float(defined.min()), *sizes):
        if is_rounding(float(np.abs(defined).max()), *sizes):
            return PairedTest(method, 1.0, reason="both models have the same value in every resample", notes=notes)
        return PairedTest(method, reason="the difference is the same in every resample", notes=notes)
    exponent = int(np.frexp(defined)[1].max())  # squares of numbers near 1 neither overflow nor vanish
    _, variance = _mean_and_variance(np.ldexp(defined, -exponent))
    error = float(np.ldexp(math.sqrt(variance), exponent))
    return PairedTest(method, error=error, notes=notes, freedom=units - 1)


def _widening(units: float) -> float:
    """Resamples of n units spread too little, by √(1 − 1/n)."""
    return 1.0 if math.isinf(units) else math.sqrt(units / (units - 1))


def _lower_end(ordered: Array, reach: float, error: float) -> float:
    """The lower end of an interval that reaches down by so many steps of a normal distribution, interpolated between
    two resamples. Beyond the last resample such a step is one standard error."""
    place = round((len(ordered) + 1) * normal_tail(reach), 9)  # 1 − 0.95 is not exactly 0.05
    if place < 1:
        return float(ordered[0]) - (reach - _outermost(ordered)) * error
    whole = math.floor(place)
    low, high = float(ordered[whole - 1]), float(ordered[min(whole, len(ordered) - 1)])
    return low * (1 - (place - whole)) + high * (place - whole)


def _steps_to_zero(ordered: Array, error: float) -> float:
    """How many such steps down 0 is."""
    whole = int(np.searchsorted(ordered, 0.0, "right"))
    if whole == 0:
        return _outermost(ordered) + float(ordered[0]) / error
    if whole == len(ordered):
        return -math.inf
    low, high = float(ordered[whole - 1]), float(ordered[whole])
    return -normal_quantile((whole + low / (low - high)) / (len(ordered) + 1))


def _outermost(ordered: Array) -> float:
    """How many steps the last resample is away."""
    return -normal_quantile(1 / (len(ordered) + 1))
