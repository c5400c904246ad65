"""The worst rows of a report: those with the largest loss, with their truth, their prediction and their error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch, item_of, read_rows
from tallymark.data.labels import Label
from tallymark.data.target import Target
from tallymark.errors import LengthError, ParameterError, ShapeError, Text, UndefinedError, brief
from tallymark.intervals.settings import check_least
from tallymark.metrics.scores.base import ONE_CLASS
from tallymark.rendering.exports import DataFrameExport
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import Table
from tallymark.rendering.text import to_text
from tallymark.states.labels.counts import decides, name_decisions
from tallymark.states.labels.encoding import encode_labels
from tallymark.states.probabilities.reading import read_probability_outcomes
from tallymark.states.scores.scores import read_score_table, read_scores

if TYPE_CHECKING:
    from tallymark.evaluation.report import Report


class WorstRows(DataFrameExport):
    """The rows with the largest loss, the worst first: a table that prints, renders and exports.

    `columns()` has their row numbers, counted from 0 as in error messages, their ids if there are any, and what was
    predicted of them.
    """

    def __init__(self, title: str, columns: dict[str, Any]) -> None:
        self.title = title
        self._columns = columns

    def columns(self) -> dict[str, list[Any]]:
        """What the data frames hold."""
        return {name: list(column) if name == "id" else column.tolist() for name, column in self._columns.items()}

    def _frame(self) -> Mapping[str, Any]:
        return self._columns  # arrays, whose types do not depend on how many rows there are

    def __len__(self) -> int:
        return len(self._columns["row"])

    def _table(self) -> Table:
        shown = {name: list(map(str, each)) if name == "id" else each for name, each in self.columns().items()}
        numbers = [name for name, each in self._columns.items() if name != "id" and each.dtype.kind in "if"]
        rows = list(zip(*shown.values(), strict=True))
        return Table(self.title, tuple(shown), rows, numbers=numbers, named_rows=True)

    def __str__(self) -> str:
        return to_text(self._table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return to_html(self._table())


class RowLosses(NamedTuple):
    """The loss of every row, what to show of some rows, and what the loss is."""

    loss: Array
    show: Callable[[Array], dict[str, Array]]
    title: str


def find_worst_rows(report: Report, n: int, ids: object, output: int | None) -> WorstRows:
    """The `n` worst rows of a report. `ids` are labels of the rows that were passed to `evaluate`."""
    check_least("n", n, 1)
    source = report.plot._source
    batch = source.batch
    if batch is None:
        raise ParameterError(
            "the rows of this report are gone, so its worst rows cannot be listed", hint="Evaluate all rows at once"
        )
    counted = batch.without_zero_weights()
    losses = _row_losses(report, counted, source.target, output)
    worst = _largest(losses.loss, n)
    numbers = [counted.places.number(row) for row in worst.tolist()]
    columns: dict[str, Any] = {"row": np.array(numbers, np.int64)}
    if ids is not None:
        labels, count, _, _ = read_rows(ids, "ids")
        if count != batch.n + batch.dropped:
            raise LengthError(
                argument="ids", expected="be one label per row", got=f"{count} for {batch.n + batch.dropped} rows"
            )
        columns["id"] = [item_of(labels, row) for row in numbers]
    elif counted.key_side is not None:
        columns["id"] = [counted.item(counted.key_side, row) for row in worst.tolist()]
    return WorstRows(losses.title, columns | losses.show(worst))


def _largest(loss: Array, n: int) -> Array:
    """The places of the largest losses above 0, in order; of equal ones the first rows."""
    places = np.flatnonzero(loss > 0)
    if len(places) > n:
        least = np.partition(loss[places], len(places) - n)[len(places) - n]
        places = places[loss[places] >= least]
    return places[np.argsort(-loss[places], kind="stable")][:n]


def _row_losses(report: Report, batch: Batch, target: Target, output: int | None) -> RowLosses:
    """The losses of rows that weigh something, by the kind of the predictions."""
    kind = _kind_of(report)
    if kind == "value":
        return _value_losses(report, output)
    if output is not None:
        raise ParameterError(
            argument="output", expected="be left out, since predictions are not numbers", got=brief(output)
        )
    if batch.truth_columns > 1:
        raise ShapeError(argument="y_true", expected="be one label per row", got=f"{batch.truth_columns} columns")
    if kind == "label" and not decides(batch, target):
        return _label_losses(batch)
    return (_score_losses if kind == "score" else _probability_losses)(batch, target)


def _kind_of(report: Report) -> str:
    """The kind of the predictions; where nobody said it, the one that the metrics have read."""
    families = {cell.metric.family for cell in map(report.cell, report) if cell.error is None}
    if report.kind is None and not families & set(_KINDS):
        raise ParameterError("no metric of this report has a loss per row")
    return report.kind or next(kind for family, kind in _KINDS.items() if family in families)


_KINDS = {"regression": "value", "probability": "probability", "classification": "label", "score": "score"}


def _value_losses(report: Report, output: int | None) -> RowLosses:
    truth, prediction, _, of = report.plot._output_columns(output)
    with np.errstate(over="ignore"):  # an infinite error is the largest there is
        error = prediction - truth

    def show(rows: Array) -> dict[str, Array]:
        return {"truth": truth[rows], "prediction": prediction[rows], "error": error[rows]}

    return RowLosses(np.abs(error), show, f"Rows with the largest error: prediction − truth{of}")


def _label_losses(batch: Batch) -> RowLosses:
    sides = [encode_labels(batch, side) for side in (0, 1)]
    places = {label: place for place, label in enumerate(dict.fromkeys([*sides[0][0], *sides[1][0]]))}
    truth, prediction = (np.array([places[label] for label in labels], np.int64)[codes] for labels, codes in sides)
    wrong = truth != prediction
    count = int(np.count_nonzero(wrong))

    def show(rows: Array) -> dict[str, Array]:
        names = np.array(list(places))
        return {"truth": names[truth[rows]], "prediction": names[prediction[rows]]}

    return RowLosses(wrong.astype(np.float64), show, f"{count:,} wrong row{'s' * (count != 1)}")


def _probability_losses(batch: Batch, target: Target) -> RowLosses:
    classes: Sequence[Label]
    if batch.prediction_columns == 1:
        outcomes = read_probability_outcomes(batch, target)
        classes = name_decisions(outcomes.labels, target)
        positive = np.asarray(outcomes.probability, np.float64)
        truth, predicted = outcomes.truth.astype(np.int64), (positive >= 0.5).astype(np.int64)
        of_truth = np.where(outcomes.truth, positive, 1.0 - positive)
    else:
        classes, truth, table = read_score_table(batch, target)
        predicted, of_truth = table.argmax(axis=1), np.asarray(table[np.arange(batch.n), truth], np.float64)

    def show(rows: Array) -> dict[str, Array]:
        names = np.array(classes)
        shown = {"truth": names[truth[rows]], "prediction": names[predicted[rows]]}
        return shown | {"probability of the truth": of_truth[rows]}

    with np.errstate(divide="ignore"):  # the loss of what was held impossible is infinite
        return RowLosses(-np.log(of_truth), show, "Rows with the lowest probability of the truth")


def _score_losses(batch: Batch, target: Target) -> RowLosses:
    if batch.prediction_columns > 2:
        raise ShapeError(
            argument="y_pred",
            expected="have one score per row, or two",
            got=f"{batch.prediction_columns} columns",
            hint=Text('Pass {kind="probability"} if these are probabilities'),
        )
    scores = np.asarray(read_scores(batch, target), np.float64)
    labels, codes = encode_labels(batch, 0)
    names = name_decisions(labels, target)
    truth = np.array([label == names[1] for label in labels], bool)[codes]
    if truth.all() or not truth.any():
        raise UndefinedError(f"no row is worse than another: {ONE_CLASS.reason}")
    loss = np.empty(batch.n)
    for side, sign in ((True, 1.0), (False, -1.0)):
        others = np.sort(sign * scores[truth != side])
        mine = sign * scores[truth == side]
        ends = [np.searchsorted(others, mine, where) for where in ("left", "right")]
        loss[truth == side] = 1.0 - (ends[0] + ends[1]) / (2 * len(others))

    def show(rows: Array) -> dict[str, Array]:
        shown = np.array(names)[truth[rows].astype(np.int64)]
        return {"truth": shown, "score": scores[rows], "misranked share": loss[rows]}

    return RowLosses(loss, show, "Rows that are misranked against the most rows of the other class")
