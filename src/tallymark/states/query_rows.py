"""From rows to queries, relevances and scores: what the queries state refuses while it reads a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallymark._core import read_table
from tallymark.arrays import Array
from tallymark.batch import QUERY, Batch
from tallymark.errors import DomainError, InputError, ParameterError
from tallymark.states.encoded import Encoded
from tallymark.states.encoding import encode

_EXACT = 2.0**53  # from here on, float64 makes different integers equal


def read_queries(batch: Batch) -> Encoded | None:
    """The query of each row; None for tables, each row of which is one."""
    if batch.truth_columns > 1:
        if batch.has_query:
            raise ParameterError("`query` must not be given with tables: each of their rows is a query of its own")
        return None
    if not batch.has_query:
        raise ParameterError(
            "`query` must be given: the label of the query that each row belongs to. Where each query is a row of a "
            "table, pass `y_true` and `y_pred` as tables of the same width"
        )
    return Encoded(*encode(batch, QUERY, fractions=True))


def read_relevance(batch: Batch) -> Array:
    """The truth as relevances."""
    relevance, low, _ = _read_side(batch, 0)
    if low < 0:
        place = np.argwhere(relevance < 0)[0].tolist()
        value = float(relevance[tuple(place)])
        where = batch.places.row(*place)
        raise DomainError(f"`y_true` must hold relevances, which are not negative; {where} has {value}")
    return relevance


def read_score(batch: Batch) -> Array:
    """The predictions as scores."""
    score, low, high = _read_side(batch, 1)
    if max(-low, high) >= _EXACT:
        place = np.argwhere(np.abs(score) >= _EXACT)[0].tolist()
        item: Any = batch.item(1, place[0])
        item = item[place[1]] if len(place) == 2 and isinstance(item, list) else item
        if isinstance(item, int):  # floats are what they are
            raise DomainError(
                f"`y_pred` must hold scores that float64 tells apart, integers below 2**53; "
                f"{batch.places.row(*place)} has {item}. Subtract a constant, or pass their ranks"
            )
    return score


def _read_side(batch: Batch, side: int) -> tuple[Array, float, float]:
    array = batch.truth if side == 0 else batch.prediction
    found = read_table(array)
    if found is None:
        batch.require_finite_side(side)
        raise InputError(f"`{batch.names[side]}` changed while it was being read")
    raw, low, high = found
    numbers = np.frombuffer(raw, np.float64)
    return numbers if array.ndim == 1 else numbers.reshape(array.shape), low, high
