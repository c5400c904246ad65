"""Correlation of predictions and truth, of values and of ranks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tallymark.batch import Batch
from tallymark.metrics.answer import Interval, NoInterval, Undefined
from tallymark.metrics.confidence import Ends, by_logit
from tallymark.metrics.regression import OVERFLOW, TRUTH, TRUTH_TERMS, RowMetric, SumMetric, truth_variance, variance
from tallymark.states import Output, Reads, Rows, Sums, SumsOf, Term, divide
from tallymark.target import Target

__all__ = ["Pearson", "Spearman", "pearson", "spearman"]

PREDICTION = Term("exact_prediction")
PREDICTION_SQUARES = Term("exact_prediction_squares")
PRODUCTS = Term("exact_products")
ERROR_SQUARES = Term("squared_error")
_TELLING = 20  # rows, below which tails cannot be told from chance
_TOO_NARROW = 1.25  # a variance so many times that of the formula


class Pearson(SumMetric):
    """The linear correlation of predictions and truth.

    >>> pearson([1, 2, 3], [2, 4, 7])
    0.9933992677987828
    """

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
    method = "Fisher z"
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

    def has_formula(self, _: tuple[int, int]) -> bool:
        return False  # not of all rows

    def interval_reads(self, target: Target) -> Reads | None:
        return self.needs(target).join(SumsOf(ERROR_SQUARES, ERROR_SQUARES.squares))

    def analytic(self, state: Sums, level: float) -> Interval | NoInterval | None:
        """None where errors have tails that Fisher's z, which is for normal values, takes no account of."""
        if state.columns is not None and state.n >= _TELLING:
            for s in map(state.at, range(self.count_outputs(state.columns[1]))):
                if self._variance_of_z(s) > _TOO_NARROW:
                    return None
        return super().analytic(state, level)

    def _variance_of_z(self, s: Output) -> float:
        """Times the rows, which is 1 where values are normal: if errors do not depend on the predictions, it grows with
        their kurtosis (by the delta method)."""
        value, squares, fourths = self.output(s), s.exact(ERROR_SQUARES), s.exact(ERROR_SQUARES.squares)
        if isinstance(value, Undefined) or not squares or fourths is None:
            return 1.0
        return 1.0 + value * value / 4.0 * (divide(s.weight * fourths, squares * squares) - 3.0)

    def output_ends(self, s: Output, rows: int, level: float) -> Ends | NoInterval:
        return fisher(self.output(s), 1.0, rows, level)  # type: ignore[arg-type]


class Spearman(RowMetric):
    """The correlation of the ranks of predictions and truth; ties share their mean rank.

    >>> spearman([1, 2, 3, 4], [10, 100, 1000, 900])
    0.8
    """

    aliases = {"spearmanr": {}}
    better = "higher"
    unit = ""
    range = (-1.0, 1.0)
    at_perfect = 1.0
    formula = "pearson of rank(y) and rank(ŷ)"
    reading = "1: the predictions rise wherever the truth does."
    outliers = "none: only ranks count."
    landmarks = ((0.0, "no rising or falling relation"), (-1.0, "the order turned round"))
    related = ("r2",)
    when_undefined = "The truth or the predictions are constant."
    method = "Bonett-Wright"
    pitfalls = ("It sees only order.", "It keeps the rows, so its state grows.")

    def column(self, truth: Any, prediction: Any, weights: Any) -> float | Undefined:
        ranks = Batch(_ranks(truth, weights), _ranks(prediction, weights), weights)
        return pearson.output(pearson.reads.fold(ranks).at(0))

    def analytic(self, state: Rows, level: float) -> Interval | NoInterval | None:
        """None where rows vary more than those of normal values, for which the formula is."""
        truth, prediction, _ = state.arrays()
        if state.n >= _TELLING and any(map(_varies_more, truth.T, prediction.T)):
            return None
        return super().analytic(state, level)

    def column_ends(self, truth: Any, prediction: Any, level: float) -> Ends | NoInterval:
        value = self.column(truth, prediction, None)
        if isinstance(value, Undefined):
            return NoInterval(value.reason)
        return fisher(value, _bonett_wright(value), len(truth), level)


def fisher(value: float, spread: float, rows: int, level: float) -> Ends | NoInterval:
    """A correlation on the scale of Fisher's z, where its variance is that spread over the rows less 3 (Fisher 1921; of
    ranks, Bonett and Wright 2000)."""
    if rows < 4:
        return NoInterval("fewer than four rows do not show how far a correlation can move")
    return by_logit(value, (1 - value * value) * math.sqrt(spread / (rows - 3)), level, (-1.0, 1.0))


def _bonett_wright(value: float) -> float:
    return 1.0 + value * value / 2.0


def _varies_more(truth: Any, prediction: Any) -> bool:
    """Whether the correlation of ranks varies more than the formula says, by what each row does to it: its own product
    of ranks, and the ranks of the rows that it is below (Hoeffding 1948)."""
    one, other = (ranks - ranks.mean() for ranks in (_ranks(truth, None), _ranks(prediction, None)))
    spread = math.sqrt(float(one @ one) * float(other @ other))
    if not spread > 0.0:
        return False
    value = float(one @ other) / spread
    moved = one * other + _above(truth, other) + _above(prediction, one)
    free = len(truth) * float(np.var(moved)) * len(truth) / spread**2
    return free > _TOO_NARROW * (1.0 - value * value) ** 2 * _bonett_wright(value) > 0.0


def _above(values: Any, ranks: Any) -> Any:
    """The sum of ranks in rows with a larger value, half of those with the same."""
    _, place = np.unique(values, return_inverse=True)
    at = np.bincount(place, weights=ranks)
    return (at.sum() - np.cumsum(at) + at / 2)[place]


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
