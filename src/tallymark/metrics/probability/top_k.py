"""Whether the true class is among the first few."""

from __future__ import annotations

from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.intervals.analytic import Interval, share_interval
from tallymark.metrics.base import Metric
from tallymark.metrics.parameters import count
from tallymark.states.base import divide, to_float
from tallymark.states.labels.class_ranks import Ranks, RanksOf, read_ranks
from tallymark.states.resampling.paired_rows import PairedOutcomes

__all__ = ["TopKAccuracy", "top_k_accuracy"]


class TopKAccuracy(Metric):
    """The share of rows whose true class is among the k with the highest predictions.

    >>> top_k_accuracy(["a", "b", "c"], [[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.5, 0.3, 0.2]], k=2)
    0.6666666666666666
    """

    name = "top_k_accuracy"
    aliases = {"top_k_accuracy_score": {"k": 2}}
    family = "classification"
    kind = "score"
    kinds = ("score", "probability", "margin")
    takes = "one column of predictions per class"
    better = "higher"
    range = (0.0, 1.0)
    at_perfect = 1.0
    formula = "Σ w [fewer than k columns lie strictly above that of the true class] / Σ w"
    reading = "1 is perfect; random guessing gives k over the number of classes."
    outliers = "none: only the order of the columns within a row counts."
    landmarks = ((0.0, "no true class is among the first k"),)
    related = ("accuracy", "logloss")
    pitfalls = ("A class that ties with others counts as the first of them: a constant prediction scores 1.",)
    samples = ({}, {"k": 1}, {"k": 2})

    k: int = count(5)
    """How many classes may be named."""

    def _display_parts(self) -> tuple[str, tuple[str, ...]]:
        return f"top-{self.k} accuracy", ("k",)

    @property
    def formula_text(self) -> str:
        return self.formula.replace(" k ", f" {self.k} ")

    def reads_of(self, target: Target) -> RanksOf:
        return RanksOf(target)

    def paired_rows(self, batch: Batch, target: Target) -> PairedOutcomes:
        return PairedOutcomes(read_ranks(batch, target) < self.k)

    def formula_value(self, state: Ranks) -> float:
        return divide(sum(state.weights[: self.k]), state.weight)

    def analytic_interval(self, state: Ranks, level: float) -> Interval:
        return share_interval(to_float(sum(state.weights[: self.k])), to_float(state.weight), level)


top_k_accuracy = TopKAccuracy()
