"""Labels as codes, and counts of pairs of labels: what the label states share when they read a batch.

One kernel of the core counts pairs, for classes and clusters alike. A batch remembers its count, so that many metrics
cost one pass. Labels and cells are sorted, which makes the bytes of a state a function of the rows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from tallymark._core import classes_present, count_pairs, read_margins
from tallymark._core import encode_labels as _encode_column
from tallymark.data.arguments import describe
from tallymark.data.arrays import Array, malformed_arrow_error
from tallymark.data.batch import NAMES, Batch
from tallymark.data.labels import Label, LabelColumn, normal_label
from tallymark.data.target import Target, show_labels
from tallymark.errors import (
    Argument,
    DomainError,
    InputError,
    LengthError,
    MissingValueError,
    ParameterError,
    ShapeError,
    TallymarkError,
    Text,
    TypeOfDataError,
)
from tallymark.states.base import UNIT_BITS, exact_total

Fault = tuple[int, str, int, int]  # side, fault, how many rows, the first of them

# Faults that hide others come first: mixed types before fractions, missing values before everything.
_ORDER = ("malformed", "missing", "unreadable", "mixed", "outside", "sum", "fractional")


def label_fault(batch: Batch, faults: list[Fault], *, decided: bool, labels: bool = True) -> InputError:
    """The error for the first fault.

    `decided` says that predictions were read as probabilities or margins, `labels` that they could be labels as well.
    """
    side, fault, count, row = min(faults, key=lambda f: (_ORDER.index(f[1]), f[0]))
    name = batch.names[side]
    if fault == "malformed":  # and not to be shown
        return malformed_arrow_error(Argument(name), batch.places.row(row))
    place, shown = batch.places.first_of(count, row), _shown(batch, side, row)
    if fault == "missing":
        return MissingValueError(
            argument=name,
            expected="be finite" if decided and side == 1 else "have a label in every row",
            got=shown,
            place=place,
            hint=Text('Pass {missing="drop"} to drop such rows'),
        )
    several = batch.prediction_columns > 1 and batch.truth_columns == 1
    if fault == "outside":
        other = Text("")
        if several:
            other = Text("{normalize=True} to divide each row by its sum, ")
        elif labels:
            other = Text('{kind="label"} if they are labels, ')
        return DomainError(
            argument="y_pred",
            expected="contain probabilities in [0, 1]",
            got=shown,
            place=place,
            hint=Text('Pass {}{kind="margin"} if they are margins', other),
        )
    if fault == "sum":
        return DomainError(
            argument="y_pred",
            expected="contain probabilities that sum to 1 in every row",
            got=shown,
            place=place,
            hint=Text(
                'Pass {normalize=True} to divide each row by its sum, unless that is 0, or {kind="margin"} for margins'
            ),
        )
    if fault == "fractional":
        return DomainError(argument=name, expected="contain labels (integers or strings)", got=shown, place=place)
    if fault == "mixed":
        return TypeOfDataError(
            argument=name,
            expected="contain numbers or strings, not both",
            got=f"{_shown(batch, side, 0)} and {shown}",
            place=f"{batch.places.row(0)} and {batch.places.row(row)}",
        )
    return TypeOfDataError(
        argument=name,
        expected="contain labels (numbers or strings)",
        got=describe(batch.item(side, row)),
        place=place,
    )


def _shown(batch: Batch, side: int, row: int) -> str:
    item = batch.item(side, row)
    try:
        text = repr(item)
    except Exception:  # it is only to be shown
        return describe(item)
    return text if len(text) <= 60 else text[:57] + "..."


_BOTH_SIDES = Text("{y_true} and {y_pred}")
_EMPTY = np.empty(0, np.int64)
_MOST_NAMED = 1000  # classes whose columns are compared with them by name

Labels = tuple[list[Label], list[Label]]
CellCodes = tuple[Array, Array]
Values = Array | list[int]


class CountedPairs(NamedTuple):
    """Labels of both sides, cells, and their values: counts if there is no unit, else weights in units of 2**unit."""

    labels: Labels
    cells: CellCodes
    values: Values
    unit: int | None = None
    whole: bool = True  # every weight is a number of rows
    rows: int = 0


# Threshold, if predictions are margins, normalize, column of the positive class, whether the threshold is a margin
Decision = tuple[float, bool, bool, int, bool]


def count_label_pairs(
    truth: Any, prediction: Any, weights: Array | None, fractions: bool, decision: Any
) -> CountedPairs | list[tuple[int, str, int, int]] | None:
    """The core's count: labels, cells, values and their unit (None: counts); faults; or None for a bad weight."""
    with wrap_label_errors(_BOTH_SIDES):
        found = count_pairs(truth, prediction, weights, fractions, decision, normal_label)
    if not isinstance(found, tuple):
        return found
    y, p, rows, columns, values, n = found
    cells = (np.frombuffer(rows, np.int64), np.frombuffer(columns, np.int64))
    if isinstance(values, bytes):
        return CountedPairs((y, p), cells, np.frombuffer(values, np.int64), rows=n)
    weighed, unit, whole = cast(tuple[list[Any], int | None, bool], values)
    if unit is None:  # weights too far apart for a common unit: each comes with its own
        weighed = [exact_total(*raw) for raw in weighed]
        unit = -UNIT_BITS
    return CountedPairs((y, p), cells, *reduce_weights(weighed, unit), whole, n)


