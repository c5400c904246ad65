"""Calibration: whether what is called 70 % likely happens in 70 % of the cases."""

from __future__ import annotations

from typing import ClassVar

from tallymark.metrics.parameters import bin_count
from tallymark.metrics.probability import ProbabilityMetric
from tallymark.states import Bins, BinsOf, divide
from tallymark.target import Target

__all__ = ["CalibrationMetric", "Ece", "Mce", "ece", "mce"]

_FORMULA_NOTE = "bin = min(⌊p · bins⌋, bins − 1); of three classes or more, p is the largest probability of a row"


class CalibrationMetric(ProbabilityMetric, abstract=True):
    """A metric that reads probabilities in bins, with what happened in each."""

    samples = ({}, {"bins": 1}, {"bins": 4})
    unit: ClassVar[str] = ""

    bins: int = bin_count(15)
    """How many bins of equal width."""

    def reads_of(self, target: Target) -> BinsOf:
        return BinsOf(target, self.bins)


class Ece(CalibrationMetric):
    """The expected calibration error: how far promised and observed shares lie apart, averaged over bins.

    >>> ece([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75])
    0.25
    """

    aliases = {"expected_calibration_error": {}}
    better = "lower"
    range = (0.0, 1.0)
    at_perfect = 0.0
    formula = f"Σ_b (w_b / W) |share of positives − mean p|; {_FORMULA_NOTE}"
    reading = "0.05: what is said to happen in 70 % of the cases happens in 65 or 75 %, on average."
    pitfalls = (
        "It depends on the number of bins, and few rows per bin make it large by chance.",
        "A model that always says the share of the class is calibrated and useless.",
    )

    def formula_value(self, state: Bins) -> float:
        return divide(sum(abs(b.happened - b.probability) for b in state.bins), state.weight)


class Mce(CalibrationMetric):
    """The maximum calibration error: how far promised and observed shares lie apart in the worst bin.

    >>> mce([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75])
    0.25
    """

    aliases = {"maximum_calibration_error": {}}
    better = "lower"
    range = (0.0, 1.0)
    at_perfect = 0.0
    formula = f"max_b |share of positives − mean p|; {_FORMULA_NOTE}"
    reading = "The worst that can be said about any bin that has rows."
    pitfalls = ("A bin with a single row can decide it: look at reliability_curve and the weights there.",)

    def formula_value(self, state: Bins) -> float:
        return max(divide(abs(b.happened - b.probability), b.weight) for b in state.bins if b.weight)


ece = Ece()
mce = Mce()
