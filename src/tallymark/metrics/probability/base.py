"""What all metrics on probabilities share: which predictions they read, and what they refuse."""

from __future__ import annotations

from typing import Any, ClassVar

from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import Text
from tallymark.intervals.analytic import (
    HALL,
    ONE_ROW,
    Interval,
    NoInterval,
    dominated_note,
    few_rows_note,
    mean_ends,
    single_interval,
)
from tallymark.metrics.base import Metric
from tallymark.states.probabilities.costs import Cost, Probabilities, ProbabilitiesOf
from tallymark.states.probabilities.reading import soft_fault

__all__ = ["CostMetric", "ProbabilityMetric"]


class ProbabilityMetric(Metric, abstract=True):
    """A metric on probabilities. Margins become probabilities first; labels and other scores are refused.

    A subclass writes `reads_of(target)`.
    """

    family: ClassVar[str] = "probability"
    kind: ClassVar[str] = "probability"
    kinds: ClassVar[tuple[str, ...]] = ("probability", "margin")
    takes: ClassVar[str] = "probabilities or margins"

    def kind_hint(self, kind: str) -> Text:
        why = {
            "label": "Labels carry no confidence",
            "value": "Values need not be probabilities",
            "score": "Scores only rank rows",
        }[kind]
        return Text('{}: pass the probabilities (such as those of predict_proba), or margins with {kind="margin"}', why)

    def check_values(self, state: Any, batch: Batch | None) -> None:
        state.check_labels()


class CostMetric(ProbabilityMetric, abstract=True):
    """The mean of what the probability of each row costs. A subclass names its `cost`."""

    soft_truth: ClassVar[bool] = False
    """Whether the truth may be a probability itself."""

    @property
    def cost(self) -> Cost:
        """What a row costs."""
        raise NotImplementedError(f"{type(self).__name__} must define `cost`")

    def reads_of(self, target: Target) -> ProbabilitiesOf:
        return ProbabilitiesOf(target, self.cost)

    def check_values(self, state: Probabilities, batch: Batch | None) -> None:
        if state.soft and not self.soft_truth:
            raise soft_fault(batch, state.soft)
        state.check_labels()

    def formula_value(self, state: Probabilities) -> float:
        return state.mean(self.cost)

    def interval_reads(self, target: Target) -> ProbabilitiesOf:
        return ProbabilitiesOf(target, self.cost, *self.cost.powers)

    def analytic_interval(self, state: Probabilities, level: float) -> Interval | NoInterval:
        if state.n < 2:
            return ONE_ROW
        found = state.moments(self.cost)
        notes = few_rows_note(state.n) or dominated_note(found, state.n)
        return single_interval(mean_ends(found, state.n, level, self.rounding_scale), HALL, notes)
