"""Curves over all thresholds. A threshold calls those rows positive whose score reaches it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.target import Target
from tallymark.intervals.analytic import TOO_LARGE
from tallymark.metrics.answer import Answer, Undefined
from tallymark.metrics.parameters import switch
from tallymark.metrics.scores.base import NO_POSITIVE, ONE_CLASS, StepMetric
from tallymark.metrics.scores.curve import Curve
from tallymark.states.base import Reads
from tallymark.states.scores.runs import Steps, walk_steps
from tallymark.states.scores.scores import Scores, ScoresOf

__all__ = ["DetCurve", "LiftCurve", "PrCurve", "RocCurve", "det_curve", "lift_curve", "pr_curve", "roc_curve"]


UNIT = "The thresholds are in the unit of the predictions: of kind margin, margins."


def from_none(column: Array, start: float = 0.0) -> Array:
    """A column with the threshold that no row reaches before all others."""
    return np.concatenate(([start], column))


def thresholds(steps: Steps) -> Array:
    """Every threshold, the one that no row reaches first."""
    return from_none(steps.thresholds, math.inf)


class RocPoints(Curve):
    """Unpacks as `roc_curve` of scikit-learn does: ``fpr, tpr, thresholds = curve``."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Array]:
        return iter((self.fpr, self.tpr, self.threshold))


class PrPoints(Curve):
    """Unpacks as `precision_recall_curve` of scikit-learn does: ``precision, recall, thresholds = curve``. Thresholds
    rise, and the infinite one is left out."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Array]:
        return iter((self.precision[::-1], self.recall[::-1], self.threshold[:0:-1]))


class DetPoints(Curve):
    """Unpacks as `det_curve` of scikit-learn does: ``fpr, fnr, thresholds = curve``. Thresholds rise, from the last one
    without a miss to the first one without a false alarm."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Array]:
        first, last = np.count_nonzero(self.fpr == 0) - 1, np.count_nonzero(self.fnr > 0)
        return iter([column[first : last + 1][::-1] for column in (self.fpr, self.fnr, self.threshold)])


class CurveMetric(StepMetric, abstract=True):
    """A curve. Where rows have no weights, the core writes its `points`; elsewhere `from_steps` does."""

    title: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    result: ClassVar[type[Curve]] = Curve

    def points(self, state: Scores) -> tuple[Array, ...] | None:
        """The columns as the core writes them; None where it does not."""
        raise NotImplementedError(f"{type(self).__name__} must define `points`")

    def read(self, state: Any) -> Answer:
        points = None if state.several else self.points(state)
        return super().read(state) if points is None else self.to_answer(self.curve(*points))

    def from_class(self, state: Scores, place: int) -> Curve | Undefined:
        """The curve of one of several classes against the rest."""
        steps = walk_steps(*state.one_against_rest(place))
        found: Curve | Undefined = self.from_steps(steps) if steps.finite else Undefined(TOO_LARGE)
        return found

    def restore_value(self, data: Any) -> Any:
        return self.result.from_dict(self.title, data)

    def curve(self, *columns: Array) -> Curve:
        """The value that these columns are."""
        return self.result(self.title, dict(zip(self.columns, columns, strict=True)))


class RocCurve(CurveMetric):
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

    display = "ROC curve"
    title = "ROC curve"
    columns = ("threshold", "fpr", "tpr")
    result = RocPoints
    aliases: ClassVar[dict[str, dict[str, Any]]] = {"roc": {}}
    formula = "(FP / (FP + TN), TP / (TP + FN)) at thresholds t, where s ≥ t is called positive"
    reading = "Closer to the upper left corner is better; the diagonal is random. The area under it is the ROC AUC."
    related = ("auc",)
    when_undefined = "All rows are of one class."
    pitfalls = ("With few positives it looks good even where most alarms are false: look at pr_curve too.", UNIT)
    samples = ({}, {"drop": False})

    drop: bool = switch(True)
    """Whether to leave out points on a straight line between their neighbours, the first finite threshold included; the
    curve is the same."""

    def reads_of(self, target: Target) -> Reads:
        return ScoresOf(target, frozenset({"roc"} if self.drop else ()))

    def points(self, state: Scores) -> tuple[Array, ...] | None:
        return state.points("roc", drop=self.drop)

    def from_steps(self, steps: Steps) -> Curve | Undefined:
        if not steps.positives or not steps.negatives:
            return ONE_CLASS
        fp, tp = from_none(steps.fp), from_none(steps.tp)
        kept = corners(fp, tp) if self.drop else slice(None)
        return self.curve(thresholds(steps)[kept], fp[kept] / steps.negatives, tp[kept] / steps.positives)


