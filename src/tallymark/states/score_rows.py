"""From rows to scores: what the states of scores share when they read a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tallymark._core import read_probability_columns
from tallymark.arrays import Array
from tallymark.batch import Batch
from tallymark.errors import DomainError, InputError, ParameterError, ShapeError, Text
from tallymark.labels import Label
from tallymark.states.counts import find_positive, knows_positive
from tallymark.states.decisions import name_decisions
from tallymark.states.encoding import check_classes, class_places, column_classes, read_pairs
from tallymark.states.label_faults import label_fault
from tallymark.target import Target

MOST_INTEGER = 1 << 53
"""Whole numbers up to here are all float64s."""

_HIGHEST = float(np.finfo(np.float64).max)


def check_scores(batch: Batch, target: Target) -> None:
    """Refuse tables of truth, whole numbers that a float64 cannot tell apart, and what cannot be normalised."""
    if batch.truth_columns != 1:
        raise ShapeError(argument="y_true", expected="be one label per row", got=f"{batch.truth_columns} columns")
    if target.normalize and batch.prediction_columns == 1:
        raise ParameterError(
            Text("{normalize} divides the probabilities of several columns; {y_pred} held one column"),
            argument="normalize",
        )
    held = batch.prediction
    if held.dtype.kind in "iu" and held.dtype.itemsize == 8 and held.size:
        most = max(int(held.min()), int(held.max()), key=abs)
        if abs(most) > MOST_INTEGER:
            raise DomainError(
                argument="y_pred",
                expected="hold scores that float64 can tell apart, up to 2**53",
                got=f"{most}",
                hint="Subtract a constant, or pass ranks",
            )


def read_scores(batch: Batch, target: Target) -> Array:
    """One score per row: the column itself, or of two columns that of the positive class."""
    check_scores(batch, target)
    held = batch.prediction
    if batch.prediction_columns == 1:
        return held
    check_rows(batch, target)
    place = positive_column(column_classes(target, batch), target)
    if target.kind == "margin":
        return margin_between(held, place)
    if not target.normalize:
        return held[:, place]
    near_one = np.ldexp(held.astype(np.float64), -np.frexp(held.max(axis=1, keepdims=True))[1])  # no sum overflows
    return np.asarray(near_one[:, place] / (near_one[:, 0] + near_one[:, 1]))


def margin_between(table: Array, place: int) -> Array:
    """Of two columns of margins, how far the one at a place is above the other."""
    with np.errstate(over="ignore"):
        gap = table[:, place].astype(np.float64) - table[:, 1 - place]
    return np.clip(gap, -_HIGHEST, _HIGHEST)  # what overflows stays the highest or lowest there is


def positive_column(classes: Sequence[Label], target: Target) -> int:
    """Which of two columns is the positive class's; the second where nothing says it, and it does not matter."""
    if not knows_positive(classes, target):
        return 1
    place = find_positive(classes, target)
    return 1 if place is None else place


def check_rows(batch: Batch, target: Target, *, finite: bool = True) -> None:
    """Refuse rows of several columns that are not what a declared kind says."""
    if target.kind == "probability" or target.normalize:
        read_pairs(batch, None, decision=(0.5, False, target.normalize, 2, False))  # for what it refuses
    if finite:
        batch.require_finite_side(1)  # of two columns only one is sorted
    batch.require_weights()  # before classes go by them


def read_table(batch: Batch, target: Target) -> tuple[Sequence[Label], Array, Array]:
    """The classes of the columns, the place of each row's true class among them, and the scores."""
    check_scores(batch, target)
    check_rows(batch, target, finite=False)
    classes, places = class_places(target, batch)
    held = batch.prediction
    if target.kind == "margin":
        columns = np.empty((batch.prediction_columns, batch.n))
        faults = read_probability_columns(held, True, False, columns)
        if faults:
            raise label_fault(batch, faults, decided=True)
        return classes, places, columns.T
    return classes, places, shares(held) if target.normalize else held


def shares(table: Array) -> Array:
    """Every row divided by its sum. Sums go from the smallest up, so that the order of the columns does not show."""
    held = np.array(table, np.float64, order="C")
    held = np.ldexp(held, -np.frexp(held.max(axis=1, keepdims=True))[1])  # near 1 no sum overflows
    return np.asarray(held / np.sort(held, axis=1).sum(axis=1, keepdims=True))


def check_truth(seen: Sequence[Label], target: Target, *, one: bool, labels: bool) -> None:
    """Refuse labels that are no classes or, with `one` column of predictions, can never have a positive class, whatever
    rows come yet. `labels` says that the predictions could be labels as well."""
    if target.classes is not None:
        check_classes([seen], target.classes)
    if one and (len(seen) > 1 or (seen and isinstance(seen[0], str))):
        name_decisions(seen, target, labels=labels)


def check_probabilities(batch: Batch, target: Target) -> None:
    """Refuse one column of probabilities that are none."""
    if target.kind == "probability" and batch.prediction_columns == 1:
        fault = outside_fault(batch)
        if fault is not None:
            raise fault


def outside_fault(batch: Batch) -> InputError | None:
    """The error for one column of numbers that are no probabilities, if there are any of weight."""
    held = np.asarray(batch.prediction).reshape(-1)
    outside = ~((held >= 0) & (held <= 1))
    if batch.weights is not None:
        outside &= np.asarray(batch.weights) > 0
    count = int(np.count_nonzero(outside))
    if not count:
        return None
    return label_fault(batch, [(1, "outside", count, int(outside.argmax()))], decided=True, labels=False)
