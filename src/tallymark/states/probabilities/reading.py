"""From rows to probabilities: what the probability states share when they read a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tallymark._core import Tasks, read_probabilities
from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.labels import Label
from tallymark.data.target import ANY_TARGET, Target
from tallymark.errors import DomainError, InputError, KindError, ParameterError, ShapeError, Text
from tallymark.states.base import UNIT_BITS
from tallymark.states.labels.counts import name_decisions
from tallymark.states.labels.encoding import (
    check_classes,
    class_places,
    encode_labels,
    label_fault,
    labels_with_weight,
    probabilities_of,
)
from tallymark.states.scores.scores import check_truth, outside_fault, positive_column
from tallymark.states.sums import CODES, Entry, Task, run_tasks

# The core's numbers for what can be asked of a row of several probabilities.
POSITIVE, HAPPENED, BRIER, RANKED, TOP, RIGHT = range(6)

_CHECKS: list[Task] = [(CODES["soft_truth"], 0.0, 0, 0), (CODES["lowest_prediction"], 0.0, 0, 0)]


class BinaryProbabilities(NamedTuple):
    """What one column of probabilities gave: the truth as 0 and 1, its labels, and what the tasks found."""

    truth: Array
    labels: tuple[Label, ...]
    soft: int  # rows whose truth is a probability itself
    entries: list[Entry]


def with_checks(tasks: Sequence[Task]) -> Tasks:
    """Tasks for `total_binary`."""
    return Tasks([*_CHECKS, *tasks])


_ONLY_CHECKS = with_checks([])


def check_kind(batch: Batch, target: Target) -> None:
    """Reject predictions that are labels, by their type; tables of truth; and `normalize` of one column."""
    if batch.truth_columns > 1:
        raise ShapeError(argument="y_true", expected="be one label per row", got=f"{batch.truth_columns} columns")
    one = batch.prediction_columns == 1
    if target.kind is None:
        prediction_type = batch.prediction_labels.type if one else _TYPES.get(batch.prediction.dtype.kind, "integer")
        if prediction_type != "real":
            shown = {"text": "strings", "integer": "whole numbers", "boolean": "bools"}[prediction_type]
            raise KindError(
                argument="y_pred",
                expected="contain probabilities, as floats",
                got=f"{shown}, which are read as labels and carry no confidence",
                hint=Text(
                    "Pass the probabilities, such as those of predict_proba{}",
                    "" if prediction_type == "text" else Text(', or {kind="probability"} if these are probabilities'),
                ),
            )
    if one and target.normalize:
        raise ParameterError(
            Text("{normalize} applies to probabilities in several columns; {y_pred} has one column"),
            argument="normalize",
        )


_TYPES = {"f": "real", "b": "boolean"}


def total_binary(batch: Batch, target: Target, tasks: Tasks) -> BinaryProbabilities:
    """The totals over one column of probabilities, all checked."""
    plain = _plain_truth(batch, target)
    if plain is not None:
        found = _total(batch, target, tasks, plain)
        if not found.soft or (plain.dtype.kind == "f" and _allows_soft(target) and _within(found.entries[0])):
            return _checked(batch, target, found)
    batch.require_weights()
    labels, codes = encode_labels(batch, 0)
    seen = labels_with_weight(batch, labels, codes)
    check_truth(seen, target, one=True, labels=True)
    positive = 1 if target.positive is None else target.positive
    truth = np.array([label == positive for label in labels], bool)[codes]
    return _checked(batch, target, _total(batch, target, tasks, truth)._replace(labels=tuple(seen)))


def _plain_truth(batch: Batch, target: Target) -> Array | None:
    """The truth as numbers, if they may be 0 and 1 as they stand."""
    column = batch.truth_labels
    if column.type == "text" or column.names is not None or not (target.positive is None or target.positive == 1):
        return None
    try:
        return batch.truth
    except InputError:  # as labels it may be readable, or the fault is told better
        return None


def _total(batch: Batch, target: Target, tasks: Tasks, truth: Array) -> BinaryProbabilities:
    link = "sigmoid" if target.kind == "margin" else None
    found = run_tasks(tasks, batch, link, truth=truth)
    raw, shift, *_, lowest, highest = found[0]
    soft = int.from_bytes(raw, "little") << shift >> UNIT_BITS if raw else 0
    labels = tuple([k for k in (0, 1) if k in (lowest, highest)])
    return BinaryProbabilities(truth, labels, soft, found)


def _within(seen: Entry) -> bool:
    """Whether the values that a task has seen lie between 0 and 1; no values do."""
    lowest, highest = seen[-2:]
    return lowest > highest or (lowest >= 0.0 and highest <= 1.0)


def _allows_soft(target: Target) -> bool:
    return target.classes is None or set(target.classes) == {0, 1}


def _checked(batch: Batch, target: Target, found: BinaryProbabilities) -> BinaryProbabilities:
    """What was found, without the checks, if they are passed."""
    if target.kind != "margin" and not _within(found.entries[1]):
        raise outside_fault(batch) or InputError("the input changed while it was being read")
    if target.classes is not None:
        check_classes([found.labels], target.classes)
    return found._replace(entries=found.entries[2:])


def soft_fault(batch: Batch | None, count: int) -> InputError:
    """The error for a truth of probabilities, where labels are needed; without the row, where the rows are gone."""
    if batch is None:
        return DomainError(
            argument="y_true",
            expected="contain labels (integers or strings)",
            got=f"a fraction in {count:,} row{'s' * (count != 1)}",
        )
    truth = np.asarray(batch.truth)
    bad = (truth != 0) & (truth != 1)
    if batch.weights is not None:
        bad &= np.asarray(batch.weights) > 0
    return label_fault(batch, [(0, "fractional", count, int(bad.argmax()))], decided=False)


class ClassProbabilities(NamedTuple):
    """What several columns of probabilities gave: the classes of the columns, each row's place, and what was asked."""

    classes: Sequence[Label]
    places: Array
    positive: int  # of two classes, the place of the one that probabilities are about
    columns: Array  # one row per quantity


