"""The confusion matrix: which class was taken for which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tallymark.data.arguments import check_choice
from tallymark.data.arrays import Array
from tallymark.data.labels import Label
from tallymark.data.target import show_labels
from tallymark.errors import ShapeError
from tallymark.metrics.answer import Answer
from tallymark.metrics.classification.base import LabelMetric
from tallymark.rendering.exports import DataFrameExport, to_json
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import Table
from tallymark.rendering.text import to_text
from tallymark.states.base import MOST_WHOLE
from tallymark.states.labels.indicators import Indicators
from tallymark.states.labels.pairs import Pairs

__all__ = ["Confusion", "ConfusionMatrix", "confusion_matrix"]


_MOST_CLASSES = 5_000  # of a dense table: 200 MB
_MOST_SHOWN = 20
_NORMS = ("truth", "prediction", "all")
_INSTEAD = {
    **dict.fromkeys(("matrix", "values", "ravel", "shape", "sum", "tolist", "T"), "numpy.asarray(table)"),
    "labels": "table.classes",
    "plot": "report.plot.confusion(), of tm.evaluate",
}


class Confusion(DataFrameExport):
    """How often each class was taken for each: rows are the truth, columns the predictions.

    `classes` are the classes in order. `table[truth, prediction]` is one cell, `numpy.asarray(table)` the matrix; it
    prints, shows itself in a notebook and exports. Only cells that occur are held, so that a million classes fit.
    """

    __slots__ = ("_columns", "_counts", "_index", "_places", "_rows", "classes", "title")

    def __init__(
        self, classes: Sequence[Label], rows: Array, columns: Array, counts: Array, title: str = "confusion matrix"
    ) -> None:
        self.classes = list(classes)
        order = np.lexsort((columns, rows))
        self._rows, self._columns, self._counts = rows[order], columns[order], counts[order]
        self.title = title
        self._index: dict[Label, int] | None = None
        self._places: dict[tuple[int, int], int] | None = None

    def __getattr__(self, name: str) -> Any:
        instead = f"; use {_INSTEAD[name]}" if name in _INSTEAD else ""
        raise AttributeError(f"a confusion matrix has no {name!r}{instead}")

    def __getitem__(self, key: tuple[Label, Label]) -> float:
        if not isinstance(key, tuple) or len(key) != 2:
            raise KeyError(f"index a cell as table[truth, prediction]; got {key!r}")
        if self._index is None or self._places is None:
            self._index = {label: k for k, label in enumerate(self.classes)}
            cells = zip(self._rows.tolist(), self._columns.tolist(), strict=True)
            self._places = {cell: k for k, cell in enumerate(cells)}
        for label in key:
            if label not in self._index:
                raise KeyError(f"{label!r} is not a class; the classes are {show_labels(self.classes)}")
        place = self._places.get((self._index[key[0]], self._index[key[1]]))
        return 0 if place is None else self._counts[place : place + 1].tolist()[0]

    __iter__ = None  # not a sequence: its cells are pairs()

    def pairs(self) -> list[tuple[Label, Label, float]]:
        """Truth, prediction and count of every cell that occurs."""
        return self._named(slice(None))

    def mistakes(self, most: int = 10) -> list[tuple[Label, Label, float]]:
        """The cells off the diagonal, the most frequent first."""
        wrong = np.flatnonzero(self._rows != self._columns)
        return self._named(wrong[np.argsort(-self._counts[wrong], kind="stable")][:most])

    def _named(self, which: Any) -> list[tuple[Label, Label, float]]:
        cells = zip(
            self._rows[which].tolist(), self._columns[which].tolist(), self._counts[which].tolist(), strict=True
        )
        return [(self.classes[i], self.classes[j], count) for i, j, count in cells]

    def normalized(self, by: str = "truth") -> Confusion:
        """The shares of each row ("truth"), of each column ("prediction") or of the whole ("all")."""
        check_choice("by", by, _NORMS)
        group = {"truth": self._rows, "prediction": self._columns, "all": np.zeros_like(self._rows)}[by]
        counts = self._counts.astype(np.float64)
        sums = np.bincount(group, weights=counts)
        title = f"{self.title.partition(',')[0]}, shares of {by}"
        return Confusion(self.classes, self._rows, self._columns, counts / sums[group], title)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        size = len(self.classes)
        if size > _MOST_CLASSES:
            raise ShapeError(f"a table of {size:,} × {size:,} classes is too large; pairs() has the cells that occur")
        table = np.zeros((size, size), self._counts.dtype)
        table[self._rows, self._columns] = self._counts
        return table if dtype is None else table.astype(dtype)

    def to_numpy(self) -> Any:
        """The matrix: counts as int64, weights and shares as float64; weights from 2**63 on as Python's integers."""
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

    def _frame(self) -> dict[str, Any]:
        names = _distinct("truth", map(str, self.classes))
        columns = zip(
            names, self.to_numpy().T.astype(np.float64), strict=True
        )  # which weights may be, and counts are not
        return {"truth": self.classes, **dict(columns)}

    def summary(self) -> str:
        """What it is, in a few words."""
        return f"{len(self.classes)} × {len(self.classes)} table"

    def table(self) -> Table:
        """The matrix as a table to render; of many classes, the most frequent mistakes."""
        if len(self.classes) > _MOST_SHOWN:
            wrong = int(np.count_nonzero(self._rows != self._columns))
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
        return Table(self.title, headings, body, numbers=headings[1:], named_rows=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Confusion) and self.classes == other.classes and self.pairs() == other.pairs()

    def __hash__(self) -> int:
        return hash((tuple(self.classes), tuple(self.pairs())))

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
    reading = "The diagonal is correct. A row shows how a true class was predicted; a column, what was predicted so."
    related = ("classification_report", "accuracy")
    pitfalls = ("Large classes hide small ones: look at normalized() too.",)
    no_interval = "a table has none"
    samples = ({},)

    def restore_value(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        places = {label: k for k, label in enumerate(data["classes"])}
        rows, columns = (np.array([places[cell[side]] for cell in data["cells"]], np.int64) for side in (0, 1))
        return Confusion(data["classes"], rows, columns, np.array([count for *_, count in data["cells"]]))

    def read(self, state: Pairs | Indicators) -> Answer:
        if isinstance(state, Indicators):
            raise ShapeError(
                argument="y_true",
                expected="be one label per row for confusion_matrix",
                got="a table of several",
                hint="Pass its columns one by one",
            )
        classes, of_truth, of_prediction = state.classes()
        rows, columns = np.asarray(of_truth, np.int64), np.asarray(of_prediction, np.int64)
        return Answer(Confusion(classes, rows[state.cells[0]], columns[state.cells[1]], _numbers(state)))


def _numbers(state: Pairs) -> Array:
    """Counts, or weights; whole numbers stay so: weights of 1 give what no weights give."""
    whole = state.whole()
    most = MOST_WHOLE if whole is None else max(whole, default=0)
    if whole is None or most >= MOST_WHOLE:
        return np.array([state.counts().to_float(int(value)) for value in state.values])
    return np.array(whole, np.int64 if most < 1 << 63 else object)


confusion_matrix = ConfusionMatrix()
