"""From rows to counted pairs: what the label states share when they read a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from tallymark._core import count_pairs, encode_labels
from tallymark.arrays import Array, describe
from tallymark.batch import NAMES, Batch, Target, show_labels
from tallymark.errors import DomainError, InputError, LengthError, ParameterError, ShapeError, TypeOfDataError
from tallymark.labels import Label, normal_label
from tallymark.states.base import UNIT_BITS
from tallymark.states.label_faults import label_fault

_EMPTY = np.empty(0, np.int64)

Labels = tuple[list[Label], list[Label]]
Cells = tuple[Array, Array]
Values = Array | list[int]


Counted = tuple[Labels, Cells, Values, "int | None"]  # labels, cells, values and their unit; None: counts
Decision = tuple[float, bool, bool, int]  # threshold, margin, normalize, column of the positive class


def count_rows(
    truth: Any, prediction: Any, weights: Array | None, fractions: bool, decision: Any
) -> Counted | list[tuple[int, str, int, int]] | None:
    """The core's count: labels, cells, values and their unit (None: counts); faults; or None for a bad weight."""
    try:
        found = count_pairs(truth, prediction, weights, fractions, decision, normal_label)
    except MemoryError:
        raise
    except Exception as error:  # labels and Arrow data may run code of their own
        raise _unreadable(error) from error
    if not isinstance(found, tuple):
        return found
    y, p, rows, columns, values = found
    cells = (np.frombuffer(rows, np.int64), np.frombuffer(columns, np.int64))
    if isinstance(values, bytes):
        return (y, p), cells, np.frombuffer(values, np.int64), None
    weighed, unit = cast(tuple[list[Any], int | None], values)
    if unit is None:  # weights too far apart for a common unit: each comes with its own
        weighed = [int.from_bytes(raw, "little", signed=True) << shift for raw, shift in weighed]
        unit = -UNIT_BITS
    return (y, p), cells, *lowest_terms(weighed, unit)


def _unreadable(error: Exception) -> TypeOfDataError:
    if isinstance(error, UnicodeDecodeError):
        return TypeOfDataError(f"labels that are byte strings must be UTF-8; {error.object!r} is not")
    return TypeOfDataError(
        f"labels must be numbers or strings: {error if type(error) is ValueError else describe(error)}"
    )


def read_pairs(
    batch: Batch,
    prediction: Any,
    names: Sequence[Label] | None,
    *,
    fractions: bool = False,
    decision: Decision | None = None,
) -> Counted:
    """The counted pairs of a batch, whose predictions are given as the core reads them."""
    truth = batch.truth_labels
    found = count_rows(truth.source, prediction, batch.weights, fractions, decision)
    if found is None:
        batch.require_weights()
        raise InputError("the weights changed while they were being read")
    if isinstance(found, list):
        raise label_fault(batch, found, decided=decision is not None)
    labels, cells, values, unit = found
    if unit is None and int(values.sum()) != batch.n:  # type: ignore[union-attr]
        raise LengthError(f"`y_true` and `y_pred` must have {batch.n} rows; their labels were {int(values.sum())}")  # type: ignore[union-attr]
    if truth.names is not None:
        labels, cells, values = _rename(labels, cells, values, 0, truth.names)
    if names is not None:
        labels, cells, values = _rename(labels, cells, values, 1, names)
    return labels, cells, values, unit


def encode(batch: Batch, side: int, *, fractions: bool = False) -> tuple[list[Label], Array]:
    """The distinct labels in order, and the place of each row's label among them."""
    column = batch.labels(side)
    try:
        found = encode_labels(column.source, fractions, normal_label)
    except MemoryError:
        raise
    except Exception as error:  # labels and Arrow data may run code of their own
        raise _unreadable(error) from error
    if isinstance(found, list):
        raise label_fault(batch, [(side, *fault[1:]) for fault in found], decided=False)
    labels, codes = found[0], np.frombuffer(found[1], np.int64)
    if len(codes) != batch.n:
        raise LengthError(f"`{NAMES[side]}` must have {batch.n} rows; its labels were {len(codes)}")
    if column.names is None:
        return labels, codes
    named = [column.names[int(place)] for place in labels]
    fresh = sorted(set(named))
    index = {label: k for k, label in enumerate(fresh)}
    return fresh, np.array([index[label] for label in named], np.int64)[codes]


def lowest_terms(values: list[int], unit: int) -> tuple[list[int], int]:
    """The same weights in the largest unit that divides them all, so that equal weights look the same."""
    together = 0
    for value in values:
        together |= value
    shift = (together & -together).bit_length() - 1
    return ([value >> shift for value in values], unit + shift) if shift > 0 else (values, unit if together else 0)


def _rename(
    labels: Labels, cells: Cells, values: Values, side: int, names: Sequence[Label]
) -> tuple[Labels, Cells, Values]:
    """Places in a list of names become the names, in their order; equal names become one."""
    found = [names[int(place)] for place in labels[side]]
    fresh = sorted(set(found))
    if found == fresh:
        renamed = (fresh, labels[1]) if side == 0 else (labels[0], fresh)
        return renamed, cells, values
    index = {label: k for k, label in enumerate(fresh)}
    moved = np.array([index[label] for label in found], np.int64)[cells[side]]
    both = (moved, cells[1]) if side == 0 else (cells[0], moved)
    renamed = (fresh, labels[1]) if side == 0 else (labels[0], fresh)
    return renamed, *combine_cells(both, values, len(renamed[1]))


def combine_cells(cells: Cells, values: Values, width: int) -> tuple[Cells, Values]:
    """Cells in order, equal ones added up."""
    keys = cells[0] * max(width, 1) + cells[1]
    if isinstance(values, list):
        totals: dict[int, int] = {}
        for key, value in zip(keys.tolist(), values, strict=True):
            totals[key] = totals.get(key, 0) + value
        distinct = np.array(sorted(totals), np.int64)
        return _split(distinct, width), [totals[key] for key in distinct.tolist()]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else _EMPTY
    sums = np.add.reduceat(values[order], starts) if len(keys) else _EMPTY
    return _split(keys[starts], width), sums


def _split(keys: Array, width: int) -> Cells:
    return keys // max(width, 1), keys % max(width, 1)


def column_classes(target: Target, batch: Batch, seen: Sequence[Label] | None = None) -> Sequence[Label]:
    """The class of each column of predictions: as `classes` says, or the sorted labels of the truth."""
    columns = batch.prediction_columns
    classes: Sequence[Label] | None = target.classes
    if classes is None and not batch.whole:
        raise ParameterError(
            f"`classes` must be given for predictions of {columns} columns that come in pieces: one piece need not "
            "have all classes"
        )
    if classes is None:
        classes = encode(batch, 0)[0] if seen is None else seen
        if len(classes) != columns:
            raise ParameterError(
                f"`classes` must be given: `y_pred` has {columns} columns, and the truth has "
                f"{len(classes)} class{'es' * (len(classes) != 1)} ({show_labels(classes)})"
            )
    if len(classes) != columns:
        raise ShapeError(f"`y_pred` must have one column per class; it had {columns} for {len(classes)} `classes`")
    return classes


def check_classes(labels: Sequence[Sequence[Label]], classes: Sequence[Label]) -> None:
    """Refuse labels that are not among the classes."""
    known = set(classes)
    for side, held in enumerate(labels):
        stray = [label for label in held if label not in known]
        if stray:
            raise DomainError(
                f"`{NAMES[side]}` must hold labels of `classes` only; it held {show_labels(stray)}, and `classes` are "
                f"{show_labels(classes)}"
            )
