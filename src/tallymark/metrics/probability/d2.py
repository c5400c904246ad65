"""D² of probabilities: the share of a loss that they remove, against the class shares as probabilities of all rows."""

from __future__ import annotations

import math
from typing import ClassVar

from tallymark.data.target import Target
from tallymark.metrics.answer import Answer, Undefined
from tallymark.metrics.clustering.base import Information
from tallymark.metrics.parameters import clip_choice
from tallymark.metrics.probability.base import ProbabilityMetric
from tallymark.states.base import divide
from tallymark.states.probabilities.class_shares import CostAndShares, CostAndSharesOf
from tallymark.states.probabilities.costs import Cost

__all__ = ["D2Brier", "D2Logloss", "d2_brier", "d2_logloss"]


class D2Metric(ProbabilityMetric, abstract=True):
    """1 − mean cost / mean cost of the class shares. A subclass has both costs."""

    better = "higher"
    range = (-math.inf, 1.0)
    baselines: ClassVar[tuple[str, ...]] = ("shares",)
    reading = "1 is perfect, 0 is no better than always predicting the class shares."
    landmarks = ((0.0, "as good as always predicting the class shares"),)
    when_undefined = "All rows are truly of one class."

    @property
    def cost(self) -> Cost:
        """What a row costs."""
        raise NotImplementedError

    def cost_of_shares(self, state: CostAndShares) -> float:
        """What a row costs on average if the class shares are its probabilities: the least cost of a constant."""
        raise NotImplementedError

    def reads_of(self, target: Target) -> CostAndSharesOf:
        return CostAndSharesOf(target, self.cost)

    def formula_value(self, state: CostAndShares) -> float | Undefined:
        constant = self.cost_of_shares(state)
        return 1 - state.mean() / constant if constant > 0 else Undefined("the truth has one class only")


class D2Logloss(D2Metric):
    """The share of the log loss of the class shares that the probabilities remove.

    >>> round(d2_logloss([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75]), 6)
    0.584963
    """

    display = "D² of log loss"
    aliases = {"d2_log_loss": {}, "d2_log_loss_score": {}}
    formula = "1 − logloss(y, p) / logloss(y, class shares)"
    outliers = "high: as in the log loss, a row that was sure and wrong costs up to −ln clip."
    related = ("logloss", "r2")
    pitfalls = (
        "It depends on the shares of the classes in these rows: compare on the same rows only.",
        "One probability near 0 for what happened can outweigh all other rows; `clip` bounds what it costs.",
    )
    samples = ({}, {"clip": 0}, {"clip": 0.01})

    clip: float = clip_choice(1e-15)
    """How close to 0 and 1 a probability may come; 0 leaves it as it is, and the value may be infinite."""

    @property
    def at_perfect(self) -> float | None:  # type: ignore[override]
        """1 where nothing is clipped."""
        return None if self.clip else 1.0

    @property
    def cost(self) -> Cost:
        return Cost("log_loss", self.clip)

    def cost_of_shares(self, state: CostAndShares) -> float:
        return Information(state.truth).truth

    def read(self, state: CostAndShares) -> Answer:
        answer = super().read(state)
        infinite = isinstance(answer.value, float) and math.isinf(answer.value)
        return answer._replace(reason="a class that happened had probability 0") if infinite else answer


class D2Brier(D2Metric):
    """The Brier skill score: the share of the Brier score of the class shares that the probabilities remove.

    >>> d2_brier([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75])
    0.75
    """

    display = "Brier skill score"
    aliases = {"brier_skill_score": {}, "d2_brier_score": {}}
    at_perfect = 1.0
    formula = "1 − brier(y, p) / brier(y, class shares)"
    outliers = "low: a row costs at most 1; of three classes or more, 2."
    related = ("brier", "r2")
    pitfalls = (
        "It depends on the shares of the classes in these rows: compare on the same rows only.",
        "Where one class is rare, a few rows decide the value.",
    )

    @property
    def cost(self) -> Cost:
        return Cost("brier")

    def cost_of_shares(self, state: CostAndShares) -> float:
        counts = state.truth.counts()
        both_ways = counts.spread(counts.truth)  # of two classes, the cost is the square of one distance
        return divide(both_ways, (2 if state.width <= 2 else 1) * counts.total**2)


d2_logloss = D2Logloss()
d2_brier = D2Brier()
