"""Batch: the one place where rows are validated."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arguments import check_choice
from tallymark.data.arrays import (
    READABLE,
    Array,
    as_array,
    as_numbers,
    count_columns,
    count_rows,
    find_rounded_integer,
    is_nested,
    names_of,
    only_column,
    rounded_integer_error,
    to_numpy,
    wrap_read_errors,
)
from tallymark.data.labels import LabelColumn, as_labels, normal_label, plain_labels
from tallymark.errors import (
    Argument,
    EmptyError,
    InputError,
    LengthError,
    MissingValueError,
    ShapeError,
    Text,
    WeightError,
    brief,
)


def read_rows(source: object, name: str) -> tuple[Any, int, int, list[object] | None]:
    """The source if it can be read in place, else its array; how many rows and columns it has, and their names."""
    if type(source) is np.ndarray:
        source = source.view()  # whose shape and type nobody else can change
        if source.ndim == 1:
            return source, len(source), 1, None
    with wrap_read_errors(name):
        rows, n = _find_rows(source, name)
        return rows, n, count_columns(rows), names_of(rows)


def _find_rows(source: object, name: str) -> tuple[Any, int]:
    if isinstance(source, (list, tuple)) and type(source) not in (list, tuple):
        source = list(source)  # a subclass may say anything about its length
    if is_nested(source):
        source = to_numpy(source, name)
    n = count_rows(source)
    if n is None:
        source = to_numpy(source, name)
        if source.ndim == 0:
            raise ShapeError(
                argument=name, expected="be a sequence, one item per row", got=f"the single value {source.item()!r}"
            )
        n = len(source)
    if len(getattr(source, "shape", ())) == 2 and count_columns(source) == 1:
        source = only_column(source)
    if len(getattr(source, "shape", ())) > 2:
        shape = tuple(source.shape)  # type: ignore[attr-defined]
        raise ShapeError(
            argument=name,
            expected="have one dimension (rows) or two (rows × columns)",
            got=f"{len(shape)}, shape {shape}",
        )
    return source, n


def item_of(source: Any, row: int) -> object:
    """What a column of any type has in a row, to show it; None where that cannot be read."""
    try:
        found = source.iloc[row] if hasattr(source, "iloc") else source[row]
        found = found.as_py() if hasattr(found, "as_py") else found
    except Exception:  # it is only to be shown, and may have changed or have no rows to ask for
        return None
    return found.tolist() if isinstance(found, (np.generic, np.ndarray)) or hasattr(found, "iloc") else found


def read_weights(source: object, n: int, place: Callable[[int], str]) -> Array | None:
    """One number per row, or None where there are none."""
    if isinstance(source, str):
        hint = "For Cohen's kappa, pass weighting=" if source in ("linear", "quadratic") else None
        raise WeightError(argument="weights", expected="be one number per row", got=brief(source), hint=hint)
    with wrap_read_errors("weights"):
        weights = as_numbers(source, "weights", place).view()
    if weights.ndim == 2 and weights.shape[1] == 1:
        weights = weights[:, 0]
    if weights.ndim != 1:
        raise WeightError(argument="weights", expected="be one number per row", got=f"the shape {weights.shape}")
    rounded = find_rounded_integer(weights)
    if rounded is not None:
        raise rounded_integer_error("weights", weights[rounded[0]].item(), place(rounded[0]))
    if len(weights) == n:
        return weights if n else None
    if len(weights) == 0:
        return None  # an empty sequence means unweighted
    raise WeightError(
        argument="weights", expected="be one number per row", got=Text("{} for {} rows of {y_true}", len(weights), n)
    )


def _length_error(n: int, found: int, columns: int) -> LengthError:
    """The error for another number of predictions; one that is a multiple may be a table in one dimension."""
    hint, (times, rest) = None, divmod(found, max(n, 1))
    if times > 1 and rest == 0 and n > 1 and columns == 1:
        hint = Text(
            "{y_pred} has {} values per row: reshape it with .reshape({}, {}) if they are row by row (XGBoost), or "
            ".reshape({}, {}).T if class by class (LightGBM)",
            *(times, n, times, times, n),
        )
    problem = Text("{y_true} and {y_pred} must have the same length; got {} and {} rows", n, found)
    return LengthError(problem, argument="y_true", hint=hint)


MISSING = ("error", "drop")


class RowPlaces(NamedTuple):
    """How errors count the rows of a batch: as the source that they came from does."""

    first: int = 0
    """The number of the first row."""
    part: str = ""
    """The file or partition in which rows are counted; empty where it is the whole source."""
    partial: bool = False
    """Whether the source has other rows, which may have the same fault."""
    selections: tuple[Array, ...] = ()
    """Which rows were kept, one selection after the other: a mask, or the rows in a new order."""

    def select(self, rows: Array) -> RowPlaces:
        """The places of some of the rows, given by a mask or by their numbers."""
        return RowPlaces(self.first, self.part, self.partial, (*self.selections, rows))  # faster than _replace

    def number(self, row: int) -> int:
        """The number of a row in the source."""
        for rows in reversed(self.selections):
            row = int((np.flatnonzero(rows) if rows.dtype == bool else rows)[row])
        return self.first + row

    def row(self, row: int, column: int | None = None) -> str:
        """A row in words, and a column of it.

        >>> RowPlaces(100, "`b.csv`").select(np.array([False, True, True])).row(1)
        'row 102 of `b.csv`'
        """
        row = self.number(row)
        cell = "" if column is None else f", column {column}"
        return f"row {row:,}{cell}{f' of {self.part}' if self.part else ''}"

    def first_of(self, count: int, row: int, column: int | None = None) -> str:
        """The place of the first of so many rows with the same fault."""
        more = f", the first of {'at least ' if self.partial else ''}{count:,} rows" if count > 1 else ""
        return f"{self.row(row, column)}{more}"


ALL = RowPlaces()


class Batch:
    """Checked rows: truth and prediction of one or more columns, and weights or None.

    `column_names` are the names of the columns of tables. `names` are those of the rows' sides as the caller knows
    them: the truth, the predictions, then the labels of query, cluster, keys and groups. In `memo` states leave what
    others of the same batch can use, in `truth_memo` what depends on truth and weights alone, for other predictions of
    the same rows; None if there will be none.

    Args:
        whole: True if these are all rows, so that their labels are all labels.
        by: The groups of the rows, by the name of their column.
        keys: A unique label per row, by which rows are resampled; None if that is their position or `key_side` has not
            been read.
        places: Where the rows are in the source, for errors.
    """

    __slots__ = (
        "_columns",
        "_labels",
        "_numbers",
        "_sources",
        "cluster_side",
        "column_names",
        "dropped",
        "group_names",
        "has_query",
        "key_side",
        "keys",
        "memo",
        "n",
        "names",
        "places",
        "truth_memo",
        "weights",
        "whole",
    )

    def __init__(
        self,
        y_true: object,
        y_pred: object,
        weights: object = None,
        *,
        missing: str = "error",
        whole: bool = True,
        query: object = None,
        by: Mapping[str, object] | None = None,
        cluster: object = None,
        keys: object = None,
        places: RowPlaces = ALL,
    ) -> None:
        self.places = places
        truth, n, truth_columns, truth_names = read_rows(y_true, "y_true")
        prediction, found, prediction_columns, prediction_names = read_rows(y_pred, "y_pred")
        if found != n:
            raise _length_error(n, found, prediction_columns)
        self._sources = [truth, prediction]
        self._numbers: list[Array | None] = [None, None]
        self._labels: list[LabelColumn | None] = [None, None]
        self._columns: tuple[int, ...] = (truth_columns, prediction_columns)
        self.names = NAMES
        self.column_names = (truth_names, prediction_names)
        self.memo: dict[Hashable, Any] = {}
        self.truth_memo: dict[Hashable, Any] | None = None
        self.n = n
        self.weights = None if weights is None else read_weights(weights, n, places.row)
        self.dropped = 0
        self.whole = whole
        self.has_query = query is not None
        if query is not None:
            self._add_labels(query, "query")
        self.keys: Array | None = None
        self.cluster_side: int | None = None
        if cluster is not None:
            self.add_cluster(cluster)
        self.key_side: int | None = None
        if keys is not None:
            self.key_side = len(self._sources)
            self._add_labels(keys, "keys")
        self.group_names: tuple[str, ...] = ()
        if by is not None:
            self.group_names = tuple(by)
            for name, column in by.items():
                self._add_labels(column, "by" if len(by) == 1 else f"by[{name!r}]")
        if 0 in self._columns:
            empty = self.names[self._columns.index(0)]
            raise ShapeError(argument=empty, expected="have at least one column", got="none")
        if not isinstance(missing, str) or missing != "error":
            check_missing(missing)
            self._drop()

    def _add_labels(self, source: object, name: str) -> None:
        labels, count, columns, _ = read_rows(source, name)
        if count != self.n:
            raise LengthError(
                argument=name, expected="be one label per row", got=Text("{} for {} rows of {y_true}", count, self.n)
            )
        self._sources = [*self._sources, labels]  # lists of their own: a copy of the batch may have one side more
        self._labels = [*self._labels, None]
        self._columns += (columns,)
        self.names += (name,)

    def add_cluster(self, cluster: object) -> None:
        """Rows have the labels of their clusters too."""
        self.cluster_side = len(self._sources)
        self._add_labels(cluster, "cluster")

    @property
    def group_sides(self) -> range:
        """The sides that hold the groups of each row."""
        return range(len(self._sources) - len(self.group_names), len(self._sources))

    def grouped_by(self, name: str) -> Batch:
        """The same rows in the groups of one of the columns."""
        first = self.group_sides.start
        side = first + self.group_names.index(name)
        out = copy.copy(self)
        out._sources = [*self._sources[:first], self._sources[side]]
        out._labels = [*self._labels[:first], self._labels[side]]
        out._columns = (*self._columns[:first], self._columns[side])
        out.names = (*self.names[:first], self.names[side])
        out.group_names = (name,)
        out.memo, out.truth_memo = {}, None
        return out

    @property
    def resampled_by_place(self) -> bool:
        """Whether rows are resampled by their place: they have neither keys nor clusters."""
        return self.keys is None and self.key_side is None and self.cluster_side is None

    def subset(
        self,
        sources: list[Array],
        labels: list[LabelColumn | None],
        weights: Array | None,
        keys: Array | None,
        places: RowPlaces,
    ) -> Batch:
        """Some of these rows, of which the sources are given."""
        out = Batch.__new__(Batch)
        out._sources = sources
        out._numbers = [None, None]
        out._labels = labels
        out._columns, out.names, out.column_names = self._columns, self.names, self.column_names
        out.has_query, out.group_names, out.whole = self.has_query, self.group_names, self.whole
        out.keys, out.key_side, out.cluster_side = keys, self.key_side, self.cluster_side
        out.memo, out.truth_memo = {}, None
        out.n = len(sources[0])
        out.weights = weights
        out.dropped = 0
        out.places = places
        return out

    def with_weights(self, weights: Array) -> Batch:
        """The same rows with other weights, which are good ones."""
        out = copy.copy(self)
        out.weights = weights
        out.memo, out.truth_memo = {}, None
        return out

    def with_predictions(self, y_pred: object) -> Batch:
        """The same rows with other predictions; what was read of the truth is kept."""
        prediction, found, columns, names = read_rows(y_pred, "y_pred")
        if found != self.n:
            raise _length_error(self.n, found, columns)
        if columns == 0:
            raise ShapeError(argument="y_pred", expected="have at least one column", got="none")
        if self.truth_memo is None:
            self.truth_memo = {}
        labels = [self._labels[0], None, *self._labels[2:]]
        sources = [self._sources[0], prediction, *self._sources[2:]]
        out = self.subset(sources, labels, self.weights, self.keys, self.places)
        out._numbers = [self._numbers[0], None]
        out._columns = (self._columns[0], columns, *self._columns[2:])
        out.column_names = (self.column_names[0], names)
        out.truth_memo, out.n, out.dropped = self.truth_memo, self.n, self.dropped
        return out

    def source(self, side: int) -> Array:
        """A side as an array, whatever it was given as."""
        with wrap_read_errors(self.names[side]):
            return as_array(self._sources[side], self.names[side])

    @property
    def truth(self) -> Array:
        """The truth as numbers."""
        found = self._numbers[0]
        return self._read_numbers(0) if found is None else found

    @property
    def prediction(self) -> Array:
        """The predictions as numbers."""
        found = self._numbers[1]
        return self._read_numbers(1) if found is None else found

    @property
    def truth_columns(self) -> int:
        """How many columns the truth has."""
        return self._columns[0]

    @property
    def prediction_columns(self) -> int:
        """How many columns the predictions have."""
        return self._columns[1]

    @property
    def truth_labels(self) -> LabelColumn:
        """The truth as labels."""
        return self.labels(0)

    @property
    def prediction_labels(self) -> LabelColumn:
        """The predictions as labels."""
        return self.labels(1)

    def labels(self, side: int) -> LabelColumn:
        """The truth (0), the predictions (1) or another side as labels."""
        found = self._labels[side]
        if found is None:
            if self._columns[side] != 1:
                columns = self._columns[side]
                raise ShapeError(argument=self.names[side], expected="be one label per row", got=f"{columns} columns")
            source = self._sources[side]
            found = plain_labels(source)
            if found is None:
                with wrap_read_errors(self.names[side]):
                    found = as_labels(source, self.names[side])
            self._labels[side] = found
        return found

    def item(self, side: int, row: int) -> object:
        """What the caller gave in a row, to show it."""
        return item_of(self._sources[side], row)

    def _read_numbers(self, side: int) -> Array:
        found: Array = self._sources[side]
        if type(found) is not np.ndarray or found.dtype not in READABLE:
            with wrap_read_errors(self.names[side]):
                found = as_numbers(found, self.names[side], self.places.row)
            if len(found) != self.n:
                raise LengthError(
                    Text("{} must have {} rows; its array had {}", Argument(self.names[side]), self.n, len(found)),
                    argument=self.names[side],
                )
        self._numbers[side] = found
        return found

    def require_rows(self) -> None:
        """Reject an empty batch: in a single call it is a mistake, not an answer."""
        if self.n == 0:
            if self.dropped:
                raise EmptyError(
                    Text("{y_true} has no rows left: all {} had a missing value and were dropped", self.dropped),
                    argument="y_true",
                )
            raise EmptyError(Text("{y_true} has no rows"), argument="y_true")

    def require_finite(self) -> None:
        """Reject numbers that are NaN or infinite, and bad weights."""
        self.require_finite_side(0)
        self.require_finite_side(1)
        self.require_weights()

    def require_finite_side(self, side: int) -> None:
        """Reject a truth (0) or predictions (1) that are NaN or infinite."""
        array = self.truth if side == 0 else self.prediction
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise self._missing_value(side, array)

    def require_exact(self, side: int) -> None:
        """Reject a truth (0) or predictions (1) with integers that float64 would round."""
        array = self.truth if side == 0 else self.prediction
        rounded = find_rounded_integer(array)
        if rounded is not None:
            raise rounded_integer_error(self.names[side], array[tuple(rounded)].item(), self.places.row(*rounded))

    def require_weights(self) -> None:
        """Reject weights that are negative or not finite."""
        fault = None if self.weights is None else bad_weight_error(self.weights, self.places)
        if fault is not None:
            raise fault

    def require_present(self) -> None:
        """Reject missing values of any type, and bad weights."""
        for side in range(len(self._sources)):
            array, missing = self._missing(side)
            if missing.any():
                raise self._missing_value(side, array)
        self.require_weights()

    def fault(self) -> InputError:
        """The error for the first number that is not finite, or the first bad weight."""
        for name, array in (("y_true", self.truth), ("y_pred", self.prediction)):
            fault = missing_value_error(name, array, self.places)
            if fault is not None:
                return fault
        bad = None if self.weights is None else bad_weight_error(self.weights, self.places)
        return bad or InputError("the input changed while it was being read")

    def _missing_value(self, side: int, array: Array) -> InputError:
        changed = InputError("the input changed while it was being read")
        return missing_value_error(self.names[side], array, self.places) or changed

    def _missing(self, side: int) -> tuple[Array, Array]:
        """One side as an array, and which of its rows are missing."""
        with wrap_read_errors(self.names[side]):
            array = as_array(self._sources[side], self.names[side])
            missing = missing_rows(array)
        if len(array) != self.n:
            raise LengthError(
                Text("{} must have {} rows; its array had {}", Argument(self.names[side]), self.n, len(array)),
                argument=self.names[side],
            )
        return array, missing

    def missing_rows(self) -> Array:
        """Which rows lack a value."""
        found: Array = np.logical_or.reduce([self._missing(side)[1] for side in range(len(self._sources))])
        return found

    def keep_rows(self, rows: Array) -> None:
        """Leave out all other rows, and count them as dropped."""
        self._sources = [self.source(side)[rows] for side in range(len(self._sources))]
        self._numbers, self._labels = [None, None], [None] * len(self._sources)
        self.memo, self.truth_memo = {}, None
        if self.weights is not None:
            self.weights = self.weights[rows]
        if self.keys is not None:
            self.keys = self.keys[rows]
        kept = int(np.count_nonzero(rows))
        self.dropped += self.n - kept
        self.places = self.places.select(rows)
        self.n = kept

    @property
    def has_unit_weights(self) -> bool:
        """Whether every row has a weight of 1."""
        return self.weights is None or bool((np.asarray(self.weights) == 1).all())

    def non_unit_weights(self) -> Array | None:
        """The weights as floats, None where all are 1."""
        return None if self.has_unit_weights else np.array(self.weights, np.float64)

    def without_zero_weights(self) -> Batch:
        """The rows that weigh something: the others are as if they were not there."""
        counts = None if self.weights is None else np.asarray(self.weights) != 0
        if counts is None or counts.all():
            return self
        out = copy.copy(self)
        out.keep_rows(counts)
        return out

    def has_same_predictions(self, other: Batch) -> bool:
        """Whether another batch has the same predictions, row by row."""
        mine, theirs = self.source(1), other.source(1)
        return mine is theirs or (mine.shape == theirs.shape and bool(np.all(mine == theirs)))

    def _drop(self) -> None:
        missing = self.missing_rows()
        if missing.any():
            self.require_weights()
            self.keep_rows(~missing)


NAMES: tuple[str, ...] = ("y_true", "y_pred")
QUERY = 2  # its place, where there is one


def check_missing(missing: str) -> None:
    """Require a known way to treat missing values."""
    check_choice("missing", missing, MISSING)


def missing_rows(array: Array) -> Array:
    """Which rows hold a value that is missing: NaN, infinity, None, or what data frames have for it."""
    if array.dtype.kind == "f":
        missing = ~np.isfinite(array)
    elif array.dtype.kind == "O":
        flags = [_is_missing(item) for item in array.ravel()]
        missing = np.array(flags, dtype=bool).reshape(array.shape)
    elif array.dtype.kind in "Mm":
        missing = np.isnat(array)
    else:
        return np.zeros(len(array), dtype=bool)
    return missing if missing.ndim == 1 else np.asarray(missing.any(axis=1))


def _is_missing(item: object) -> bool:
    """Whether an item is a missing value. An integer beyond all floats counts as infinite."""
    found = normal_label(item)
    if found is None or found is NotImplemented:
        return found is None
    return isinstance(found, int) and found.bit_length() > 1024


def missing_value_error(name: str, array: Array, places: RowPlaces) -> MissingValueError | None:
    """The error for the first value that is missing, if one is."""
    bad = missing_rows(array)
    count = int(np.count_nonzero(bad))
    if count == 0:
        return None
    row = int(bad.argmax())
    place, value = places.first_of(count, row), array[row]
    if array.ndim == 2:
        column = int(missing_rows(array[row]).argmax())
        place, value = places.first_of(count, row, column), array[row, column]
    shown = float(value) if isinstance(value, (float, np.floating)) else value
    return MissingValueError(
        argument=name,
        expected="be finite" if array.dtype.kind == "f" else "have no missing values",
        got=str(shown),
        place=place,
        hint=Text('Pass {missing="drop"} to drop such rows'),
    )


def bad_weight_error(weights: Array, places: RowPlaces) -> WeightError | None:
    """The error for the first weight that is negative or not finite, if one is."""
    bad = ~(np.isfinite(weights) & (weights >= 0))
    count = int(np.count_nonzero(bad))
    if count == 0:
        return None
    row = int(bad.argmax())
    return WeightError(
        argument="weights",
        expected="be finite and not negative",
        got=str(float(weights[row])),
        place=places.first_of(count, row),
    )
