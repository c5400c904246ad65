"""The pair counts state: how often each true label met each predicted one. Classes and clusters alike read it.

Its size goes with the distinct pairs: a handful for most classifiers, and never more than the rows.

Predictions of one probability per row are kept as yes or no until the state is read: only then all labels of the truth
are known, and with them the name of the negative class. So pieces that saw one class only still add up.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from tallymark._core import class_counts
from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.labels import Label
from tallymark.data.target import ANY_TARGET, Target
from tallymark.errors import DomainError, ShapeError, StateError, TypeOfDataError
from tallymark.states.base import UNIT_BITS, FoldedState, Reads, State, check_addable, check_label_types
from tallymark.states.labels.counts import LABELS, POSITIVE, Counts, decides, name_decisions, threshold_column
from tallymark.states.labels.counts import Cells as BinaryTable
from tallymark.states.labels.encoding import (
    CountedPairs,
    Decision,
    Labels,
    Values,
    check_classes,
    check_same_type,
    column_classes,
    combine_cells,
    counted_cells,
    encode_labels,
    read_pairs,
    reduce_weights,
)
from tallymark.states.resampling.draws import Draws
from tallymark.states.resampling.one_pass import resample_cells
from tallymark.states.serialization import (
    pack_labels,
    pack_weights,
    unpack_columns,
    unpack_labels,
    unpack_target,
    unpack_weights,
)

_MOST_UNIT = 2048  # weights are below 2**1024, and rows are fewer than that
_EMPTY = np.empty(0, np.int64)


class PairsOf(Reads):
    """Asks for pair counts of labels.

    Predictions of other kinds become labels as the target says; `threshold` is the probability from which on a row is
    called positive, or the margin with `by_margin`. With `clusters`, numbers of any type are labels, also fractions.
    """

    __slots__ = ("_hash", "by_margin", "clusters", "target", "threshold")

    def __init__(
        self,
        target: Target = ANY_TARGET,
        threshold: float = 0.5,
        *,
        clusters: bool = False,
        by_margin: bool = False,
    ) -> None:
        self.target = target
        self.threshold = threshold
        self.clusters = clusters
        self.by_margin = by_margin
        self._hash = hash((target, threshold, clusters, by_margin))

    @property
    def group(self) -> Hashable:
        return self

    def join(self, other: PairsOf) -> PairsOf:
        return self

    def zero(self) -> Pairs:
        return Pairs(self, None, LABELS, 0, CountedPairs(([], []), (_EMPTY, _EMPTY), _EMPTY))

    def fold(self, batch: Batch) -> State:
        if batch.n == 0:
            return self.zero()
        try:
            return self._fold(batch)
        except (DomainError, TypeOfDataError):
            rows = batch.without_zero_weights()  # the others must be present and no more
            if rows is batch or not rows.n:
                raise
            return self._fold(rows).with_row_count(batch.n)

    def _fold(self, batch: Batch) -> State:
        if batch.truth_columns > 1:
            return self._fold_table(batch)
        return self._count(batch, *self.label_rule(batch))

    def label_rule(self, batch: Batch) -> tuple[str, Sequence[Label] | None, Decision | None]:
        """How the predictions of a batch become labels: their form, the classes of columns, and the decision."""
        if not self._decides(batch):
            return LABELS, None, None
        if batch.prediction_columns == 1:
            return POSITIVE, None, self.decision(0)
        classes = column_classes(self.target, batch)
        return LABELS, classes, self.decision(threshold_column(classes, self.target, self.threshold, self.default))

    def resolved(self, batch: Batch | None, whole: State) -> PairsOf:
        if self.clusters or not isinstance(whole, Pairs):  # clusters have no classes, and tables have columns
            return self
        return PairsOf(self.target.with_classes(whole.classes()[0]), self.threshold, by_margin=self.by_margin)

    def replicates(self, batch: Batch, draws: Draws) -> Iterator[State | None]:
        found = self._row_cells(batch)
        tables = None if found is None else resample_cells(found[1], len(found[0][0]) * len(found[0][1]), draws)
        if found is None or tables is None:
            yield from super().replicates(batch, draws)
            return
        columns = (batch.truth_columns, batch.prediction_columns)
        form = POSITIVE if self._decides(batch) else LABELS
        for table in tables:
            yield Pairs(self, columns, form, int(table.sum()), counted_cells(found[0], table))

    def _row_cells(self, batch: Batch) -> tuple[Labels, Array] | None:
        """The labels of both sides and the cell of each row among their pairs; None where rows have weights, or it
        takes more than a comparison to decide."""
        decides = batch.truth_columns == 1 and self._decides(batch)
        if batch.non_unit_weights() is not None or max(batch.truth_columns, batch.prediction_columns) > 1:
            return None
        if decides and self.target.kind == "margin":
            return None
        truth, rows = encode_labels(batch, 0, fractions=self.clusters)
        if decides:
            positive = (np.asarray(batch.prediction, np.float64) >= self.threshold).astype(np.int64)
            return (truth, [0, 1]), rows * 2 + positive
        prediction, columns = encode_labels(batch, 1, fractions=self.clusters)
        return (truth, prediction), rows * len(prediction) + columns

    def decision(self, positive: int) -> Decision:
        """How numbers become labels, given the column of the positive class."""
        return (self.threshold, self.target.kind == "margin", self.target.normalize, positive, self.by_margin)

    @property
    def default(self) -> float:
        """The threshold at which the larger of two columns decides."""
        return 0.0 if self.by_margin else 0.5

    def _decides(self, batch: Batch) -> bool:
        return not self.clusters and decides(batch, self.target)

    def _fold_table(self, batch: Batch) -> State:
        from tallymark.states.labels.indicators import fold_indicators  # which counts columns by means of this file

        if self.clusters:
            raise ShapeError(argument="y_true", expected="be one label per row", got=f"{batch.truth_columns} columns")
        return fold_indicators(self, batch)

    def _count(self, batch: Batch, form: str, classes: Sequence[Label] | None, decision: Decision | None) -> Pairs:
        counted = read_pairs(batch, classes, fractions=self.clusters, decision=decision)
        truth = counted.labels[0]
        if form == LABELS and not self.clusters:  # clusters have names on either side, of any type
            check_same_type(counted.labels, named=classes is not None)
        if form == POSITIVE and (len(truth) > 1 or (truth and isinstance(truth[0], str))):
            name_decisions(truth, self.target)  # what can never be read is refused at once
        if self.target.classes is not None:
            check_classes(
                _classed(counted.labels, self.target) if form == LABELS else counted.labels[:1], self.target.classes
            )
        return Pairs(self, (batch.truth_columns, batch.prediction_columns), form, batch.n, counted)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, PairsOf)
            and (self.threshold, self.clusters, self.by_margin) == (other.threshold, other.clusters, other.by_margin)
            and self.target == other.target
        )

    def __hash__(self) -> int:
        return self._hash

    def decision_fields(self) -> dict[str, Any]:
        """The threshold as the byte format writes it."""
        return {"threshold": self.threshold, **({"by_margin": True} if self.by_margin else {})}

    @classmethod
    def from_fields(cls, fields: dict[str, Any], *, clusters: bool = False) -> PairsOf:
        """The declaration of a state, from what the byte format wrote."""
        target, threshold, by_margin = (
            unpack_target(fields["target"]),
            float(fields["threshold"]),
            fields.get("by_margin"),
        )
        if by_margin is not None and (by_margin is not True or target.kind != "margin"):
            raise StateError("only a threshold of margins is a margin")
        if not (math.isfinite(threshold) if by_margin else 0 <= threshold <= 1):
            raise StateError("the threshold must be a probability, or a margin of margins")
        return cls(target, threshold, clusters=clusters, by_margin=bool(by_margin))

    def __repr__(self) -> str:
        flags = "".join(f", {name}=True" for name in ("clusters", "by_margin") if getattr(self, name))
        return f"PairsOf({self.target!r}, {self.threshold}{flags})"


class Pairs(FoldedState[PairsOf]):
    """How often each true label met each predicted one, by count or by exact weight.

    `labels` are those of truth and prediction, sorted; `cells` the places of the pairs that occur, in order; `values`
    their counts, or weights in units of 2**unit. `whole_weights` says that every row had a whole weight.
    """

    __slots__ = (
        "_counts",
        "_sizes",
        "cells",
        "form",
        "labels",
        "unit",
        "values",
        "whole_weights",
    )
    size = "distinct pairs"
    exact = True

    def __init__(
        self, reads: PairsOf, columns: tuple[int, int] | None, form: str, n: int, counted: CountedPairs
    ) -> None:
        super().__init__(reads, columns, n)
        self.form = form
        self.labels, self.cells, self.values, self.unit, self.whole_weights, _ = counted
        self._counts: Counts | None = None
        self._sizes: tuple[list[int], list[int]] | None = None

    @classmethod
    def of_table(cls, table: BinaryTable, unit: int) -> Pairs:
        """The state of a binary table of weights in units of 2**unit. The labels are 0 and 1."""
        tp, fp, fn, tn = table
        cells = [(t, p, value) for t, p, value in ((0, 0, tn), (0, 1, fp), (1, 0, fn), (1, 1, tp)) if value]
        sides = [sorted({cell[side] for cell in cells}) for side in (0, 1)]
        places = [np.array([sides[k].index(cell[k]) for cell in cells], np.int64) for k in (0, 1)]
        values, unit = reduce_weights([cell[2] for cell in cells], unit)
        labels: Labels = (list(sides[0]), list(sides[1]))
        counted = CountedPairs(labels, (places[0], places[1]), values, unit, unit >= 0)
        return cls(PairsOf(), (1, 1), LABELS, len(cells), counted)

    @property
    def weight(self) -> int:
        if self.unit is None:
            return self.n << UNIT_BITS
        return sum(self.values) << (UNIT_BITS + self.unit)

    @property
    def entries(self) -> int:
        return len(self.values)

    def with_reads(self, reads: PairsOf) -> Pairs:
        counted = CountedPairs(self.labels, self.cells, self.values, self.unit, self.whole_weights)
        return Pairs(reads, self.columns, self.form, self.n, counted)

    def whole(self) -> list[int] | None:
        """The values as whole numbers of rows; None where a weight is a fraction."""
        if self.unit is None:
            return self.values.tolist()  # type: ignore[union-attr,no-any-return]
        return None if self.unit < 0 else [value << self.unit for value in self.values]

    def sizes(self) -> tuple[list[int], list[int]]:
        """The weight of every true and every predicted label."""
        if self._sizes is None:
            places = [range(len(side)) for side in self.labels]
            _, truth, predicted = self._sums(places[0], places[1], max(map(len, places)))
            self._sizes = (truth[: len(places[0])], predicted[: len(places[1])])
        return self._sizes

    def _sums(
        self, of_truth: Sequence[int], of_prediction: Sequence[int], classes: int
    ) -> tuple[list[int], list[int], list[int]]:
        """The weight of what is right, what is true and what was predicted, by class; given the class of each label."""
        if self.unit is None:
            return class_counts(*self.cells, self.values, _places(of_truth), _places(of_prediction), classes)
        hits, truth, predicted = ([0] * classes for _ in range(3))
        for row, column, value in zip(*map(Array.tolist, self.cells), self.values, strict=True):
            true, called = of_truth[row], of_prediction[column]
            truth[true] += value
            predicted[called] += value
            if true == called:
                hits[true] += value
        return hits, truth, predicted

    def classes(self) -> tuple[Sequence[Label], Sequence[int], Sequence[int]]:
        """All classes in order, and the place among them of each true and each predicted label; behind them all where
        that label stands for no prediction."""
        truth, prediction = self.labels
        target = self.reads.target
        if self.form == POSITIVE:
            names = name_decisions(truth, target)
            prediction = [names[int(positive)] for positive in prediction]
        if target.classes is not None:
            classes: Sequence[Label] = target.classes
        elif truth == prediction:
            places = range(len(truth))
            return truth, places, places
        else:
            classes = sorted({*truth, *prediction} - {target.unanswered})
        index = {label: k for k, label in enumerate(classes)}
        if target.unanswered is not None:
            index.setdefault(target.unanswered, len(classes))
        return classes, [index[label] for label in truth], [index[label] for label in prediction]

    def counts(self) -> Counts:
        """The counts by class."""
        if self._counts is None:
            classes, of_truth, of_prediction = self.classes()
            size = len(classes)
            answered = self.reads.target.unanswered is None
            hits, truth, predicted = self._sums(of_truth, of_prediction, size if answered else size + 1)
            self._counts = Counts(
                classes,
                hits[:size],
                truth[:size],
                predicted[:size],
                total=sum(truth),
                right=sum(hits),
                unit=self.unit or 0,
                single=True,
                target=self.reads.target,
            )
        return self._counts

    def __add__(self, other: State) -> State:
        if not isinstance(other, State):
            return NotImplemented
        check_addable(self, other)
        if self.columns is None:
            return other
        if other.columns is None:
            return self
        if not isinstance(other, Pairs) or self.form != other.form:
            raise StateError("all predictions must be of one kind; some are labels, others probabilities or margins")
        return self._plus(other)

    def _plus(self, other: Pairs) -> Pairs:
        firsts = [[*self.labels[side][:1], *other.labels[side][:1]] for side in (0, 1)]
        _check_mergeable((firsts[0], firsts[1]), together=self.form == LABELS and not self.reads.clusters)
        labels: Labels = ([], [])
        moved = []
        for side in (0, 1):
            mine, theirs = self.labels[side], other.labels[side]
            labels[side].extend(mine if mine == theirs else sorted({*mine, *theirs}))
            index = {label: k for k, label in enumerate(labels[side])}
            for state in (self, other):
                places = np.array([index[label] for label in state.labels[side]], np.int64)
                moved.append(places[state.cells[side]])
        cells = (np.concatenate(moved[:2]), np.concatenate(moved[2:]))
        unit = None
        if self.unit is None and other.unit is None:
            values: Values = np.concatenate((self.values, other.values))
        else:
            unit = min(self.unit or 0, other.unit or 0)
            values = [*self.scaled(unit), *other.scaled(unit)]
        cells, values = combine_cells(cells, values, len(labels[1]))
        if unit is not None:
            values, unit = reduce_weights(values, unit)  # type: ignore[arg-type]
        counted = CountedPairs(labels, cells, values, unit, self.whole_weights and other.whole_weights)
        return Pairs(self.reads, self.columns, self.form, self.n + other.n, counted)

    def scaled(self, unit: int) -> list[int]:
        """The values in units of 2**unit, none larger than their own."""
        if self.unit is None:
            return [value << -unit for value in self.values.tolist()]  # type: ignore[union-attr]
        return [value << (self.unit - unit) for value in self.values]

    def fields(self) -> dict[str, Any]:
        return {
            "target": self.reads.target.keywords(),
            **self.reads.decision_fields(),
            "clusters": self.reads.clusters,
            "columns": None if self.columns is None else list(self.columns),
            "form": self.form,
            "n": self.n,
            "labels": [pack_labels(side) for side in self.labels],
            "cells": list(self.cells),
            "values": self.values if self.unit is None else pack_weights(self.values),  # type: ignore[arg-type]
            "unit": self.unit,
            "whole": self.whole_weights,
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Pairs:
        reads = PairsOf.from_fields(fields, clusters=bool(fields["clusters"]))
        labels = (unpack_labels(fields["labels"][0]), unpack_labels(fields["labels"][1]))
        rows, columns = fields["cells"]
        unit = None if fields["unit"] is None else int(fields["unit"])
        values: Any = fields["values"] if unit is None else unpack_weights(fields["values"])
        shape = unpack_columns(fields["columns"])
        if not rows.ndim == columns.ndim == 1 or not rows.dtype == columns.dtype == np.int64:
            raise StateError("cells must be lists of places")
        if not len(rows) == len(columns) == len(values) or (unit is None and values.dtype != np.int64):
            raise StateError("cells and values differ in length or type")
        for places, side in ((rows, labels[0]), (columns, labels[1])):
            if not np.array_equal(np.unique(places), np.arange(len(side))):
                raise StateError("cells and labels do not fit")
        keys = rows * max(len(labels[1]), 1) + columns
        if (np.diff(keys) <= 0).any() or any(value <= 0 for value in values):
            raise StateError("cells must be in order, and their values positive")
        n = int(fields["n"])
        if n < len(values) or (unit is None and n != sum(values.tolist())):
            raise StateError("the rows do not add up")
        if unit is not None and (values, unit) != reduce_weights(values, unit):
            raise StateError("weights must be in lowest terms")
        if unit is not None and not -UNIT_BITS <= unit <= _MOST_UNIT:
            raise StateError("no weights have this unit")
        if fields["form"] not in (LABELS, POSITIVE) or (shape is None) != (n == 0):
            raise StateError("the predictions have an unknown form")
        if shape is not None and (shape[0] != 1 or shape[1] < 1):
            raise StateError("there is one column of truth, and one or more of predictions")
        if not reads.clusters and any(isinstance(label, float) for side in labels for label in side):
            raise StateError("labels must be whole numbers or strings")
        if reads.target.classes is not None:
            given = _classed(labels, reads.target) if fields["form"] == LABELS else labels[:1]
            check_classes(given, reads.target.classes)
        if fields["form"] == POSITIVE and not set(labels[1]) <= {0, 1}:
            raise StateError("decisions must be 0 or 1")
        _check_mergeable(labels, together=fields["form"] == LABELS and not reads.clusters)
        whole = fields["whole"]
        if not isinstance(whole, bool) or (not whole and unit is None) or (whole and unit is not None and unit < 0):
            raise StateError("weights are whole or not")
        return cls(reads, shape, fields["form"], n, CountedPairs(labels, (rows, columns), values, unit, whole))


def _places(places: Sequence[int]) -> Array | None:
    return None if isinstance(places, range) else np.array(places, np.int64)


def _classed(labels: Labels, target: Target) -> Labels:
    """The labels that must be classes."""
    return labels[0], [label for label in labels[1] if label != target.unanswered or label is None]


def _check_mergeable(labels: Labels, *, together: bool) -> None:
    kinds = [{isinstance(label, str) for label in side} for side in labels]
    for each in [set.union(*kinds)] if together else kinds:
        check_label_types(each)
