"""Probabilities in order, with what happened: bins of equal weight can be cut from them. It reads the score state."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.labels import Label
from tallymark.data.target import Target
from tallymark.errors import StateError
from tallymark.states.base import KeyedReads
from tallymark.states.probabilities.base import LabelledState, checked_shape
from tallymark.states.probabilities.bins import Bin, BinRange
from tallymark.states.probabilities.reading import read_probability_outcomes
from tallymark.states.scores.scores import Scores, ScoresOf
from tallymark.states.serialization import unpack_target
from tallymark.states.sums import exact_sum

_SCORES = ScoresOf(Target("probability", classes=(0, 1)))
_FAR_FROM_OVERFLOW = 2.0**900


class OrderedProbabilitiesOf(KeyedReads):
    """Asks for probabilities in order; of more than two classes, those of the largest of each row."""

    __slots__ = ("target",)

    def __init__(self, target: Target) -> None:
        self.target = target

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (self.target,)

    def zero(self) -> OrderedProbabilities:
        return OrderedProbabilities(self, None, (), _SCORES.zero())

    def resolved(self, batch: Batch | None, whole: OrderedProbabilities) -> OrderedProbabilitiesOf:
        return OrderedProbabilitiesOf(whole.resolved_target())

    def fold(self, batch: Batch) -> OrderedProbabilities:
        if batch.n == 0:
            return self.zero()
        truth, probability, labels = read_probability_outcomes(batch, self.target)
        scores = _SCORES.fold(Batch(truth, probability, batch.weights))
        return OrderedProbabilities(self, (1, batch.prediction_columns), labels, scores)


class OrderedProbabilities(LabelledState[OrderedProbabilitiesOf]):
    """Probabilities as scores of two classes: what happened and what did not."""

    __slots__ = ("scores",)
    size = "distinct scores"

    def __init__(
        self,
        reads: OrderedProbabilitiesOf,
        columns: tuple[int, int] | None,
        labels: tuple[Label, ...],
        scores: Scores,
    ) -> None:
        super().__init__(reads, columns, scores.n, labels)
        self.scores = scores

    def with_reads(self, reads: OrderedProbabilitiesOf) -> OrderedProbabilities:
        return OrderedProbabilities(reads, self.columns, self.labels, self.scores)

    @property
    def weight(self) -> int:
        return self.scores.weight

    def bin_ranges(self, bins: int) -> list[BinRange]:
        """Bins of about equal weight: a probability goes by the weight below it, so that equal ones stay together."""
        p, weights, counts, happened = self._rows()
        distinct, which = np.unique(p, return_inverse=True)
        near_one = np.ldexp(weights, -np.frexp(weights.max())[1]) * counts  # no sum overflows
        total = np.cumsum(np.bincount(which, near_one, len(distinct)))
        below = np.concatenate(([0.0], total[:-1]))
        place = np.minimum(np.floor(bins * below / total[-1]), bins - 1)[which]
        bin_ranges = []
        for k in np.unique(place):
            here = place == k
            true = here & (happened > 0)
            held = Bin(
                _sum(weights[here], counts[here]),
                _sum((weights * p)[here], counts[here]),
                _sum(weights[true], counts[true]),
            )
            bin_ranges.append(BinRange(float(p[here].min()), float(p[here].max()), held))
        return bin_ranges

    def _rows(self) -> tuple[Array, Array, Array, Array]:
        """Probabilities, weights, how often each occurs, and whether they came true."""
        columns = []
        for happened, (p, weights, counts) in enumerate(self.scores.binary()):
            once = np.ones(len(p), np.int64)
            own_weights = once.astype(np.float64) if weights is None else weights
            columns.append((p, own_weights, once if counts is None else counts, happened * once))
        joined = [np.concatenate(column) for column in zip(*columns, strict=True)]
        return joined[0], joined[1], joined[2], joined[3]

    def _plus(self, other: OrderedProbabilities) -> OrderedProbabilities:
        labels = self.joined_labels(other)
        return OrderedProbabilities(self.reads, self.columns, labels, self.scores + other.scores)

    def fields(self) -> dict[str, Any]:
        return {
            **super().fields(),
            "scores": self.scores.fields(),
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> OrderedProbabilities:
        target = unpack_target(fields["target"])
        columns, n, labels = checked_shape(fields, target)
        scores = Scores.from_fields(fields["scores"])
        if scores.reads != _SCORES or scores.n != n or scores.columns not in (None, (1, 1)):
            raise StateError("the scores are not those of one column of probabilities")
        if not scores.whole.within_one():
            raise StateError("probabilities must lie in [0, 1]")
        return cls(OrderedProbabilitiesOf(target), columns, labels, scores)


def _sum(values: Array, counts: Array) -> int:
    """The sum of values that occur so often."""
    if values.max(initial=0.0) < _FAR_FROM_OVERFLOW:
        return exact_sum(values * counts)
    return exact_sum(values, counts)
