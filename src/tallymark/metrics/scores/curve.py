"""A curve as a value: named columns of one length that print, render and export."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from tallymark.data.arrays import Array
from tallymark.errors import ShapeError
from tallymark.rendering.exports import DataFrameExport, to_json
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import Table
from tallymark.rendering.text import to_text

__all__ = ["Curve"]


_MOST_SHOWN = 20


class Curve(DataFrameExport):
    """The points of a curve: one array per column, all of one length, which nothing can change.

    `curve.fpr` or `curve["fpr"]` is a column, `columns` has them all by name. ROC, precision–recall and DET curves
    unpack as those of scikit-learn do. It prints, shows itself in a notebook and exports; of many points it prints a
    few, evenly chosen, with both ends.
    """

    __slots__ = ("columns", "notes", "title")
    row: ClassVar[str] = "point"
    """What a row of the columns is."""

    def __init__(self, title: str, columns: Mapping[str, Any], notes: tuple[str, ...] = ()) -> None:
        self.title = title
        held_columns = {name: _frozen(held) for name, held in columns.items()}
        self.columns = MappingProxyType(held_columns)
        self.notes = tuple(notes)
        shapes = {held.shape for held in held_columns.values()}
        if len(shapes) != 1 or len(shapes.pop()) != 1:
            found = ", ".join(f"{name} {held.shape}" for name, held in self.columns.items()) or "none"
            raise ShapeError(argument="columns", expected="be arrays of one length", got=f"{found}")

    def __getattr__(self, name: str) -> Array:
        if name in Curve.__slots__:  # of one that is still being made
            raise AttributeError(name)
        if name in self.columns:
            return self.columns[name]
        raise AttributeError(f"{self.title} has no column {name!r}; it has {', '.join(self.columns)}")

    def __getitem__(self, name: Any) -> Array:
        if isinstance(name, str) and name in self.columns:
            return self.columns[name]
        raise KeyError(f"{name!r} is not a column; the columns are {', '.join(self.columns)}")

    __iter__: ClassVar[Any] = None  # neither of columns nor of points, where no other library has an order

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.columns]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.column_stack(list(self.columns.values())).astype(dtype, copy=False)

    def to_numpy(self) -> Array:
        """One row per point, one column per column."""
        return np.asarray(self)

    def to_dict(self) -> dict[str, list[float]]:
        """The columns as plain data."""
        return {name: held.tolist() for name, held in self.columns.items()}

    @classmethod
    def from_dict(cls, title: str, data: Any) -> Any:
        """The curve whose `to_dict` this was; anything else as it is. JSON has null for the infinite threshold."""
        if not isinstance(data, Mapping):
            return data
        null = {name: math.inf if name == "threshold" else math.nan for name in data}
        columns = {name: [null[name] if each is None else each for each in held] for name, held in data.items()}
        return cls(title, {name: np.array(held, dtype=np.float64) for name, held in columns.items()})

    def to_json(self, *, indent: int | None = None) -> str:
        """The columns as JSON; what is undefined or infinite is null."""
        return to_json(self.to_dict(), indent)

    def _frame(self) -> Mapping[str, Any]:
        return dict(self.columns)

    def summary(self) -> str:
        """What it is, in a few words."""
        return f"{len(self):,} {self.row}{'s' * (len(self) != 1)}"

    def table(self) -> Table:
        """The points as a table to render; of many, some of them with both ends."""
        size, notes = len(self), self.notes
        shown = np.arange(size)
        if size > _MOST_SHOWN:
            shown = self._sample()
            notes = (*notes, f"{len(shown)} of {self.summary()}; to_dict() and the frames have them all")
        rows = list(zip(*(held[shown].tolist() for held in self.columns.values()), strict=True))
        names = list(self.columns)
        return Table(f"{self.title} · {self.summary()}", names, rows, notes, numbers=names)

    def _sample(self) -> Array:
        """Places of a few points with both ends, evenly along the curve: many where it moves, few where it does not."""
        travelled = np.zeros(len(self) - 1)
        for held in self.columns.values():
            finite = held[np.isfinite(held)]
            span = float(np.ptp(finite)) if len(finite) else 0.0
            if 0 < span < math.inf:
                travelled += np.nan_to_num(np.abs(np.diff(held)) / span, nan=0.0, posinf=0.0)
        way = np.concatenate(([0.0], np.cumsum(travelled)))
        places = np.searchsorted(way, np.linspace(0, way[-1], _MOST_SHOWN)[:-1])
        return np.unique([*places, len(self) - 1])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Curve)
            and (self.title, self.notes, list(self.columns)) == (other.title, other.notes, list(other.columns))
            and all(np.array_equal(held, other.columns[k], equal_nan=True) for k, held in self.columns.items())
        )

    def __hash__(self) -> int:
        return hash((self.title, self.notes, tuple(self.columns), len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.title, dict(self.columns), self.notes))

    def __repr__(self) -> str:
        return to_text(self.table())

    def _repr_html_(self) -> str:
        return to_html(self.table())


def _frozen(column: Any) -> Array:
    """A copy that cannot be written to; an array that already is one stays itself."""
    if isinstance(column, np.ndarray) and not column.flags.writeable and not isinstance(column.base, np.ndarray):
        return column
    copy = np.array(column)
    copy.flags.writeable = False
    return copy
