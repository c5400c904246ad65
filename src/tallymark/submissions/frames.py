"""Data frames as entries: anything that hands over Arrow data, or a mapping of columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tallymark.arrays import check_arrow
from tallymark.engines.columns import NUMBER, without_views
from tallymark.engines.packages import load
from tallymark.errors import ParameterError
from tallymark.submissions.careful import Faults, read_numbers
from tallymark.submissions.entries import Check, Entries
from tallymark.submissions.limits import Limits
from tallymark.submissions.looks import check_header, look
from tallymark.submissions.normal import normal_column, normal_name
from tallymark.submissions.problems import Found

Choose = Callable[[Sequence[str]], Mapping[str, str]]
"""Given the names of the columns, those that are wanted, each as "text" or "number"."""


def read_frame(source: Any, choose: Choose, check: Check, limits: Limits, name: str) -> tuple[Entries, Found]:
    """The entries of a data frame: anything that hands over Arrow data, or a mapping of columns."""
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    for column in source.values() if isinstance(source, dict) else ():
        check_arrow(column, name)
    try:
        table = pa.table({key: pa.array(held) for key, held in source.items()} if isinstance(source, dict) else source)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise ParameterError(
            f"{name} must be a path, an open file or a data frame; got {type(source).__name__}: {error}"
        ) from error
    check_arrow(table, name)
    names = [normal_name(str(each)) for each in table.column_names]
    wanted = choose(names)
    found = check_header(names, wanted, limits, "table")
    if limits.rows is not None and table.num_rows > limits.rows:
        found.note("too_many_rows", most=f"{limits.rows:,}")
    if found:
        return Entries({}, 0, "table"), found
    columns: dict[str, Any] = {}
    faults = Faults()
    for key, way in wanted.items():
        held = without_views(table.column(names.index(key)))
        try:
            held = compute.cast(held, pa.float64(), safe=False) if way == NUMBER else compute.cast(held, pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            if way == NUMBER and (pa.types.is_string(held.type) or pa.types.is_large_string(held.type)):
                columns[key] = read_numbers(compute.cast(held, pa.string()), key, faults)
                continue
            found.note("unreadable", what=f"the column {key!r} cannot be read as {way}: {str(error).splitlines()[0]}")
            continue
        columns[key] = normal_column(held, way, limits)
    entries = Entries(columns, table.num_rows, "table")
    found = found.join(faults.tell(entries))
    return entries, found.join(look(entries, check, limits)) if len(columns) == len(wanted) else found
