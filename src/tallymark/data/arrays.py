"""Turns what callers hold (lists, arrays, columns, frames, tensors) into NumPy arrays that the core can read.

NumPy arrays of numbers pass as they are, whatever their type, strides or order. Everything else goes through a protocol
it offers: ``__array__``, DLPack or the Arrow PyCapsule interface.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np

from tallymark._core import malformed_row
from tallymark.data.arguments import describe
from tallymark.errors import (
    Argument,
    DomainError,
    MissingPackageError,
    ShapeError,
    TallymarkError,
    Text,
    TypeOfDataError,
    WeightError,
)
from tallymark.optional_packages import needed

Array = np.ndarray[Any, np.dtype[Any]]

_EXACT = 2**53  # up to here, floats hold all integers

READABLE = frozenset(np.dtype(code) for code in "?bhilqBHILQefd")


def as_array(source: object, name: str) -> Array:
    """`source` as an array of any type. Whole numbers among missing values stay whole: they become objects."""
    if type(source) is np.ndarray:
        return source.astype(object) if source.dtype.kind == "T" else source
    if isinstance(source, (list, tuple)) and not is_nested(source):
        types = set(map(type, source))
        array = np.asarray(source) if types <= {bool, int} or types == {float} else _object_array(source)
        return array if array.dtype.kind != "f" or types == {float} else _object_array(source)  # too wide for 64 bits
    check_arrow(source, Argument(name))
    nulls = getattr(source, "null_count", None)
    to_list = getattr(source, "to_pylist", None) or getattr(source, "to_list", None)
    if to_list is not None and (nulls() if callable(nulls) else nulls):
        return _object_array(to_list())
    gaps = _with_gaps(source)
    return to_numpy(source, name) if gaps is None else gaps


def _object_array(items: Sequence[object]) -> Array:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def count_rows(source: object) -> int | None:
    """How many rows a source has; None where only its array can tell."""
    if type(source) is np.ndarray:
        return len(source) if source.ndim else None
    if isinstance(source, (list, tuple)):
        return len(source)
    if isinstance(source, (str, bytes, bytearray, dict, set, frozenset, type)):
        return None
    try:
        return len(source)  # type: ignore[arg-type]
    except TypeError:
        return None


def count_columns(source: object) -> int:
    """How many columns a source has, one if it has a single dimension."""
    shape: tuple[int, ...] = tuple(getattr(source, "shape", ()))
    return shape[1] if len(shape) == 2 else 1


def is_pandas(source: object) -> bool:
    """Whether pandas made this. Its classes say `pandas` or, in older releases, the module that they stand in."""
    return type(source).__module__.partition(".")[0] == "pandas"


def categories_of(source: Any) -> Any:
    """What has the codes and categories of a pandas categorical; None for anything else."""
    dtype = getattr(source, "dtype", None) if is_pandas(source) else None
    if not (hasattr(dtype, "categories") and hasattr(dtype, "ordered")):
        return None
    return source.cat if hasattr(source, "cat") else source


def name_bins(column: Any) -> Any:
    """Intervals of pandas, as `pd.cut` makes them, as a categorical of texts such as "(18, 35]", in the same order;
    anything else as it is."""
    dtype = getattr(column, "dtype", None)
    if isinstance(column, (list, tuple)) or getattr(dtype, "kind", "") == "O":
        first = next((item for item in column if not (item is None or item is np.nan)), None)
        if is_pandas(first) and type(first).__name__ == "Interval":
            with suppress(TypeError, ValueError):  # of labels of several types, which are refused later
                column = sys.modules["pandas"].Series(list(column), dtype="interval")
    if type(getattr(column, "dtype", None)).__name__ == "IntervalDtype":
        column = column.astype("category")
    if type(getattr(getattr(column, "dtype", None), "categories", None)).__name__ == "IntervalIndex":
        return getattr(column, "cat", column).rename_categories(str)
    return column


def named_codes(codes: Array, names: Sequence[object]) -> Array:
    """The names at these places as objects; None at -1."""
    return _object_array([None if k < 0 else names[k] for k in codes.tolist()])


def _with_gaps(source: Any) -> Array | None:
    """Whole numbers of pandas among missing values, where its array would hold floats."""
    categorical = categories_of(source)
    if categorical is not None:
        codes = np.asarray(categorical.codes)
        return named_codes(codes, list(categorical.categories)) if (codes < 0).any() else None
    if not is_pandas(source) or getattr(getattr(source, "dtype", None), "kind", "") not in ("b", "i", "u"):
        return None
    return _object_array(list(source)) if source.isna().any() else None


def names_of(source: object) -> list[object] | None:
    """The names of the columns of a table, where it has them."""
    return None if type(source) is np.ndarray or count_columns(source) == 1 else column_names(source)


def column_names(source: object) -> list[object] | None:
    """The names of the columns of a table of any width, where it has them."""
    names = getattr(source, "column_names", None)
    names = getattr(source, "columns", None) if names is None else names
    return None if names is None or callable(names) else list(names)


def only_column(source: Any) -> Any:
    """The column of a table that has only one, as it is held there."""
    if hasattr(source, "iloc"):
        return source.iloc[:, 0]
    if hasattr(source, "to_series"):
        return source.to_series(0)
    return source.column(0) if hasattr(source, "column") else source[:, 0]


def is_nested(source: object) -> bool:
    """Whether a list holds rows instead of values."""
    return isinstance(source, (list, tuple)) and len(source) > 0 and isinstance(source[0], (list, tuple, np.ndarray))


def as_numbers(source: object, name: str, place: Callable[[int], str] = "row {:,}".format) -> Array:
    """`source` as an array of one or two dimensions with a number type that the core reads; null becomes NaN.

    `place` says in an error which row it is about.
    """
    array = source if type(source) is np.ndarray else to_numpy(source, name)
    if array.dtype not in READABLE:
        array = _to_readable(array, name, place)
    if array.ndim == 1 or array.ndim == 2:
        return array
    if array.ndim == 0:
        raise ShapeError(
            argument=name, expected="be a sequence of numbers, one per row", got=f"the single value {array.item()!r}"
        )
    raise ShapeError(
        argument=name,
        expected="have one dimension (rows) or two (rows × columns)",
        got=f"{array.ndim}, shape {array.shape}",
    )


def to_numpy(source: object, name: str) -> Array:
    """`source` as a NumPy array of whatever type it has."""
    if isinstance(source, np.ma.MaskedArray):
        return _fill_masked(source)
    if isinstance(source, np.ndarray):
        return np.asarray(source)
    if isinstance(source, (list, tuple)):
        return _from_list(source, name)
    if isinstance(source, (str, bytes, bytearray, dict, set, frozenset)) or source is None:
        raise TypeOfDataError(
            argument=name, expected="be an array or a sequence, one item per row", got=describe(source)
        )
    check_arrow(source, Argument(name))
    if hasattr(source, "detach"):  # a tensor that tracks gradients refuses __array__
        source = source.detach()
    try:
        if hasattr(source, "__array__"):
            return np.asarray(source)
        if hasattr(source, "__dlpack__"):
            return np.from_dlpack(source)
        if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
            return _from_arrow(source)
        if hasattr(source, "__len__") and hasattr(source, "__getitem__"):
            return _from_list(list(source), name)  # type: ignore[call-overload]
    except MissingPackageError:
        raise
    except Exception as error:
        raise TypeOfDataError(
            Text("{} could not be read as an array: {}", Argument(name), error),
            hint=f"It was {describe(source)}; tensors must be on the CPU and of a type that NumPy has",
        ) from error
    hint = "For a fitted model, call tm.evaluate_model(model, X, y)" if hasattr(source, "predict") else None
    raise TypeOfDataError(
        argument=name, expected="be an array or a sequence, one item per row", got=describe(source), hint=hint
    )


def check_arrow(source: Any, what: str, place: Callable[[int], str] = "row {:,}".format, *, read: bool = False) -> None:
    """Reject data of pyarrow that point outside of their buffers: to read them could end the process.

    `read` says that the core reads them next, which checks the offsets of texts itself.
    """
    data = _arrow_data(source)
    if data is None:
        return
    import pyarrow as pa

    try:
        data.validate()  # the sizes of buffers, in no time
        row = -1 if read else malformed_row(data) if isinstance(data, (pa.Array, pa.ChunkedArray)) else None
        if row is None:
            data.validate(full=True)
        elif row >= 0:
            raise malformed_arrow_error(what, place(row))
    except pa.ArrowInvalid as error:
        raise malformed_arrow_error(
            what, place(_first_malformed(data)), f"Arrow says: {str(error).splitlines()[0]}"
        ) from error


def malformed_arrow_error(what: str, place: str, why: str = "it points outside its buffers") -> TypeOfDataError:
    """The error for a row of Arrow data that cannot be read."""
    return TypeOfDataError(
        Text("{} must be valid Arrow data; {}", what, why),
        place=place,
        hint="Rebuild the array; validate(full=True) reports the problem",
    )


def _arrow_data(source: Any) -> Any:
    """What pyarrow holds, by itself or for pandas; None for anything else."""
    if type(source).__module__.partition(".")[0] == "pyarrow":
        return source if hasattr(source, "validate") else None
    by_arrow = is_pandas(source) and getattr(getattr(source, "dtype", None), "storage", "") == "pyarrow"
    return getattr(source, "array", source).__arrow_array__() if by_arrow else None


def _first_malformed(data: Any) -> int:
    """The last row of the shortest beginning that is malformed."""
    import pyarrow as pa

    low, high = 0, len(data)
    while low < high:
        middle = (low + high) // 2
        try:
            data.slice(0, middle).validate(full=True)
            low = middle + 1
        except pa.ArrowInvalid:
            high = middle
    return max(low - 1, 0)


def _fill_masked(source: np.ma.MaskedArray[Any, Any]) -> Array:
    """Masked entries are missing values: they become NaN instead of reappearing as whatever lies under the mask."""
    if not np.ma.is_masked(source):
        return np.asarray(source)
    plain = np.asarray(source.data).astype(object)
    plain[np.ma.getmaskarray(source)] = None
    return plain


def find_rounded_integer(array: Array) -> list[int] | None:
    """The place of the first integer that float64 does not hold; None where there is none."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8 or array.size == 0:
        return None
    if int(array.min()) >= -_EXACT and int(array.max()) <= _EXACT:
        return None
    size = np.abs(array).astype(np.uint64)
    last_bit = np.maximum(size & (~size + np.uint64(1)), 1)
    rounded = size >> np.uint64(53) >= last_bit
    return np.argwhere(rounded)[0].tolist() if rounded.any() else None


