"""How much of the variance of the truth the predictions account for."""

from __future__ import annotations

import math

from tallymark.metrics.answer import Undefined
from tallymark.metrics.regression.base import TOO_SMALL, TRUTH_TERMS, SumMetric, is_tiny, truth_variance, variance
from tallymark.metrics.regression.squared_error import SQUARED_ERROR
from tallymark.states.base import divide
from tallymark.states.sums import Output, Term

__all__ = ["ExplainedVariance", "R2", "explained_variance", "r2"]


ERROR = Term("exact_error")
ERROR_SQUARES = Term("exact_error_squares")


class R2(SumMetric):
    """The share of the squared deviations of the truth from its mean that the predictions remove.

    >>> r2([3, -0.5, 2, 7], [2.5, 0, 2, 8])
    0.9486081370449678
    """

    display = "R²"
    aliases = {"rsquared": {}, "r_squared": {}, "r2_score": {}}
    better = "higher"
    unit = ""
    range = (-math.inf, 1.0)
    at_perfect = 1.0
    formula = "1 − Σ w (ŷ − y)² / Σ w (y − ȳ)²"
    baselines = ("mean",)
    reading = "1 is perfect, 0 is no better than always predicting the mean of y, below 0 is worse than that."
    outliers = "high: errors are squared; a truth that is extreme also enlarges what they are compared with."
    landmarks = ((0.0, "as good as always predicting the mean of y"),)
    related = ("mean_bias", "d2_absolute", "rmse")
    when_undefined = "The truth is constant, or varies too little for its variance to be positive in float64."
    pitfalls = (
        "It depends on how much y varies in these rows: the same errors look better where y varies more.",
        "A constant bias can hide in a high value; look at mean_bias.",
    )
    terms = (SQUARED_ERROR, *TRUTH_TERMS)

    def output(self, s: Output) -> float | Undefined:
        spread = truth_variance(s)
        if isinstance(spread, Undefined):
            return spread
        if s.lost(SQUARED_ERROR) and is_tiny(spread, s.weight):
            return TOO_SMALL
        residual = s.exact(SQUARED_ERROR)
        return -math.inf if residual is None else divide(spread - s.weight * residual, spread)


class ExplainedVariance(SumMetric):
    """The share of the variance of the truth that the predictions account for; a constant bias costs nothing.

    >>> explained_variance([10, 20, 30, 40, 50], [15, 25, 35, 45, 55])
    1.0
    """

    aliases = {"explained_variance_score": {}}
    better = "higher"
    unit = ""
    range = (-math.inf, 1.0)
    at_perfect = 1.0
    formula = "1 − Var(ŷ − y) / Var(y)"
    baselines = ("mean",)
    reading = "1: the errors do not vary. A value above R² means that the predictions are biased."
    outliers = "high: errors are squared; a truth that is extreme also enlarges what they are compared with."
    landmarks = ((0.0, "the errors vary as much as the truth does"),)
    related = ("mean_bias", "pearson")
    when_undefined = "The truth is constant, or varies too little for its variance to be positive in float64."
    pitfalls = ("It does not see a constant bias: use r2 unless that is wanted.",)
    terms = (ERROR, ERROR_SQUARES, *TRUTH_TERMS)

    def output(self, s: Output) -> float | Undefined:
        spread = truth_variance(s)
        if isinstance(spread, Undefined):
            return spread
        if s.lost(ERROR_SQUARES) and is_tiny(spread, s.weight):
            return TOO_SMALL
        errors = variance(s.weight, s.exact(ERROR_SQUARES), s.exact(ERROR))
        return -math.inf if errors is None else divide(spread - max(errors, 0), spread)


r2 = R2()
explained_variance = ExplainedVariance()
