"""The spread of a term over unweighted rows, from its exact total and those of its powers."""

from __future__ import annotations

import math
from typing import NamedTuple

from tallymark.states.base import divide

_ROUNDED = 1 << 48  # a variance so many times smaller than the squares is a matter of their rounding
_BLURRED = 1 << 26  # a variance so many times smaller leaves too few digits of the third moment


class Moments(NamedTuple):
    """Mean, variance (that of a sample) and skewness of a term."""

    mean: float
    variance: float
    skewness: float


def moments(rows: int, weight: int, total: int, squares: int, cubes: int | None = None) -> Moments | None:
    """The moments of a term on two rows or more; None where its squares or cubes sank below float64. Totals are in the
    unit of the weight. Where there are no cubes, the squares are taken to be exact and the skewness to be 0."""
    spread = weight * squares - total * total
    mean = divide(total, weight)
    if cubes is None:
        return Moments(mean, divide(spread, weight * weight) * (rows / (rows - 1)), 0.0)
    if _sank(weight, total, squares) or _sank(total, squares, cubes):
        return None
    if spread * _ROUNDED <= weight * squares:
        return Moments(mean, 0.0, 0.0)
    third = weight * (weight * cubes - 3 * total * squares) + 2 * total**3
    if spread * _BLURRED < weight * squares:
        third = 0
    skewness = math.sqrt(divide(third * third, spread**3))
    if skewness > rows:  # that of rows is never above their root
        raise ValueError("the cubes are too large for the squares")
    variance = divide(spread, weight * weight) * (rows / (rows - 1))
    return Moments(mean, variance, skewness if third >= 0 else -skewness)


def _sank(low: int, middle: int, high: int) -> bool:
    """Whether totals of three powers in a row, of terms that are not negative, are not log-convex, as they would be
    beyond their rounding if the highest had not sunk below float64."""
    return low > 0 and (low * high << 20) < middle * middle * ((1 << 20) - 1)
