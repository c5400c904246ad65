"""What the states of scores share: the classes, and how two or each against the rest are taken from them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from tallymark.errors import StateError, Text
from tallymark.labels import Label
from tallymark.states.base import R, TargetState, check_one_kind
from tallymark.states.counts import find_positive
from tallymark.states.decisions import check_two
from tallymark.states.encoding import check_classes
from tallymark.states.score_rows import positive_column
from tallymark.target import Target, show_labels

S = TypeVar("S")


class ScoreState(TargetState[R], Generic[R, S]):
    """The scores of every class, in one column for two classes, or in one for each of more. S is what the state keeps
    of a class in a column."""

    __slots__ = ("_weight",)
    exact = True

    def __init__(self, reads: R, columns: tuple[int, int] | None, n: int, weight: int) -> None:
        super().__init__(reads, columns, n)
        self._weight = weight

    @property
    def weight(self) -> int:
        return self._weight

    @property
    @abstractmethod
    def labels(self) -> list[Label]:
        """The labels that were seen, in order."""

    @abstractmethod
    def of_class(self, label: Label, column: int = 0) -> S:
        """The scores of a class in a column."""

    @abstractmethod
    def _together(self, classes: list[S], column: int) -> S:
        """The scores of several classes, or of none, as those of one."""

    @abstractmethod
    def class_weights(self) -> list[int]:
        """The exact weight of every class, in one unit."""

    @property
    def classes(self) -> Sequence[Label]:
        """All classes, as the target says or as they were seen."""
        return self.target.classes or self.labels

    @property
    def several(self) -> bool:
        """Whether there is a column for each of three or more classes."""
        return self.width > 2

    def binary(self, *, symmetric: bool = False) -> tuple[S, S]:
        """The scores of the negative and of the positive class. A metric that is `symmetric` takes two columns either
        way round."""
        target = self.target
        classes = target.classes or self.labels
        if self.columns == (1, 1):
            check_two(classes, labels=False)
        two = symmetric and self.columns == (1, 2) and len(classes) == 2
        place = positive_column(classes, target) if two else find_positive(classes, target)
        return self._against_rest(classes, place, 0)

    def one_against_rest(self, place: int) -> tuple[S, S]:
        """The scores, in the column of a class, of the other classes and of the class itself."""
        return self._against_rest(self.classes, place, place)

    def _against_rest(self, classes: Sequence[Label], place: int | None, column: int) -> tuple[S, S]:
        others = [self.of_class(label, column) for k, label in enumerate(classes) if k != place]
        own = self._together([], column) if place is None else self.of_class(classes[place], column)
        return self._together(others, column), own

    def fields(self) -> dict[str, Any]:
        return {**super().fields(), "weight": self._weight}


def check_same_labels(labels: Sequence[Sequence[Label]], columns: int, target: Target) -> None:
    """Refuse to add labels of two kinds, and columns that belong to different classes."""
    check_one_kind({isinstance(held[0], str) for held in labels if held})
    if columns > 1 and target.classes is None and any(held != labels[0] for held in labels):
        shown = next(held for held in labels if held != labels[0])
        raise StateError(
            "only states whose columns have the same classes add; these have "
            f"{show_labels(labels[0])} and {show_labels(shown)}",
            hint=Text("Pass {classes}"),
        )


def check_widths(columns: tuple[int, int], labels: Sequence[Label], target: Target) -> None:
    """Refuse columns, labels and classes of a stored state that no rows can have."""
    if columns[0] != 1 or columns[1] < 1:
        raise StateError("truth is one column, and predictions at least one")
    if any(isinstance(label, float) for label in labels):
        raise StateError("labels must be whole numbers or strings")
    if target.classes is not None:
        check_classes([labels], target.classes)
    classes = len(labels if target.classes is None else target.classes)
    if classes > 2 if columns[1] == 1 else classes != columns[1]:
        raise StateError("the columns do not fit the classes")
