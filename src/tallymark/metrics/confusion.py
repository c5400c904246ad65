"""The confusion matrix: which class was taken for which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tallymark.errors import ParameterError, ShapeError
from tallymark.labels import Label
from tallymark.metrics.base import Answer
from tallymark.metrics.labels import LabelMetric
from tallymark.report import Table, to_frame, to_html, to_json, to_text
from tallymark.states import Indicators, Pairs
from tallymark.target import show_labels

__all__ = ["Confusion", "ConfusionMatrix", "confusion_matrix"]

_MOST_CLASSES = 5_000  # of a dense table: 200 MB
_MOST_SHOWN = 20
_NORMS = ("truth", "prediction", "all")


class Confusion:
    """How often each class was taken for each: rows are the truth, columns the predictions.

    `classes` are the classes in order. `table[truth, prediction]` is one cell, `numpy.asarray(table)` the matrix; it
    prints, shows itself in a notebook and exports. Only cells that occur are held, so that a million classes fit.
    """

    __slots__ = ("_cells", "_index", "classes", "title")

    def __init__(
        self, classes: Sequence[Label], cells: dict[tuple[int, int], float], title: str = "confusion matrix"
    ) -> None:
        self.classes = list(classes)
        self._cells = cells
        self._index = {label: k for k, label in enumerate(self.classes)}
        self.title = title

    def __getitem__(self, key: tuple[Label, Label]) -> float:
        if not isinstance(key, tuple) or len(key) != 2:
            raise KeyError(f"a cell is table[truth, prediction]; it was asked for {key!r}")
        for label in key:
            if label not in self._index:
                raise KeyError(f"{label!r} is not a class; the classes are {show_labels(self.classes)}")
        return self._cells.get((self._index[key[0]], self._index[key[1]]), 0)

    __iter__ = None  # not a sequence: its cells are pairs()

    def pairs(self) -> list[tuple[Label, Label, float]]:
        """Truth, prediction and count of every cell that occurs."""
        return [(self.classes[i], self.classes[j], count) for (i, j), count in sorted(self._cells.items())]

    def mistakes(self, most: int = 10) -> list[tuple[Label, Label, float]]:
        """The cells off the diagonal, the most frequent first."""
        wrong = [pair for pair in self.pairs() if pair[0] != pair[1]]
        return sorted(wrong, key=lambda pair: -pair[2])[:most]

    def normalized(self, by: str = "truth") -> Confusion:
        """The shares of each row ("truth"), of each column ("prediction") or of the whole ("all")."""
        if by not in _NORMS:
            raise ParameterError(f"`by` must be one of {', '.join(_NORMS)}; it was {by!r}")
        sums: dict[int, float] = {}

        def group(cell: tuple[int, int]) -> int:
            return cell[0] if by == "truth" else cell[1] if by == "prediction" else 0

        for cell, count in self._cells.items():
            sums[group(cell)] = sums.get(group(cell), 0) + count
        shares = {cell: count / sums[group(cell)] for cell, count in self._cells.items()}
        return Confusion(self.classes, shares, f"{self.title}, shares of {by}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        size = len(self.classes)
        if size > _MOST_CLASSES:
            raise ShapeError(
                f"a table of {size:,} × {size:,} classes is too large; use pairs() for the cells that occur"
            )
        whole = all(isinstance(count, int) for count in self._cells.values())
        table = np.zeros((size, size), np.int64 if whole else np.float64)
        for cell, count in self._cells.items():
            table[cell] = count
        return table if dtype is None else table.astype(dtype)

    def to_numpy(self) -> Any:
        """The matrix: counts as int64, weights and shares as float64."""
        return np.asarray(self)

    def to_dict(self) -> dict[str, Any]:
        """Classes and cells as plain data."""
        return {"classes": self.classes, "cells": [list(pair) for pair in self.pairs()]}

    def to_json(self, *, indent: int | None = 2) -> str:
        """Classes and cells as JSON."""
        return to_json(self.to_dict(), indent)

    def to_pandas(self) -> Any:
        """The matrix as a pandas data frame: an index of true classes, a column per predicted class."""
        import pandas as pd

        axes = {name: pd.Index(self.classes, name=name) for name in ("truth", "prediction")}
        return pd.DataFrame(self.to_numpy(), index=axes["truth"], columns=axes["prediction"])

    def to_polars(self) -> Any:
        """The matrix as a Polars data frame: a column of true classes, and a column per predicted class."""
        return to_frame(self._columns(), "polars")

    def to_arrow(self) -> Any:
        """The matrix as an Arrow table: a column of true classes, and a column per predicted class."""
        return to_frame(self._columns(), "arrow")

    def _columns(self) -> dict[str, list[Any]]:
        names = _distinct("truth", map(str, self.classes))
        columns = zip(names, self.to_numpy().T.tolist(), strict=True)
        return {"truth": self.classes, **{name: list(column) for name, column in columns}}

    def summary(self) -> str:
        """What it is, in a few words."""
        return f"{len(self.classes)} × {len(self.classes)} table"

    def table(self) -> Table:
        """The matrix as a table to render; of many classes, the most frequent mistakes."""
        if len(self.classes) > _MOST_SHOWN:
            wrong = sum(1 for cell in self._cells if cell[0] != cell[1])
            rows = [(show_label(y), show_label(p), count) for y, p, count in self.mistakes(_MOST_SHOWN)]
            title = f"{self.title}: the most frequent mistakes among {len(self.classes):,} classes"
            more = wrong - len(rows)
            notes = (f"and {more:,} other pairs; pairs() has them all, numpy.asarray() the matrix",) if more else ()
            return Table(title, ("truth", "prediction", "count"), rows, notes, numbers=("count",))
        names = [show_label(label) for label in self.classes]
        corner = "truth ↓  prediction →"
        headings = [corner, *_distinct(corner, names)]
        matrix = self.to_numpy().tolist()
        body = [(name, *row) for name, row in zip(names, matrix, strict=True)]
        return Table(self.title, headings, body, numbers=headings[1:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Confusion) and (self.classes, self._cells) == (other.classes, other._cells)

    def __hash__(self) -> int:
        return hash((tuple(self.classes), tuple(sorted(self._cells.items()))))

    def __repr__(self) -> str:
        return to_text(self.table())

    def _repr_html_(self) -> str:
        return to_html(self.table())


def show_label(label: Label) -> str:
    """A label in a table; an empty one must not look like nothing."""
    return str(label) or "''"


def _distinct(taken: str, names: Iterable[str]) -> list[str]:
    """Headings must differ, and a class may be called like the first of them."""
    return [name if name != taken else f"{name} " for name in names]


class ConfusionMatrix(LabelMetric):
    """How often each class was taken for each: rows are the truth, columns the predictions.

    >>> confusion_matrix(["cat", "dog", "dog"], ["cat", "cat", "dog"])
    confusion matrix
    <BLANKLINE>
    truth ↓  prediction →  cat  dog
    ─────────────────────  ───  ───
    cat                      1    0
    dog                      1    1
    """

    better = None
    range = (0.0, math.inf)
    formula = "n_ij: the weight of rows of class i that were called j"
    reading = "The diagonal is right; a row says what became of a class, a column what its name was given to."
    pitfalls = ("Large classes hide small ones: look at normalized() too.",)
    samples = ({},)

    def read(self, state: Pairs | Indicators) -> Answer:
        if isinstance(state, Indicators):
            raise ShapeError(
                "`y_true` must be one label per row for confusion_matrix; it was a table of several. Pass its columns "
                "one by one"
            )
        classes, of_truth, of_prediction = state.classes()
        unit, counts = state.unit or 0, state.counts()
        cells: dict[tuple[int, int], float] = {}
        for i, j, value in zip(state.cells[0].tolist(), state.cells[1].tolist(), state.values, strict=True):
            # Whole numbers stay so: weights of 1 give what no weights give.
            cells[of_truth[i], of_prediction[j]] = int(value) << unit if unit >= 0 else counts.to_float(int(value))
        return Answer(Confusion(classes, cells))


confusion_matrix = ConfusionMatrix()
