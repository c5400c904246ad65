"""The best threshold, by a metric or by cost."""

from __future__ import annotations

import math
from typing import Any

from tallymark.errors import ParameterError, Text
from tallymark.metrics.answer import Answer, Undefined
from tallymark.metrics.parameters import Parameter, cost
from tallymark.metrics.scores.base import ONE_CLASS, StepMetric
from tallymark.metrics.scores.curves import UNIT
from tallymark.metrics.scores.threshold_table import label_metric, threshold_counts
from tallymark.states.scores.runs import Steps

__all__ = ["BestThreshold", "best_threshold"]


NONE_POSITIVE = "calling no row positive is best"


class BestThreshold(StepMetric):
    """The score from which on to call rows positive, so that a metric is at its best or the cost of errors is least.

    >>> best_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.35
    >>> best_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], fp=5, fn=1)
    0.8
    """

    aliases = {"optimal_threshold": {}}
    formula = "arg max over scores t of metric(y, s ≥ t), or arg min of fp · FP + fn · FN"
    reading = "Call positive what reaches it. Of equal thresholds it is the highest; infinite if none should be."
    related = ("threshold_table", "fscore")
    when_undefined = "All rows are of one class, or the metric is undefined at every threshold."
    pitfalls = ("A threshold is to be chosen on other rows than those it is judged by.", UNIT)
    no_bootstrap = "thresholds far apart can be almost as good, and resamples jump between them; see threshold_table"
    samples = ({}, {"metric": "fscore(beta=2)"}, {"metric": "error_rate"}, {"fp": 1.0, "fn": 5.0})

    metric: str = Parameter("fscore", lambda name, value: str(label_metric(value, name)))  # type: ignore[assignment]
    """The metric on labels that is to be at its best, unless costs are given."""
    fp: float | None = cost()
    """What a false positive costs; 1 if only the other cost is given."""
    fn: float | None = cost()
    """What a false negative costs; 1 if only the other cost is given."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        if self.metric != "fscore" and self.costs is not None:
            raise ParameterError(Text("pass either {metric} or costs, not both; got {} and costs", repr(self.metric)))

    @property
    def costs(self) -> dict[str, float] | None:
        """What errors cost; None if the metric decides."""
        if self.fp is None and self.fn is None:
            return None
        return {"fp": 1.0 if self.fp is None else self.fp, "fn": 1.0 if self.fn is None else self.fn}

    def from_steps(self, steps: Steps) -> float | Undefined:
        if not steps.positives or not steps.negatives:
            return ONE_CLASS
        table, costs = threshold_counts(steps), self.costs
        found = table.choose(self.metric) if costs is None else table.cheapest(costs)
        return found if isinstance(found, Undefined) else found.threshold

    def to_answer(self, value: Any, notes: tuple[str, ...] = ()) -> Answer:
        if value == math.inf:
            return Answer(value, NONE_POSITIVE, notes)
        return super().to_answer(value, notes)


best_threshold = BestThreshold()
