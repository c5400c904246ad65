"""The mean error."""

from __future__ import annotations

from tallymark.intervals.analytic import STUDENT
from tallymark.metrics.regression.base import MeanMetric
from tallymark.metrics.regression.variance_explained import ERROR, ERROR_SQUARES

__all__ = ["MeanBias", "mean_bias"]


class MeanBias(MeanMetric):
    """The mean of prediction minus truth: positive where the predictions are too high.

    >>> mean_bias([10, 20], [15, 25])
    5.0
    """

    display = "mean bias"
    better = 0.0
    at_perfect = 0.0
    formula = "Σ w (ŷ − y) / Σ w"
    reading = "Positive: too high on average. Negative: too low. Best at 0."
    outliers = "low: an error counts by its size, so it takes many rows, or an enormous error, to move the value."
    landmarks = ((0.0, "over- and under-predictions cancel"),)
    related = ("mae", "r2")
    pitfalls = ("Errors of opposite sign cancel: 0 does not mean that predictions are good.",)
    method = STUDENT
    term = ERROR
    powers = (ERROR_SQUARES,)


mean_bias = MeanBias()
