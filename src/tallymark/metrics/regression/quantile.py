"""Losses of predicted quantiles."""

from __future__ import annotations

import math
from itertools import pairwise

from tallymark.intervals.analytic import HALL
from tallymark.metrics.parameters import fractions, show
from tallymark.metrics.regression.base import MeanMetric
from tallymark.states.sums import PAIRED, QUANTILES, Output, Term

__all__ = ["CrpsQuantile", "Pinball", "crps_quantile", "pinball"]


class QuantileMetric(MeanMetric, abstract=True):
    """Reads one column of predictions per alpha, against one column of truth."""

    alphas: tuple[float, ...] = fractions((0.5,))
    """The quantiles in the columns of the predictions, increasing."""

    @property
    def layout(self) -> str:
        return QUANTILES if len(self.alphas) > 1 else PAIRED

    @property
    def quantiles(self) -> int:
        return len(self.alphas)

    @property
    def term(self) -> Term:  # type: ignore[override]
        return Term("pinball", self.alphas)

    @property
    def formula_text(self) -> str:
        return f"{self.formula}, alpha = {', '.join(map(show, self.alphas))}"

    @property
    def method(self) -> str:  # type: ignore[override]
        """Several quantiles of a row go together, in a way that the state does not keep."""
        return HALL if len(self.alphas) == 1 else ""


class Pinball(QuantileMetric):
    """The mean loss of predicted quantiles, over rows and quantiles.

    >>> pinball([1, 2, 3], [2, 2, 2], alphas=0.9)
    0.3333333333333333
    """

    display = "pinball loss"
    aliases = {"quantile": {}, "mean_pinball_loss": {}}
    range = (0.0, math.inf)
    at_perfect = 0.0
    formula = "mean of alpha · (y − q) where y ≥ q, else (1 − alpha) · (q − y)"
    baselines = ("quantiles",)
    reading = "At alpha = 0.5 it is half the MAE. Lowest when each column is the true quantile."
    outliers = "low: an error counts by its size, so it takes many rows, or an enormous error, to move the value."
    related = ("d2_pinball", "interval_score", "mae")
    pitfalls = ("The alphas must be those that the model was trained for.",)
    samples = ({}, {"alphas": (0.1, 0.5, 0.95)}, {"alphas": 0.3})


class CrpsQuantile(QuantileMetric):
    """The continuous ranked probability score, from predicted quantiles: how good the whole distribution is.

    >>> crps_quantile([1, 2, 3], [[1, 3], [1, 3], [1, 3]], alphas=(0.25, 0.75))
    0.5
    """

    display = "CRPS of quantiles"
    range = (0.0, math.inf)
    at_perfect = 0.0
    formula = "2 · ∫ pinball(alpha) d alpha from 0 to 1: trapezoids between the alphas, constant beyond the ends"
    baselines = ("quantiles",)
    reading = "In the unit of y; with the single alpha 0.5 it is the MAE."
    outliers = "low: an error counts by its size, so it takes many rows, or an enormous error, to move the value."
    related = ("interval_score",)
    pitfalls = ("Few alphas make a coarse integral: compare only at the same alphas.",)
    samples = ({}, {"alphas": (0.1, 0.5, 0.95)}, {"alphas": 0.5})

    alphas: tuple[float, ...] = fractions((0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9))
    """The quantiles in the columns of the predictions, increasing."""

    def from_mean(self, mean: float) -> float:
        return 2.0 * mean

    def count_outputs(self, prediction_columns: int) -> int:
        return 1 if len(self.alphas) > 1 else prediction_columns

    def output(self, s: Output) -> float:
        if len(self.alphas) == 1:
            return self.from_mean(s.mean(self.term))
        losses = [s.mean(self.term, column=k) for k in range(len(self.alphas))]
        if not all(map(math.isfinite, losses)):
            return sum(losses)
        return 2.0 * math.fsum(w * loss for w, loss in zip(self._widths(), losses, strict=True))

    def _widths(self) -> list[float]:
        """How much of [0, 1] each alpha stands for."""
        inner = [(a + b) / 2 for a, b in pairwise(self.alphas)]
        edges = [0.0, *inner, 1.0]
        return [b - a for a, b in pairwise(edges)]


pinball = Pinball()
crps_quantile = CrpsQuantile()
