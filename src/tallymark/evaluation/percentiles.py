"""The interval of a value from its values in replicates: bias-corrected and accelerated percentiles.

Efron, "Better bootstrap confidence intervals" (1987), with percentiles that are as far out as those of Student's t, for
few rows (Hesterberg, "What teachers should know about the bootstrap", 2015).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.quantiles import normal_quantile, normal_tail, student_quantile

LEAST_DEFINED = 0.5  # the share of replicates that must have a value
LEAST_UNITS = 5  # rows, clusters or queries, below which resampling says next to nothing
_FEW_UNITS = 10
_MOST_BIAS = 3.0  # in standard errors: where all replicates lie on one side of the value
_BIASED = "nearly all resamples lie on one side of the value, so they do not tell where it may be"


class Ends(NamedTuple):
    """An interval, or None; and what the reader should know."""

    lo: float | None
    hi: float | None
    note: str = ""


def percentile_interval(
    value: float,
    replicates: Array,
    level: float,
    within: tuple[float, float],
    units: float,
    acceleration: float = 0.0,
) -> Ends:
    """The interval of a value of so many independent units, never outside of what the metric can be.

    `acceleration` says how fast the standard error grows with the value; see `acceleration_of`.
    """
    if not math.isfinite(value):
        return Ends(None, None)
    found = np.sort(replicates[~np.isnan(replicates)])
    without = len(replicates) - len(found)
    note = f"undefined in {without:,} of {len(replicates):,} resamples, which are left out" if without else ""
    if len(found) < LEAST_DEFINED * len(replicates):
        return Ends(None, None, f"it is undefined in {without:,} of {len(replicates):,} resamples")
    if units < LEAST_UNITS:
        return Ends(None, None, too_few(units))
    if found[0] == found[-1]:
        return Ends(None, None, "it has the same value in every resample")
    below = (np.searchsorted(found, value, "left") + np.searchsorted(found, value, "right")) / (2 * len(found))
    bias = _MOST_BIAS if below >= 1 else -_MOST_BIAS if below <= 0 else normal_quantile(float(below))
    bias = min(max(bias, -_MOST_BIAS), _MOST_BIAS)
    reach = student_quantile((1 + level) / 2, units - 1) * math.sqrt(units / (units - 1))
    ends = [_order_statistic(found, _corrected(side * reach, bias, acceleration), side) for side in (-1, 1)]
    if not ends[0] <= value <= ends[1] or ends[0] == ends[1]:
        return Ends(None, None, _BIASED)
    lo, hi = (min(max(end, within[0]), within[1]) for end in ends)
    return Ends(lo, hi, "; ".join(filter(None, (note, few_units(units)))))


def too_few(units: float) -> str:
    """Why so few units cannot be resampled."""
    return f"resampling needs at least {LEAST_UNITS} rows, clusters or queries; there were {units:.3g}"


def few_units(units: float) -> str:
    """What to say of units that can be resampled, but are few."""
    return f"with fewer than {_FEW_UNITS} rows, clusters or queries the level may not be kept" * (units < _FEW_UNITS)


def _corrected(reach: float, bias: float, acceleration: float) -> float:
    """The share of replicates below an end that is so many standard errors away."""
    shifted = bias + reach
    room = 1.0 - acceleration * shifted
    z = bias + shifted / room if room > 0 else math.copysign(math.inf, shifted)
    return normal_tail(-z)


def _order_statistic(found: Array, share: float, side: int) -> float:
    """The replicate at a share of them, or the next one outwards."""
    place = round(share * (len(found) + 1), 6) - 1  # a rounding error is not to move it by one
    rank = math.floor(place) if side < 0 else math.ceil(place)
    return float(found[min(max(rank, 0), len(found) - 1)])


def acceleration_of(left_out: Array) -> float:
    """The acceleration, from the values without one group of rows after the other; 0 where they do not tell."""
    if not np.isfinite(left_out).all():
        return 0.0
    deviations = left_out.mean() - left_out
    deviations = deviations / max(float(np.abs(deviations).max()), 5e-324)  # of no unit, so that no power overflows
    spread = float((deviations**2).sum())
    if not math.isfinite(spread) or spread <= 0.0:
        return 0.0
    found = float((deviations**3).sum()) / (6.0 * spread**1.5)
    return found if math.isfinite(found) else 0.0
