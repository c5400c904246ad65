"""Partitions cast to one schema: the same columns, of the same types, whatever each partition holds.

A partition without values does not know their type, whole numbers with a gap become floats in pandas, and dictionaries
differ. Only lossless casts are made; any other is an error that names the column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tallymark.errors import TypeOfDataError
from tallymark.sources.arrow import load
from tallymark.sources.tables import require_columns

_BATCH_ROWS = 1 << 19
_EXACT = 2**53  # whole numbers up to here are what they were before they became floats


def select_fields(schema: Any, columns: Sequence[str]) -> Any:
    """The fields of a schema with these names, in their order."""
    require_columns("the frame", schema.names, columns)
    return load("pyarrow").schema([schema.field(name) for name in columns])


def cast_batch(arrays: Sequence[Any], schema: Any) -> Any:
    """A batch of these arrays, each in the type that the schema has for it."""
    columns = [cast_column(array, field.type, field.name) for array, field in zip(arrays, schema, strict=True)]
    return load("pyarrow").RecordBatch.from_arrays(columns, schema=schema)


def combine_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """The same rows in fewer batches, since each costs as much as thousands of rows."""
    waiting: list[Any] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= _BATCH_ROWS:
            yield from _join_batches(waiting)
            waiting, rows = [], 0
    yield from _join_batches(waiting)


def _join_batches(batches: list[Any]) -> list[Any]:
    """One batch of all rows; several where texts are too long for one."""
    if len(batches) < 2:
        return batches
    found: list[Any] = load("pyarrow").Table.from_batches(batches).combine_chunks().to_batches()
    return found


def cast_column(array: Any, wanted: Any, name: str) -> Any:
    """The same values in the wanted type."""
    pa = load("pyarrow")
    if array.type == wanted:
        return array
    if pa.types.is_null(array.type) or array.null_count == len(array):
        return pa.nulls(len(array), wanted)
    if pa.types.is_dictionary(wanted):
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        indices = load("pyarrow.compute").cast(array.indices, wanted.index_type)
        return pa.DictionaryArray.from_arrays(indices, cast_column(array.dictionary, wanted.value_type, name))
    if pa.types.is_dictionary(array.type):
        return cast_column(array.dictionary_decode(), wanted, name)
    have, want = _type_family(array.type), _type_family(wanted)
    lossy = TypeOfDataError(
        f"column {name!r} must contain values of type {wanted} in every partition; one contains values "
        f"of type {array.type} that cannot be converted without loss",
        hint="Convert the column first",
    )
    if have == "real" and want == "integer":
        array = _without_nan(array)
        if not _is_exact(array):
            raise lossy
    elif have != want and (have, want) not in _WIDER:
        raise lossy
    try:
        return load("pyarrow.compute").cast(array, wanted)
    except pa.ArrowInvalid as error:
        raise lossy from error


_WIDER = {("integer", "real"), ("integer", "decimal")}


def _type_family(kind: Any) -> str:
    """Types between which a cast keeps every value or fails."""
    types = load("pyarrow").types
    tests = {
        "boolean": types.is_boolean,
        "integer": types.is_integer,
        "real": types.is_floating,
        "decimal": types.is_decimal,
        "date": types.is_date,
        "time": types.is_time,
        "timestamp": types.is_timestamp,
        "duration": types.is_duration,
    }
    for family, test in tests.items():
        if test(kind):
            return family
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    return str(kind)


def _without_nan(array: Any) -> Any:
    """Floats in which nothing is missing as NaN, but as null."""
    compute, pa = load("pyarrow.compute"), load("pyarrow")
    return compute.if_else(compute.is_nan(array), pa.scalar(None, array.type), array)


def _is_exact(array: Any) -> bool:
    """Whether floats are so small that whole numbers among them have not been rounded."""
    compute = load("pyarrow.compute")
    largest = compute.max(compute.abs(array)).as_py()
    return largest is None or largest <= _EXACT