def read_probability_columns_of(batch: Batch, target: Target, wanted: Sequence[int]) -> ClassProbabilities:
    """What is wanted of every row; of two columns, the probability of the positive class."""
    batch.require_weights()
    classes, places = class_places(target, batch)
    positive = 0
    if len(classes) == 2:
        positive = positive_column(classes, target)
        wanted = [POSITIVE]
    out = np.empty((len(wanted), batch.n))
    margin = target.kind == "margin"
    faults = read_probabilities(batch.prediction, places, margin, target.normalize, positive, list(wanted), out)
    if faults and batch.weights is not None and {fault for _, fault, *_ in faults} <= {"outside", "sum"}:
        counted = np.asarray(batch.weights)[:, None] > 0  # other rows may have any predictions
        held = np.where(counted, batch.prediction, 1 / batch.prediction_columns)
        faults = read_probabilities(held, places, margin, target.normalize, positive, list(wanted), out)
    if faults:
        raise label_fault(batch, faults, decided=True)
    return ClassProbabilities(classes, places, positive, out)


class HingeLosses(NamedTuple):
    """What the margin of each row costs, the labels or classes as of probabilities, and how many truths are none."""

    losses: Array
    labels: tuple[Label, ...]
    soft: int


def read_hinge_losses(batch: Batch, target: Target) -> HingeLosses:
    """What the margins cost; of several columns, the margin is how far the true class is above the highest other."""
    check_kind(batch, target)
    batch.require_finite_side(1)
    margins = np.asarray(batch.prediction, np.float64)
    classes: Sequence[Label]
    if batch.prediction_columns == 1:
        found = total_binary(batch, target, _ONLY_CHECKS)
        truth, classes, soft = found.truth == 1, found.labels, found.soft
    else:
        batch.require_weights()
        (classes, truth), soft = class_places(target, batch), 0
    with np.errstate(over="ignore"):
        losses = np.minimum(hinge_losses(margins, truth), np.finfo(np.float64).max)
    return HingeLosses(losses, tuple(classes), soft)


def hinge_losses(margins: Array, truth: Array) -> Array:
    """The hinge loss of every row: of one column of margins and whether the row is positive, or of one column per class
    and the place of the true one."""
    if margins.ndim == 1:
        return np.asarray(np.maximum(1 - np.where(truth, margins, -margins), 0))
    rows, others = np.arange(len(margins)), margins.copy()
    others[rows, truth] = -np.inf
    return np.asarray(np.maximum(1 - (margins[rows, truth] - others.max(axis=1)), 0))


class ProbabilityOutcomes(NamedTuple):
    """One probability per row, and whether it came true: of the positive class, or of the largest of several."""

    truth: Array
    probability: Array
    labels: tuple[Label, ...]


def read_probability_outcomes(batch: Batch, target: Target) -> ProbabilityOutcomes:
    """The predicted probability and the outcome of every row."""
    check_kind(batch, target)
    if batch.prediction_columns > 1:
        several = read_probability_columns_of(batch, target, [TOP, RIGHT])
        truth = several.places == several.positive if len(several.classes) == 2 else several.columns[1]
        return ProbabilityOutcomes(truth, several.columns[0], tuple(several.classes))
    found = total_binary(batch, target, _ONLY_CHECKS)
    if found.soft:
        raise soft_fault(batch, found.soft)
    probability = batch.prediction
    if target.kind == "margin":
        known = probabilities_of(batch)
        if known is None:
            raise batch.fault()
        probability = known
    return ProbabilityOutcomes(found.truth, probability, found.labels)


def check_labels(labels: Sequence[Label], soft: int, target: Target) -> None:
    """Reject labels that, all rows seen, have no positive class."""
    if target is ANY_TARGET and all(label in (0, 1) for label in labels):
        return
    if soft and not all(label in (0, 1) for label in labels):
        raise ParameterError(
            Text(
                "{y_true} must be 0 and 1 in all rows where it is a probability in some; its labels were {}",
                ", ".join(map(repr, labels)),
            ),
            argument="y_true",
        )
    name_decisions(labels, target)
