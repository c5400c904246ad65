"""Squared errors: their sum, their mean, and the root of the mean."""

from __future__ import annotations

import math

from tallymark.metrics.regression.base import MeanMetric, SumMetric
from tallymark.states.sums import Output, Term

__all__ = ["Mse", "Rmse", "Rss", "mse", "rmse", "rss"]


SQUARED_ERROR = Term("squared_error")


class Rss(SumMetric):
    """The sum of squared errors.

    >>> rss([3, -0.5, 2, 7], [2.5, 0, 2, 8])
    1.5
    """

    display = "RSS"
    unit = "y squared"
    range = (0.0, math.inf)
    at_perfect = 0.0
    no_bootstrap = "resamples differ in their number of rows, and with it in their total; take mse"
    formula = "Σ w (ŷ − y)²"
    baselines = ("mean",)
    reading = "Grows with the number of rows: compare it only on the same rows."
    outliers = "high: errors are squared, so one row that is far off can decide the value."
    related = ("r2",)
    pitfalls = ("One large error can outweigh all the others.", "It cannot be compared between sets of different size.")
    terms = (SQUARED_ERROR,)

    def output(self, s: Output) -> float:
        return s.total(SQUARED_ERROR)


class Mse(MeanMetric):
    """The mean of squared errors.

    >>> mse([3, -0.5, 2, 7], [2.5, 0, 2, 8])
    0.375
    """

    display = "MSE"
    aliases = {"mean_squared_error": {}}
    unit = "y squared"
    range = (0.0, math.inf)
    at_perfect = 0.0
    formula = "Σ w (ŷ − y)² / Σ w"
    baselines = ("mean",)
    reading = "In squared units of y: take the root (RMSE) to read it."
    outliers = "high: errors are squared, so one row that is far off can decide the value."
    related = ("huber", "mae")
    pitfalls = ("One large error can outweigh all the others.",)
    term = SQUARED_ERROR


class Rmse(MeanMetric):
    """The root of the mean squared error: a typical error, in the unit of y, where large errors count more.

    >>> rmse([3, -0.5, 2, 7], [2.5, 0, 2, 8])
    0.6123724356957945
    """

    display = "RMSE"
    aliases = {"root_mean_squared_error": {}}
    range = (0.0, math.inf)
    at_perfect = 0.0
    formula = "√( Σ w (ŷ − y)² / Σ w )"
    baselines = ("mean",)
    reading = "Never below the MAE; far above it, a few large errors dominate."
    outliers = "high: errors are squared, so one row that is far off can decide the value."
    related = ("mae", "r2")
    pitfalls = ("One large error can outweigh all the others.",)
    term = SQUARED_ERROR

    def from_mean(self, mean: float) -> float:
        return math.sqrt(mean)


rss = Rss()
mse = Mse()
rmse = Rmse()
