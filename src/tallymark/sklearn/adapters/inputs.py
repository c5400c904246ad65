"""Arrays as callers of scikit-learn pass them, as plain columns; whatever is unusual is left to scikit-learn."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from tallymark.data.arrays import Array
from tallymark.sklearn.served import UnservedError

_NUMBERS = frozenset(np.dtype(code) for code in "?bhilqBHILQfd")
_LEAST_WEIGHT, _MOST_WEIGHT = 1e-20, 1e20
_FLOATS = frozenset(np.dtype(code) for code in "fd")


def as_array(values: Any, name: str) -> Array:
    """An array, list or pandas Series as an array of native numbers or strings, of any shape."""
    if type(values) is not np.ndarray:
        if not isinstance(values, (list, tuple)) and not _is_series(values):
            raise UnservedError(f"{name} is of type {type(values).__name__}")
        source, values = values, np.asarray(values)
        if values.dtype.kind == "U" and values.ndim == 1 and not set(map(type, source)) <= {str, np.str_}:
            raise UnservedError(f"{name} contains strings and other values")
    if values.dtype in _NUMBERS or values.dtype.kind == "U":
        return values  # type: ignore[no-any-return]
    if values.dtype == object and set(map(type, values.ravel())) == {str}:
        return values  # type: ignore[no-any-return]
    raise UnservedError(f"{name} has dtype {values.dtype}")


def _is_series(values: object) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(values, (pandas.Series, pandas.Index))


def column(values: Any, name: str) -> Array:
    """One value per row, of at least one row."""
    found = as_array(values, name)
    if found.ndim != 1:
        raise UnservedError(f"{name} has {found.ndim} dimensions")
    if not len(found):
        raise UnservedError(f"{name} has no rows")
    return found


def numbers(values: Any, name: str) -> Array:
    """Finite numbers of any shape."""
    found = as_array(values, name)
    if found.dtype not in _NUMBERS:
        raise UnservedError(f"{name} contains strings")
    if found.dtype in _FLOATS and not is_finite(found):
        raise UnservedError(f"{name} contains NaN or infinity")
    return found


def is_finite(values: Array) -> bool:
    """Whether no value is NaN or infinite; one pass, without a copy, unless the sum overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(values.sum()) or bool(np.isfinite(values).all())


def positive_weights(sample_weight: Any, rows: int) -> Array | None:
    """The weights, above 0 and of a size at which no total overflows; None where all rows weigh the same."""
    if sample_weight is None:
        return None
    weights = numbers(sample_weight, "sample_weight")
    if weights.shape != (rows,):
        raise UnservedError("sample_weight is not one number per row")
    if not weights.min() > 0:
        raise UnservedError("sample_weight contains zero or negative weights")
    if weights.dtype.kind == "b" or weights.min() < _LEAST_WEIGHT or weights.max() > _MOST_WEIGHT:
        raise UnservedError("sample_weight contains booleans, or very small or large weights")
    return weights


def same_rows(*columns: Array) -> None:
    """Refuse columns of different lengths."""
    if len({len(each) for each in columns}) > 1:
        raise UnservedError("the arguments have different lengths")


def require_bool(value: object, name: str) -> None:
    """Refuse a flag that is not True or False."""
    if value is not True and value is not False:
        raise UnservedError(f"{name} is not True or False")
