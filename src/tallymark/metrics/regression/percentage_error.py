"""Errors relative to the size of the truth, in percent."""

from __future__ import annotations

import math
from functools import cached_property

from tallymark.metrics.answer import Undefined
from tallymark.metrics.parameters import number
from tallymark.metrics.regression.absolute_error import ABSOLUTE_ERROR
from tallymark.metrics.regression.base import MeanMetric, SumMetric
from tallymark.states.sums import Output, Sums, Term

__all__ = ["Mape", "Smape", "Wape", "mape", "smape", "wape"]


SYMMETRIC_ERROR = Term("symmetric_error")
ABSOLUTE_TRUTH = Term("absolute_truth")


class Mape(MeanMetric):
    """The mean of absolute errors relative to the truth, in percent.

    >>> mape([100, 200], [110, 180])
    10.0
    """

    display = "MAPE"
    unit = "percent"
    range = (0.0, math.inf)
    at_perfect = 0.0
    formula = "100 · Σ w |ŷ − y| / max(|y|, epsilon) / Σ w"
    reading = "Predictions are off by this share of the truth, on average."
    outliers = "high: one row with a truth near 0 can decide the value."
    related = ("mase",)
    pitfalls = (
        "One row with a truth near 0 swamps it; the report counts such rows.",
        "It punishes predictions that are too high more than those that are too low.",
    )
    samples = ({}, {"epsilon": 0.5})

    epsilon: float = number(1e-15, above=0)
    """The smallest size of a truth to divide by."""

    @cached_property
    def term(self) -> Term:  # type: ignore[override]
        return Term("relative_error", (self.epsilon,))

    @cached_property
    def _small(self) -> Term:
        return Term("small_truth", (self.epsilon,))

    def reads_terms(self) -> tuple[Term, ...]:
        return (self.term, self._small)

    def from_mean(self, mean: float) -> float:
        return 100.0 * mean

    def notes(self, state: Sums) -> tuple[str, ...]:
        rows = state.count(self._small)
        if not rows:
            return ()
        return (f"{rows} row{'s have' if rows > 1 else ' has'} a truth closer to 0 than {self.epsilon:g}",)


class Smape(MeanMetric):
    """The mean of absolute errors relative to the mean size of truth and prediction, in percent.

    >>> smape([100], [300])
    100.0
    """

    display = "sMAPE"
    unit = "percent"
    range = (0.0, 200.0)
    at_perfect = 0.0
    formula = "200 · Σ w |ŷ − y| / (|y| + |ŷ|) / Σ w, where 0/0 = 0"
    reading = "0 is perfect; 200 means that signs differ or one side is always 0."
    outliers = "low: a row costs at most 200 %."
    landmarks = ((200.0, "in every row the signs differ, or one side is 0"),)
    related = ("mase",)
    pitfalls = ("Any prediction but 0 for a truth of 0 costs the full 200 %.",)
    term = SYMMETRIC_ERROR

    def from_mean(self, mean: float) -> float:
        return min(200.0 * mean, 200.0)


class Wape(SumMetric):
    """The sum of absolute errors relative to the sum of the truth, in percent.

    >>> wape([100, 300], [110, 270])
    10.0
    """

    display = "WAPE"
    unit = "percent"
    range = (0.0, math.inf)
    at_perfect = 0.0
    formula = "100 · Σ w |ŷ − y| / Σ w |y|"
    baselines = ("median",)
    reading = "The total error as a share of the total volume."
    outliers = "low: errors and truth count by their size; a row of very large truth counts on both sides."
    related = ("mase", "mae")
    when_undefined = "The truth is zero in every row, or too small for its weighted total in float64."
    pitfalls = ("Large rows decide it.",)
    terms = (ABSOLUTE_ERROR, ABSOLUTE_TRUTH)

    def output(self, s: Output) -> float | Undefined:
        if s.lost(ABSOLUTE_TRUTH):
            return Undefined("the truth is too small for float64")
        if s.exact(ABSOLUTE_TRUTH) == 0:
            return Undefined("the truth is zero in every row")
        return 100.0 * s.ratio(ABSOLUTE_ERROR, ABSOLUTE_TRUTH)


mape = Mape()
smape = Smape()
wape = Wape()
