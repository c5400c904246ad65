"""Log loss: what it costs to have been sure of what did not happen."""

from __future__ import annotations

import math

from tallymark.metrics.answer import Answer
from tallymark.metrics.parameters import clip_choice
from tallymark.metrics.probability.base import CostMetric
from tallymark.states.probabilities.costs import Cost, Probabilities

__all__ = ["LogLoss", "logloss"]


class LogLoss(CostMetric):
    """The mean of −log of the probability that was given to what happened.

    >>> logloss([0, 0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.1])
    0.3989024661789062
    """

    display = "log loss"
    name = "logloss"
    aliases = {
        "log_loss": {},
        "mlogloss": {},
        "cross_entropy": {},
        "binary_cross_entropy": {},
        "binary_crossentropy": {},
        "categorical_crossentropy": {},
        "sparse_categorical_crossentropy": {},
        "multi_logloss": {},
        "binary_logloss": {},
        "neg_log_likelihood": {},
    }
    rounding_scale = 1.0
    unit = "nats"
    better = "lower"
    range = (0.0, math.inf)
    formula = "mean of −ln p where the positive class happened, −ln(1 − p) where not; −ln p_y of several classes"
    baselines = ("shares", "uniform")
    reading = "0 is perfect; random guessing gives ln 2 = 0.693 for two classes, ln K for K classes."
    outliers = "high: a row that was sure and wrong costs up to −ln clip, 34.5 by default."
    landmarks = ((math.log(2), "random guessing, two classes"),)
    related = ("d2_logloss", "brier", "ece", "auc")
    pitfalls = (
        "One probability near 0 for what happened can outweigh all other rows; `clip` bounds what it costs.",
        "Compare only at the same `clip`: peers clip elsewhere.",
    )
    samples = ({}, {"clip": 0}, {"clip": 0.01})
    soft_truth = True

    clip: float = clip_choice(1e-15)
    """How close to 0 and 1 a probability may come; 0 leaves it as it is, and the value may be infinite."""

    @property
    def at_perfect(self) -> float | None:  # type: ignore[override]
        """0 where nothing is clipped."""
        return None if self.clip else 0.0

    @property
    def cost(self) -> Cost:
        return Cost("log_loss", self.clip)

    def read(self, state: Probabilities) -> Answer:
        answer = super().read(state)
        # What is clipped costs a finite amount; there only weights can be too large.
        infinite = self.clip == 0 and isinstance(answer.value, float) and math.isinf(answer.value)
        return answer._replace(reason="a class that happened had probability 0") if infinite else answer


logloss = LogLoss()