class wrap_label_errors:  # noqa: N801
    """Labels and Arrow data may run code of their own: whatever it raises becomes an error of ours."""

    # A class, since a generator would take as long as a hundred rows.

    __slots__ = ("_who",)

    def __init__(self, who: str | Text) -> None:
        self._who = who

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, (TallymarkError, MemoryError)):
            raise _unreadable(error, self._who) from error


def _unreadable(error: Exception, who: str | Text) -> TypeOfDataError:
    if isinstance(error, UnicodeDecodeError):
        return TypeOfDataError(Text("byte strings in {} must be valid UTF-8; got {}", who, repr(error.object)))
    return TypeOfDataError(
        Text("{} must contain numbers or strings: {}", who, error if type(error) is ValueError else describe(error))
    )


def read_pairs(
    batch: Batch, classes: Sequence[Label] | None, *, fractions: bool = False, decision: Decision | None = None
) -> CountedPairs:
    """The counted pairs of a batch. A decision makes labels of numbers: places among the classes, if there are any."""
    truth = batch.truth_labels
    if decision is not None:
        held = batch.prediction
        threshold, margin, *others = decision
        if (
            margin
            and not others[-1]
            and batch.prediction_columns == 1
            and (found := probabilities_of(batch)) is not None
        ):
            held, decision = found, (threshold, False, *decision[2:])
        return _count(batch, truth, LabelColumn(held, "integer", classes), fractions, decision)
    prediction = batch.prediction_labels
    key = ("pairs", fractions and "real" in (truth.type, prediction.type))  # classes and clusters share one count
    if key not in batch.memo:
        batch.memo[key] = _count(batch, truth, prediction, fractions, None)
    counted: CountedPairs = batch.memo[key]
    return counted


def _count(
    batch: Batch, truth: LabelColumn, prediction: LabelColumn, fractions: bool, decision: Decision | None
) -> CountedPairs:
    found = count_label_pairs(truth.source, prediction.source, batch.weights, fractions, decision)
    if found is None:
        batch.require_weights()
        raise InputError("the weights changed while they were being read")
    if isinstance(found, list):
        raise label_fault(batch, found, decided=decision is not None)
    if found.rows != batch.n:
        raise LengthError(
            Text("{y_true} and {y_pred} must have {} rows; their labels were {}", batch.n, found.rows),
            argument="y_true",
        )
    for side, names in enumerate((truth.names, prediction.names)):
        found = found if names is None else _rename(found, side, names)
    return found


