"""What callers hold, as rows: how many there are, in how many columns of which names, and what they weigh."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tallymark.arrays import (
    Array,
    as_numbers,
    columns_of,
    is_nested,
    names_of,
    only_column,
    reading,
    rounded_integer,
    rounded_integers,
    rows_of,
    to_numpy,
)
from tallymark.errors import ShapeError, Text, WeightError, brief


def read_rows(source: object, name: str) -> tuple[Any, int, int, list[object] | None]:
    """The source if it can be read in place, else its array; how many rows and columns it has, and their names."""
    if type(source) is np.ndarray:
        source = source.view()  # whose shape and type nobody else can change
        if source.ndim == 1:
            return source, len(source), 1, None
    with reading(name):
        held, n = _find_rows(source, name)
        return held, n, columns_of(held), names_of(held)


def _find_rows(source: object, name: str) -> tuple[Any, int]:
    if isinstance(source, (list, tuple)) and type(source) not in (list, tuple):
        source = list(source)  # a subclass may say anything about its length
    if is_nested(source):
        source = to_numpy(source, name)
    n = rows_of(source)
    if n is None:
        source = to_numpy(source, name)
        if source.ndim == 0:
            raise ShapeError(
                argument=name, expected="be a sequence, one item per row", got=f"the single value {source.item()!r}"
            )
        n = len(source)
    if len(getattr(source, "shape", ())) == 2 and columns_of(source) == 1:
        source = only_column(source)
    if len(getattr(source, "shape", ())) > 2:
        shape = tuple(source.shape)  # type: ignore[attr-defined]
        raise ShapeError(
            argument=name,
            expected="have one dimension (rows) or two (rows × columns)",
            got=f"{len(shape)}, shape {shape}",
        )
    return source, n


def read_weights(source: object, n: int, place: Callable[[int], str]) -> Array | None:
    """One number per row, or None where there are none."""
    if isinstance(source, str):
        hint = "Cohen's kappa takes it as weighting=" if source in ("linear", "quadratic") else None
        raise WeightError(argument="weights", expected="be one number per row", got=brief(source), hint=hint)
    with reading("weights"):
        weights = as_numbers(source, "weights", place).view()
    if weights.ndim == 2 and weights.shape[1] == 1:
        weights = weights[:, 0]
    if weights.ndim != 1:
        raise WeightError(argument="weights", expected="be one number per row", got=f"the shape {weights.shape}")
    rounded = rounded_integers(weights)
    if rounded is not None:
        raise rounded_integer("weights", weights[rounded[0]].item(), place(rounded[0]))
    if len(weights) == n:
        return weights if n else None
    if len(weights) == 0:
        return None  # an empty sequence means unweighted
    raise WeightError(
        argument="weights", expected="be one number per row", got=Text("{} for {} rows of {y_true}", len(weights), n)
    )
