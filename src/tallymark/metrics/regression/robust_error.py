"""Losses that are quadratic for small errors and linear for large ones."""

from __future__ import annotations

import math

from tallymark.metrics.parameters import number
from tallymark.metrics.regression.base import MeanMetric
from tallymark.states.sums import Term

__all__ = ["Huber", "LogCosh", "huber", "log_cosh"]


LOG_COSH = Term("log_cosh")


class Huber(MeanMetric):
    """The mean of a loss that is quadratic for errors up to `delta` and linear beyond.

    >>> huber([0, 0], [0.5, 3], delta=1)
    1.3125
    """

    display = "Huber loss"
    unit = "loss"
    range = (0.0, math.inf)
    at_perfect = 0.0
    formula = "mean of ½ e² where |e| ≤ delta, else delta (|e| − ½ delta)"
    baselines = ("median",)
    reading = "Half the MSE while all errors are within delta; grows like the MAE beyond."
    outliers = "low: beyond delta an error counts by its size, not its square."
    related = ("mae", "mse")
    pitfalls = ("Its value depends on delta: compare only at the same delta.",)
    samples = ({}, {"delta": 0.25}, {"delta": 30.0})

    delta: float = number(1.0, above=0)
    """Where the loss turns from quadratic to linear."""

    @property
    def term(self) -> Term:  # type: ignore[override]
        return Term("huber", (self.delta,))


class LogCosh(MeanMetric):
    """The mean of log cosh of the error: smooth, quadratic for small errors and linear for large ones.

    >>> log_cosh([0.0], [1.0])
    0.4337808304830272
    """

    display = "log-cosh loss"
    unit = "loss"
    range = (0.0, math.inf)
    at_perfect = 0.0
    formula = "Σ w ln cosh(ŷ − y) / Σ w"
    baselines = ("median",)
    reading = "About ½ e² for errors far below 1 and |e| − 0.69 for errors far above."
    outliers = "low: errors far above 1 count by their size, not their square."
    related = ("mae", "mse")
    pitfalls = ("It has no scale of its own: errors of 1 are the turning point whatever the unit of y.",)
    term = LOG_COSH


huber = Huber()
log_cosh = LogCosh()
