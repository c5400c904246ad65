"""Correlation of predictions and truth, of values and of ranks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tallymark.data.batch import Batch
from tallymark.intervals.analytic import BONETT_WRIGHT, FISHER, Ends, NoInterval, logit_ends
from tallymark.metrics.answer import Undefined
from tallymark.metrics.regression.base import (
    OVERFLOW,
    TRUTH,
    TRUTH_TERMS,
    RowMetric,
    SumMetric,
    truth_variance,
    variance,
)
from tallymark.states.base import divide
from tallymark.states.sums import Output, Term

__all__ = ["Pearson", "Spearman", "pearson", "spearman"]


PREDICTION = Term("exact_prediction")
PREDICTION_SQUARES = Term("exact_prediction_squares")
PRODUCTS = Term("exact_products")


class Pearson(SumMetric):
    """The linear correlation of predictions and truth.

    >>> pearson([1, 2, 3], [2, 4, 7])
    0.9933992677987828
    """

    display = "Pearson correlation"
    aliases = {"pearsonr": {}}
    better = "higher"
    unit = ""
    range = (-1.0, 1.0)
    at_perfect = 1.0
    formula = "Cov(y, ŷ) / √( Var(y) Var(ŷ) )"
    reading = "1: the predictions are a rising straight line of the truth. 0: no linear relation."
    outliers = "high: products of deviations are summed, so a few extreme rows can make or break it."
    landmarks = ((0.0, "no linear relation"), (-1.0, "a falling straight line"))
    related = ("r2",)
    when_undefined = "The truth or the predictions are constant."
    pitfalls = ("It sees neither bias nor scale: predictions of 100 times the truth have correlation 1.",)
    method = FISHER
    terms = (*TRUTH_TERMS, PREDICTION, PREDICTION_SQUARES, PRODUCTS)

    def output(self, s: Output) -> float | Undefined:
        spread = truth_variance(s)
        if isinstance(spread, Undefined):
            return spread
        predicted, total, products = s.exact(PREDICTION), s.exact(TRUTH), s.exact(PRODUCTS)
        other = variance(s.weight, s.exact(PREDICTION_SQUARES), predicted)
        if other is None or predicted is None or total is None or products is None:
            return OVERFLOW
        if other <= 0 or s.lost(PREDICTION_SQUARES):
            return Undefined("the predictions are constant, or vary too little for float64")
        covariance = s.weight * products - total * predicted
        size = min(math.sqrt(divide(covariance * covariance, spread * other)), 1.0)
        return size if covariance >= 0 else -size

    def output_ends(self, s: Output, rows: int, level: float) -> Ends | NoInterval:
        return fisher(self.output(s), 1.0, rows, level)  # type: ignore[arg-type]


class Spearman(RowMetric):
    """The correlation of the ranks of predictions and truth; ties share their mean rank.

    >>> spearman([1, 2, 3, 4], [10, 100, 1000, 900])
    0.8
    """

    display = "Spearman correlation"
    aliases = {"spearmanr": {}}
    better = "higher"
    unit = ""
    range = (-1.0, 1.0)
    at_perfect = 1.0
    formula = "pearson of rank(y) and rank(ŷ)"
    reading = "1: the predictions are in the same order as the truth."
    outliers = "none: only ranks count."
    landmarks = ((0.0, "no rising or falling relation"), (-1.0, "the reversed order"))
    related = ("r2",)
    when_undefined = "The truth or the predictions are constant."
    method = BONETT_WRIGHT
    pitfalls = ("It sees only order.", "It keeps the rows, so its state grows.")

    def column(self, truth: Any, prediction: Any, weights: Any) -> float | Undefined:
        ranks = Batch(_ranks(truth, weights), _ranks(prediction, weights), weights)
        return pearson.output(pearson.reads.fold(ranks).at(0))

    def column_ends(self, truth: Any, prediction: Any, level: float) -> Ends | NoInterval:
        value = self.column(truth, prediction, None)
        if isinstance(value, Undefined):
            return NoInterval(value.reason)
        return fisher(value, 1.0 + value * value / 2.0, len(truth), level)


def fisher(value: float, spread: float, rows: int, level: float) -> Ends | NoInterval:
    """A correlation on the scale of Fisher's z, where its variance is that spread over the rows less 3 (Fisher 1921; of
    ranks, Bonett and Wright 2000)."""
    if rows < 4:
        return NoInterval("the variance of a correlation cannot be estimated from fewer than four rows")
    return logit_ends(value, (1 - value * value) * math.sqrt(spread / (rows - 3)), level, (-1.0, 1.0))


def _ranks(values: Any, weights: Any) -> Any:
    """The weight below each value plus half the weight at it: the mean rank of ties, up to a constant."""
    distinct, place = np.unique(values, return_inverse=True)
    heavy = np.ones(len(values)) if weights is None else weights
    # Ties are summed in the order of their weights, so that the order of the rows cannot show.
    order = np.lexsort((heavy, place))
    at = np.bincount(place[order], weights=heavy[order], minlength=len(distinct))
    return (np.cumsum(at) - at / 2)[place]


pearson = Pearson()
spearman = Spearman()
