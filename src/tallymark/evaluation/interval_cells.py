"""The interval of a cell: by the formula of its metric, else from replicates, else the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.errors import InputError
from tallymark.evaluation.notes import together
from tallymark.evaluation.percentiles import influence_of, percentile_interval
from tallymark.evaluation.resampling import numbers_of
from tallymark.evaluation.result import Cell
from tallymark.evaluation.settings import IntervalSettings, lacks_resamples
from tallymark.evaluation.unseen import Moves, allow_in_formula, allow_in_resamples
from tallymark.metrics import Metric
from tallymark.metrics.answer import Interval, NoInterval
from tallymark.states import State

BOUNDED = "lo and hi are bounds of the value on these rows, not an interval; leave `bounded` out for one"

Found = Interval | NoInterval


def fill_cells(
    cells: Mapping[str, Cell],
    by_formula: Callable[[str], Found | None],
    by_resampling: Callable[[Mapping[str, Cell]], Mapping[str, Found]],
    settings: IntervalSettings,
    *,
    plain: bool,
) -> None:
    """Give every cell its interval: the one by formula, or where there is none that of the replicates, if rows are to
    be resampled. `plain` rows have neither weights nor clusters."""
    lacking = lacks_resamples(settings.level, settings.resamples)
    left = {}
    for key, cell in cells.items():
        if cell.method is not None:
            cell.interval_notes += (BOUNDED,)
        if not can_have(cell):
            continue
        found = by_formula(key)
        if found is not None:
            put_interval(cell, found)
        elif settings.method == "analytic":
            cell.interval_notes += (no_formula(cell.metric, plain=plain),)
        elif lacking:
            put_interval(cell, NoInterval(lacking))
        else:
            left[key] = cell
    if left:
        for key, found in by_resampling(left).items():
            put_interval(left[key], found)


def formula_interval(item: Metric, level: float, state: State | None) -> Found | None:
    """The interval by formula from its state, None where rows are not such that there is one; or the reason why there
    is none by any method. None: resample."""
    if item.no_interval:
        return NoInterval(item.no_interval)
    found = None if state is None else item.interval(state, level)
    if state is not None and found is not None:
        found = allow_in_formula(item, state, found, level)
    return NoInterval(item.no_bootstrap) if found is None and item.no_bootstrap else found


def no_formula(item: Metric, *, plain: bool) -> str:
    """Why a metric has no analytic interval of rows, which are plain where they have neither weights nor clusters."""
    why = (
        f"{item.name} has no analytic interval of such rows"
        if plain
        else "analytic intervals are for single rows of weight 1"
    )
    return f'{why}; ci_method="bootstrap" resamples the rows'


class Resamples(NamedTuple):
    """The values of a metric in all replicates; without one group of rows after the other, None where there are too
    many rows for that to matter; and how far outcomes that none of the rows has could move them."""

    values: Array
    without: Array | None
    moves: list[Moves]


def resampled_interval(
    item: Metric, value: Any, resamples: Resamples, level: float, units: float, method: str, *, single: bool
) -> Found:
    """The interval of a value of so many independent units from those in resamples, part by part. Counts and pairs
    of `single` rows, of weight 1 and with one label, tell how sure they are.
    """
    numbers, rests_on = numbers_of(value), item.rests_on if single else "sizes"
    lines, without = np.atleast_2d(resamples.values), resamples.without
    left_out = np.zeros((len(numbers), 1)) if without is None else np.atleast_2d(without)
    if not len(numbers) == len(lines) == len(left_out):
        raise InputError("the input changed while it was being read")
    found = []
    for part, (number, line, rest) in enumerate(zip(numbers, lines, left_out, strict=True)):
        influence = influence_of(rest, units, number, rests_on)
        ends = percentile_interval(number, line, level, item.range, units, influence, item.typical)
        moves, counts = (resamples.moves or [Moves()] * len(numbers))[part], rests_on == "counts"
        found.append(allow_in_resamples(moves, ends, number, line, level, item, units, counts=counts))
    notes = _notes_of_parts(value, [each.notes for each in found])
    if all(each.lo is None for each in found):
        return NoInterval("; ".join(notes))
    lo, hi = (_shaped(value, ends) for ends in ([each.lo for each in found], [each.hi for each in found]))
    return Interval(lo, hi, method, notes)


def can_have(cell: Cell) -> bool:
    """Whether a cell has numbers to put an interval around. Bounds are not to be taken for one."""
    if cell.error is not None or cell.shows_itself or cell.method is not None:
        return False
    return any(map(math.isfinite, numbers_of(cell.value)))


def put_interval(cell: Cell, found: Found) -> None:
    """Give a cell its interval, or the reason why it has none."""
    if isinstance(found, NoInterval):
        cell.interval_notes += (f"no interval: {found.reason}",)
    else:
        cell.lo, cell.hi, cell.method = found.lo, found.hi, found.method
        cell.interval_notes += found.notes


def _notes_of_parts(value: Any, notes: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Every note once, with the classes or outputs that it belongs to where it does not belong to all."""
    keys = list(value) if isinstance(value, dict) else range(len(notes))
    what = "class" if isinstance(value, dict) else "output"
    of = together((note, repr(key)) for key, each in zip(keys, notes, strict=True) for note in each)
    return tuple(note if len(held) == len(notes) else f"{what} {', '.join(held)}: {note}" for note, held in of.items())


def _shaped(value: Any, ends: list[float | None]) -> Any:
    """Ends of intervals in the shape of the value."""
    if isinstance(value, dict):
        return dict(zip(value, ends, strict=True))
    return ends if isinstance(value, list) else ends[0]
