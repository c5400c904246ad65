"""Squared errors of logarithms: relative errors for targets that grow by factors."""

from __future__ import annotations

import math

from tallymark.metrics.regression.base import Bound, MeanMetric
from tallymark.states.sums import Term

__all__ = ["Msle", "Rmsle", "msle", "rmsle"]


SQUARED_LOG_ERROR = Term("squared_log_error")
_LARGER_THAN_MINUS_ONE = (Bound("y_true", -1.0, strict=True), Bound("y_pred", -1.0, strict=True))


class Msle(MeanMetric):
    """The mean of squared errors of log(1 + y).

    >>> msle([0, 1], [0, 3])
    0.2402265069591007
    """

    display = "MSLE"
    aliases = {"mean_squared_log_error": {}}
    unit = "log units squared"
    range = (0.0, math.inf)
    at_perfect = 0.0
    formula = "Σ w (ln(1 + ŷ) − ln(1 + y))² / Σ w"
    reading = "Errors count by ratio: 10 for 100 costs about what 100 for 1000 does."
    outliers = "high: a ratio that is far off counts squared; large amounts as such do not matter."
    related = ("mse", "mape")
    pitfalls = ("It punishes predictions that are too low more than those that are too high.",)
    requires = _LARGER_THAN_MINUS_ONE
    term = SQUARED_LOG_ERROR


class Rmsle(MeanMetric):
    """The root of the mean squared error of log(1 + y).

    >>> rmsle([0, 1], [0, 3])
    0.49012907173427356
    """

    display = "RMSLE"
    aliases = {"root_mean_squared_log_error": {}}
    unit = "log units"
    range = (0.0, math.inf)
    at_perfect = 0.0
    formula = "√( Σ w (ln(1 + ŷ) − ln(1 + y))² / Σ w )"
    reading = "A value r means a typical factor of about e^r between prediction and truth."
    outliers = "low: errors count by ratio, and even a wild row is only a few log units off."
    related = ("rmse", "mape")
    pitfalls = ("It punishes predictions that are too low more than those that are too high.",)
    requires = _LARGER_THAN_MINUS_ONE
    term = SQUARED_LOG_ERROR

    def from_mean(self, mean: float) -> float:
        return math.sqrt(mean)


msle = Msle()
rmsle = Rmsle()
