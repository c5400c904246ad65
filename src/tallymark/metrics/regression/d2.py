"""D²: the share of a deviance that the predictions remove, against the best constant prediction.

Like r2 with another loss. The best constant is a quantile or the mean of the truth, which is known only when all rows
are, so these keep the rows.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.errors import Text
from tallymark.metrics.answer import Undefined
from tallymark.metrics.parameters import number, tweedie_power
from tallymark.metrics.regression.base import CONSTANT_TRUTH, TRUTH, Bound, LogLinked, RowMetric
from tallymark.metrics.regression.deviance import deviance_term, tweedie_bounds
from tallymark.metrics.regression.weighted_quantile import weighted_quantile
from tallymark.states.base import ONE, divide
from tallymark.states.rows import Rows
from tallymark.states.sums import Output, SumsOf, Term, exact_sum

__all__ = ["D2Absolute", "D2Pinball", "D2Tweedie", "d2_absolute", "d2_pinball", "d2_tweedie"]


_LEAST = 2.0**-300
_TOO_LARGE = Undefined("the losses are too large for float64")


def _removed(
    term: Term, truth: Any, prediction: Any, constant: float, weights: Any, excess: Fraction = Fraction(0)
) -> float | Undefined:
    """1 - loss of the predictions / loss of the constant, which is too high by `excess`."""
    if (truth == truth[0]).all():
        return CONSTANT_TRUTH
    baseline = _sums(term, truth, np.broadcast_to(constant, truth.shape), weights).absolute(term)
    loss = _sums(term, truth, prediction, weights).absolute(term)
    if baseline is None:
        return _TOO_LARGE
    baseline -= round(excess * ONE)
    if baseline <= 0:
        return Undefined("the truth varies too little for float64")
    return -math.inf if loss is None else divide(baseline - loss, baseline)


def _scaled(truth: Any, prediction: Any, size: float, least: float = _LEAST) -> tuple[Any, Any]:
    """The rows in a unit in which this size is near 1, where it is below `least` or so large that losses overflow. The
    unit is a power of two, and changes no ratio of losses."""
    if least <= size <= 1 / _LEAST or size == 0:
        return truth, prediction
    exponent = math.frexp(size)[1]
    with np.errstate(over="ignore"):
        moved = np.ldexp(prediction, -exponent)
    return np.ldexp(truth, -exponent), np.nan_to_num(moved)  # an infinite one becomes the largest float


def _sums(term: Term, truth: Any, prediction: Any, weights: Any) -> Output:
    return SumsOf(term).fold(Batch(truth, prediction, weights)).at(0)


class D2Absolute(RowMetric):
    """The share of absolute deviations of the truth from its median that the predictions remove.

    >>> d2_absolute([1, 2, 6], [1, 3, 5])
    0.6
    """

    display = "D² of absolute error"
    aliases = {"d2_absolute_error_score": {}}
    better = "higher"
    unit = ""
    range = (-math.inf, 1.0)
    at_perfect = 1.0
    formula = "1 − Σ w |ŷ − y| / Σ w |y − median(y)|"
    baselines = ("median",)
    reading = "1 is perfect, 0 is no better than always predicting the median of y."
    outliers = "low: errors and deviations count by their size."
    landmarks = ((0.0, "as good as always predicting the median of y"),)
    related = ("r2", "mae")
    when_undefined = "The truth is constant."
    pitfalls = ("It depends on how much y varies in these rows.", "It keeps the rows, so its state grows.")

    def column(self, truth: Any, prediction: Any, weights: Any) -> float | Undefined:
        truth, prediction = _scaled(truth, prediction, float(np.abs(truth).max()))
        return _removed(Term("absolute_error"), truth, prediction, weighted_quantile(truth, weights, 0.5), weights)


class D2Pinball(RowMetric):
    """The share of the pinball loss of the best constant quantile that the predictions remove.

    >>> d2_pinball([1, 2, 6], [1, 3, 5], alpha=0.5)
    0.6
    """

    display = "D² of pinball loss"
    aliases = {"d2_pinball_score": {}}
    better = "higher"
    unit = ""
    range = (-math.inf, 1.0)
    at_perfect = 1.0
    formula = "1 − pinball(y, ŷ) / pinball(y, alpha-quantile of y)"
    baselines = ("quantiles",)
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
        truth, prediction = _scaled(truth, prediction, float(np.abs(truth).max()))
        constant = weighted_quantile(truth, weights, self.alpha)
        return _removed(Term("pinball", (self.alpha,)), truth, prediction, constant, weights)


class D2Tweedie(LogLinked, RowMetric):
    """The share of the Tweedie deviance of the mean that the predictions remove.

    >>> d2_tweedie([3, -0.5, 2, 7], [2.5, 0, 2, 8], power=0)
    0.9486081370449678
    """

    display = "D² of Tweedie deviance"
    aliases = {"d2_tweedie_score": {}}
    better = "higher"
    unit = ""
    range = (-math.inf, 1.0)
    at_perfect = 1.0
    formula = "1 − tweedie_deviance(y, ŷ) / tweedie_deviance(y, ȳ)"
    baselines = ("mean",)
    reading = "1 is perfect, 0 is no better than always predicting the mean of y."
    outliers = "high: as in the deviance that it compares."
    landmarks = ((0.0, "as good as always predicting the mean of y"),)
    related = ("tweedie_deviance", "r2")
    when_undefined = "The truth is constant."
    pitfalls = (
        "It depends on how much y varies in these rows.",
        "It keeps the rows, so its state grows.",
        "At power 1, predictions below about 1e-9, or 1e-9 times a mean of y below 1, are read as that.",
    )
    samples = ({}, {"power": 0}, {"power": 1}, {"power": 2})

    power: float = tweedie_power(1.5)
    """How the variance grows with the mean; not between 0 and 1."""

    @property
    def requires(self) -> tuple[Bound, ...]:
        return tweedie_bounds(self.power)

    def arrays(self, state: Rows) -> tuple[Array, Array, Array | None]:
        truth, prediction, weights = state.arrays()
        if self.link == "log":
            with np.errstate(over="ignore"):
                prediction = np.exp(prediction)
        return truth, prediction, weights

    def kind_hint(self, kind: str) -> Text | None:
        return Text('If the predictions are logs, pass link="log"') if kind == "margin" else None

    def column(self, truth: Any, prediction: Any, weights: Any) -> float | Undefined:
        size, floored = float(np.abs(truth).max()), self.power == 1  # where predictions have a floor, it must not rise
        truth, prediction = _scaled(truth, prediction, min(size, 1.0) if floored else size)
        if floored:  # nor lie above the mean
            mean = _sums(TRUTH, truth, truth, weights).mean(TRUTH)
            truth, prediction = _scaled(truth, prediction, min(mean, 1.0), 1.0)
        sums = _sums(TRUTH, truth, truth, weights)
        constant = sums.mean(TRUTH)
        if self.power < 0 and constant <= 0:
            return Undefined("the mean of the truth is not positive")
        # The deviance of a constant c exceeds that of the mean m by the weight times the deviance of m from c.
        rest = Fraction(sums.exact(TRUTH) or 0, sums.weight) - Fraction(constant)
        excess = Fraction(0)
        if rest:
            rows = Fraction(len(truth)) if weights is None else Fraction(exact_sum(weights), ONE)
            try:
                excess = rows * rest**2 * Fraction(constant**-self.power)
            except OverflowError:
                return _TOO_LARGE
        return _removed(deviance_term(self.power), truth, prediction, constant, weights, excess)


d2_absolute = D2Absolute()
d2_pinball = D2Pinball()
d2_tweedie = D2Tweedie()