def rounded_integer_error(name: str, value: int, place: str) -> TallymarkError:
    """The error for an integer that float64 does not hold."""
    is_weight = name == "weights"
    return (WeightError if is_weight else DomainError)(
        argument=name,
        expected="contain integers that float64 represents exactly, such as all up to 2**53",
        got=str(value),
        place=place,
        hint=f"{'Pass' if is_weight else 'Subtract a constant, or pass'} floats to accept rounding",
    )


def _from_list(source: list[object] | tuple[object, ...], name: str) -> Array:
    try:
        return np.asarray(source)
    except ValueError as error:
        raise ShapeError(
            argument=name,
            expected="have rows of equal length",
            got="a ragged nested list",
            hint="For several labels per row, pass a table of 0 and 1 with one column per label",
        ) from error


def _from_arrow(source: object) -> Array:
    with needed("reading Arrow data", "pyarrow", extra="files"):
        import pyarrow as pa
    if hasattr(source, "__arrow_c_stream__"):
        table = pa.RecordBatchReader.from_stream(source).read_all()
        columns = [column.to_numpy() for column in table.columns]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)
    return np.asarray(pa.array(source).to_numpy(zero_copy_only=False))


def _to_readable(array: Array, name: str, place: Callable[[int], str]) -> Array:
    """A copy in a type that the core reads, for the types that it does not."""
    kind = array.dtype.kind
    if kind == "O":
        return _from_objects(array, name, place)
    if array.size == 0 and kind in "US":
        return array.astype(np.float64)
    if kind in "biuf":  # foreign byte order, or long double
        with np.errstate(over="ignore"):
            return array.astype(array.dtype.newbyteorder("=") if array.dtype.itemsize <= 8 else np.float64)
    what = {
        "c": "complex numbers",
        "M": "dates",
        "m": "durations",
        "U": "strings",
        "S": "byte strings",
    }.get(kind, f"type {array.dtype}")
    hint = {
        "M": "Convert them to numbers first, e.g. with .astype('int64')",
        "m": "Divide by a unit first, e.g. by np.timedelta64(1, 's')",
        "V": "Convert it to a NumPy number type first, e.g. with .astype('float32')",
    }.get(kind)
    raise TypeOfDataError(argument=name, expected="contain real numbers", got=what, hint=hint)


