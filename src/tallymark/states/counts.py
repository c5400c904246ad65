"""Counts by class, as formulas on labels read them: whole numbers in a common unit, so that every ratio rounds once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tallymark.errors import ParameterError
from tallymark.labels import Label
from tallymark.states.base import divide
from tallymark.target import Target, show_labels


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
        """A count as the weight that it stands for."""
        return divide(count << self.unit, 1) if self.unit >= 0 else divide(count, 1 << -self.unit)

    def table(self, hits: int, truth: int, predicted: int) -> Cells:
        """The binary table of a class with these counts."""
        return Cells(hits, predicted - hits, truth - hits, self.total - truth - predicted + hits)

    def cell(self, place: int | None) -> Cells:
        """The binary table of one class; of a class that no row has if there is no place."""
        if place is None:
            return self.table(0, 0, 0)
        return self.table(self.hits[place], self.truth[place], self.predicted[place])

    def summed(self) -> Cells:
        """The tables of all classes added up."""
        hits, truth, predicted = sum(self.hits), sum(self.truth), sum(self.predicted)
        return Cells(hits, predicted - hits, truth - hits, self.total * len(self.classes) - truth - predicted + hits)

    def positive(self) -> int | None:
        """The place of the positive class; None if no row has it. Never a guess: two classes without 1 are an error."""
        return find_positive(self.classes, self.target)


class Cells(NamedTuple):
    """The weights of one class against the rest: true and false positives, false and true negatives."""

    tp: int
    fp: int
    fn: int
    tn: int


def find_positive(classes: Sequence[Label], target: Target) -> int | None:
    """The place of the positive class among the classes; None if it is not there but could be."""
    wanted = 1 if target.positive is None else target.positive
    for place, label in enumerate(classes):
        if label == wanted:
            return place
    if not classes:
        return None
    if isinstance(wanted, str) != isinstance(classes[0], str) and target.positive is not None:
        held = "strings" if isinstance(classes[0], str) else "numbers"
        raise ParameterError(f"`positive` must be one of the labels, which are {held}; it was {wanted!r}")
    others_fit = classes[0] in (0, -1) if target.positive is None else True
    if len(classes) == 1 and others_fit:
        return None
    if target.positive is not None:
        raise ParameterError(
            f"`positive` must be one of the labels; it was {wanted!r}, and they are {show_labels(classes)}"
        )
    raise ParameterError(
        f"`positive` must say which class is the positive one; the labels are {show_labels(classes)}, and none is 1"
    )
