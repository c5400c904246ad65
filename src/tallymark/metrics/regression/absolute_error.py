"""Absolute errors: mean, scaled, median and largest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tallymark.errors import ParameterError
from tallymark.intervals.analytic import NO_SPREAD, SIGN_TEST, TOO_LARGE, Ends, NoInterval, is_rounding
from tallymark.intervals.distributions import binomial_tail, coin_limit
from tallymark.metrics.parameters import number
from tallymark.metrics.regression.base import MeanMetric, RowMetric, SumMetric
from tallymark.metrics.regression.weighted_quantile import weighted_median
from tallymark.states.sums import Output, Term

__all__ = ["Mae", "Mase", "MaxError", "MedianAbsoluteError", "mae", "mase", "max_error", "median_absolute_error"]


ABSOLUTE_ERROR = Term("absolute_error")
HIGHEST_ABSOLUTE_ERROR = Term("highest_absolute_error")


class Mae(MeanMetric):
    """The mean of absolute errors: a typical error, in the unit of y, where every unit counts the same.

    >>> mae([3, -0.5, 2, 7], [2.5, 0, 2, 8])
    0.5
    """

    display = "MAE"
    aliases = {"mad": {}, "mean_absolute_error": {}}
    range = (0.0, math.inf)
    at_perfect = 0.0
    formula = "Σ w |ŷ − y| / Σ w"
    baselines = ("median",)
    reading = "On average, predictions are off by this much."
    outliers = "low: an error counts by its size, so it takes many rows, or an enormous error, to move the value."
    related = ("rmse", "huber")
    pitfalls = ("It is smallest for the median of y, so on skewed targets it rewards predictions below the mean.",)
    term = ABSOLUTE_ERROR


class Mase(MeanMetric):
    """The mean absolute error in units of a naive forecast's error, which is given as `scale`.

    >>> mase([3, -0.5, 2, 7], [2.5, 0, 2, 8], scale=2)
    0.25
    """

    display = "MASE"
    unit = "naive errors"
    range = (0.0, math.inf)
    at_perfect = 0.0
    formula = "mae / scale"
    reading = "Below 1, the model beats the naive forecast whose mean absolute error is `scale`."
    outliers = "low: an error counts by its size, so it takes many rows, or an enormous error, to move the value."
    landmarks = ((1.0, "as good as the naive forecast"),)
    related = ("wape",)
    pitfalls = ("Take the scale from the training data; from the test data it is a different metric.",)
    samples = ({"scale": 2.0},)
    term = ABSOLUTE_ERROR

    scale: float | None = number(None, above=0)
    """The mean absolute error of the naive forecast."""

    def from_mean(self, mean: float) -> float:
        if self.scale is None:
            raise ParameterError(
                argument="scale", expected="be given for mase: the mean absolute error of the naive forecast"
            )
        return mean / self.scale


class MaxError(SumMetric):
    """The largest absolute error.

    >>> max_error([3, -0.5, 2, 7], [2.5, 0, 2, 8])
    1.0
    """

    range = (0.0, math.inf)
    at_perfect = 0.0
    formula = "max |ŷ − y|"
    reading = "No error is larger than this."
    outliers = "high: the worst row alone is the value."
    related = ("rmse",)
    no_interval = "the largest error of these rows does not bound the errors of other rows"
    pitfalls = ("One row decides it.", "It rises with the number of rows.", "Weights play no part, except zero.")
    terms = (HIGHEST_ABSOLUTE_ERROR,)

    def output(self, s: Output) -> float:
        return s.highest(HIGHEST_ABSOLUTE_ERROR)


class MedianAbsoluteError(RowMetric):
    """The median of absolute errors: half of the predictions are closer than this.

    >>> median_absolute_error([3, -0.5, 2, 7], [2.5, 0, 2, 8])
    0.5
    """

    range = (0.0, math.inf)
    at_perfect = 0.0
    method = SIGN_TEST
    formula = "median |ŷ − y|"
    baselines = ("median",)
    reading = "Half of the errors are smaller than this, half are larger."
    outliers = "none: the worse half of the rows can be as far off as it likes."
    related = ("huber",)
    pitfalls = ("It says nothing about the worse half.", "It keeps the rows, so its state grows.")

    def column(self, truth: Any, prediction: Any, weights: Any) -> float:
        with np.errstate(over="ignore"):
            errors = prediction - truth
        return weighted_median(np.abs(errors, out=errors), weights)

    def column_ends(self, truth: Any, prediction: Any, level: float) -> Ends | NoInterval:
        """As many rows lie beyond either end as a coin could bring to one side (the sign test). Such a number is whole,
        so the ends lie between two errors each, where they meet the level (Hettmansperger and Sheather 1986)."""
        with np.errstate(over="ignore"):
            errors = np.sort(np.abs(prediction - truth))
        rows, share = len(errors), (1 - level) / 2
        place = coin_limit(rows, share)
        if place < 1:
            too_few = "1 row is" if rows == 1 else f"{rows} rows are"
            return NoInterval(f"{too_few} too few for a level of {level:g}")
        beyond = binomial_tail(rows - place + 1, rows)
        spare = (share - beyond) / (binomial_tail(rows - place, rows) - beyond)
        inward = (rows - place) * spare / (place + (rows - 2 * place) * spare)
        low, lower, upper, high = (float(errors[at]) for at in (place - 1, place, rows - place - 1, rows - place))
        if not math.isfinite(high):
            return NoInterval(TOO_LARGE)
        return (
            NO_SPREAD
            if is_rounding(high - low, high)
            else (low + inward * (lower - low), high - inward * (high - upper))
        )


mae = Mae()
mase = Mase()
max_error = MaxError()
median_absolute_error = MedianAbsoluteError()
