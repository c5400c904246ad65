"""Columns of data as CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any


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
