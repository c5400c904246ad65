"""Columns of a batch that are asked for as numbers or as text, whatever their fields look like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tallymark.engines.columns import Builder
from tallymark.engines.packages import load


def in_ways(batch: Any, ways: Mapping[str, str], name: str, row: int, *, written: bool) -> Any:
    """A batch with some columns read in the ways that are asked for; it begins at that row of the file of this name.

    `written` where all fields are texts, as in a CSV file.
    """
    pa = load("pyarrow")
    held = [
        _in_way(Builder(each, ways[each], lambda at: f"row {row + at:,} of {name}"), column, written=written)
        if each in ways
        else column
        for each, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(held, names=batch.schema.names)


def _in_way(builder: Builder, column: Any, *, written: bool) -> Any:
    pa = load("pyarrow")
    builder.add(column, written=written)
    values = builder.finish().values
    if isinstance(values, np.ndarray):
        return pa.array(values.astype(np.float64) if values.dtype.kind == "O" else values)
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
