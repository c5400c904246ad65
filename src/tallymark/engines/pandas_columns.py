"""Columns of pandas as Arrow has them."""

from __future__ import annotations

from typing import Any

from tallymark.engines.packages import load
from tallymark.errors import TypeOfDataError


def type_of(column: Any) -> Any:
    """The Arrow type of a column, whatever rows it has; null where Arrow has none. Objects are taken for texts."""
    pa = load("pyarrow")
    if column.dtype == object:
        return pa.large_string()
    if column.dtype == "category":
        return pa.dictionary(pa.int32(), type_of(column.cat.categories.to_series()))
    try:
        return pa.array(column.iloc[:0], from_pandas=True).type
    except (pa.ArrowException, TypeError, ValueError):
        return pa.null()


def array_of(column: Any, name: str) -> Any:
    """A column as an Arrow array. NaN among floats stays what it is; among other values it is null."""
    pa = load("pyarrow")
    try:
        array = pa.array(column, from_pandas=getattr(column.dtype, "kind", "") != "f")
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        told = str(error).splitlines()[0]
        raise TypeOfDataError(
            f"column {name!r} must hold values of one type that Arrow has; its type is "
            f"{column.dtype}, and a partition could not be read: {told}",
            hint="Convert the column before",
        ) from error
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
