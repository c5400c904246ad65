"""What is missing or wrong in a column of rows, and where."""

from __future__ import annotations

import numpy as np

from tallymark.arrays import Array
from tallymark.errors import MissingValueError, WeightError
from tallymark.labels import normal_label


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


def missing_value(name: str, array: Array) -> MissingValueError | None:
    """The error for the first value that is missing, if one is."""
    bad = missing_rows(array)
    count = int(np.count_nonzero(bad))
    if count == 0:
        return None
    row = int(bad.argmax())
    place, value = f"row {row}", array[row]
    if array.ndim == 2:
        column = int(missing_rows(array[row]).argmax())
        place, value = f"row {row}, column {column}", array[row, column]
    rows = "1 row has" if count == 1 else f"{count} rows have"
    shown = float(value) if isinstance(value, (float, np.floating)) else value
    what = "be finite" if array.dtype.kind == "f" else "have no missing values"
    found = "NaN or infinity" if array.dtype.kind == "f" else "one"
    return MissingValueError(
        f'`{name}` must {what}; {rows} {found}, the first at {place} ({shown}). Pass missing="drop" '
        "to leave such rows out"
    )


def bad_weight(weights: Array) -> WeightError | None:
    """The error for the first weight that is negative or not finite, if one is."""
    bad = ~(np.isfinite(weights) & (weights >= 0))
    count = int(np.count_nonzero(bad))
    if count == 0:
        return None
    row = int(bad.argmax())
    more = "" if count == 1 else f" (and {count - 1} more)"
    return WeightError(f"`weights` must be finite and not negative; row {row} has {float(weights[row])}{more}")
