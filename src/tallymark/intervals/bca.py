"""BCa: bias-corrected and accelerated percentiles of the values in resamples.

Efron, "Better bootstrap confidence intervals", Journal of the American Statistical Association 82 (1987).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.errors import InputError
from tallymark.intervals.analytic import Interval, NoInterval, is_rounding, numbers_of
from tallymark.intervals.distributions import normal_quantile, normal_tail, two_sided
from tallymark.rendering.table import group_by_first

if TYPE_CHECKING:
    from tallymark.metrics.base import Metric

LEAST_DEFINED = 0.5  # the share of resamples that must have a value
LEAST_UNITS = 5  # rows, clusters or queries, below which resampling says next to nothing
FEW_UNITS = 10
_BIASED, _TOO_BIASED = 0.25, 0.5  # in standard errors; less than a quarter does not matter (Efron and Tibshirani 1993)
SAME = "the metric has the same value in every resample"
ONE_SIDED = "nearly all resamples lie on one side of the value: the bootstrap is biased here"
LEANING = "the bootstrap is biased by more than a quarter of a standard error: coverage may be below the nominal level"


class Resamples(NamedTuple):
    """The values of a metric in all resamples; without one group of rows after the other, None where there are too many
    rows for that to matter; and how many independent units there are."""

    values: Array
    left_out: Array | None
    units: float


class PartEnds(NamedTuple):
    """An interval, or None; and what the reader should know."""

    lo: float | None
    hi: float | None
    notes: tuple[str, ...] = ()


def bca_interval(item: Metric, value: Any, resamples: Resamples, level: float, method: str) -> Interval | NoInterval:
    """The interval of a value, part by part."""
    numbers = numbers_of(value)
    left_out = resamples.left_out
    without = np.zeros((len(numbers), 1)) if left_out is None else np.atleast_2d(left_out)
    lines = np.atleast_2d(resamples.values)
    if not len(numbers) == len(lines) == len(without):
        raise InputError("the input changed while it was being read")
    found = [
        bca_ends(number, line, level, item.range, resamples.units, acceleration_of(rest), item.rounding_scale)
        for number, line, rest in zip(numbers, lines, without, strict=True)
    ]
    return join_parts(value, found, method)


def join_parts(value: Any, found: list[PartEnds], method: str) -> Interval | NoInterval:
    """One interval of the ends of all parts, in the shape of the value."""
    notes = _notes_of_parts(value, [each.notes for each in found])
    if all(each.lo is None for each in found):
        return NoInterval("; ".join(notes))
    lo, hi = (_shaped(value, ends) for ends in ([each.lo for each in found], [each.hi for each in found]))
    return Interval(lo, hi, method, notes)


def bca_ends(
    value: float,
    replicates: Array,
    level: float,
    within: tuple[float, float],
    units: float,
    acceleration: float = 0.0,
    rounding_scale: float = 0.0,
) -> PartEnds:
    """The interval of a value of so many independent units, never outside of what the metric can be. Beside
    `rounding_scale`, rounding errors are negligible."""
    if not math.isfinite(value):
        return PartEnds(None, None)
    found = np.sort(replicates[~np.isnan(replicates)])
    without = len(replicates) - len(found)
    undefined = f"undefined in {without:,} of {len(replicates):,} resamples"
    if len(found) < LEAST_DEFINED * len(replicates):
        return PartEnds(None, None, (f"the metric is {undefined}",))
    if units < LEAST_UNITS:
        return PartEnds(None, None, (too_few_units(units),))
    if is_rounding(float(found[-1]) - float(found[0]), value, rounding_scale):
        return PartEnds(None, None, (SAME,))
    below = (np.searchsorted(found, value, "left") + np.searchsorted(found, value, "right")) / (2 * len(found))
    bias = normal_quantile(float(below)) if 0.0 < below < 1.0 else math.inf
    if abs(bias) > _TOO_BIASED:
        return PartEnds(None, None, (ONE_SIDED,))
    z = two_sided(level)
    lo, hi = (quantile(found, _corrected(side * z, bias, acceleration)) for side in (-1, 1))
    if not lo <= value <= hi or lo == hi:
        return PartEnds(None, None, (ONE_SIDED,))
    left_out = (f"{undefined}, which are left out",) if without else ()
    notes = (*left_out, *few_units_note(units), *((LEANING,) if abs(bias) > _BIASED else ()))
    return PartEnds(min(max(lo, within[0]), within[1]), min(max(hi, within[0]), within[1]), notes)


def acceleration_of(left_out: Array) -> float:
    """How fast the standard error grows with the value, from the values without one group of rows after the other (the
    jackknife); 0 where these do not differ."""
    known = left_out[np.isfinite(left_out)]
    if len(known) < LEAST_UNITS:
        return 0.0
    scaled = np.ldexp(known, -int(np.frexp(known)[1].max()))  # so that no sum overflows
    if scaled.min() == scaled.max():  # a mean of equal values may be another, by rounding
        return 0.0
    deviations = math.fsum(scaled.tolist()) / len(scaled) - scaled
    deviations = deviations / float(np.abs(deviations).max())
    # Sums that are the same in any order, and of the other sign where all values are.
    square, cube = (math.fsum((deviations**power).tolist()) for power in (2, 3))
    return cube / (6.0 * math.sqrt(square) ** 3)


def too_few_units(units: float) -> str:
    """Why so few units cannot be resampled."""
    counted = f"there were {units:.0f}" if units == round(units) else f"the weights leave {units:.3g} effective ones"
    return f"resampling needs at least {LEAST_UNITS} rows, clusters or queries; {counted}"


def few_units_note(units: float) -> tuple[str, ...]:
    """What to say of units that can be resampled, but are few."""
    if units >= FEW_UNITS:
        return ()
    return (f"fewer than {FEW_UNITS} rows, clusters or queries: coverage may be below the nominal level",)


def _corrected(z: float, bias: float, acceleration: float) -> float:
    """The share of resamples below an end."""
    shifted = bias + z
    room = 1.0 - acceleration * shifted
    return normal_tail(-(bias + shifted / room) if room > 0 else -math.copysign(math.inf, shifted))


def quantile(ordered: Array, share: float) -> float:
    """The value at a share of ordered ones, or between two of them."""
    place = min(max(round(share * (len(ordered) + 1), 6) - 1, 0.0), len(ordered) - 1.0)  # rounding is not to move it
    low = math.floor(place)
    near, far, part = float(ordered[low]), float(ordered[min(low + 1, len(ordered) - 1)]), place - low
    return min(near * (1.0 - part) + far * part, far) if part > 0.0 and near < far else near  # far may be infinite


def _notes_of_parts(value: Any, notes: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Every note once, with the classes or outputs that it belongs to where it does not belong to all."""
    keys = list(value) if isinstance(value, dict) else range(len(notes))
    what = "class" if isinstance(value, dict) else "output"
    of = group_by_first((note, repr(key)) for key, each in zip(keys, notes, strict=True) for note in each)
    every = len(notes)
    return tuple(text if len(names) == every else f"{what} {', '.join(names)}: {text}" for text, names in of.items())


def _shaped(value: Any, ends: list[float | None]) -> Any:
    if isinstance(value, dict):
        return dict(zip(value, ends, strict=True))
    return ends if isinstance(value, list) else ends[0]
