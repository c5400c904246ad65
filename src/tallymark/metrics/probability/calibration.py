"""Calibration: whether what is called 70 % likely happens in 70 % of the cases."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from tallymark.data.target import Target
from tallymark.metrics.parameters import choice, number_of_bins
from tallymark.metrics.probability.base import ProbabilityMetric
from tallymark.metrics.scores.curve import Curve
from tallymark.states.base import divide, to_float
from tallymark.states.probabilities.bins import Bin, Bins, BinsOf
from tallymark.states.probabilities.ordered import OrderedProbabilities, OrderedProbabilitiesOf

__all__ = ["CalibrationMetric", "Ece", "Mce", "ReliabilityCurve", "ece", "mce", "reliability_curve"]


_TITLE = "reliability curve"
_FORMULA_NOTE = "bin = min(⌊p · bins⌋, bins − 1); of three classes or more, p is the largest probability of a row"


class CalibrationMetric(ProbabilityMetric, abstract=True):
    """A metric that reads probabilities in bins, with what happened in each."""

    samples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"bins": 1}, {"bins": 4}, {"bins": 4, "strategy": "count"})
    no_bootstrap = "biased upward by noise, and resampling adds to the bias; use the Brier score or log loss"

    bins: int = number_of_bins(15)
    """How many bins."""
    strategy: str = choice("width", "count")
    """Bins of equal width, or of about equal weight, where equal probabilities stay in one bin."""

    def reads_of(self, target: Target) -> BinsOf | OrderedProbabilitiesOf:
        return BinsOf(target, self.bins) if self.strategy == "width" else OrderedProbabilitiesOf(target)


class Ece(CalibrationMetric):
    """The expected calibration error: the gap between predicted and observed shares, averaged over bins.

    >>> ece([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75])
    0.25
    """

    display = "ECE"
    aliases = {"expected_calibration_error": {}}
    better = "lower"
    range = (0.0, 1.0)
    at_perfect = 0.0
    formula = f"Σ_b (w_b / W) |share of positives − mean p|; {_FORMULA_NOTE}"
    reading = "0.05: probabilities are off by 5 points on average."
    outliers = "low: a row moves one bin, by its weight."
    landmarks = ((1.0, "always certain and always wrong"),)
    related = ("brier", "logloss")
    pitfalls = (
        "It depends on the number of bins, and few rows per bin make it large by chance.",
        "A model that always says the share of the class is calibrated and useless.",
    )

    def formula_value(self, state: Bins | OrderedProbabilities) -> float:
        return divide(sum(_gap(span.bin) for span in state.bin_ranges(self.bins)), state.weight)


class Mce(CalibrationMetric):
    """The maximum calibration error: the gap between predicted and observed shares in the worst bin.

    >>> mce([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75])
    0.25
    """

    display = "MCE"
    aliases = {"maximum_calibration_error": {}}
    better = "lower"
    range = (0.0, 1.0)
    at_perfect = 0.0
    formula = f"max_b |share of positives − mean p|; {_FORMULA_NOTE}"
    reading = "The largest difference in any bin."
    outliers = "high: a bin of a single row can be the worst."
    landmarks = ((1.0, "in some bin, always certain and always wrong"),)
    related = ("brier",)
    pitfalls = ("A bin with a single row can decide it: look at reliability_curve and the weights there.",)

    def formula_value(self, state: Bins | OrderedProbabilities) -> float:
        return max(divide(_gap(span.bin), span.bin.weight) for span in state.bin_ranges(self.bins))


def _gap(found: Bin) -> int:
    """The weight by which predicted and observed positives differ."""
    return abs(found.happened - found.probability)


class ReliabilityCurve(CalibrationMetric):
    """For every bin that has rows, the mean probability and the share of what happened.

    >>> reliability_curve([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75], bins=2)
    reliability curve · 2 points
    <BLANKLINE>
    low  high  confidence  accuracy  weight
    ───  ────  ──────────  ────────  ──────
    0     0.5        0.25       0.5       2
    0.5   1          0.75       1         2
    """

    aliases = {"calibration_curve": {"bins": 5}}
    better = None
    range = (0.0, math.inf)
    formula = f"mean p and share of positives by bin; {_FORMULA_NOTE}"
    no_interval = "a curve has none"
    reading = "Where accuracy is below confidence, the model is overconfident; above it, underconfident."
    outliers = "low: a row moves one bin, by its weight."
    related = ("brier", "logloss")
    pitfalls = ("A bin of little weight says little: look at the weights.",)

    def formula_value(self, state: Bins | OrderedProbabilities) -> Curve:
        bin_ranges = state.bin_ranges(self.bins)
        columns = {
            "low": [span.low for span in bin_ranges],
            "high": [span.high for span in bin_ranges],
            "confidence": [divide(span.bin.probability, span.bin.weight) for span in bin_ranges],
            "accuracy": [divide(span.bin.happened, span.bin.weight) for span in bin_ranges],
            "weight": [to_float(span.bin.weight) for span in bin_ranges],
        }
        return Curve(_TITLE, columns)

    def restore_value(self, data: Any) -> Any:
        return Curve.from_dict(_TITLE, data)


ece = Ece()
mce = Mce()
reliability_curve = ReliabilityCurve()
