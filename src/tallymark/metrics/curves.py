"""Curves over all thresholds. A threshold calls those rows positive whose score reaches it."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from tallymark.arrays import Array
from tallymark.metrics.base import Answer, Undefined
from tallymark.metrics.curve import Curve
from tallymark.metrics.parameters import switch
from tallymark.metrics.scores import NO_POSITIVE, ONE_CLASS, StepMetric
from tallymark.states import Steps

__all__ = ["DetCurve", "LiftCurve", "PrCurve", "RocCurve", "det_curve", "lift_curve", "pr_curve", "roc_curve"]

UNIT = "The thresholds are in the unit of the predictions: of kind margin, margins."


def from_none(column: Array, start: float = 0.0) -> Array:
    """A column with the threshold that no row reaches before all others."""
    return np.concatenate(([start], column))


def thresholds(steps: Steps) -> Array:
    """Every threshold, the one that no row reaches first."""
    return from_none(steps.thresholds, math.inf)


class RocCurve(StepMetric):
    """The rate of true positives against that of false positives, at every threshold.

    >>> roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    ROC curve · 5 points
    <BLANKLINE>
    threshold  fpr  tpr
    ─────────  ───  ───
            ∞  0    0
         0.8   0    0.5
         0.4   0.5  0.5
         0.35  0.5  1
         0.1   1    1
    """

    aliases: ClassVar[dict[str, dict[str, Any]]] = {"roc": {}}
    formula = "(FP / (FP + TN), TP / (TP + FN)) at thresholds t, where s ≥ t is called positive"
    reading = "The nearer to the corner at the upper left the better; the diagonal is chance. Its area is auc."
    when_undefined = "All rows are of one class."
    pitfalls = ("With few positives it looks good even where most alarms are false: look at pr_curve too.", UNIT)
    samples = ({}, {"drop": False})

    drop: bool = switch(True)
    """Whether to leave out points on a straight line between their neighbours; the curve is the same."""

    def read(self, state: Any) -> Answer:
        points = None if state.several else state.roc(drop=self.drop)
        if points is None:
            return super().read(state)
        return self.settle(Curve("ROC curve", dict(zip(("threshold", "fpr", "tpr"), points, strict=True))))

    def of_steps(self, steps: Steps) -> Curve | Undefined:
        if not steps.positives or not steps.negatives:
            return ONE_CLASS
        fp, tp = from_none(steps.fp), from_none(steps.tp)
        kept = corners(fp, tp) if self.drop else slice(None)
        columns = {
            "threshold": thresholds(steps)[kept],
            "fpr": fp[kept] / steps.negatives,
            "tpr": tp[kept] / steps.positives,
        }
        return Curve("ROC curve", columns)


def corners(x: Array, y: Array) -> Array:
    """The places of the points of a rising line that do not lie straight between their neighbours; both ends."""
    moved = np.flatnonzero((np.diff(x) > 0) | (np.diff(y) > 0)) + 1
    places = np.concatenate(([0], moved))
    places[-1] = len(x) - 1
    # Scaled by powers of two, which is exact, no product leaves the doubles.
    dx, dy = (np.diff(np.ldexp(side[places], -math.frexp(side[-1])[1])) for side in (x, y))
    turns = dx[:-1] * dy[1:] != dx[1:] * dy[:-1]
    return places[np.concatenate(([True], turns, [True]))]


class PrCurve(StepMetric):
    """Precision against recall, at every threshold.

    >>> pr_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    precision and recall · 5 points
    <BLANKLINE>
    threshold  precision  recall
    ─────────  ─────────  ──────
            ∞   1            0
         0.8    1            0.5
         0.4    0.5          0.5
         0.35   0.666667     1
         0.1    0.5          1
    """

    aliases: ClassVar[dict[str, dict[str, Any]]] = {"precision_recall_curve": {}}
    formula = "(TP / (TP + FP), TP / (TP + FN)) at thresholds t, where s ≥ t is called positive"
    reading = "The nearer to precision 1 at recall 1 the better; a model of chance stays at the share of positives."
    when_undefined = "No row is positive."
    pitfalls = (
        "Points are not to be joined by straight lines: precision between them can be lower.",
        "Where nothing is called positive, precision is that of the first threshold: the curve starts level.",
        UNIT,
    )
    samples = ({}, {"drop": False})

    drop: bool = switch(True)
    """Whether to leave out points of the same recall as both their neighbours."""

    def of_steps(self, steps: Steps) -> Curve | Undefined:
        if not steps.positives:
            return NO_POSITIVE
        tp, precision = from_none(steps.tp), steps.tp / (steps.tp + steps.fp)
        rises = np.diff(tp) > 0
        kept = np.concatenate(([True], rises[:-1] | rises[1:], [True])) if self.drop else slice(None)
        columns = {
            "threshold": thresholds(steps)[kept],
            "precision": from_none(precision, precision[0])[kept],
            "recall": tp[kept] / steps.positives,
        }
        return Curve("precision and recall", columns)


class DetCurve(StepMetric):
    """The rate of misses against that of false alarms, at every threshold: the detection error tradeoff.

    >>> det_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    detection error tradeoff · 5 points
    <BLANKLINE>
    threshold  fpr  fnr
    ─────────  ───  ───
            ∞  0    1
         0.8   0    0.5
         0.4   0.5  0.5
         0.35  0.5  0
         0.1   1    0
    """

    aliases: ClassVar[dict[str, dict[str, Any]]] = {"det": {}}
    formula = "(FP / (FP + TN), FN / (TP + FN)) at thresholds t, where s ≥ t is called positive"
    reading = "The nearer to 0 and 0 the better; both errors are shown alike, and often drawn on normal deviate axes."
    when_undefined = "All rows are of one class."
    pitfalls = ("It goes from no alarm to no miss in full: peers cut off the ends where one rate is 0.", UNIT)

    def of_steps(self, steps: Steps) -> Curve | Undefined:
        if not steps.positives or not steps.negatives:
            return ONE_CLASS
        columns = {
            "threshold": thresholds(steps),
            "fpr": from_none(steps.fp / steps.negatives),
            "fnr": from_none(steps.fn / steps.positives, 1.0),
        }
        return Curve("detection error tradeoff", columns)


class LiftCurve(StepMetric):
    """How many positives the rows with the highest scores hold, and how many times more than rows taken at random.

    >>> lift_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    gain and lift · 5 points
    <BLANKLINE>
    threshold  share  gain       lift
    ─────────  ─────  ────  ─────────
            ∞   0      0    undefined
         0.8    0.25   0.5    2
         0.4    0.5    0.5    1
         0.35   0.75   1      1.33333
         0.1    1      1      1
    """

    aliases: ClassVar[dict[str, dict[str, Any]]] = {"gain_curve": {}, "cumulative_gain": {}}
    formula = "share = (TP + FP) / Σ w, gain = TP / (TP + FN), lift = gain / share, at thresholds t"
    reading = "A gain of 0.5 at a share of 0.1: a tenth of the rows holds half of the positives, a lift of 5."
    when_undefined = "No row is positive."
    pitfalls = (
        "The highest possible lift is one over the share of positives: compare it within one data set only.",
        UNIT,
    )

    def of_steps(self, steps: Steps) -> Curve | Undefined:
        if not steps.positives:
            return NO_POSITIVE
        share = from_none((steps.tp + steps.fp) / (steps.positives + steps.negatives))
        gain = from_none(steps.tp / steps.positives)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # of no rows there is no lift
            lift = gain / share
        return Curve("gain and lift", {"threshold": thresholds(steps), "share": share, "gain": gain, "lift": lift})


roc_curve = RocCurve()
pr_curve = PrCurve()
det_curve = DetCurve()
lift_curve = LiftCurve()
