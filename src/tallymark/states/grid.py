"""A grid of labels that rows can be added to: what would be if there were more rows of an outcome."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np

from tallymark.states.base import UNIT_BITS
from tallymark.states.decisions import LABELS
from tallymark.states.encoding import Counted, lowest_terms
from tallymark.states.pairs import Pairs

MOST_CLASSES = 100  # of more, a grid takes too long, and each class has little say in a mean
_PLACES = 40  # binary ones, to which rows that are added are rounded

Cell = tuple[int, int]
Outcome = tuple[Cell, ...]


class Grid:
    """The weight of every pair of classes. Outcomes are those of the rows of a class and of the rows that are called
    so: to be right, or wrong in any way; with two classes, wrong rows of one are wrong calls of the other. `held` are
    the outcomes that rows have, `unseen` the others of classes that rows have: none makes a class true that is not.

    It is empty where rows have no classes, only one, or too many."""

    __slots__ = ("_added", "_classes", "_held", "_places", "_state", "held", "unseen")

    def __init__(self, state: Pairs, units: float) -> None:
        classes, of_truth, of_prediction = state.classes()
        self._state, self._classes = state, list(classes)
        self._places = min(_PLACES, (state.unit or 0) + UNIT_BITS)
        self._held: dict[Cell, int] = {}
        self.held: list[Outcome] = []
        self.unseen: list[Outcome] = []
        target = state.reads.target
        if state.reads.clusters or target.unanswered is not None or not 2 <= len(classes) <= MOST_CLASSES:
            return
        values = state.scaled((state.unit or 0) - self._places)
        cells = zip(*(side.tolist() for side in state.cells), strict=True)
        self._held = {(of_truth[t], of_prediction[p]): value for (t, p), value in zip(cells, values, strict=True)}
        if 0.0 < units < math.inf and self._held:
            self._added = sum(self._held.values()) / Fraction(units)  # the weight of one of so many equal rows
            self._find_outcomes()

    def _find_outcomes(self) -> None:
        true, known = {cell[0] for cell in self._held}, {place for cell in self._held for place in cell}
        found = dict[Outcome, bool]()
        for side, k in product((0, 1), range(len(self._classes))):
            others = sorted((known if side == 0 else true) - {k})
            wrong = tuple((k, other) if side == 0 else (other, k) for other in others)
            seen = tuple(cell for cell in wrong if cell in self._held)
            right = (k, k) in self._held
            if (right or seen) and k in true:
                found[((k, k),)] = right
            if right or seen:
                found[seen or wrong] = bool(seen)
        self.held = [outcome for outcome, seen in found.items() if seen and outcome]
        self.unseen = [outcome for outcome, seen in found.items() if not seen and outcome]

    def plus(self, outcome: Outcome, rows: float) -> Pairs:
        """The state with so many more rows of an outcome, spread evenly over its pairs. How many rows there are is not
        told anew: values go by weights."""
        added = round(self._added * Fraction(rows) / len(outcome))
        return self._state_of({**self._held, **{cell: self._held.get(cell, 0) + added for cell in outcome}})

    def thrice(self) -> Pairs:
        """The state with all weights three times as large, in which a value that goes by shares is the same."""
        return self._state_of({cell: 3 * value for cell, value in self._held.items()})

    def _state_of(self, held: dict[Cell, int]) -> Pairs:
        pairs = sorted(held)
        weights, unit = lowest_terms([held[cell] for cell in pairs], (self._state.unit or 0) - self._places)
        where = np.array(pairs, np.int64)
        labels = (self._classes, self._classes)
        counted = Counted(labels, (where[:, 0], where[:, 1]), weights, unit, unit >= 0)
        return Pairs(self._state.reads, self._state.columns, LABELS, self._state.n, counted)
