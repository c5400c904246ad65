"""Columns of data as a pandas, Polars or Arrow table; each package is loaded only when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

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
