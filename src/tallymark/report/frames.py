"""Columns of data as a pandas, Polars or Arrow table; each package is loaded only when it is asked for."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tallymark.packages import needed

_PACKAGES = {"pandas": ("pandas", "DataFrame"), "polars": ("polars", "DataFrame"), "arrow": ("pyarrow", "table")}


def to_frame(columns: Mapping[str, Any], form: str, *, texts: Sequence[str] = ()) -> Any:
    """The columns as a table of the package that `form` names: pandas, polars or arrow; `texts` are strings or None."""
    package, constructor = _PACKAGES[form]
    with needed(f"to_{form}()", package):
        module = importlib.import_module(package)
    if form == "polars":
        return module.DataFrame(columns, schema_overrides=dict.fromkeys(texts, module.String))
    if form == "arrow":
        columns = {key: module.array(held, module.string()) if key in texts else held for key, held in columns.items()}
    return getattr(module, constructor)(columns)


class Frames(ABC):
    """Something whose rows can be had as a data frame."""

    __slots__ = ()
    _texts: ClassVar[Sequence[str]] = ()  # columns of strings, some of which may be None

    @abstractmethod
    def _frame(self) -> Mapping[str, Any]:
        """The columns of a data frame."""

    def to_pandas(self) -> Any:
        """The rows as a pandas data frame."""
        return to_frame(self._frame(), "pandas", texts=self._texts)

    def to_polars(self) -> Any:
        """The rows as a Polars data frame."""
        return to_frame(self._frame(), "polars", texts=self._texts)

    def to_arrow(self) -> Any:
        """The rows as an Arrow table."""
        return to_frame(self._frame(), "arrow", texts=self._texts)
