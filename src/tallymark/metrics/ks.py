"""The largest distance between the rates of true and false positives."""

from __future__ import annotations

from tallymark.metrics.base import Undefined
from tallymark.metrics.scores import ONE_CLASS, RankMetric
from tallymark.states import RankSums

__all__ = ["Ks", "ks"]


class Ks(RankMetric):
    """The largest distance, over all thresholds, between the rates of true and false positives.

    >>> ks([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """

    aliases = {"kolmogorov_smirnov": {}, "ks_statistic": {}}
    wants = "distance"
    symmetric_columns = True
    formula = "max over thresholds t of |TPR_t − FPR_t|"
    reading = "1 tells the classes apart by one threshold, 0 not at all."
    when_undefined = "all rows are of one class"
    pitfalls = ("Scores the wrong way round get the same value.",)

    def of_sums(self, sums: RankSums) -> float | Undefined:
        return ONE_CLASS if sums.distance is None else sums.distance


ks = Ks()
