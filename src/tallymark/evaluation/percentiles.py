"""The interval of a value from its values in replicates: bias-corrected and accelerated percentiles.

Efron, "Better bootstrap confidence intervals" (1987), with percentiles that are as far out as those of Student's t
(Hesterberg, "What teachers should know about the bootstrap", 2015). Its degrees of freedom are not those of the rows,
but of what the rows do to the value: where a few rows decide it, as those of a rare class or of large errors do, its
standard error is known no better than from so few (Satterthwaite 1946). What is bounded tells more: a share, and any
function of the counts of labels, tells its standard error, however few rows decide it, and the percentiles are as far
in as Wilson's ends are; so does a share of pairs of rows, which the area under the ROC curve is, unless very few rows
decide it. Rows with weights are not counts, nor are their pairs.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.metrics.answer import is_rounding
from tallymark.quantiles import normal_quantile, normal_tail, student_quantile, two_sided

LEAST_DEFINED = 0.5  # the share of replicates that must have a value
LEAST_UNITS = 5  # rows, clusters or queries, below which resampling says next to nothing
_FEW_UNITS = 10
_ROUNDING = 1e-9  # so small a part of the largest influence is one of arithmetic
_MUCH_BIAS, _TOO_MUCH_BIAS = 0.3, 0.5  # in standard errors
_MOST_BIAS = 3.0  # in standard errors: where all replicates lie on one side of the value
# Fitted by simulation to functions of counts, whose doubt is −1.25 / n, and to means of terms with tails of many kinds.
_TAILS, _COUNTS = 12.0, 2.5
# Fitted to areas of two and three classes, with ties and without, with 14 to 500 rows of the rarer class.
_PAIRS, _FEW_PAIRS = -0.5, 16.0
SAME = "it has the same value in every resample"
_BIASED = "so many resamples lie on one side of the value that they do not tell where it may be"
_DECIDED = "so few rows, clusters or queries decide the value that the level may not be kept"
_LEANING = "resamples lie more to one side of the value than to the other, so the level may not be kept"


class Ends(NamedTuple):
    """An interval, or None; and what the reader should know."""

    lo: float | None
    hi: float | None
    notes: tuple[str, ...] = ()


class Influence(NamedTuple):
    """What single units do to a value: how fast its standard error grows with it, how many equal units would tell that
    error as well, and how little of it is known beside what the value tells: at most one over the degrees of freedom,
    and below 0 where the error follows from the value."""

    acceleration: float = 0.0
    units: float = math.inf
    doubt: float = math.inf


ALIKE = Influence()


def percentile_interval(
    value: float,
    replicates: Array,
    level: float,
    within: tuple[float, float],
    units: float,
    influence: Influence = ALIKE,
    typical: float = 0.0,
) -> Ends:
    """The interval of a value of so many independent units, never outside of what the metric can be. Beside a `typical`
    value errors of rounding are nothing."""
    if not math.isfinite(value):
        return Ends(None, None)
    found = np.sort(replicates[~np.isnan(replicates)])
    without = len(replicates) - len(found)
    notes: tuple[str, ...] = ()
    if without:
        notes = (f"undefined in {without:,} of {len(replicates):,} resamples, which are left out",)
    if len(found) < LEAST_DEFINED * len(replicates):
        return Ends(None, None, (f"it is undefined in {without:,} of {len(replicates):,} resamples",))
    if units < LEAST_UNITS:
        return Ends(None, None, (too_few(units),))
    if is_rounding(float(found[-1]) - float(found[0]), value, typical):
        return Ends(None, None, (SAME,))
    below = (np.searchsorted(found, value, "left") + np.searchsorted(found, value, "right")) / (2 * len(found))
    bias = _MOST_BIAS if below >= 1 else -_MOST_BIAS if below <= 0 else normal_quantile(float(below))
    bias = min(max(bias, -_MOST_BIAS), _MOST_BIAS)
    equal = min(units, influence.units)
    reach = _reach(level, min(1.0 / (equal - 1), influence.doubt))
    ends = [_quantile(found, _corrected(side * reach, bias, influence.acceleration)) for side in (-1, 1)]
    if not ends[0] <= value <= ends[1] or ends[0] == ends[1] or abs(bias) > _TOO_MUCH_BIAS:
        return Ends(None, None, (_BIASED,))
    lo, hi = (min(max(end, within[0]), within[1]) for end in ends)
    notes += few_units(units) or ((_DECIDED,) if equal < _FEW_UNITS else ())
    return Ends(lo, hi, (*notes, _LEANING) if abs(bias) > _MUCH_BIAS else notes)


def too_few(units: float) -> str:
    """Why so few units cannot be resampled."""
    held = f"there were {units:.0f}" if units == round(units) else f"these weigh no more than {units:.3g} equal ones"
    return f"resampling needs at least {LEAST_UNITS} rows, clusters or queries; {held}"


def few_units(units: float) -> tuple[str, ...]:
    """What to say of units that can be resampled, but are few."""
    if units >= _FEW_UNITS:
        return ()
    return (f"with fewer than {_FEW_UNITS} rows, clusters or queries the level may not be kept",)


def _reach(level: float, doubt: float) -> float:
    """How many standard errors an interval reaches to either side, if so little is known of them."""
    if doubt > 0.0:
        return student_quantile((1 + level) / 2, 1.0 / doubt) * math.sqrt(1.0 + doubt)
    z = two_sided(level)
    return z / math.sqrt(1.0 - (z * z + 1.0) / 2.0 * doubt)  # as student_quantile is near 0, and never 0


def _corrected(reach: float, bias: float, acceleration: float) -> float:
    """The share of replicates below an end that is so many standard errors away."""
    shifted = bias + reach
    room = 1.0 - acceleration * shifted
    z = bias + shifted / room if room > 0 else math.copysign(math.inf, shifted)
    return normal_tail(-z)


def _quantile(found: Array, share: float) -> float:
    """The replicate at a share of them, or between two of them."""
    place = min(max(round(share * (len(found) + 1), 6) - 1, 0.0), len(found) - 1.0)  # rounding is not to move it
    low = math.floor(place)
    near, far, part = float(found[low]), float(found[min(low + 1, len(found) - 1)]), place - low
    return min(near * (1.0 - part) + far * part, far) if part > 0.0 and near < far else near  # far may be infinite


def influence_of(left_out: Array, units: float, value: float = math.nan, rests_on: str = "sizes") -> Influence:
    """The influence of so many units on a value, from the values without one group of them after the other; as if it
    were the same for all where these values do not tell.

    The variance of n terms is known with 2n / (kurtosis − 1) degrees of freedom. Sums over groups of them have an
    excess of kurtosis that is smaller by the size of the groups. Of kurtosis − 1 the square of the skewness is what the
    mean tells of the variance: all of it where terms have two values, as those of a share. What remains is then one
    over the rows that decide the share, and in other functions of counts about as much. Of a share of pairs, what the
    value does not tell goes with the square of that.
    """
    known = left_out[np.isfinite(left_out)]
    if min(len(known), units) < LEAST_UNITS:
        return ALIKE
    exponent = -int(np.frexp(known)[1].max())
    scaled = np.ldexp(known, exponent)  # so that no sum overflows
    if scaled.min() == scaled.max():  # a mean of equal values may be another, by rounding
        return ALIKE
    deviations = math.fsum(scaled.tolist()) / len(scaled) - scaled
    deviations = deviations / max(float(np.abs(deviations).max()), 5e-324)  # of no unit
    squares = deviations * deviations
    # In any order the same, and of the other sign where all values are.
    spread, third, fourth = (math.fsum((squares * by).tolist()) for by in (1.0, deviations, squares))
    if spread <= 0.0:
        return ALIKE
    skewness = third / spread**1.5
    unsure = 2.0 / units + fourth / spread**2 - 3.0 / len(known)
    beside = unsure + 1.0 / units - skewness**2
    if rests_on == "counts":
        doubt = -_COUNTS * max(beside, 1.0 / units) / 2.0
    elif rests_on == "pairs":
        doubt = (_PAIRS + _FEW_PAIRS * unsure / 2.0) * unsure / 2.0
    else:
        away = np.abs(scaled - np.ldexp(value, exponent))
        moving = units * float(np.mean(~(away <= _ROUNDING * away.max())))  # other clusters do nothing to a share
        doubt = (_TAILS * (beside - 1.0 / moving) - _COUNTS / moving) / 2.0
    return Influence(skewness / 6.0, 1.0 + 2.0 / unsure if unsure > 0.0 else math.inf, doubt)
