"""The largest distance between the rates of true and false positives."""

from __future__ import annotations

from tallymark.metrics.answer import Undefined
from tallymark.metrics.parameters import bin_count
from tallymark.metrics.scores.base import ONE_CLASS, Bounds, RankMetric
from tallymark.states.base import divide
from tallymark.states.scores.runs import RankSums

__all__ = ["Ks", "ks"]


class Ks(RankMetric):
    """The largest distance, over all thresholds, between the rates of true and false positives.

    >>> ks([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """

    display = "KS statistic"
    aliases = {"kolmogorov_smirnov": {}, "ks_statistic": {}}
    wants = "distance"
    no_bootstrap = "biased upward by noise, and resampling adds to the bias; use ROC AUC"
    symmetric_columns = True
    formula = "max over thresholds t of |TPR_t − FPR_t|"
    baselines = ("constant",)
    reading = "1: one threshold separates the classes; 0: no separation."
    landmarks = ((0.0, "no separation of the classes"),)
    related = ("auc", "gini")
    when_undefined = "All rows are of one class."
    pitfalls = ("Reversed scores get the same value.",)
    samples = (*RankMetric.samples, {"bounded": 16})

    bounded: int | None = bin_count()

    def from_rank_sums(self, sums: RankSums) -> float | Undefined:
        return ONE_CLASS if sums.distance is None else sums.distance

    def from_bins(self, negative: list[int], positive: list[int], *, exact: bool) -> Bounds | Undefined:
        all_negatives, all_positives = sum(negative), sum(positive)
        if not all_negatives or not all_positives:
            return ONE_CLASS
        lo = hi = tp = fp = 0
        for dn, dp in zip(reversed(negative), reversed(positive), strict=True):
            # Inside a bin either class may come first, and the rates be that far apart.
            hi = max(hi, (tp + dp) * all_negatives - fp * all_positives, (fp + dn) * all_positives - tp * all_negatives)
            tp, fp = tp + dp, fp + dn
            lo = max(lo, abs(tp * all_negatives - fp * all_positives))
        least = divide(lo, all_negatives * all_positives)
        return Bounds(least, least, least if exact else divide(max(lo, hi), all_negatives * all_positives))


ks = Ks()
