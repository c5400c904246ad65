"""What the plots of residuals say: their quantiles by group, and how they depart from a normal distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.intervals.distributions import normal_quantile

_LEAST_TESTED = 20  # rows from which on the distribution of the kurtosis is approximated well
_DOTS, _ENDS = 400, 30  # of a QQ plot of many rows: along the whole, and single rows at either end


def quantiles_by_group(values: Array, weights: Array | None, codes: Array, shares: Sequence[float]) -> Array:
    """The quantiles of the values with each code, one line per code; NaN for a code without values.

    >>> quantiles_by_group(np.array([4.0, 1.0, 2.0]), None, np.array([1, 0, 0]), [0.0, 0.5, 1.0]).tolist()
    [[1.0, 1.5, 2.0], [4.0, 4.0, 4.0]]
    """
    order = np.lexsort((values, codes))
    ordered, sizes = values[order], np.bincount(codes)
    stops = np.cumsum(sizes)
    first, last = stops - sizes, np.maximum(stops - 1, 0)
    out = np.full((len(sizes), len(shares)), np.nan)
    known = sizes > 0
    below = None if weights is None else np.cumsum(weights[order])
    for column, share in enumerate(shares):
        if below is None:
            place = first + share * (sizes - 1)
            low = np.clip(np.floor(place).astype(np.int64), 0, len(ordered) - 1)
            high = np.minimum(low + 1, last)
            found = ordered[low] + (place - low) * (ordered[high] - ordered[low])
        else:
            before = np.where(first > 0, below[first - 1], 0.0)
            place = np.searchsorted(below, before + share * (below[last] - before))
            found = ordered[np.clip(place, np.minimum(first, last), last)]
        out[known, column] = found[known]
    return out


def normal_pairs(values: Array, weights: Array | None) -> tuple[Array, Array]:
    """The ordered values and the standard normal quantiles at their places (i − 0.5) / n. Of many rows there are those
    at both ends, and some that are evenly spread along the normal quantiles."""
    order = np.argsort(values)
    mass = np.ones(len(values)) if weights is None else weights[order]
    shares = np.clip((np.cumsum(mass) - mass / 2) / mass.sum(), 1e-16, 1 - 1e-16)
    places = np.arange(len(values))
    if len(values) > _DOTS + 2 * _ENDS:
        low, high = (normal_quantile(float(share)) for share in (shares[0], shares[-1]))
        inside = np.searchsorted(shares, [0.5 * math.erfc(-z / math.sqrt(2)) for z in np.linspace(low, high, _DOTS)])
        inside = np.minimum(inside, len(values) - 1)
        places = np.unique(np.concatenate((places[:_ENDS], inside, places[-_ENDS:])))
    return values[order][places], np.array([normal_quantile(share) for share in shares[places].tolist()])


class Normality(NamedTuple):
    """The test of D'Agostino and Pearson (1973): skewness and excess kurtosis of the rows, a normal score for each
    (D'Agostino 1970; Anscombe and Glynn 1983), and the p-value of both together."""

    skewness: float
    kurtosis: float
    skewness_score: float
    kurtosis_score: float
    p: float

    def sentence(self) -> str:
        """What departs from a normal distribution at a level of 5 %, in words."""
        p = "p < 0.001" if self.p < 0.001 else f"p = {self.p:.3f}"
        if self.p >= 0.05:
            return f"no significant departure from a normal distribution (D'Agostino and Pearson, {p})"
        scores = abs(self.skewness_score), abs(self.kurtosis_score)
        least = min(1.96, max(scores))
        parts = []
        if scores[0] >= least:
            side = "right" if self.skewness > 0 else "left"
            parts.append(f"the residuals are skewed to the {side} (skewness {_signed(self.skewness)})")
        if scores[1] >= least:
            size = "heavier" if self.kurtosis_score > 0 else "lighter"
            parts.append(f"their tails are {size} than normal (excess kurtosis {_signed(self.kurtosis)})")
        return f"{' and '.join(parts)}; D'Agostino and Pearson's test rejects a normal distribution ({p})"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def normality(values: Array) -> Normality | None:
    """The test on independent rows of equal weight that vary; None where there are too few."""
    n = float(len(values))
    if n < _LEAST_TESTED:
        return None
    centred = values - values.mean()
    centred /= np.abs(centred).max()  # so that no power overflows
    second, third, fourth = (float(np.mean(centred**power)) for power in (2, 3, 4))
    skewness, kurtosis = third / second**1.5, fourth / second**2
    scores = _skewness_score(skewness, n), _kurtosis_score(kurtosis, n)
    return Normality(skewness, kurtosis - 3, *scores, math.exp(-(scores[0] ** 2 + scores[1] ** 2) / 2))


def _skewness_score(skewness: float, n: float) -> float:
    """The skewness as a standard normal variable (D'Agostino 1970)."""
    y = skewness * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    beta = 3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    square = math.sqrt(2 * (beta - 1)) - 1
    return math.asinh(y / math.sqrt(2 / (square - 1))) / math.sqrt(0.5 * math.log(square))


def _kurtosis_score(kurtosis: float, n: float) -> float:
    """The kurtosis as a standard normal variable (Anscombe and Glynn 1983)."""
    mean = 3 * (n - 1) / (n + 1)
    variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    x = (kurtosis - mean) / math.sqrt(variance)
    skew = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) * math.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    a = 6 + 8 / skew * (2 / skew + math.sqrt(1 + 4 / skew**2))
    below = 1 + x * math.sqrt(2 / (a - 4))
    root = math.copysign(((1 - 2 / a) / abs(below)) ** (1 / 3), below) if below else math.inf
    return (1 - 2 / (9 * a) - root) / math.sqrt(2 / (9 * a))
