"""A plan: which states, with which terms, a set of metrics needs. An engine is given a plan and folds rows into it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from tallymark.batch import Batch
from tallymark.states.base import Reads, State

States = tuple[State, ...]


class Plan:
    """The joined declarations of many metrics: one state per group, each computed once."""

    __slots__ = ("_places", "reads")

    def __init__(self, wanted: Iterable[Reads]) -> None:
        groups: dict[Hashable, list[Reads]] = {}
        for reads in wanted:
            groups.setdefault(reads.group, []).append(reads)
        ordered = sorted(groups, key=str)  # the same states in the same order, whatever the order of the wishes
        self.reads = tuple(_joined(groups[group]) for group in ordered)
        self._places = {group: place for place, group in enumerate(ordered)}

    def zero(self) -> States:
        """The states of no rows."""
        return tuple(reads.zero() for reads in self.reads)

    def fold(self, batch: Batch) -> States:
        """The states of one batch."""
        return tuple(reads.fold(batch) for reads in self.reads)

    def place(self, reads: Reads) -> int:
        """Where the state stands that serves a declaration."""
        return self._places[reads.group]

    def pick(self, states: States, reads: Reads) -> State:
        """The state that serves a declaration."""
        return states[self.place(reads)]

    @staticmethod
    def add(left: States, right: States) -> States:
        """The states of both sets of rows."""
        return tuple(a + b for a, b in zip(left, right, strict=True))


def _joined(reads: list[Reads]) -> Reads:
    """The declaration that serves all of them. Neighbours join first: one after the other would take quadratic time."""
    while len(reads) > 1:
        reads = [reads[k].join(reads[k + 1]) if k + 1 < len(reads) else reads[k] for k in range(0, len(reads), 2)]
    return reads[0]
