"""A plan: which states, with which terms, a set of metrics needs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from tallymark.data.batch import Batch
from tallymark.errors import StateError
from tallymark.states.base import ONE, FoldedState, Reads, SoleReads, State
from tallymark.states.sums import exact_sum


class SizeOf(SoleReads):
    """Asks for rows and weight only."""

    __slots__ = ()

    def zero(self) -> Size:
        return Size(None, 0, 0)

    def fold(self, batch: Batch) -> Size:
        if batch.n == 0:
            return self.zero()
        batch.require_weights()
        weight = batch.n * ONE if batch.weights is None else exact_sum(batch.weights)
        return Size((batch.truth_columns, batch.prediction_columns), batch.n, weight)


class Size(FoldedState[SizeOf]):
    """Rows and their exact weight."""

    __slots__ = ("_weight",)

    def __init__(self, columns: tuple[int, int] | None, n: int, weight: int) -> None:
        super().__init__(SizeOf(), columns, n)
        self._weight = weight

    @property
    def weight(self) -> int:
        return self._weight

    def __add__(self, other: Size) -> Size:
        if not isinstance(other, Size):
            return NotImplemented
        return Size(self.columns or other.columns, self.n + other.n, self._weight + other._weight)

    def fields(self) -> dict[str, Any]:
        return {
            "columns": None if self.columns is None else list(self.columns),
            "n": self.n,
            "weight": self._weight,
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Size:
        columns = None if fields["columns"] is None else (int(fields["columns"][0]), int(fields["columns"][1]))
        n, weight = int(fields["n"]), int(fields["weight"])
        if n < 0 or weight < 0 or (columns is None) != (n == 0):
            raise StateError("rows and weights cannot be negative")
        return cls(columns, n, weight)


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
