"""Outcomes that none of the rows has: a class of which every row is right may yet have rows that are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from tallymark.states.decisions import LABELS
from tallymark.states.encoding import Counted, lowest_terms
from tallymark.states.pairs import Pairs

MOST_CLASSES = 20  # of more, each has little say in a value
_PLACES = 40  # binary ones, to which rows that are added are rounded

Cell = tuple[int, int]


def with_unseen(state: Pairs, rows: float) -> Iterator[Pairs]:
    """The state with so many more rows of each outcome that it does not hold. Outcomes are those of the rows of a
    class and of the rows that are called so: to be right or wrong. Rows that are added weigh as much as others do."""
    classes, of_truth, of_prediction = state.classes()
    size = len(classes)
    if state.reads.clusters or state.reads.target.unanswered is not None or not 2 <= size <= MOST_CLASSES:
        return
    values = state.values.tolist() if state.unit is None else state.values  # type: ignore[union-attr]
    places = zip(*(side.tolist() for side in state.cells), strict=True)
    held = {(of_truth[t], of_prediction[p]): value << _PLACES for (t, p), value in zip(places, values, strict=True)}
    added = sum(held.values()) * round(rows * 2**_PLACES) // (state.n << _PLACES)
    for cells in _unseen(held, size):
        grown = dict(held)
        for cell in cells:
            grown[cell] = grown.get(cell, 0) + max(added // len(cells), 1)
        pairs = sorted(grown)
        weights, unit = lowest_terms([grown[cell] for cell in pairs], (state.unit or 0) - _PLACES)
        where = np.array(pairs, np.int64)
        counted = Counted((list(classes), list(classes)), (where[:, 0], where[:, 1]), weights, unit, unit >= 0)
        yield Pairs(state.reads, state.columns, LABELS, state.n + len(cells), counted)


def _unseen(held: dict[Cell, int], size: int) -> list[tuple[Cell, ...]]:
    """The cells of each outcome that is not held, of classes that are: with two classes, that of a class and that of a
    call are one."""
    true, known = {cell[0] for cell in held}, {place for cell in held for place in cell}
    found = dict[tuple[Cell, ...], None]()
    for side, k in product((0, 1), range(size)):
        others = sorted((known if side == 0 else true) - {k})
        wrong = tuple((k, other) if side == 0 else (other, k) for other in others)
        seen = any(cell in held for cell in wrong)
        if (k, k) not in held and seen:
            found[((k, k),)] = None
        elif (k, k) in held and wrong and not seen:
            found[wrong] = None
    return list(found)
