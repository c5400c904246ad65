"""Counts by class, as formulas on labels read them, and which class of a target is the positive one.

Counts are whole numbers in a common unit, also with weights, so that every metric of a binary table is one fraction of
whole numbers, and one function averages over classes. The same formulas read arrays of counts: one per threshold of a
score (`ThresholdCounts`), or one per draw of a table (`DrawnCounts`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.batch import Batch
from tallymark.data.labels import Label
from tallymark.data.target import ANY_TARGET, Target, show_labels
from tallymark.errors import ParameterError, ShapeError, Text
from tallymark.states.base import UNIT_BITS, divide, to_number

_MODERATE = 200  # powers of two that can be multiplied four times


class Counts:
    """For every class, the weight of rows that are right, that truly are of the class, and that were predicted so.

    `total` is the weight of all rows and `right` that of the rows whose labels are all right; they share the unit of
    the class counts, 2**unit. `single` says that every row has exactly one label.
    """

    __slots__ = ("classes", "hits", "memo", "predicted", "right", "single", "target", "total", "truth", "unit")

    def __init__(
        self,
        classes: Sequence[Label],
        hits: list[int],
        truth: list[int],
        predicted: list[int],
        *,
        total: int,
        right: int,
        unit: int,
        single: bool,
        target: Target,
    ) -> None:
        self.classes = classes
        self.hits = hits
        self.truth = truth
        self.predicted = predicted
        self.total = total
        self.right = right
        self.unit = unit
        self.single = single
        self.target = target
        self.memo: dict[Any, list[float | None]] = {}  # values by class of metrics that were asked before

    def to_float(self, count: int) -> float:
        """A count as a weight."""
        return divide(*self.in_units(count))

    def to_number(self, count: int) -> float:
        """A count as a weight; an int if it is whole and a float would round it."""
        return to_number(count << (UNIT_BITS + self.unit))

    def in_units(self, count: int) -> tuple[int, int]:
        """A count as a weight: numerator and denominator."""
        return (count << self.unit, 1) if self.unit >= 0 else (count, 1 << -self.unit)

    @staticmethod
    def total_of(values: Sequence[float]) -> float:
        """The sum of a value per class, in an order that does not matter."""
        return math.fsum(values)

    # Sums over the classes. Those of two classes at many thresholds are below, in a form in which floats keep digits.

    @property
    def wrong(self) -> int:
        """The weight of rows with a label that is wrong."""
        return self.total - self.right

    def beyond_chance(self) -> int:
        """What is right less what would be so by chance, times the total."""
        return self.right * self.total - sum(t * p for t, p in zip(self.truth, self.predicted, strict=True))

    def wrong_by_chance(self) -> int:
        """What would be wrong by chance, times the total."""
        return self.total * self.total - sum(t * p for t, p in zip(self.truth, self.predicted, strict=True))

    def spread(self, side: Sequence[int]) -> int:
        """The pairs of rows that one side puts into different classes, both ways round."""
        return self.total * self.total - sum(count * count for count in side)

    def table(self, hits: int, truth: int, predicted: int) -> Cells:
        """The binary table of a class with these counts."""
        return Cells(hits, predicted - hits, truth - hits, self.total - truth - predicted + hits)

    def cell(self, place: int | None) -> Cells:
        """The binary table of one class; without a place, of a class that no row has."""
        if place is None:
            return self.table(0, 0, 0)
        return self.table(self.hits[place], self.truth[place], self.predicted[place])

    def summed(self) -> Cells:
        """The tables of all classes added up."""
        hits, truth, predicted = sum(self.hits), sum(self.truth), sum(self.predicted)
        return Cells(hits, predicted - hits, truth - hits, self.total * len(self.classes) - truth - predicted + hits)

    def positive(self) -> int | None:
        """The place of the positive class; None if no row has it. An error where nothing says which it is."""
        return find_positive(self.classes, self.target)


class Cells(NamedTuple):
    """The weights of one class against the rest: true and false positives, false and true negatives."""

    tp: int
    fp: int
    fn: int
    tn: int


class ThresholdCounts(Counts):
    """The counts of two classes at many thresholds: where `Counts` has whole numbers there are arrays of floats.

    Where they are so large or small that a product of four would leave the doubles, all are scaled by a power of two:
    only ratios matter.
    """

    __slots__ = ("cells", "one")

    def __init__(self, tp: Any, fp: Any, fn: Any, tn: Any) -> None:
        positives, negatives = float(tp[0] + fn[0]), float(fp[0] + tn[0])
        down = -math.frexp(positives + negatives)[1]
        down = 0 if abs(down) < _MODERATE else max(min(down, 1000), -1000)
        tp, fp, fn, tn = (np.ldexp(cell, down) for cell in (tp, fp, fn, tn))
        truth: list[Any] = [math.ldexp(negatives, down), math.ldexp(positives, down)]
        super().__init__(
            [0, 1],
            [tn, tp],
            truth,
            [tn + fn, tp + fp],
            total=sum(truth),
            right=tp + tn,
            unit=0,
            single=True,
            target=ANY_TARGET,
        )
        self.cells = Cells(tp, fp, fn, tn)
        self.one = math.ldexp(1.0, down)

    def in_units(self, count: Any) -> Any:
        return count, self.one

    @staticmethod
    def total_of(values: Sequence[Any]) -> Any:
        return sum(values)  # of two floats, which rounds once

    @property
    def wrong(self) -> Any:
        return self.cells.fp + self.cells.fn

    def beyond_chance(self) -> Any:
        tp, fp, fn, tn = self.cells
        return 2 * (tp * tn - fp * fn)

    def wrong_by_chance(self) -> Any:
        return self.truth[0] * self.predicted[1] + self.truth[1] * self.predicted[0]

    def spread(self, side: Sequence[Any]) -> Any:
        return 2 * side[0] * side[1]

    def cell(self, place: int | None) -> Cells:
        tp, fp, fn, tn = self.cells
        return self.cells if place == 1 else Cells(tn, fn, fp, tp)


class DrawnCounts(Counts):
    """The counts of many tables of the same classes at once: where `Counts` has a list of whole numbers, there is an
    array of floats with a line per class and a column per table. `tables` are the tables themselves: table, true class,
    predicted class."""

    __slots__ = ("tables",)

    def __init__(self, classes: Sequence[Label], tables: Any, target: Target) -> None:
        hits, truth = np.diagonal(tables, axis1=1, axis2=2).T, tables.sum(axis=2).T
        super().__init__(
            classes,
            hits,  # type: ignore[arg-type]
            truth,
            tables.sum(axis=1).T,
            total=truth.sum(axis=0),  # so that a class without rows changes no bit of it
            right=hits.sum(axis=0),
            unit=0,
            single=True,
            target=target,
        )
        self.tables = tables

    def in_units(self, count: Any) -> Any:
        return count, 1.0

    @staticmethod
    def total_of(values: Sequence[Any]) -> Any:
        return sum(values)

    def every_cell(self) -> Cells:
        """The binary tables of all classes."""
        return self.table(self.hits, self.truth, self.predicted)  # type: ignore[arg-type]


def knows_positive(classes: Sequence[Label], target: Target) -> bool:
    """Whether one of two classes is known to be the positive one: it was named, or it is 1 beside 0 or -1."""
    return target.positive is not None or (1 in classes and all(label in (-1, 0, 1) for label in classes))


def find_positive(classes: Sequence[Label], target: Target) -> int | None:
    """The place of the positive class among the classes; None if it is not there but could be."""
    wanted = 1 if target.positive is None else target.positive
    place = next((place for place, label in enumerate(classes) if label == wanted), None)
    if target.positive is None:
        others = [label for label in classes if label != 1]
        if len(classes) > 2 and place is not None:  # callers refuse more than two classes in words of their own
            return place
        if len(others) > 1 or (others and others[0] not in (0, -1)):
            known = f", one of {show_labels(classes)}" if len(classes) > 1 else f": the only label is {classes[0]!r}"
            raise ParameterError(
                argument="positive",
                expected=f"name the positive class{known}",
                hint="The default is 1, which applies only if the other class is 0 or -1",
            )
        return place
    if place is not None or not classes:
        return place
    if isinstance(wanted, str) != isinstance(classes[0], str):
        kind = "strings" if isinstance(classes[0], str) else "numbers"
        raise ParameterError(argument="positive", expected=f"be one of the labels, which are {kind}", got=repr(wanted))
    if len(classes) == 1:
        return None
    raise ParameterError(
        argument="positive", expected=f"be one of the labels, {show_labels(classes)}", got=repr(wanted)
    )


LABELS = "labels"
POSITIVE = "positive"  # predictions are whether the row is of the positive class, whose label the truth tells


def decides(batch: Batch, target: Target) -> bool:
    """Whether predictions are probabilities or margins to decide on, by kind, type and shape."""
    kind = target.kind
    one = batch.prediction_columns == 1
    found = kind != "label" and (kind is not None or not one or batch.prediction_labels.type == "real")
    if target.normalize and (one or not found):
        held = "one column" if found else "labels"
        raise ParameterError(
            Text("{normalize} applies to probabilities in several columns; {y_pred} has {}", held),
            argument="normalize",
        )
    if one or kind is not None:
        return found
    if batch.prediction.dtype.kind != "f":
        raise ShapeError(
            argument="y_pred",
            expected="be one label per row, or probabilities",
            got=f"{batch.prediction_columns} columns of type {batch.prediction.dtype}",
            hint=Text("Pass a table of 0 and 1 as {y_true} too if rows have several labels"),
        )
    return True


def threshold_column(classes: Sequence[Label], target: Target, threshold: float, default: float) -> int:
    """The column whose probability or margin the threshold is for; 2 where there is none, and the largest decides."""
    if len(classes) > 2 or not knows_positive(classes, target):
        if threshold != default:
            why = Text("needs two classes" if len(classes) > 2 else "needs {positive}, the class to which it applies")
            raise ParameterError(
                Text("{threshold} {}; here the largest of the columns ({}) is predicted", why, show_labels(classes)),
                argument="threshold",
            )
        return 2
    place = find_positive(classes, target)
    return 2 if place is None else place


def check_two(classes: Sequence[Label], *, labels: bool = True) -> None:
    """Reject one column of predictions for more than two classes."""
    if len(classes) > 2:
        raise ShapeError(
            argument="y_pred",
            expected="have one column per class if there are more than two",
            got=f"one column for {len(classes)} classes ({show_labels(classes)})",
            hint=Text('Pass {kind="label"} if it contains labels') if labels else None,
        )


def name_decisions(truth: Sequence[Label], target: Target, *, labels: bool = True) -> tuple[Label, Label]:
    """The labels that predictions of no and yes stand for, by the labels of the truth.

    `labels` says that the predictions could be labels as well.
    """
    classes = truth if target.classes is None else target.classes
    check_two(classes, labels=labels)
    place = find_positive(classes, target)
    positive = classes[place] if place is not None else 1 if target.positive is None else target.positive
    others = [label for label in classes if label != positive]
    if others:
        return others[0], positive
    return f"not {positive}" if isinstance(positive, str) else 0 if positive else 1, positive
