"""Ends of intervals that allow for outcomes which no row has.

Resamples know of none: where all rows of a class are right, they are right in every resample, as if no other could be
wrong. Wilson's interval of a share of 0 or 1 knows better, and so do the ends here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tallymark.arrays import Array
from tallymark.evaluation.percentiles import SAME, Ends
from tallymark.quantiles import two_sided

_ALLOWED = "an end allows for outcomes that none of these rows has, as Wilson's interval of a share of 0 or 1 does"
_UNSEEN = "some outcomes that would move the value are in no row, and so in no resample: the level may not be kept"
_FURTHER = 1.05  # than resamples are: less is chance


def allow_for(
    unseen: Sequence[float],
    ends: Ends,
    value: float,
    replicates: Array,
    left_out: Array,
    level: float,
    within: tuple[float, float],
    *,
    counts: bool,
) -> Ends:
    """Ends that are as far out as rows of an outcome that was not seen could move the value; with a note instead where
    rows are no `counts`. `unseen` are the values with z² such rows more.

    Wilson's interval of a share of 0 or 1 has as many. If each moves the value by c, and its variance is V, Wilson's
    end is z² c / 2 + √(z² V + z⁴ c² / 4) away. Where a row that was seen moves it as far, the percentiles are there
    already.
    """
    if not unseen or (ends.lo is None and (ends.note != SAME or not counts)):
        return ends
    lo, hi = (value, value) if ends.lo is None or ends.hi is None else (ends.lo, ends.hi)
    squared, variance = two_sided(level) ** 2, float(np.var(replicates[np.isfinite(replicates)]))
    moved = value - left_out[np.isfinite(left_out)]  # by a row, or a group of them

    def further(end: float, most: float) -> float:
        away = abs(most) / 2.0 + math.sqrt(squared * variance + most * most / 4.0)
        seen = float(np.max(moved * math.copysign(1.0, most), initial=0.0))
        far = abs(most) > squared * seen and away > _FURTHER * abs(end - value)
        return min(max(value + math.copysign(away, most), within[0]), within[1]) if far else end

    low, high = further(lo, min(*unseen, value) - value), further(hi, max(*unseen, value) - value)
    if (low, high) == (lo, hi):
        return ends
    noted = () if ends.lo is None else (ends.note,)
    if not counts:
        return ends._replace(note="; ".join(filter(None, (*noted, _UNSEEN))))
    return Ends(low, high, "; ".join(filter(None, (*noted, _ALLOWED))))
