"""Tables in memory, of pandas, Polars, Arrow and whatever gives its columns to Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Number
from typing import Any

from tallymark.data.arrays import check_arrow, name_bins
from tallymark.errors import FileError, LengthError, TypeOfDataError, brief, nearest
from tallymark.sources.arrow import load


def type_of(column: Any) -> Any:
    """The Arrow type of a column, whatever rows it has; null where Arrow has none. Objects are taken for texts."""
    pa, column = load("pyarrow"), name_bins(column)
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
        array = pa.array(name_bins(column), from_pandas=getattr(column.dtype, "kind", "") != "f")
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        reason = str(error).splitlines()[0]
        raise TypeOfDataError(
            f"column {name!r} must contain values of one type that Arrow supports; its type is "
            f"{column.dtype}, and a partition could not be read: {reason}",
            hint="Convert the column first",
        ) from error
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def is_table(source: object) -> bool:
    """Whether this is a table whose rows are all in memory."""
    module, name = type(source).__module__.partition(".")[0], type(source).__name__
    return isinstance(source, Mapping) or (module, name) in _TABLES


_TABLES = {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch")}


def to_arrow(source: Any, columns: Sequence[str]) -> Any:
    """These columns of a table as one of Arrow."""
    pa = load("pyarrow")
    require_columns("the table", table_column_names(source), columns)
    module = type(source).__module__.partition(".")[0]
    if module == "pyarrow":
        selected = source.select(list(columns))
        return pa.Table.from_batches([selected]) if isinstance(selected, pa.RecordBatch) else selected
    if module == "polars":
        return source.select(list(columns)).to_arrow()
    arrays = {name: _to_arrow_column(source[name], name) for name in columns}
    rows = len(next(iter(arrays.values()), ()))
    for name, column in arrays.items():
        if len(column) != rows:
            raise LengthError(
                f"the columns of a table must be of one length; {columns[0]!r} has {rows:,} rows and "
                f"{name!r} has {len(column):,}"
            )
    return pa.table(arrays)


def _to_arrow_column(column: Any, name: str) -> Any:
    pa = load("pyarrow")
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        check_arrow(column, f"column {name!r}")
        return column
    if isinstance(column, (str, bytes, Number)):
        raise TypeOfDataError(
            f"column {name!r} must contain one value per row; got {brief(column)}",
            hint="For a list of rows, pass pandas.DataFrame(rows)",
        )
    try:
        return pa.array(name_bins(column), from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        reason = str(error).splitlines()[0]
        raise TypeOfDataError(f"column {name!r} must contain values of one type: {reason}") from error


def table_column_names(source: Any) -> list[str]:
    """The names of the columns of a table."""
    if type(source).__module__.partition(".")[0] == "pyarrow":
        return list(source.schema.names)
    return [name for name in getattr(source, "columns", source) if isinstance(name, str)]


def require_columns(what: str, names: Sequence[str], wanted: Iterable[str]) -> None:
    """Raise for columns that are missing, or there more than once."""
    for name in wanted:
        if name in names:
            if list(names).count(name) > 1:
                raise FileError(f"{what} must have the column {name!r} once; it appears more than once")
            continue
        near = nearest(name, names)
        shown = ", ".join(map(repr, names[:10])) + (f", … ({len(names):,} in all)" if len(names) > 10 else "")
        hint = f"Its columns are {shown}" if names else "It has no columns"
        hint = f"Did you mean {near[0]!r}? {hint}" if near else hint
        raise FileError(f"{what} has no column {name!r}", hint=hint)