def corners(x: Array, y: Array) -> Array:
    """The places of the points of a rising line that do not lie straight between their neighbours; both ends."""
    moved = np.flatnonzero((np.diff(x) > 0) | (np.diff(y) > 0)) + 1
    places = np.concatenate(([0], moved))
    places[-1] = len(x) - 1
    # Scaled by powers of two, which is exact, no product leaves the doubles.
    dx, dy = (np.diff(np.ldexp(side[places], -math.frexp(side[-1])[1])) for side in (x, y))
    turns = dx[:-1] * dy[1:] != dx[1:] * dy[:-1]
    return places[np.concatenate(([True], turns, [True]))]


class PrCurve(CurveMetric):
    """Precision against recall, at every threshold.

    >>> pr_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    precision and recall · 5 points
    <BLANKLINE>
    threshold  precision  recall
    ─────────  ─────────  ──────
            ∞     1          0
         0.8      1          0.5
         0.4      0.5        0.5
         0.35     0.6667     1
         0.1      0.5        1
    """

    display = "precision–recall curve"
    title = "precision and recall"
    columns = ("threshold", "precision", "recall")
    result = PrPoints
    aliases: ClassVar[dict[str, dict[str, Any]]] = {"precision_recall_curve": {}}
    formula = "(TP / (TP + FP), TP / (TP + FN)) at thresholds t, where s ≥ t is called positive"
    reading = "Closer to precision 1 at recall 1 is better; a random model stays at the share of positives."
    related = ("average_precision",)
    when_undefined = "No row is positive."
    pitfalls = (
        "Points are not to be joined by straight lines: precision between them can be lower.",
        "Where nothing is called positive, precision is that of the first threshold: the curve starts level.",
        UNIT,
    )
    samples = ({}, {"drop": False})

    drop: bool = switch(True)
    """Whether to leave out points of the same recall as both their neighbours."""

    def points(self, state: Scores) -> tuple[Array, ...] | None:
        return state.points("precision_recall", drop=self.drop)

    def from_steps(self, steps: Steps) -> Curve | Undefined:
        if not steps.positives:
            return NO_POSITIVE
        tp, precision = from_none(steps.tp), steps.tp / (steps.tp + steps.fp)
        rises = np.diff(tp) > 0
        kept = np.concatenate(([True], rises[:-1] | rises[1:], [True])) if self.drop else slice(None)
        precision = from_none(precision, precision[0])
        return self.curve(thresholds(steps)[kept], precision[kept], tp[kept] / steps.positives)


class DetCurve(CurveMetric):
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

    display = "DET curve"
    title = "detection error tradeoff"
    columns = ("threshold", "fpr", "fnr")
    result = DetPoints
    aliases: ClassVar[dict[str, dict[str, Any]]] = {"det": {}}
    formula = "(FP / (FP + TN), FN / (TP + FN)) at thresholds t, where s ≥ t is called positive"
    reading = "Closer to (0, 0) is better; often drawn on normal-deviate axes."
    related = ("auc",)
    when_undefined = "All rows are of one class."
    pitfalls = ("It goes from no alarm to no miss in full: peers cut off the ends where one rate is 0.", UNIT)

    def points(self, state: Scores) -> tuple[Array, ...] | None:
        return state.points("det")

    def from_steps(self, steps: Steps) -> Curve | Undefined:
        if not steps.positives or not steps.negatives:
            return ONE_CLASS
        fpr, fnr = from_none(steps.fp / steps.negatives), from_none(steps.fn / steps.positives, 1.0)
        return self.curve(thresholds(steps), fpr, fnr)


class LiftCurve(CurveMetric):
    """How many positives the rows with the highest scores hold, and how many times more than rows taken at random.

    >>> lift_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    gain and lift · 5 points
    <BLANKLINE>
    threshold  share  gain       lift
    ─────────  ─────  ────  ─────────
            ∞   0      0    undefined
         0.8    0.25   0.5      2
         0.4    0.5    0.5      1
         0.35   0.75   1        1.333
         0.1    1      1        1
    """

    title = "gain and lift"
    columns = ("threshold", "share", "gain", "lift")
    aliases: ClassVar[dict[str, dict[str, Any]]] = {"gain_curve": {}, "cumulative_gain": {}}
    formula = "share = (TP + FP) / Σ w, gain = TP / (TP + FN), lift = gain / share, at thresholds t"
    reading = "A gain of 0.5 at a share of 0.1: a tenth of the rows contains half of the positives, a lift of 5."
    related = ("average_precision", "precision_at")
    when_undefined = "No row is positive."
    pitfalls = (
        "The highest possible lift is one over the share of positives: compare it within one data set only.",
        UNIT,
    )

    def points(self, state: Scores) -> tuple[Array, ...] | None:
        return state.points("lift")

    def from_steps(self, steps: Steps) -> Curve | Undefined:
        if not steps.positives:
            return NO_POSITIVE
        share = (steps.tp + steps.fp) / (steps.positives + steps.negatives)
        gain = steps.tp / steps.positives
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # a share can round to nothing
            lift = gain / share
        return self.curve(thresholds(steps), from_none(share), from_none(gain), from_none(lift, math.nan))


roc_curve = RocCurve()
pr_curve = PrCurve()
det_curve = DetCurve()
lift_curve = LiftCurve()
