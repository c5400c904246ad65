"""D²: the share of a deviance that the predictions remove, against the best constant prediction.

Like r2 with another loss. The best constant is a quantile or the mean of the truth, which is known only when all rows
are, so these keep the rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tallymark.batch import Batch
from tallymark.metrics.answer import Undefined
from tallymark.metrics.deviance import deviance_term, tweedie_bounds
from tallymark.metrics.parameters import number, tweedie_power
from tallymark.metrics.regression import CONSTANT_TRUTH, TRUTH, Bound, RowMetric
from tallymark.metrics.weighted_quantile import weighted_quantile
from tallymark.states import Output, SumsOf, Term, divide

__all__ = ["D2Absolute", "D2Pinball", "D2Tweedie", "d2_absolute", "d2_pinball", "d2_tweedie"]


def _removed(term: Term, truth: Any, prediction: Any, constant: float, weights: Any) -> float | Undefined:
    """1 - loss of the predictions / loss of the constant."""
    if (truth == truth[0]).all():
        return CONSTANT_TRUTH
    baseline = _sums(term, truth, np.broadcast_to(constant, truth.shape), weights).absolute(term)
    loss = _sums(term, truth, prediction, weights).absolute(term)
    if baseline is None:
        return Undefined("the losses are too large for float64")
    if baseline <= 0:
        return Undefined("the truth varies too little for float64")
    return -math.inf if loss is None else divide(baseline - loss, baseline)


def _sums(term: Term, truth: Any, prediction: Any, weights: Any) -> Output:
    return SumsOf(term).fold(Batch(truth, prediction, weights)).at(0)


class D2Absolute(RowMetric):
    """The share of absolute deviations of the truth from its median that the predictions remove.

    >>> d2_absolute([1, 2, 6], [1, 3, 5])
    0.6
    """

    aliases = {"d2_absolute_error_score": {}}
    better = "higher"
    unit = ""
    range = (-math.inf, 1.0)
    at_perfect = 1.0
    formula = "1 − Σ w |ŷ − y| / Σ w |y − median(y)|"
    reading = "1 is perfect, 0 is no better than always predicting the median of y."
    outliers = "low: errors and deviations count by their size."
    landmarks = ((0.0, "as good as always predicting the median of y"),)
    related = ("r2", "mae")
    when_undefined = "The truth is constant."
    pitfalls = ("It depends on how much y varies in these rows.", "It keeps the rows, so its state grows.")

    def column(self, truth: Any, prediction: Any, weights: Any) -> float | Undefined:
        return _removed(Term("absolute_error"), truth, prediction, weighted_quantile(truth, weights, 0.5), weights)


class D2Pinball(RowMetric):
    """The share of the pinball loss of the best constant quantile that the predictions remove.

    >>> d2_pinball([1, 2, 6], [1, 3, 5], alpha=0.5)
    0.6
    """

    aliases = {"d2_pinball_score": {}}
    better = "higher"
    unit = ""
    range = (-math.inf, 1.0)
    at_perfect = 1.0
    formula = "1 − pinball(y, ŷ) / pinball(y, alpha-quantile of y)"
    reading = "1 is perfect, 0 is no better than always predicting the alpha-quantile of y."
    outliers = "low: errors and deviations count by their size."
    landmarks = ((0.0, "as good as always predicting that quantile of y"),)
    related = ("pinball",)
    when_undefined = "The truth is constant."
    pitfalls = ("It depends on how much y varies in these rows.", "It keeps the rows, so its state grows.")
    samples = ({}, {"alpha": 0.1})

    alpha: float = number(0.5, above=0, below=1)
    """The quantile that is predicted."""

    def column(self, truth: Any, prediction: Any, weights: Any) -> float | Undefined:
        constant = weighted_quantile(truth, weights, self.alpha)
        return _removed(Term("pinball", (self.alpha,)), truth, prediction, constant, weights)


class D2Tweedie(RowMetric):
    """The share of the Tweedie deviance of the mean that the predictions remove.

    >>> d2_tweedie([3, -0.5, 2, 7], [2.5, 0, 2, 8], power=0)
    0.9486081370449678
    """

    aliases = {"d2_tweedie_score": {}}
    better = "higher"
    unit = ""
    range = (-math.inf, 1.0)
    at_perfect = 1.0
    formula = "1 − tweedie_deviance(y, ŷ) / tweedie_deviance(y, ȳ)"
    reading = "1 is perfect, 0 is no better than always predicting the mean of y."
    outliers = "high: as in the deviance that it compares."
    landmarks = ((0.0, "as good as always predicting the mean of y"),)
    related = ("tweedie_deviance", "r2")
    when_undefined = "The truth is constant."
    pitfalls = ("It depends on how much y varies in these rows.", "It keeps the rows, so its state grows.")
    samples = ({}, {"power": 0}, {"power": 1}, {"power": 2})

    power: float = tweedie_power(1.5)
    """How the variance grows with the mean; not between 0 and 1."""

    @property
    def requires(self) -> tuple[Bound, ...]:
        return tweedie_bounds(self.power)

    def column(self, truth: Any, prediction: Any, weights: Any) -> float | Undefined:
        constant = _sums(TRUTH, truth, truth, weights).mean(TRUTH)
        if self.power < 0 and constant <= 0:
            return Undefined("the mean of the truth is not positive")
        return _removed(deviance_term(self.power), truth, prediction, constant, weights)


d2_absolute = D2Absolute()
d2_pinball = D2Pinball()
d2_tweedie = D2Tweedie()
