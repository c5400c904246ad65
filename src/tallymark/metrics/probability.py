"""What all metrics on probabilities share: which predictions they read, and what they refuse."""

from __future__ import annotations

from typing import Any, ClassVar

from tallymark.batch import Batch
from tallymark.errors import KindError
from tallymark.metrics.base import Metric
from tallymark.states import Cost, Probabilities, ProbabilitiesOf, Reads, soft_fault
from tallymark.target import ANY_TARGET, Target

__all__ = ["CostMetric", "ProbabilityMetric"]


class ProbabilityMetric(Metric, abstract=True):
    """A metric on probabilities. Margins become probabilities first; labels and other scores are refused.

    A subclass writes `reads_of(target)`, the state for predictions as the target says.
    """

    family: ClassVar[str] = "probability"
    kind: ClassVar[str] = "probability"

    def reads_of(self, target: Target) -> Reads:
        """What to read when predictions are as the target says."""
        raise NotImplementedError(f"{type(self).__name__} must define `reads_of`")

    @property
    def reads(self) -> Reads:
        return self.needs(ANY_TARGET)

    def needs(self, target: Target) -> Reads:
        cached: tuple[Target, Reads] | None = vars(self).get("_needs")
        if cached is not None and cached[0] is target:
            return cached[1]
        if target.kind in ("label", "value", "score"):
            why = {
                "label": "from labels that is impossible, since they do not say how sure a model is",
                "value": "values need not be probabilities",
                "score": "scores only rank",
            }[target.kind]
            raise KindError(
                f'{self} reads probabilities or margins; it was given kind="{target.kind}", and {why}. Pass '
                "the probabilities (such as those of predict_proba), or "
                'margins with kind="margin"'
            )
        found = self.reads_of(target)
        vars(self)["_needs"] = (target, found)
        return found

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
