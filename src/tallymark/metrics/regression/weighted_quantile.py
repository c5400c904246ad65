"""Quantiles of weighted values, where a weight of 2 is the value written twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tallymark.states.sums import exact_sum


def weighted_median(values: Any, weights: Any) -> float:
    """The middle value; the mean of the two middle ones where the weight splits evenly between them."""
    low, high = _around(values, weights, 0.5)
    return low if low == high else low + (high - low) / 2


def weighted_quantile(values: Any, weights: Any, level: float) -> float:
    """The lowest value with at least a share `level` of the weight at or below it."""
    return _around(values, weights, level)[0]


def _around(values: Any, weights: Any, level: float) -> tuple[float, float]:
    """The lowest value that reaches the level, and the lowest that exceeds it. Sums of weights are compared exactly."""
    part, whole = level.as_integer_ratio()  # what is compared stays whole numbers
    if weights is None:
        below, rest = divmod(part * len(values), whole)
        reach, exceed = below + (1 if rest else 0), min(below + 1, len(values))  # positions counted from 1
        ranked = np.partition(values, reach - 1)  # for two places at once, NumPy takes ten times as long
        reached = float(ranked[reach - 1])
        return reached, reached if exceed == reach else float(ranked[reach:].min())
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    heavy = weights[order]
    wanted = part * exact_sum(heavy)
    reach_at = _first(heavy, lambda total: total * whole >= wanted)
    exceed_at = _first(heavy, lambda total: total * whole > wanted)
    return float(ranked[reach_at]), float(ranked[exceed_at])


def _first(weights: Any, enough: Callable[[int], bool]) -> int:
    """The first position whose exact running total is enough, by bisection over exact sums."""
    low, high, below = 0, len(weights) - 1, 0  # `below` is the exact sum before `low`
    while low < high:
        middle = (low + high) // 2
        part = exact_sum(weights[low : middle + 1])
        if enough(below + part):
            high = middle
        else:
            low, below = middle + 1, below + part
    return low
