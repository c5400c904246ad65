"""The size state: how many rows there were and what they weigh, where nothing else is known of them."""

from __future__ import annotations

from typing import Any

from tallymark.batch import Batch
from tallymark.errors import StateError
from tallymark.states.base import ONE, FoldedState, SoleReads
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
