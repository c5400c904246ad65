"""The columns that say which group a row belongs to, under their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallymark.data.arguments import describe
from tallymark.data.arrays import column_names, columns_of, reading, rows_of
from tallymark.errors import ParameterError, ShapeError, Text

_ONLY = "group"
_SEVERAL = 'be a mapping of names to columns where there are several, such as {"sex": sex, "region": region}'


def group_columns(by: object) -> dict[str, object]:
    """One column of labels, a mapping of names to columns, or a table whose columns have names."""
    if isinstance(by, Mapping):
        return _named(by)
    if isinstance(by, (str, bytes)) or not (hasattr(by, "__len__") or hasattr(by, "__arrow_c_stream__")):
        raise ParameterError(
            argument="by", expected="hold one label per row, or be a mapping of names to such columns", got=describe(by)
        )
    if isinstance(by, (list, tuple)) and by and _is_column(by[0]):
        within = rows_of(by[0])
        if within not in (None, 1):
            got = f"a list of {len(by):,}, the first with {within:,} labels"
            raise ShapeError(argument="by", expected=_SEVERAL, got=got)
    with reading("by"):
        if len(getattr(by, "shape", ())) != 2:
            name = getattr(by, "name", None)
            return {name if isinstance(name, str) and name else _ONLY: by}
        names = column_names(by)
        if names is not None:
            return _named({name: by[name] for name in names})  # type: ignore[index]
        if columns_of(by) == 1:
            return {_ONLY: by}
    shape = tuple(by.shape)  # type: ignore[attr-defined]
    raise ShapeError(argument="by", expected=_SEVERAL, got=f"the shape {shape} and no names")


def _is_column(item: object) -> bool:
    """Whether it holds labels, and is none."""
    arrow = hasattr(item, "__arrow_c_stream__") or hasattr(item, "__arrow_c_array__")
    return arrow or isinstance(item, (list, tuple)) or len(getattr(item, "shape", ())) > 0


def _named(columns: Mapping[Any, object]) -> dict[str, object]:
    found = {_name(name): column for name, column in columns.items()}
    if not found:
        raise ParameterError(argument="by", expected="name at least one column", got="none")
    if len(found) < len(columns):
        twice = next(name for name in found if [str(each) for each in columns].count(name) > 1)
        raise ParameterError(Text("the columns of {by} must have different names; {} stood there twice", repr(twice)))
    return found


def _name(name: object) -> str:
    if not isinstance(name, (str, int)) or name == "":
        raise ParameterError(Text("the columns of {by} must have names; one was {}", describe(name)))
    return str(name)
