"""The area under the curve of precision and recall: how well the rows with the highest scores are positive."""

from __future__ import annotations

from tallymark.metrics.base import Undefined
from tallymark.metrics.scores import NO_POSITIVE, RankMetric
from tallymark.states import RankSums

__all__ = ["AveragePrecision", "PrAuc", "average_precision", "pr_auc"]


class AveragePrecision(RankMetric):
    """The mean precision over the positive rows, each taken at its own score as the threshold.

    >>> average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.8333333333333333
    """

    aliases = {"ap": {}, "average_precision_score": {}, "auprc": {}}
    wants = "precision"
    formula = "Σ over thresholds t of (recall_t − recall_before) · precision_t"
    reading = "1 puts all positives first; the share of positives is what chance gets."
    when_undefined = "no row is positive"
    pitfalls = ("It depends on the share of positives: compare it on the same rows only.",)

    def of_sums(self, sums: RankSums) -> float | Undefined:
        return NO_POSITIVE if sums.steps is None else sums.steps


class PrAuc(RankMetric):
    """The area under the curve of precision and recall, straight from point to point, from precision 1 at recall 0.

    >>> pr_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.7916666666666666
    """

    aliases = {"prauc": {}}
    wants = "precision"
    formula = "Σ over thresholds t of (recall_t − recall_before) · (precision_t + precision_before) / 2"
    reading = "1 puts all positives first; close to average_precision where there are many thresholds."
    when_undefined = "no row is positive"
    pitfalls = (
        "A straight line between two points of this curve is too high: average_precision does not draw it.",
        "A constant score gets more than the share of positives, half-way to 1.",
    )

    def of_sums(self, sums: RankSums) -> float | Undefined:
        return NO_POSITIVE if sums.trapezoids is None else sums.trapezoids


average_precision = AveragePrecision()
pr_auc = PrAuc()
