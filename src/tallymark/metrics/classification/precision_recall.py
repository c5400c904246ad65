"""Precision, recall and what combines them, of one class against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallymark.metrics.answer import Undefined
from tallymark.metrics.classification.base import AVERAGES, BANDS_OF_SHARES, AveragedMetric, quotients
from tallymark.metrics.parameters import choice, positive_beta
from tallymark.states.labels.counts import Cells, Counts, DrawnCounts

__all__ = [
    "FScore",
    "Jaccard",
    "Precision",
    "Recall",
    "Sensitivity",
    "fscore",
    "jaccard",
    "precision",
    "recall",
    "sensitivity",
]


NOT_PREDICTED = "no row was predicted positive"
NOT_TRUE = "no row is truly positive"
NEITHER = "no row is truly positive or was predicted positive"


class Precision(AveragedMetric):
    """Of the rows called positive, the share that truly are.

    >>> precision(["cat", "dog", "dog"], ["cat", "cat", "dog"], average="macro")
    0.75
    """

    aliases = {"ppv": {}, "positive_predictive_value": {}, "precision_score": {}}
    formula = "TP / (TP + FP)"
    positive_baselines = ("positive",)
    reading = "Share of positive predictions that are correct."
    landmarks = ((0.0, "every positive prediction is wrong"),)
    bands = BANDS_OF_SHARES
    related = ("fdr", "average_precision")
    when_undefined = "No row was predicted positive."
    pitfalls = ("Calling one sure row positive and nothing else scores 1: read it beside recall.",)
    why = NOT_PREDICTED
    is_share = True

    def fraction(self, c: Cells) -> tuple[int, int]:
        return c.tp, c.tp + c.fp


class Recall(AveragedMetric):
    """Of the rows that truly are positive, the share that was called so.

    >>> recall([1, 1, 1, 0], [1, 1, 0, 0])
    0.6666666666666666
    """

    aliases = {"tpr": {}, "true_positive_rate": {}, "recall_score": {}}
    formula = "TP / (TP + FN)"
    reading = "Share of actual positives that were found."
    landmarks = ((0.0, "no positive row was found"),)
    bands = BANDS_OF_SHARES
    related = ("fnr", "specificity")
    when_undefined = "No row is truly positive."
    pitfalls = ("Calling everything positive scores 1: read it beside precision.",)
    share_of = ("positive", "right")
    why = NOT_TRUE
    is_share = True
    of_true_rows = True

    def fraction(self, c: Cells) -> tuple[int, int]:
        return c.tp, c.tp + c.fn


class Sensitivity(Recall):
    """Recall, by the name that medicine has for it: of the sick, the share that the test finds.

    >>> sensitivity([1, 1, 1, 0], [1, 1, 0, 0])
    0.6666666666666666
    """

    aliases = {}


class FScore(AveragedMetric):
    """Precision and recall in one number; recall counts beta times as much.

    >>> fscore([1, 1, 1, 0], [1, 1, 0, 1])
    0.6666666666666666
    >>> fscore([1, 1, 1, 0], [1, 1, 0, 0], beta=2)
    0.7142857142857143
    """

    display = "F1"
    aliases = {"f1": {}, "f2": {"beta": 2.0}, "f1_score": {}, "fbeta": {}, "f_score": {}}
    formula = "(1 + beta²) TP / ((1 + beta²) TP + beta² FN + FP)"
    positive_baselines = ("positive",)
    reading = "Between precision and recall, closer to the lower one."
    landmarks = ((0.0, "no positive row was found"),)
    bands = BANDS_OF_SHARES
    related = ("mcc", "average_precision")
    when_undefined = "No row is truly positive or predicted positive."
    pitfalls = (
        'The mean of the F of the classes ("macro") is not the F of mean precision and mean recall ("macro_pr").',
        "It ignores true negatives.",
    )
    why = NEITHER
    samples = (*AveragedMetric.samples, {"beta": 2.0, "average": "macro"}, {"average": "macro_pr"}, {"beta": 0.5})

    beta: float = positive_beta(1.0)
    """How many times as much as precision recall counts."""
    average: str | None = choice("auto", *AVERAGES, "macro_pr")
    """As for every metric of classes; "macro_pr" is the F of macro precision and macro recall."""

    def _display_parts(self) -> tuple[str, tuple[str, ...]]:
        if self.average == "macro_pr":
            return f"F{self.beta:g} of macro precision and recall", ("beta", "average")
        name, expressed = super()._display_parts()
        return name.replace("F1", f"F{self.beta:g}"), (*expressed, "beta")

    def fraction(self, c: Cells) -> tuple[int, int]:
        above, below = self.beta.as_integer_ratio()
        recall, precision = above * above, below * below
        hits = (recall + precision) * c.tp
        return hits, hits + recall * c.fn + precision * c.fp

    @property
    def description(self) -> str:
        if self.beta == 1:
            return "The harmonic mean of precision and recall."
        return f"Precision and recall in one number; recall counts {self.beta:g} times as much."

    @property
    def class_formula(self) -> str:
        return "2 TP / (2 TP + FN + FP)" if self.beta == 1 else f"{self.formula}, beta = {self.beta:g}"

    @property
    def formula_text(self) -> str:
        if self.average != "macro_pr":
            return super().formula_text
        means = "where P and R are the means of precision and recall over the classes"
        if self.beta == 1:
            return f"2 P R / (P + R), {means}"
        return f"(1 + beta²) P R / (beta² P + R), beta = {self.beta:g}, {means}"

    def _choices(self) -> tuple[str | None, ...]:
        return (*AVERAGES, "macro_pr")

    @property
    def monotone_in(self) -> AveragedMetric | None:
        return jaccard if self.beta == 1 else None

    def from_share(self, share: float) -> float:
        return 2 * share / (1 + share)

    def values_of_draws(self, c: DrawnCounts) -> Any:
        if self.average != "macro_pr":
            return super().values_of_draws(c)
        p, r = (item.replace(absent=self.absent, average="macro").values_of_draws(c) for item in (precision, recall))
        square = self.beta**2
        found = quotients((1 + square) * p * r, square * p + r)
        return np.where((p == 0) & (r == 0), 0.0, found)

    def averaged(self, counts: Counts, average: str) -> float | Undefined:
        if average != "macro_pr":
            return super().averaged(counts, average)
        means = [metric.replace(absent=self.absent).averaged(counts, "macro") for metric in (precision, recall)]
        for mean in means:
            if isinstance(mean, Undefined):
                return mean
        from fractions import Fraction  # slow to load, and few ask

        p, r = (Fraction(mean) for mean in means)  # type: ignore[arg-type]
        square = Fraction(self.beta) ** 2
        below = square * p + r
        return float((1 + square) * p * r / below) if below else 0.0


class Jaccard(AveragedMetric):
    """Of the rows that are positive in truth or prediction, the share that is so in both.

    >>> jaccard([1, 1, 1, 0], [1, 1, 0, 1])
    0.5
    """

    display = "Jaccard index"
    aliases = {"iou": {}, "jaccard_score": {}}
    symmetric = True
    formula = "TP / (TP + FP + FN)"
    positive_baselines = ("positive",)
    reading = "Overlap of two sets: 1 if they are equal, 0 if they are disjoint."
    landmarks = ((0.0, "the two sets are disjoint"),)
    related = ("hamming_loss",)
    when_undefined = "No row is truly positive or predicted positive."
    pitfalls = ("It is always at most F1, to which it is bound: J = F / (2 − F).",)
    why = NEITHER
    is_share = True
    samples = tuple(sample for sample in AveragedMetric.samples if sample.get("average") != "weighted")

    def fraction(self, c: Cells) -> tuple[int, int]:
        return c.tp, c.tp + c.fp + c.fn


precision = Precision()
recall = Recall()
sensitivity = Sensitivity()
fscore = FScore()
jaccard = Jaccard()