def encode_labels(batch: Batch, side: int, *, fractions: bool = False) -> tuple[list[Label], Array]:
    """The distinct labels in order, and the place of each row's label among them."""
    column = batch.labels(side)
    with wrap_label_errors(Argument(batch.names[side])):
        found = _encode_column(column.source, fractions, normal_label)
    if isinstance(found, list):
        raise label_fault(batch, [(side, *fault[1:]) for fault in found], decided=False)
    labels, codes = found[0], np.frombuffer(found[1], np.int64)
    if len(codes) != batch.n:
        raise LengthError(
            Text("{} must have {} rows; its labels were {}", Argument(batch.names[side]), batch.n, len(codes)),
            argument=batch.names[side],
        )
    if column.names is None:
        return labels, codes
    named = [column.names[int(place)] for place in labels]
    fresh = sorted(set(named))
    index = {label: k for k, label in enumerate(fresh)}
    return fresh, np.array([index[label] for label in named], np.int64)[codes]


def reduce_weights(values: list[int], unit: int) -> tuple[list[int], int]:
    """The same weights in the largest unit that divides them all, so that equal weights look the same."""
    together = 0
    for value in values:
        together |= value
    shift = (together & -together).bit_length() - 1
    return ([value >> shift for value in values], unit + shift) if shift > 0 else (values, unit if together else 0)


def _rename(counted: CountedPairs, side: int, names: Sequence[Label]) -> CountedPairs:
    """Places in a list of names become the names, in their order; equal names become one."""
    labels, cells = list(counted.labels), list(counted.cells)
    found = [names[int(place)] for place in labels[side]]
    labels[side] = fresh = sorted(set(found))
    renamed = (labels[0], labels[1])
    if found == fresh:
        return counted._replace(labels=renamed)
    index = {label: k for k, label in enumerate(fresh)}
    cells[side] = np.array([index[label] for label in found], np.int64)[cells[side]]
    moved, values = combine_cells((cells[0], cells[1]), counted.values, len(labels[1]))
    return counted._replace(labels=renamed, cells=moved, values=values)


def combine_cells(cells: CellCodes, values: Values, width: int) -> tuple[CellCodes, Values]:
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


def counted_cells(labels: Labels, table: Array) -> CountedPairs:
    """The counts of all pairs of labels, line by line, as counted pairs: labels and pairs that do not occur are left
    out."""
    found = np.flatnonzero(table)
    cells, present = [], []
    for side, places in enumerate(_split(found, len(labels[1]))):
        seen, moved = np.unique(places, return_inverse=True)
        cells.append(moved.astype(np.int64))
        present.append([labels[side][k] for k in seen.tolist()])
    return CountedPairs((present[0], present[1]), (cells[0], cells[1]), table[found])


def _split(keys: Array, width: int) -> CellCodes:
    return keys // max(width, 1), keys % max(width, 1)


def labels_with_weight(batch: Batch, labels: list[Label], codes: Array) -> list[Label]:
    """Those of the labels whose rows weigh something."""
    if batch.weights is None:
        return labels
    return [labels[k] for k in np.unique(codes[np.asarray(batch.weights) > 0])]


def column_classes(target: Target, batch: Batch, seen: Sequence[Label] | None = None) -> Sequence[Label]:
    """The class of each column of predictions: as `classes` says, or the sorted labels of the truth."""
    columns = batch.prediction_columns
    classes: Sequence[Label] | None = target.classes
    if classes is None and not batch.whole:
        raise ParameterError(
            argument="classes",
            expected=f"be given for predictions of {columns} columns that arrive in batches: a batch may "
            "lack some of the classes",
        )
    if classes is None:
        classes = labels_with_weight(batch, *encode_labels(batch, 0)) if seen is None else seen
        if len(classes) != columns:
            raise ParameterError(
                argument="classes",
                expected=Text(
                    "be given: {y_pred} has {} columns, and the truth has {} class{} ({})",
                    columns,
                    len(classes),
                    "es" * (len(classes) != 1),
                    show_labels(classes),
                ),
            )
    if len(classes) != columns:
        raise ShapeError(
            argument="y_pred",
            expected="have one column per class",
            got=Text("{} for {} {classes}", columns, len(classes)),
        )
    names = batch.column_names[1]
    if names is not None and not _fits(names, classes):
        raise ParameterError(
            argument="classes",
            expected=Text("be in the order of the columns of {y_pred}, which are named {}", show_labels(names)),
            got=f"{show_labels(classes)}{('' if target.classes else ', the sorted labels of the truth')}",
            hint=None
            if target.classes
            else Text("Order the columns like this, or pass {classes} in the order of the columns"),
        )
    return classes


