"""Columns of data as CSV, JSON, and pandas, Polars or Arrow tables; a package is loaded only when it is asked for."""

from __future__ import annotations

import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tallymark.errors import ParameterError, brief
from tallymark.optional_packages import needed


def to_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    """A line of names, then a line per row; what is undefined is empty, and every float reads back as itself."""
    import csv  # slow to load, and few ask
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*([_plain(value) for value in held] for held in columns.values()), strict=True))
    return out.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(float(value))
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # half a sign can be in no file
    return "" if value is None else value


def to_json(data: Any, indent: int | None = 2) -> str:
    """The data as JSON that every reader accepts."""
    import json  # slow to load, and few ask

    if indent is not None and (type(indent) is not int or not 0 <= indent <= 100):
        raise ParameterError(
            argument="indent", expected="be a number of spaces from 0 to 100, or None", got=brief(indent)
        )
    text = json.dumps(_without_infinities(data), indent=indent, allow_nan=False, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()  # half a sign is written as JSON does


def _without_infinities(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _without_infinities(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_infinities(item) for item in value]
    return value


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
