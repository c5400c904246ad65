"""Squared errors of probabilities: the Brier score, and the ranked probability score for classes in order."""

from __future__ import annotations

from typing import Any

from tallymark.metrics.probability.base import CostMetric
from tallymark.states.probabilities.costs import Cost

__all__ = ["Brier", "Rps", "brier", "rps"]


class Brier(CostMetric):
    """The mean squared distance between the probabilities and what happened.

    >>> brier([0, 1, 1], [0.5, 0.5, 1.0])
    0.16666666666666666
    """

    display = "Brier score"
    aliases = {"brier_score": {}, "brier_score_loss": {}, "brier_loss": {}}
    better = "lower"
    range = (0.0, 2.0)
    at_perfect = 0.0
    formula = "mean of (p − y)²; of three classes or more, mean of Σ_k (p_k − [y = k])²"
    baselines = ("shares", "uniform")
    reading = "0 is perfect. Two classes: 0.25 is random guessing and 1 the worst; more classes: 2 is the worst."
    outliers = "low: a row costs at most 1; of three classes or more, 2."
    landmarks = ((0.25, "random guessing, two classes"),)
    related = ("d2_brier", "logloss", "ece")
    pitfalls = (
        "With more than two classes it sums over all of them: two columns as if they were many would give twice the "
        "binary value.",
        "Rare classes make it small: d2_brier compares it with that of always predicting the class shares.",
    )

    @property
    def cost(self) -> Cost:
        return Cost("brier")

    def range_of(self, state: Any) -> tuple[float, float]:
        return self.range if state.columns is None or state.columns[1] > 2 else (0.0, 1.0)


class Rps(CostMetric):
    """The ranked probability score: squared distances of cumulated probabilities, so that near misses cost less.

    >>> rps([0, 1, 2], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]])
    0.041666666666666664
    """

    display = "ranked probability score"
    aliases = {"ranked_probability_score": {}}
    better = "lower"
    range = (0.0, 1.0)
    at_perfect = 0.0
    formula = "mean of Σ_{k<K} (P(class ≤ k) − [y ≤ k])² / (K − 1)"
    baselines = ("shares",)
    reading = "0 is perfect, 1 the worst; of two classes it is the Brier score."
    outliers = "low: a row costs at most 1."
    landmarks = ((1.0, "the worst: certain of the wrong end"),)
    related = ("cohen_kappa", "crps_quantile")
    pitfalls = ("The order of the classes is that of `classes`, or of the sorted labels: strings sort as texts.",)

    @property
    def cost(self) -> Cost:
        return Cost("rps")


brier = Brier()
rps = Rps()