def _from_objects(array: Array, name: str, place: Callable[[int], str]) -> Array:
    """Python numbers one by one; None and the missing values of data frames become NaN."""
    flat = array.ravel()
    out = np.empty(flat.shape, np.float64)
    for position, item in enumerate(flat):
        if item is None or type(item).__name__ in ("NAType", "NaTType"):
            out[position] = np.nan
            continue
        try:
            if isinstance(item, (Real, np.bool_)) or type(item).__name__ == "Decimal":
                out[position] = found = float(item)
                if not isinstance(item, int) or found == item or any(isinstance(each, float) for each in flat):
                    continue  # integers among floats are floats
        except OverflowError:
            out[position] = np.inf if item > 0 else -np.inf
            continue
        except ValueError:  # a signalling NaN
            out[position] = np.nan
            continue
        row = position // array.shape[1] if array.ndim == 2 else position
        if isinstance(item, int):
            raise rounded_integer_error(name, item, place(row))
        raise TypeOfDataError(argument=name, expected="contain real numbers", got=describe(item), place=place(row))
    return out.reshape(array.shape)


class wrap_read_errors:  # noqa: N801 - used as a statement
    """Where code of the input's own runs: what it raises becomes an error of ours that names the input."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, (TallymarkError, MemoryError)):
            raise TypeOfDataError(Text("{} could not be read: {}", Argument(self.name), describe(error))) from error
