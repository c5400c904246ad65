"""Runs of distinct scores in order: those of a class in a column, and those of every class as one part of a state."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tallymark._core import merge_runs
from tallymark.arrays import Array
from tallymark.errors import StateError
from tallymark.labels import Label
from tallymark.states.base import ONE
from tallymark.states.sums import exact_sum

Runs = tuple[Array, "Array | None", "Array | None"]
"""Distinct scores in order, or distinct pairs of score and weight; weights, or None if all are 1; how often each
occurs, or None if once."""

NOTHING: Runs = (np.empty(0), None, None)


class Part(NamedTuple):
    """Labels in order, and the runs of every label in every column."""

    labels: list[Label]
    columns: list[list[Runs]]

    def rows(self) -> int:
        """How many runs there are."""
        return sum(len(runs[0]) for column in self.columns for runs in column)

    def find(self, label: Label, column: int) -> Runs:
        """The runs of a label in a column; nothing if no row has the label."""
        return self.columns[column][self.labels.index(label)] if label in self.labels else NOTHING

    def within_one(self) -> bool:
        """Whether all scores lie between 0 and 1."""
        for column in self.columns:
            for scores, _, _ in column:
                if len(scores) and not 0 <= scores[0] <= scores[-1] <= 1:
                    return False
        return True


def join_runs(runs: list[Runs]) -> Runs:
    """The runs of several classes as one; those of similar size first."""
    while len(runs) > 1:
        runs = [merge_runs(*runs[k : k + 2]) if k + 1 < len(runs) else runs[k] for k in range(0, len(runs), 2)]
    return runs[0] if runs else NOTHING


def merge_parts(left: Part, right: Part) -> Part:
    """Both parts as one."""
    labels = left.labels if left.labels == right.labels else sorted({*left.labels, *right.labels})
    columns = [
        [merge_runs(left.find(label, k), right.find(label, k)) for label in labels] for k in range(len(left.columns))
    ]
    return Part(labels, columns)


def measure_runs(runs: Runs) -> tuple[int, int]:
    """How many rows there are, and their exact weight."""
    scores, weights, counts = runs
    rows = len(scores) if counts is None else sum(counts.tolist())
    return rows, ONE * rows if weights is None else exact_sum(weights, counts)


def check_runs(scores: Array, weights: Array | None, counts: Array | None) -> Runs:
    """Refuse stored runs that are not in their one normal form."""
    for held, dtype in ((scores, np.float64), (weights, np.float64), (counts, np.int64)):
        if held is not None and (held.ndim != 1 or held.dtype != dtype or len(held) != len(scores)):
            raise StateError("scores, weights and counts differ in length or type")
    if not np.isfinite(scores).all() or (np.signbit(scores) & (scores == 0)).any():
        raise StateError("scores must be finite, and zero has no sign")
    if weights is not None and not (np.isfinite(weights).all() and (weights > 0).all() and (weights != 1).any()):
        raise StateError("weights must be finite, positive and not all one")
    if counts is not None and not ((counts > 0).all() and (counts != 1).any()):
        raise StateError("counts must be positive and not all one")
    rises = np.diff(scores) > 0
    if weights is not None:
        rises |= (np.diff(scores) == 0) & (np.diff(weights) > 0)
    if not rises.all():
        raise StateError("scores must differ and be in order")
    return tuple(None if a is None else np.ascontiguousarray(a) for a in (scores, weights, counts))  # type: ignore[return-value]
