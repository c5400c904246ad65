"""What the states of probabilities share: the labels of the truth beside the totals, and how they fit the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tallymark.data.labels import Label
from tallymark.data.target import Target
from tallymark.errors import StateError, Text
from tallymark.states.base import R, TargetState, check_label_types
from tallymark.states.probabilities.reading import check_labels
from tallymark.states.serialization import unpack_columns


class LabelledState(TargetState[R]):
    """`labels` are those of the truth where one column of predictions is the probability of the positive class, else
    the classes of the columns."""

    __slots__ = ("labels",)

    def __init__(self, reads: R, columns: tuple[int, int] | None, n: int, labels: tuple[Label, ...]) -> None:
        super().__init__(reads, columns, n)
        self.labels = labels

    @property
    def soft(self) -> int:
        """How many rows have a truth that is a probability itself."""
        return 0

    def check_labels(self) -> None:
        """Reject labels that, all rows seen, have no positive class."""
        if self.width == 1:
            check_labels(self.labels, self.soft, self.target)

    def resolved_target(self) -> Target:
        """The target with the classes that were seen; truths that are probabilities themselves have none."""
        return self.target if self.soft else self.target.with_classes(self.labels)

    def joined_labels(self, other: LabelledState[R]) -> tuple[Label, ...]:
        """The labels of both."""
        return join_labels(self.labels, other.labels, several=self.width > 1)

    def fields(self) -> dict[str, Any]:
        return {**super().fields(), "labels": list(self.labels)}


def join_labels(left: Sequence[Label], right: Sequence[Label], *, several: bool) -> tuple[Label, ...]:
    """The labels of two states of one target: those of the truth, or the classes of several columns."""
    if left == right:
        return tuple(left)
    if several:
        raise StateError(Text("only states of the same classes can be added; pass {classes} to use the same in all"))
    check_label_types({isinstance(side[0], str) for side in (left, right) if side})
    return tuple(sorted({*left, *right}))


def checked_shape(fields: dict[str, Any], target: Target) -> tuple[tuple[int, int] | None, int, tuple[Label, ...]]:
    """Columns, rows and labels of a state of probabilities, where they fit together."""
    columns = unpack_columns(fields["columns"])
    n, labels = int(fields["n"]), tuple(fields["labels"])
    if target.kind not in (None, "probability", "margin"):
        raise StateError(f"probabilities cannot be of kind {target.kind!r}")
    if n < 0 or (columns is None) != (n == 0) or (columns is not None and (columns[0] != 1 or columns[1] < 1)):
        raise StateError("the rows do not fit the columns")
    if not all(type(label) in (int, str) for label in labels) or len(set(map(type, labels))) > 1:
        raise StateError("labels must be all whole numbers or all strings")
    if len(set(labels)) != len(labels):
        raise StateError("labels must differ")
    if columns is None or columns[1] == 1:
        if labels != tuple(sorted(labels)) or len(labels) > n:
            raise StateError("labels must be in order, and not more than the rows")
        stray = target.classes is not None and not set(labels) <= set(target.classes)
    else:
        stray = len(labels) != columns[1] or (target.classes is not None and labels != target.classes)
    if stray:
        raise StateError("the labels do not fit the columns and classes")
    return columns, n, labels
