"""The confusion matrix: which class was taken for which."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tallymark.errors import ParameterError, ShapeError
from tallymark.labels import Label
from tallymark.metrics.base import Answer
from tallymark.metrics.labels import LabelMetric
from tallymark.report import Table, to_frame, to_html, to_text
from tallymark.states import Indicators, Pairs

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
        truth, prediction = key
        for label in key:
            if label not in self._index:
                raise KeyError(f"{label!r} is not a class; there are {len(self.classes)}")
        return self._cells.get((self._index[truth], self._index[prediction]), 0)

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

    def to_pandas(self) -> Any:
        """One row per cell that occurs, as a pandas data frame."""
        return to_frame(self._columns(), "pandas")

    def to_polars(self) -> Any:
        """One row per cell that occurs, as a Polars data frame."""
        return to_frame(self._columns(), "polars")

    def to_arrow(self) -> Any:
        """One row per cell that occurs, as an Arrow table."""
        return to_frame(self._columns(), "arrow")

    def _columns(self) -> dict[str, list[Any]]:
        pairs = self.pairs()
        return {name: [pair[k] for pair in pairs] for k, name in enumerate(("truth", "prediction", "count"))}

    def summary(self) -> str:
        """What it is, in a few words."""
        return f"{len(self.classes)} × {len(self.classes)} table"

    def table(self) -> Table:
        """The matrix as a table to render; of many classes, the most frequent mistakes."""
        if len(self.classes) > _MOST_SHOWN:
            rows = [(str(y), str(p), count) for y, p, count in self.mistakes(_MOST_SHOWN)]
            title = f"{self.title}: the most frequent mistakes among {len(self.classes):,} classes"
            return Table(title, ("truth", "prediction", "count"), rows, numbers=("count",))
        names = [str(label) for label in self.classes]
        headings = ["truth ↓  prediction →", *_distinct(names)]
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


def _distinct(names: list[str]) -> list[str]:
    """Headings must differ, and a class may be called like another thing."""
    return [name if name != "truth ↓  prediction →" else name + " " for name in names]


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
        unit = state.counts()
        cells: dict[tuple[int, int], float] = {}
        for i, j, value in zip(state.cells[0].tolist(), state.cells[1].tolist(), state.values, strict=True):
            count = int(value) if state.unit is None else unit.to_float(int(value))
            cells[of_truth[i], of_prediction[j]] = count
        return Answer(Confusion(classes, cells))


confusion_matrix = ConfusionMatrix()
