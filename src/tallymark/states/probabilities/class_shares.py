"""The class shares state: the exact total of a cost beside the weight of every class of the truth. Its size goes with
the classes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import StateError
from tallymark.states.base import KeyedReads, TargetState
from tallymark.states.labels.counts import LABELS
from tallymark.states.labels.encoding import CountedPairs, count_label_pairs, encode_labels
from tallymark.states.labels.pairs import Pairs, PairsOf
from tallymark.states.probabilities.costs import Cost, Probabilities, ProbabilitiesOf
from tallymark.states.probabilities.reading import soft_fault

_LABELS = PairsOf(Target("label"))


class CostAndSharesOf(KeyedReads):
    """Asks for the total of a cost, and for the weights of the classes."""

    __slots__ = ("cost", "target")

    def __init__(self, target: Target, cost: Cost) -> None:
        self.target = target
        self.cost = cost

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (self.target, self.cost)

    @property
    def costs(self) -> ProbabilitiesOf:
        """The declaration of the cost alone."""
        return ProbabilitiesOf(self.target, self.cost)

    def zero(self) -> CostAndShares:
        return CostAndShares(self, self.costs.zero(), _LABELS.zero())

    def resolved(self, batch: Batch | None, whole: CostAndShares) -> CostAndSharesOf:
        return CostAndSharesOf(whole.costs.resolved_target(), self.cost)

    def fold(self, batch: Batch) -> CostAndShares:
        if batch.n == 0:
            return self.zero()
        costs = self.costs.fold(batch)
        if costs.soft:
            raise soft_fault(batch, costs.soft)
        labels, codes = encode_labels(batch, 0)
        found = count_label_pairs(codes, codes, batch.weights, False, None)
        if not isinstance(found, CountedPairs):
            raise StateError("the input changed while it was being read")
        named = [labels[int(code)] for code in found.labels[0]]
        truth = Pairs(_LABELS, (1, 1), LABELS, batch.n, found._replace(labels=(named, named)))
        return CostAndShares(self, costs, truth)


class CostAndShares(TargetState[CostAndSharesOf]):
    """The total of the cost as `costs`, and the weights of the classes as pairs of each label with itself."""

    __slots__ = ("costs", "truth")

    def __init__(self, reads: CostAndSharesOf, costs: Probabilities, truth: Pairs) -> None:
        super().__init__(reads, costs.columns, costs.n)
        self.costs = costs
        self.truth = truth

    @property
    def weight(self) -> int:
        return self.costs.weight

    @property
    def entries(self) -> int:
        return self.costs.entries + self.truth.entries

    def check_labels(self) -> None:
        """Reject labels that, all rows seen, have no positive class."""
        self.costs.check_labels()

    def with_reads(self, reads: CostAndSharesOf) -> CostAndShares:
        return CostAndShares(reads, self.costs.with_reads(reads.costs), self.truth)

    def mean(self) -> float:
        """The weighted mean of the cost."""
        return self.costs.mean(self.reads.cost)

    def _plus(self, other: CostAndShares) -> CostAndShares:
        return CostAndShares(self.reads, self.costs + other.costs, self.truth + other.truth)  # type: ignore[arg-type]

    def fields(self) -> dict[str, Any]:
        return {"costs": self.costs.fields(), "truth": self.truth.fields()}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> CostAndShares:
        costs, truth = Probabilities.from_fields(fields["costs"]), Pairs.from_fields(fields["truth"])
        if len(costs.reads.costs) != 1 or costs.soft:
            raise StateError("there must be one cost, and a truth of labels")
        diagonal = truth.labels[0] == truth.labels[1] and np.array_equal(*truth.cells)
        if truth.reads != _LABELS or truth.form != LABELS or truth.columns not in (None, (1, 1)) or not diagonal:
            raise StateError("the weights are not those of the classes of the truth")
        if (truth.n, truth.weight) != (costs.n, costs.weight) or not set(truth.labels[0]) <= set(costs.labels):
            raise StateError("the weights of the classes do not fit the cost")
        return cls(CostAndSharesOf(costs.target, costs.reads.costs[0]), costs, truth)
