"""The indicators state: rows that can have several labels, given as tables of 0 and 1. Its size is fixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tallymark._core import decide
from tallymark.data.arrays import Array
from tallymark.data.batch import NAMES, Batch
from tallymark.data.labels import Label, label_or_none
from tallymark.data.target import show_labels
from tallymark.errors import DomainError, ParameterError, ShapeError, StateError, Text
from tallymark.states.base import UNIT_BITS, FoldedState, State, check_addable
from tallymark.states.labels.counts import Counts
from tallymark.states.labels.encoding import count_label_pairs, label_fault
from tallymark.states.labels.pairs import PairsOf

Flags = tuple[int, int, int]  # the weight of rows that have a label and were given it, that have it, that were given it


def fold_indicators(reads: PairsOf, batch: Batch) -> Indicators:
    """The state of tables of 0 and 1; predictions may be probabilities or margins of each label."""
    count = batch.truth_columns
    if batch.prediction_columns != count:
        raise ShapeError(
            Text(
                "{y_true} and {y_pred} must have the same number of columns, one per label; got {} and {}",
                count,
                batch.prediction_columns,
            ),
            argument="y_true",
        )
    classes = reads.target.classes
    if classes is not None and len(classes) != count:
        raise ShapeError(
            argument="y_true",
            expected="have one column per class",
            got=Text("{} for {} {classes}", count, len(classes)),
        )
    if reads.target.normalize:
        raise ParameterError(
            Text("{normalize} is for one label per row; probabilities of several labels need not sum to 1"),
            argument="normalize",
        )
    truth, predicted = _read_flags(batch, 0), _read_predictions(reads, batch)
    batch.require_weights()
    labels = [_weigh(truth[:, k], predicted[:, k], batch.weights) for k in range(count)]
    right = np.asarray((truth == predicted).all(axis=1))
    whole, total, _ = _weigh(np.ones(batch.n, bool), right, batch.weights)
    return Indicators(reads, (count, count), batch.n, labels, whole, total, _read_names(batch))


def _weigh(truth: Array, predicted: Array, weights: Array | None) -> Flags:
    """The exact weights of rows where both are 1, where the first is, and where the second is."""
    found = count_label_pairs(truth, predicted, weights, False, None)
    if not isinstance(found, tuple):
        raise StateError("the input changed while it was being read")
    labels, cells, values, unit, _, _ = found
    shift = UNIT_BITS + (unit or 0)
    both = first = second = 0
    for row, column, value in zip(cells[0].tolist(), cells[1].tolist(), values, strict=True):
        weight = int(value) << shift
        true, called = labels[0][row] == 1, labels[1][column] == 1
        both += weight if true and called else 0
        first += weight if true else 0
        second += weight if called else 0
    return both, first, second


def _read_flags(batch: Batch, side: int) -> Array:
    batch.require_finite_side(side)
    table = batch.truth if side == 0 else batch.prediction
    odd = (table != 0) & (table != 1)
    if odd.any():
        row, column = (int(place[0]) for place in np.nonzero(odd))
        raise DomainError(
            argument=NAMES[side],
            expected="be a table of 0 and 1, one column per label",
            got=str(table[row, column].item()),
            place=batch.places.row(row, column),
        )
    return np.asarray(table == 1)


def _read_predictions(reads: PairsOf, batch: Batch) -> Array:
    kind = reads.target.kind
    if kind not in ("probability", "margin") and not (kind is None and batch.prediction.dtype.kind == "f"):
        return _read_flags(batch, 1)
    batch.require_finite_side(1)
    decision = reads.decision(0)
    predicted = [decide(batch.prediction[:, k], decision) for k in range(batch.prediction_columns)]
    if any(isinstance(column, list) for column in predicted):
        outside = ((batch.prediction < 0) | (batch.prediction > 1)).any(axis=1)
        fault = (1, "outside", int(np.count_nonzero(outside)), int(outside.argmax()))
        raise label_fault(batch, [fault], decided=True)
    return np.column_stack([np.frombuffer(column, np.uint8) == 1 for column in predicted])  # type: ignore[arg-type]


def _read_names(batch: Batch) -> list[Label] | None:
    """What both tables call their columns, where they do."""
    truth, predicted = batch.column_names
    if truth is not None and predicted is not None and truth != predicted and set(truth) == set(predicted):
        raise ShapeError(
            Text(
                "{y_true} and {y_pred} must have their columns in the same order; they are named {} and {}",
                show_labels(truth),
                show_labels(predicted),
            ),
            argument="y_true",
        )
    return as_names(truth or ())


def as_names(given: Sequence[object]) -> list[Label] | None:
    """Names that can be labels: all numbers or all strings, and no two alike."""
    names = [name for name in map(label_or_none, given) if name is not None]
    kinds = {isinstance(name, str) for name in names}
    return names if names and len(names) == len(given) == len(set(names)) and len(kinds) == 1 else None


class Indicators(FoldedState[PairsOf]):
    """Exact weights by label, of rows that are right in all labels, and of all rows."""

    __slots__ = ("labels", "names", "right", "total")
    exact = True

    def __init__(
        self,
        reads: PairsOf,
        columns: tuple[int, int] | None,
        n: int,
        labels: list[Flags],
        right: int,
        total: int,
        names: list[Label] | None = None,
    ) -> None:
        super().__init__(reads, columns, n)
        self.labels = labels
        self.right = right
        self.total = total
        self.names = names

    @property
    def weight(self) -> int:
        return self.total

    @property
    def entries(self) -> int:
        return 3 * len(self.labels)

    def counts(self) -> Counts:
        """The counts by label."""
        classes = self.reads.target.classes or self.names or range(len(self.labels))
        hits, truth, predicted = (list(side) for side in zip(*self.labels, strict=True))
        return Counts(
            classes,
            hits,
            truth,
            predicted,
            total=self.total,
            right=self.right,
            unit=-UNIT_BITS,
            single=False,
            target=self.reads.target,
        )

    def __add__(self, other: State) -> State:
        if not isinstance(other, State):
            return NotImplemented
        check_addable(self, other)
        if other.columns is None:
            return self
        if not isinstance(other, Indicators):
            raise StateError("tables of labels can only be added to tables of labels")
        if self.names != other.names:
            raise StateError(
                f"only tables with the same columns can be added; the columns are {self.names or 'unnamed'} and "
                f"{other.names or 'unnamed'}"
            )
        labels = [(a + d, b + e, c + f) for (a, b, c), (d, e, f) in zip(self.labels, other.labels, strict=True)]
        right, total = self.right + other.right, self.total + other.total
        return Indicators(self.reads, self.columns, self.n + other.n, labels, right, total, self.names)

    def fields(self) -> dict[str, Any]:
        return {
            "target": self.reads.target.keywords(),
            **self.reads.decision_fields(),
            "columns": [len(self.labels)] * 2,
            "n": self.n,
            "labels": [list(flags) for flags in self.labels],
            "right": self.right,
            "total": self.total,
            "names": None if self.names is None else list(self.names),
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Indicators:
        reads = PairsOf.from_fields(fields)
        labels = [(int(a), int(b), int(c)) for a, b, c in fields["labels"]]
        n, right, total = int(fields["n"]), int(fields["right"]), int(fields["total"])
        if [len(labels)] * 2 != list(map(int, fields["columns"])) or len(labels) < 2 or n < 1:
            raise StateError("the labels do not fit the tables")
        if not all(0 <= both <= min(a, b) <= max(a, b) <= total for both, a, b in labels) or not 0 <= right <= total:
            raise StateError("the weights do not add up")
        if reads.target.classes is not None and len(reads.target.classes) != len(labels):
            raise StateError("the labels do not fit the classes")
        names = None if fields["names"] is None else as_names(list(fields["names"]))
        if names != fields["names"] or (names is not None and len(names) != len(labels)):
            raise StateError("the names do not fit the labels")
        return cls(reads, (len(labels), len(labels)), n, labels, right, total, names)
