"""How many labels are right, and how many are wrong."""

from __future__ import annotations

import math
from typing import Any

from tallymark.data.batch import Batch
from tallymark.data.target import ANY_TARGET, Target
from tallymark.intervals.analytic import Interval, NoInterval, share_interval
from tallymark.metrics.classification.base import BANDS_OF_SHARES, LabelMetric, require_single
from tallymark.metrics.classification.precision_recall import recall
from tallymark.metrics.parameters import number
from tallymark.states.base import Reads
from tallymark.states.labels.counts import Counts, DrawnCounts
from tallymark.states.labels.pairs import PairsOf
from tallymark.states.resampling.paired_rows import PairedOutcomes

__all__ = [
    "Accuracy",
    "BalancedAccuracy",
    "ErrorCount",
    "ErrorRate",
    "HammingLoss",
    "MarginAccuracy",
    "accuracy",
    "balanced_accuracy",
    "error",
    "error_rate",
    "hamming_loss",
    "margin_accuracy",
]


class Accuracy(LabelMetric):
    """The share of rows with a correct label; of rows with several labels, the share with all of them correct.

    >>> accuracy(["cat", "dog", "dog"], ["cat", "cat", "dog"])
    0.6666666666666666
    """

    aliases = {"multiclass_accuracy": {}, "subset_accuracy": {}, "accuracy_score": {}}
    better = "higher"
    range = (0.0, 1.0)
    at_perfect = 1.0
    symmetric = True
    formula = "Σ w [ŷ = y] / Σ w"
    baselines = ("majority",)
    reading = "1 is perfect; compare it with the share of the most frequent class."
    landmarks = ((0.0, "no row is correct"),)
    bands = BANDS_OF_SHARES
    related = ("mcc", "top_k_accuracy", "confusion_matrix")
    pitfalls = ("With 99 rows of one class in 100, calling every row that class scores 0.99.",)
    samples = ({}, {"threshold": 0.3})
    share_of = ("all", "right")
    is_share = True

    def ratio(self, c: Counts) -> tuple[Any, Any]:
        return c.right, c.total


class MarginAccuracy(Accuracy):
    """The share of rows with a correct label, where predictions are margins: positive from `threshold` on, or the
    largest wins.

    >>> margin_accuracy([1, 0, 1], [2.5, -0.3, -1.0])
    0.6666666666666666
    >>> margin_accuracy([1, 0, 1], [2.5, -0.3, -1.0], threshold=-1.0)
    0.6666666666666666
    """

    aliases = {}
    kind = "margin"
    kinds = ("margin",)
    takes = ""
    symmetric = False
    formula = "Σ w [ŷ = y] / Σ w, where ŷ is positive if margin ≥ threshold"
    samples = ({}, {"threshold": -0.7})

    threshold: float = number(0.0)
    """The margin from which on a row is called positive; of two columns, the margin is their difference."""

    def reads_of(self, target: Target) -> PairsOf:
        return PairsOf(target, self.threshold, by_margin=True)

    def needs(self, target: Target) -> Reads:
        self.check_kind(target.kind)
        return super().needs(_MARGINS if target is ANY_TARGET else target.of_margins())


_MARGINS = Target("margin")


class ErrorRate(LabelMetric):
    """The share of rows whose label is wrong.

    >>> error_rate(["cat", "dog", "dog", "dog"], ["cat", "cat", "dog", "dog"])
    0.25
    """

    aliases = {"zero_one_loss": {}, "misclassification_rate": {}}
    range = (0.0, 1.0)
    at_perfect = 0.0
    symmetric = True
    formula = "Σ w [ŷ ≠ y] / Σ w = 1 − accuracy"
    baselines = ("majority",)
    reading = "0 is perfect."
    landmarks = ((1.0, "every row is wrong"),)
    related = ("mcc", "confusion_matrix")
    pitfalls = ("With 99 rows of one class in 100, calling every row that class errs in only 0.01.",)
    share_of = ("all", "wrong")
    is_share = True

    def ratio(self, c: Counts) -> tuple[Any, Any]:
        return c.wrong, c.total


