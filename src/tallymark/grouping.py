"""The columns that say which group a row belongs to, under their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallymark.arrays import columns_of, describe, reading
from tallymark.errors import ParameterError, ShapeError

_ONLY = "group"


def group_columns(by: object) -> dict[str, object]:
    """One column of labels, a mapping of names to columns, or a table whose columns have names."""
    if isinstance(by, Mapping):
        if not by:
            raise ParameterError("`by` must name at least one column; it was empty")
        return {_name(name): column for name, column in by.items()}
    if isinstance(by, (str, bytes)) or not (hasattr(by, "__len__") or hasattr(by, "__arrow_c_stream__")):
        raise ParameterError(
            f"`by` must hold one label per row, or be a mapping of names to such columns; it was {describe(by)}"
        )
    with reading("by"):
        if len(getattr(by, "shape", ())) != 2:
            name = getattr(by, "name", None)
            return {name if isinstance(name, str) and name else _ONLY: by}
        names = _names(by)
        if names is not None:
            return {_name(name): by[name] for name in names}  # type: ignore[index]
        if columns_of(by) == 1:
            return {_ONLY: by}
    shape = tuple(by.shape)  # type: ignore[attr-defined]
    raise ShapeError(
        f"`by` must be a mapping of names to columns where there are several; it had the shape {shape} and no names"
    )


def _names(by: Any) -> list[object] | None:
    names = getattr(by, "column_names", None)
    names = getattr(by, "columns", None) if names is None else names
    return None if names is None or callable(names) else list(names)


def _name(name: object) -> str:
    if not isinstance(name, (str, int)) or name == "":
        raise ParameterError(f"the columns of `by` must have names; one was {describe(name)}")
    return str(name)
