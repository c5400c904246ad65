"""The area under the curve of precision and recall: how well the rows with the highest scores are positive."""

from __future__ import annotations

import math
import sys

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.metrics.answer import Undefined
from tallymark.metrics.parameters import bin_count
from tallymark.metrics.scores.base import NO_POSITIVE, Bounds, RankMetric
from tallymark.states.base import Reads, divide
from tallymark.states.resampling.draws import Draws
from tallymark.states.scores.runs import RankSums
from tallymark.states.scores.scores import ScoresOf

__all__ = ["AveragePrecision", "PrAuc", "average_precision", "pr_auc"]


_ROUNDING = 2.0**-50


class AveragePrecision(RankMetric):
    """The mean precision over the positive rows, each taken at its own score as the threshold.

    >>> average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.8333333333333333
    """

    aliases = {"ap": {}, "average_precision_score": {}, "auprc": {}}
    wants = "steps"
    formula = "Σ over thresholds t of (recall_t − recall_before) · precision_t"
    baselines = ("constant",)
    reading = "1: all positives rank first; a random order gives the share of positives."
    related = ("auc", "pr_curve")
    when_undefined = "No row is positive."
    pitfalls = ("It depends on the share of positives: compare it on the same rows only.",)
    samples = (*RankMetric.samples, {"bounded": 16})

    bounded: int | None = bin_count()

    def from_rank_sums(self, sums: RankSums) -> float | Undefined:
        return NO_POSITIVE if sums.steps is None else sums.steps

    def replicate_values(self, reads: Reads, batch: Batch, draws: Draws) -> Array | None:
        return reads.precision_areas(batch, draws) if isinstance(reads, ScoresOf) else None

    def from_bins(self, negative: list[int], positive: list[int], *, exact: bool) -> Bounds | Undefined:
        total = sum(positive)
        if not total:
            return NO_POSITIVE
        terms: list[tuple[float, float, float]] = []
        scale = max(total.bit_length() - 53, 0)  # so that weights of any unit are floats
        tp = fp = 0
        for dn, dp in zip(reversed(negative), reversed(positive), strict=True):
            if dp:
                # At worst all negatives of the bin come first, then the positives one by one, each as small as can be;
                # at best all positives come first, together.
                mean = divide(tp + dp, tp + dp + fp + dn)
                worst = mean if exact else _least_precision(divide(tp, dp), divide(fp + dn, dp))
                best = mean if exact else divide(tp + dp, tp + dp + fp)
                share = divide(dp, 1 << scale)
                terms.append((share * mean, share * worst, share * best))
            tp, fp = tp + dp, fp + dn
        value, lo, hi = (math.fsum(part) / divide(total, 1 << scale) for part in zip(*terms, strict=True))
        # Each term was rounded: the bounds must not be inside for that.
        return Bounds(min(value, 1.0), max(min(lo, value) * (1 - _ROUNDING), 0.0), min(hi * (1 + _ROUNDING), 1.0))


def _least_precision(hits: float, alarms: float) -> float:
    """The mean over x in [0, 1] of (hits + x) / (hits + x + alarms), the limit of ever smaller positives."""
    if alarms == 0 or math.isinf(hits):
        return 1.0
    if math.isinf(alarms):
        return 0.0
    step = min(1.0 / (hits + alarms), sys.float_info.max)
    if step > 1:
        found = 1.0 - alarms * math.log1p(step)
    else:
        # Among many alarms that difference would have no digits left: 1 − log1p(step) / step, as a series.
        t = step / (2.0 + step)
        found = t - (1.0 - t) * math.fsum(t ** (2 * k) / (2 * k + 1) for k in range(1, 18)) + hits * math.log1p(step)
    return max(found, hits / (hits + alarms)) * (1 - _ROUNDING)


class PrAuc(RankMetric):
    """The area under the curve of precision and recall, straight from point to point, level before the first.

    >>> pr_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.7916666666666666
    """

    display = "PR AUC"
    aliases = {"prauc": {}}
    wants = "trapezoids"
    formula = "Σ over thresholds t of (recall_t − recall_before) · (precision_t + precision_before) / 2"
    baselines = ("constant",)
    reading = "1: all positives rank first; close to the average precision with many thresholds."
    related = ("pr_curve",)
    when_undefined = "No row is positive."
    pitfalls = ("A straight line between two points of this curve is too high: average_precision does not draw it.",)

    def from_rank_sums(self, sums: RankSums) -> float | Undefined:
        return NO_POSITIVE if sums.trapezoids is None else sums.trapezoids


average_precision = AveragePrecision()
pr_auc = PrAuc()