class ErrorCount(LabelMetric):
    """The number of rows whose label is wrong, by weight if there are weights.

    >>> error([1, 1, 0, 0], [1, 0, 1, 0])
    2.0
    """

    display = "number of errors"
    name = "error"
    unit = "rows"
    range = (0.0, math.inf)
    at_perfect = 0.0
    symmetric = True
    no_bootstrap = "resamples differ in their number of rows, and with it in their total; take error_rate"
    formula = "Σ w [ŷ ≠ y]"
    baselines = ("majority",)
    reading = "A count: it grows with the rows."
    related = ("confusion_matrix",)
    pitfalls = ("Compare it on the same rows only.",)
    share_of = ("all", "wrong")

    def ratio(self, c: Counts) -> tuple[Any, Any]:
        return c.in_units(c.wrong)

    def notes(self, state: Any) -> tuple[str, ...]:
        counts: Counts = state.counts()
        exact = counts.to_number(counts.wrong)
        return (f"rounded to a float; exactly it is {exact}",) if isinstance(exact, int) else ()

    def paired_rows(self, batch: Batch, target: Target) -> PairedOutcomes | None:
        found = super().paired_rows(batch, target)
        return None if found is None else found._replace(scale=float(batch.n))

    def analytic_interval(self, state: Any, level: float) -> Interval:
        found = share_interval(self.formula_value(state.counts()), state.n, level)  # type: ignore[arg-type]
        return found._replace(lo=found.lo * state.n, hi=found.hi * state.n)


class HammingLoss(LabelMetric):
    """The share of labels that are wrong; with one label per row it is the error rate.

    >>> hamming_loss([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.25
    """

    display = "Hamming loss"
    range = (0.0, 1.0)
    at_perfect = 0.0
    symmetric = True
    formula = "Σ w (labels that differ) / (Σ w · labels)"
    baselines = ("majority",)
    reading = "0 is perfect; a row that is half right counts half."
    landmarks = ((1.0, "every label is wrong"),)
    related = ("jaccard",)
    pitfalls = ("With many labels of which few are set, saying nothing at all scores well.",)
    share_of = ("all", "wrong")

    def ratio(self, c: Counts) -> tuple[Any, Any]:
        if c.single:
            return c.wrong, c.total
        table = c.summed()
        return table.fp + table.fn, c.total * len(c.classes)

    def analytic_interval(self, state: Any, level: float) -> Interval | NoInterval | None:
        return error_rate.analytic_interval(state, level) if state.counts().single else None


class BalancedAccuracy(LabelMetric):
    """The mean recall over the classes of the truth: every class counts the same, however rare.

    >>> balanced_accuracy([0, 0, 0, 1], [0, 0, 0, 0])
    0.5
    """

    aliases = {"balanced_accuracy_score": {}}
    better = "higher"
    range = (0.0, 1.0)
    at_perfect = 1.0
    formula = "mean over classes k of TP_k / (TP_k + FN_k)"
    baselines = ("majority",)
    reading = "1 is perfect; random guessing gives 1 over the number of classes."
    bands = BANDS_OF_SHARES
    related = ("recall", "mcc", "informedness")
    pitfalls = ("One row of a rare class can move it a lot.",)

    def ratio(self, c: Counts) -> tuple[Any, Any]:
        require_single(c, self)
        recalls = [hits / truth for hits, truth in zip(c.hits, c.truth, strict=True) if truth]
        return c.total_of(recalls), len(recalls)

    def values_of_draws(self, c: DrawnCounts) -> Any:
        return recall.replace(average="macro", absent="skip").values_of_draws(c)


accuracy = Accuracy()
margin_accuracy = MarginAccuracy()
error_rate = ErrorRate()
error = ErrorCount()
hamming_loss = HammingLoss()
balanced_accuracy = BalancedAccuracy()
