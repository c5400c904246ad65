"""The bins state: probabilities in bins of equal width, with predicted and observed totals. Its size is fixed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from tallymark._core import total_bins
from tallymark.data.batch import Batch
from tallymark.data.labels import Label
from tallymark.data.target import Target
from tallymark.errors import StateError
from tallymark.states.base import KeyedReads, exact_total
from tallymark.states.probabilities.base import LabelledState, checked_shape
from tallymark.states.probabilities.reading import read_probability_outcomes
from tallymark.states.serialization import unpack_target

MOST_BINS = 10_000


class Bin(NamedTuple):
    """The weight of the rows of a bin, and the totals of their probabilities and of what happened: exact totals."""

    weight: int
    probability: int
    happened: int


class BinRange(NamedTuple):
    """A bin that has rows, and from where to where it goes."""

    low: float
    high: float
    bin: Bin


_EMPTY = Bin(0, 0, 0)


class BinsOf(KeyedReads):
    """Asks for probabilities in this many bins; of more than two classes, those of the largest of each row."""

    __slots__ = ("bins", "target")

    def __init__(self, target: Target, bins: int) -> None:
        self.target = target
        self.bins = bins

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (self.target, self.bins)

    def zero(self) -> Bins:
        return Bins(self, None, 0, (), (_EMPTY,) * self.bins)

    def resolved(self, batch: Batch | None, whole: Bins) -> BinsOf:
        return BinsOf(whole.resolved_target(), self.bins)

    def fold(self, batch: Batch) -> Bins:
        if batch.n == 0:
            return self.zero()
        truth, probability, labels = read_probability_outcomes(batch, self.target)
        totals = total_bins(truth, probability, batch.weights, self.bins)
        bins = tuple(Bin(*[exact_total(*raw) for raw in b]) for b in totals)
        return Bins(self, (1, batch.prediction_columns), batch.n, labels, bins)


class Bins(LabelledState[BinsOf]):
    """Exact totals per bin."""

    __slots__ = ("bins",)

    def __init__(
        self,
        reads: BinsOf,
        columns: tuple[int, int] | None,
        n: int,
        labels: tuple[Label, ...],
        bins: tuple[Bin, ...],
    ) -> None:
        super().__init__(reads, columns, n, labels)
        self.bins = bins

    @property
    def weight(self) -> int:
        return sum(found.weight for found in self.bins)

    @property
    def entries(self) -> int:
        return 3 * len(self.bins)

    def with_reads(self, reads: BinsOf) -> Bins:
        return Bins(reads, self.columns, self.n, self.labels, self.bins)

    def bin_ranges(self, bins: int) -> list[BinRange]:
        """The bins that have rows."""
        return [BinRange(k / bins, (k + 1) / bins, found) for k, found in enumerate(self.bins) if found.weight]

    def _plus(self, other: Bins) -> Bins:
        labels = self.joined_labels(other)
        bins = tuple(Bin(*map(int.__add__, a, b)) for a, b in zip(self.bins, other.bins, strict=True))
        return Bins(self.reads, self.columns, self.n + other.n, labels, bins)

    def fields(self) -> dict[str, Any]:
        return {
            **super().fields(),
            "bins": [list(found) for found in self.bins],
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Bins:
        target = unpack_target(fields["target"])
        columns, n, labels = checked_shape(fields, target)
        bins = tuple(Bin(int(weight), int(promised), int(happened)) for weight, promised, happened in fields["bins"])
        if not 1 <= len(bins) <= MOST_BINS:
            raise StateError(f"there must be 1 to {MOST_BINS} bins; got {len(bins)}")
        if any(not (0 <= b.probability <= b.weight and 0 <= b.happened <= b.weight) for b in bins):
            raise StateError("predicted and observed positives cannot exceed the weight of a bin")
        if columns is None and any(map(any, bins)):
            raise StateError("no rows have no weight")
        return cls(BinsOf(target, len(bins)), columns, n, labels, bins)
