"""Columns of data as a pandas, Polars or Arrow table; each package is loaded only when it is asked for."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from tallymark.packages import needed

_PACKAGES = {"pandas": ("pandas", "DataFrame"), "polars": ("polars", "DataFrame"), "arrow": ("pyarrow", "table")}


def to_frame(columns: Mapping[str, Any], form: str, types: Mapping[str, type]) -> Any:
    """The columns as a table of the package that `form` names: pandas, polars or arrow.

    `types` say which columns hold str, float or int, whatever their values: a column of only None, or of no rows,
    has the type that it has with others, so that the tables of several days can be joined.
    """
    package, constructor = _PACKAGES[form]
    own: dict[type | None, Any]
    with needed(f"to_{form}()", package):
        module = importlib.import_module(package)
    if form == "polars":
        own = {str: module.String, float: module.Float64, int: module.Int64}
        return module.DataFrame(columns, schema_overrides={key: own[types[key]] for key in columns if key in types})
    if form == "arrow":
        own = {str: module.string(), float: module.float64(), int: module.int64()}
        columns = {key: module.array(held, own.get(types.get(key))) for key, held in columns.items()}
    else:
        own = {str: module.Series(["text"]).dtype, float: "float64", int: "int64"}
        columns = {key: module.Series(held, dtype=own.get(types.get(key))) for key, held in columns.items()}
    return getattr(module, constructor)(columns)


class Frames(ABC):
    """Something whose rows can be had as a data frame."""

    __slots__ = ()
    _types: ClassVar[
        Mapping[str, type]
    ] = {}  # of columns: str, which may be None, float or int; others by their values

    @abstractmethod
    def _frame(self) -> Mapping[str, Any]:
        """The columns of a data frame."""

    def to_pandas(self) -> Any:
        """The rows as a pandas data frame."""
        return to_frame(self._frame(), "pandas", self._types)

    def to_polars(self) -> Any:
        """The rows as a Polars data frame, whose types do not depend on the values."""
        return to_frame(self._frame(), "polars", self._types)

    def to_arrow(self) -> Any:
        """The rows as an Arrow table, whose types do not depend on the values."""
        return to_frame(self._frame(), "arrow", self._types)
