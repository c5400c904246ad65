"""What a term or a cost is in every single row: the numbers whose exact total a state keeps."""

from __future__ import annotations

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.states.base import to_float
from tallymark.states.probabilities.costs import Cost, binary_term, quantity_per_row
from tallymark.states.probabilities.reading import (
    read_hinge_losses,
    read_probability_columns_of,
    total_binary,
    with_checks,
)
from tallymark.states.sums import SumsOf, Term

_WIDTH = 1024  # columns of one table
_OF_ERROR = {"absolute_error": np.abs, "squared_error": np.square}  # which need no table


def row_terms(term: Term, truth: Array, prediction: Array) -> Array:
    """The term of every row, infinite where float64 cannot hold it. The core totals columns: as columns, rows have
    totals of their own."""
    truth, prediction = np.asarray(truth, np.float64), np.asarray(prediction, np.float64)
    if term.name in _OF_ERROR:
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(_OF_ERROR[term.name](prediction - truth))
    reads, out = SumsOf(term), np.empty(len(truth))
    for start in range(0, len(truth), _WIDTH):
        rows = slice(start, start + _WIDTH)
        state = reads.fold(Batch(truth[None, rows], prediction[None, rows]))
        found = [np.inf if total.above else to_float(total.exact << state.unit) for total in state.totals]
        out[rows] = found
    return out


def row_costs(cost: Cost, batch: Batch, target: Target) -> Array:
    """What the probability of every row costs."""
    if cost.is_of_margins:
        return read_hinge_losses(batch, target.of_margins()).losses
    term = Term(binary_term(cost), (cost.clip,) if cost.name == "log_loss" else ())
    if batch.prediction_columns == 1:
        truth = total_binary(batch, target, with_checks([])).truth
        return row_terms(term, truth, batch.prediction)
    found = read_probability_columns_of(batch, target, [quantity_per_row(cost)])
    if len(found.classes) == 2:
        return row_terms(term, found.places == found.positive, found.columns[0])
    if cost.name == "log_loss":
        return row_terms(term, np.ones(batch.n), found.columns[0])
    return np.asarray(found.columns[0])
