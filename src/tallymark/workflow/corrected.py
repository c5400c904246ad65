"""The corrected interval of a mean over folds, whose training rows overlap (Nadeau and Bengio 2003)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tallymark.quantiles import student_quantile


def mean_and_sd(values: Sequence[float]) -> tuple[float, float]:
    """The mean and the sample standard deviation; NaN where there are too few values."""
    if not values:
        return math.nan, math.nan
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, math.nan
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def corrected_interval(values: Sequence[float], ratio: float, level: float) -> tuple[float, float]:
    """The interval of the mean; `ratio` is the number of test rows to that of training rows.

    The variance of the mean is (1/J + ratio) s² instead of s²/J, since folds that share training rows vary less than
    others would.

    >>> [round(end, 6) for end in corrected_interval([1.0, 2.0, 3.0], 0.5, 0.95)]
    [-1.927767, 5.927767]
    """
    mean, sd = mean_and_sd(values)
    if len(values) < 2:
        return math.nan, math.nan
    reach = -student_quantile((1.0 - level) / 2.0, len(values) - 1) * sd * math.sqrt(1.0 / len(values) + ratio)
    return mean - reach, mean + reach
