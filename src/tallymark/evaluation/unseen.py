"""Ends of intervals that allow for outcomes which no row has.

Resamples know of none: where all rows of a class are right, they are right in every resample, as if no other could be
wrong. Nor does a variance by the rows. Wilson's interval of a share of 0 or 1 knows better, and so do the ends here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.evaluation.percentiles import SAME, Ends, few_units
from tallymark.evaluation.resampling import numbers_in
from tallymark.metrics import Metric
from tallymark.metrics.answer import Interval, NoInterval
from tallymark.metrics.confidence import AT_ITS_END, DELTA, NO_SPREAD, few_rows
from tallymark.quantiles import two_sided
from tallymark.states import Grid, Pairs, State

_ALLOWED = "an end allows for outcomes that none of these rows has, as Wilson's interval of a share of 0 or 1 does"
_UNSEEN = "some outcomes that would move the value are in no row, and so in no resample: the level may not be kept"
_FURTHER = 1.05  # than it would be: less need not be told
_HARDLY = 2.0**-20  # of a row: what moves a value far is no move but another set of classes
_JUMP = 1e-3
_MORE = 1.001  # than another row, and not by rounding
_MOST_BY_FORMULA = 5  # classes: a formula should not take as long as resamples


class Moves(NamedTuple):
    """How far rows of outcomes that were not seen could move a value down and up."""

    down: float = 0.0
    up: float = 0.0


def unseen_moves(item: Metric, state: State, units: float, level: float) -> list[Moves]:
    """The moves of each part of a value of labels, by as many rows of an outcome as Wilson's interval of a share of 0
    or 1 allows for. Only rows that each move it further than any row that was seen are told: resamples know what those
    do."""
    if item.rests_on != "counts" or not isinstance(state, Pairs):
        return []
    item = item.replace(undefined=None)
    value, grid = np.array(numbers_in(item, state)), Grid(state, units)
    if not grid.unseen or not np.allclose(value, numbers_in(item, grid.thrice()), rtol=1e-9, atol=0.0, equal_nan=True):
        return []  # rows that are added are no whole ones, which only shares can take

    def moved(outcome: tuple[tuple[int, int], ...], rows: float) -> Array:
        found = np.array(numbers_in(item, grid.plus(outcome, rows)))
        return found - value if found.shape == value.shape else np.full(value.shape, math.nan)

    known = np.array([moved(outcome, 1.0) for outcome in grid.held]).reshape(-1, len(value))
    low, high = (np.nan_to_num(bound(known, axis=0, initial=0.0)) for bound in (np.min, np.max))
    down, up = np.zeros(len(value)), np.zeros(len(value))
    for outcome in grid.unseen:
        by_one, by_many = moved(outcome, 1.0), moved(outcome, two_sided(level) ** 2)
        smooth = np.abs(moved(outcome, _HARDLY)) <= _JUMP * np.abs(by_one)
        down = np.where(smooth & (by_one < _MORE * low) & (by_many < down), by_many, down)
        up = np.where(smooth & (by_one > _MORE * high) & (by_many > up), by_many, up)
    return [Moves(float(low), float(high)) for low, high in zip(down, up, strict=True)]


def allow_in_resamples(
    moves: Moves, ends: Ends, value: float, replicates: Array, level: float, item: Metric, units: float, *, counts: bool
) -> Ends:
    """Ends from resamples that allow for the moves; with a note instead where rows are no `counts`."""
    if not any(moves) or (ends.lo is None and (SAME not in ends.notes or not counts)):
        return ends
    held = (value, value) if ends.lo is None or ends.hi is None else (ends.lo, ends.hi)
    found = _further(moves, held, value, two_sided(level) * _deviation(replicates), item.range)
    notes = few_units(units) if ends.lo is None else ends.notes
    if _much_further(found, held, value):
        notes += (_ALLOWED if counts else _UNSEEN,)
    return (Ends(*found) if counts else ends)._replace(notes=notes)


def allow_in_formula(item: Metric, state: State, found: Interval | NoInterval, level: float) -> Interval | NoInterval:
    """The interval by the delta method that allows for outcomes which no row has. Where all rows are right, it is that
    of these outcomes alone."""
    certain = found in (AT_ITS_END, NO_SPREAD)
    whole = isinstance(found, Interval) and found.method == DELTA and isinstance(found.lo, float)
    if not (certain or whole) or not isinstance(state, Pairs) or len(state.classes()[0]) > _MOST_BY_FORMULA:
        return found
    moves = unseen_moves(item, state, state.n, level)
    if len(moves) != 1 or not any(moves[0]):
        return found
    (value,) = numbers_in(item, state)
    held = (found.lo, found.hi) if isinstance(found, Interval) else (value, value)
    ends = _further(moves[0], held, value, (held[1] - held[0]) / 2.0, item.range)
    if not ends[0] < ends[1]:
        return found
    notes = found.notes if isinstance(found, Interval) else few_rows(state.n)
    return Interval(*ends, DELTA, (*notes, _ALLOWED) if _much_further(ends, held, value) else notes)


def _further(
    moves: Moves, ends: tuple[float, float], value: float, spread: float, within: tuple[float, float]
) -> tuple[float, float]:
    """The ends, or those that outcomes which were not seen need: if z² rows move the value by m, and z standard errors
    are s, Wilson's end is m / 2 + √(s² + m² / 4) away."""

    def further(end: float, move: float) -> float:
        away = abs(move) / 2.0 + math.hypot(spread, move / 2.0)
        far = move and away > abs(end - value)
        return min(max(value + math.copysign(away, move), within[0]), within[1]) if far else end

    return further(ends[0], moves.down), further(ends[1], moves.up)


def _much_further(found: tuple[float, float], held: tuple[float, float], value: float) -> bool:
    return any(abs(new - value) > _FURTHER * abs(old - value) for new, old in zip(found, held, strict=True))


def _deviation(replicates: Array) -> float:
    found = replicates[np.isfinite(replicates)]
    most = max(float(np.max(np.abs(found), initial=0.0)), 5e-324)
    return float(np.std(found / most)) * most  # so that no square overflows