def _fits(names: Sequence[object], classes: Sequence[Label]) -> bool:
    """Whether names of columns do not say another order of the classes, be it as `p_yes` and `p_no` for yes and no."""
    if len(classes) > _MOST_NAMED or list(names) == list(classes):
        return True
    meant = [[k for k, label in enumerate(classes) if _names(name, label)] for name in names]
    order = [places[0] for places in meant if len(places) == 1]
    return sorted(order) != list(range(len(classes))) or order == sorted(order)


def _names(name: object, label: Label) -> bool:
    if not isinstance(name, str):
        return name == label
    before = name.removesuffix(str(label))
    return len(before) < len(name) and not before[-1:].isalnum()


def class_places(target: Target, batch: Batch) -> tuple[Sequence[Label], Array]:
    """The class of each column of predictions, and the column of each row's true class; weights must be good."""
    key = ("places", target)
    if key not in batch.memo:
        labels, places = _places_as_they_are(target, batch) or encode_labels(batch, 0)
        seen = labels_with_weight(batch, labels, places)
        classes = column_classes(target, batch, seen)
        check_classes([seen], classes)
        if list(classes) != labels:
            index = {label: k for k, label in enumerate(classes)}
            # Rows of weight zero may have labels that are no class; what they add is nothing.
            places = np.array([index.get(label, 0) for label in labels], np.int64)[places]
        batch.memo[key] = classes, places
    found: tuple[Sequence[Label], Array] = batch.memo[key]
    return found


def _places_as_they_are(target: Target, batch: Batch) -> tuple[list[Label], Array] | None:
    """Whole numbers that count the columns from 0, which need no looking up; None where the truth is anything else."""
    source, columns = batch.truth_labels.source, batch.prediction_columns
    if type(source) is not np.ndarray or source.dtype.kind not in "iu" or batch.truth_labels.names is not None:
        return None
    in_core = batch.weights is None and target.classes in (None, tuple(range(columns)))
    # Only the core checks places while it reads them: what NumPy indexes by is a copy, which nobody else can change.
    # Rows that came over a network may lie anywhere.
    places = np.require(source, np.int64, ["C", "A"]) if in_core else np.array(source, np.int64)
    found = classes_present(places, columns)
    if found is None or not (all(found) or target.classes == tuple(range(columns))):
        return None
    return list(range(columns)), places


def check_classes(labels: Sequence[Sequence[Label]], classes: Sequence[Label]) -> None:
    """Require labels that are among the classes."""
    known = set(classes)
    for side, seen in enumerate(labels):
        stray = [label for label in seen if label not in known]
        if stray:
            raise DomainError(
                argument=NAMES[side],
                expected=Text("contain only labels from {classes}"),
                got=Text("{}, and {classes} are {}", show_labels(stray), show_labels(classes)),
            )


def check_same_type(labels: Labels, *, named: bool = False) -> None:
    """Reject numbers on one side and strings on the other; `named` says that `classes` named the predictions."""
    texts = [isinstance(side[0], str) for side in labels if side]
    if len(set(texts)) < 2:
        return
    held = ["strings" if text else "numbers" for text in texts]
    if named:
        raise ParameterError(
            Text(
                "{classes} must have the same type as the labels of {y_true}; {classes} contains {} (such as {}), "
                "and {y_true} {} (such as {})",
                held[1],
                repr(labels[1][0]),
                held[0],
                repr(labels[0][0]),
            ),
            argument="classes",
        )
    raise TypeOfDataError(
        Text(
            "{y_true} and {y_pred} must both contain numbers or both contain strings; {y_true} "
            "contains {} (such as {}) and {y_pred} {} (such as {})",
            held[0],
            repr(labels[0][0]),
            held[1],
            repr(labels[1][0]),
        ),
        argument="y_true",
    )


def probabilities_of(batch: Batch) -> Array | None:
    """What the sigmoid makes of the predictions of one column; None if they are not all finite."""
    if "sigmoid" not in batch.memo:
        out = np.empty((1, batch.n))
        batch.memo["sigmoid"] = out[0] if read_margins(batch.prediction, out) else None
    found: Array | None = batch.memo["sigmoid"]
    return found
