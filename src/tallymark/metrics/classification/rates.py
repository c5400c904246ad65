"""The other rates of a binary table, of one class against the rest."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from tallymark.metrics.classification.base import AveragedMetric, LabelMetric, require_positive
from tallymark.metrics.classification.precision_recall import NOT_PREDICTED, NOT_TRUE
from tallymark.states.labels.counts import Cells, Counts

__all__ = [
    "Fallout",
    "Fdr",
    "Fnr",
    "Informedness",
    "LikelihoodRatioNegative",
    "LikelihoodRatioPositive",
    "Markedness",
    "Npv",
    "SelectionRate",
    "Specificity",
    "fallout",
    "fdr",
    "fnr",
    "informedness",
    "likelihood_ratio_negative",
    "likelihood_ratio_positive",
    "markedness",
    "npv",
    "selection_rate",
    "specificity",
]


ALL_TRUE = "no row is truly negative"
ALL_PREDICTED = "no row was predicted negative"


class Fdr(AveragedMetric):
    """The false discovery rate: of the rows called positive, the share that is not.

    >>> fdr([1, 1, 0, 0], [1, 1, 1, 0])
    0.3333333333333333
    """

    display = "false discovery rate"
    aliases = {"false_discovery_rate": {}}
    better = "lower"
    at_perfect = 0.0
    formula = "FP / (TP + FP) = 1 − precision"
    reading = "Share of positive predictions that are wrong."
    landmarks = ((1.0, "every positive prediction is wrong"),)
    related = ("precision",)
    when_undefined = "No row was predicted positive."
    pitfalls = ("Calling nothing positive leaves it undefined, not 0.",)
    why = NOT_PREDICTED
    is_share = True

    def fraction(self, c: Cells) -> tuple[int, int]:
        return c.fp, c.tp + c.fp


class Fallout(AveragedMetric):
    """Of the rows that truly are negative, the share that was called positive.

    >>> fallout([1, 0, 0, 0], [1, 1, 0, 0])
    0.3333333333333333
    """

    display = "false positive rate"
    aliases = {"fpr": {}, "false_positive_rate": {}}
    better = "lower"
    at_perfect = 0.0
    formula = "FP / (FP + TN) = 1 − specificity"
    reading = "Share of actual negatives predicted positive."
    landmarks = ((1.0, "every negative row is predicted positive"),)
    related = ("recall", "roc_curve")
    when_undefined = "No row is truly negative."
    pitfalls = ("With few positives a small fallout can still mean that most alarms are false: see fdr.",)
    why = ALL_TRUE
    share_of = ("negative", "wrong")
    is_share = True

    def fraction(self, c: Cells) -> tuple[int, int]:
        return c.fp, c.fp + c.tn


class SelectionRate(AveragedMetric):
    """The share of all rows that was called positive.

    >>> selection_rate([1, 0, 0, 0], [1, 1, 0, 0])
    0.5
    """

    aliases = {"positive_rate": {}, "predicted_positive_rate": {}}
    better = None  # type: ignore[assignment]
    at_perfect = None  # type: ignore[assignment]
    formula = "(TP + FP) / Σ w"
    reading = "Share of all rows that are predicted positive, right or wrong."
    pitfalls = ("Neither high nor low is better: compare it with the share of positives, or between groups.",)
    why = "no rows"
    share_of = ("all", "called")
    is_share = True

    def fraction(self, c: Cells) -> tuple[int, int]:
        return c.tp + c.fp, c.tp + c.fp + c.fn + c.tn


class Specificity(AveragedMetric):
    """Of the rows that truly are negative, the share that was called so.

    >>> specificity([1, 0, 0, 0], [1, 1, 0, 0])
    0.6666666666666666
    """

    aliases = {"tnr": {}, "true_negative_rate": {}, "selectivity": {}}
    formula = "TN / (TN + FP)"
    reading = "Share of actual negatives predicted negative."
    landmarks = ((0.0, "every negative row is predicted positive"),)
    related = ("sensitivity",)
    when_undefined = "No row is truly negative."
    pitfalls = ("With few positives it is near 1 for almost any model.",)
    why = ALL_TRUE
    share_of = ("negative", "right")
    is_share = True

    def fraction(self, c: Cells) -> tuple[int, int]:
        return c.tn, c.tn + c.fp


class Npv(AveragedMetric):
    """Of the rows called negative, the share that truly is.

    >>> npv([1, 0, 0], [0, 0, 0])
    0.6666666666666666
    """

    display = "negative predictive value"
    aliases = {"negative_predictive_value": {}}
    formula = "TN / (TN + FN)"
    reading = "Share of negative predictions that are correct."
    related = ("precision",)
    when_undefined = "No row was predicted negative."
    pitfalls = ("With few positives it is near 1 for almost any model.",)
    why = ALL_PREDICTED
    is_share = True

    def fraction(self, c: Cells) -> tuple[int, int]:
        return c.tn, c.tn + c.fn


class Fnr(AveragedMetric):
    """Of the rows that truly are positive, the share that was missed.

    >>> fnr([1, 1, 1, 0], [1, 1, 0, 0])
    0.3333333333333333
    """

    display = "false negative rate"
    aliases = {"false_negative_rate": {}, "miss_rate": {}}
    better = "lower"
    at_perfect = 0.0
    formula = "FN / (TP + FN) = 1 − recall"
    reading = "Share of actual positives that were missed."
    landmarks = ((1.0, "no positive row was found"),)
    related = ("recall",)
    when_undefined = "No row is truly positive."
    pitfalls = ("Calling everything positive scores 0: read it beside fdr.",)
    why = NOT_TRUE
    share_of = ("positive", "wrong")
    is_share = True
    of_true_rows = True

    def fraction(self, c: Cells) -> tuple[int, int]:
        return c.fn, c.tp + c.fn


class Informedness(AveragedMetric):
    """How much better than chance the rows are told apart: recall plus specificity minus one.

    >>> informedness([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """

    aliases = {"youden_j": {}, "youden": {}}
    range = (-1.0, 1.0)
    formula = "TP / (TP + FN) + TN / (TN + FP) − 1"
    reading = "1 is perfect, 0 is random guessing, below 0 is worse than that."
    landmarks = ((0.0, "random guessing"), (-1.0, "every row wrong"))
    related = ("mcc", "balanced_accuracy")
    when_undefined = "All rows are truly of one class."
    pitfalls = ("It weighs both kinds of error alike, whatever they cost.",)
    why = "the truth is constant"

    def fraction(self, c: Cells) -> tuple[int, int]:
        return c.tp * c.tn - c.fp * c.fn, (c.tp + c.fn) * (c.tn + c.fp)


class Markedness(AveragedMetric):
    """How much better than chance the predictions are: precision plus npv minus one.

    >>> markedness([1, 1, 0, 0], [1, 0, 0, 0])
    0.6666666666666666
    """

    range = (-1.0, 1.0)
    formula = "TP / (TP + FP) + TN / (TN + FN) − 1"
    reading = "1 is perfect, 0 is random guessing, below 0 is worse than that."
    landmarks = ((0.0, "random guessing"), (-1.0, "every row wrong"))
    related = ("mcc",)
    when_undefined = "All rows were called one class."
    pitfalls = ("It moves with the share of positives in the data, unlike informedness.",)
    why = "the predictions are constant"

    def fraction(self, c: Cells) -> tuple[int, int]:
        return c.tp * c.tn - c.fp * c.fn, (c.tp + c.fp) * (c.tn + c.fn)


class LikelihoodRatio(LabelMetric, abstract=True):
    """A ratio of two rates of a binary table, whose value is that of the positive class."""

    range = (0.0, math.inf)
    landmarks = ((1.0, "the prediction says nothing about the class"),)
    related = ("recall",)
    samples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"threshold": 0.3})

    @property
    def is_of_positive_class(self) -> bool:
        return True

    def fraction(self, c: Cells) -> tuple[int, int]:
        """Numerator and denominator."""
        raise NotImplementedError

    def ratio(self, c: Counts) -> tuple[Any, Any]:
        require_positive(c, self, self.name)
        return self.fraction(c.cell(c.positive()))


class LikelihoodRatioPositive(LikelihoodRatio):
    """How many times as likely a positive prediction is for a positive row as for a negative one.

    >>> likelihood_ratio_positive([1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0])
    4.0
    """

    display = "positive likelihood ratio"
    aliases = {"positive_likelihood_ratio": {}, "lr_positive": {}}
    better = "higher"
    formula = "(TP / (TP + FN)) / (FP / (FP + TN)) = recall / false positive rate"
    reading = "10: a positive prediction multiplies the odds of being positive by 10; 1 is random guessing."
    when_undefined = "No negative row was predicted positive, or no row is truly positive."
    pitfalls = ("Without false positives it is undefined, however good the model.",)
    why = "no negative row was predicted positive, or no row is truly positive"

    def fraction(self, c: Cells) -> tuple[int, int]:
        return c.tp * (c.fp + c.tn), c.fp * (c.tp + c.fn)


class LikelihoodRatioNegative(LikelihoodRatio):
    """How many times as likely a negative prediction is for a positive row as for a negative one.

    >>> likelihood_ratio_negative([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0])
    0.6666666666666666
    """

    display = "negative likelihood ratio"
    aliases = {"negative_likelihood_ratio": {}, "lr_negative": {}}
    better = "lower"
    at_perfect = 0.0
    formula = "(FN / (TP + FN)) / (TN / (FP + TN)) = false negative rate / specificity"
    reading = "0.1: a negative prediction divides the odds of being positive by 10; 1 is random guessing."
    when_undefined = "No negative row was predicted negative, or no row is truly positive."
    pitfalls = ("It says nothing about positive predictions: read it beside likelihood_ratio_positive.",)
    why = "no negative row was predicted negative, or no row is truly positive"

    def fraction(self, c: Cells) -> tuple[int, int]:
        return c.fn * (c.fp + c.tn), c.tn * (c.tp + c.fn)


fdr = Fdr()
fallout = Fallout()
specificity = Specificity()
npv = Npv()
fnr = Fnr()
informedness = Informedness()
markedness = Markedness()
selection_rate = SelectionRate()
likelihood_ratio_positive = LikelihoodRatioPositive()
likelihood_ratio_negative = LikelihoodRatioNegative()
