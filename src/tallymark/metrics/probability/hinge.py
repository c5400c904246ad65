"""Hinge loss: what margins cost that are wrong, or right by less than 1."""

from __future__ import annotations

import math

from tallymark.data.target import Target
from tallymark.errors import Text
from tallymark.metrics.probability.base import CostMetric
from tallymark.states.probabilities.costs import Cost, ProbabilitiesOf

__all__ = ["HingeLoss", "hinge_loss"]


class HingeLoss(CostMetric):
    """The mean of how far margins fall short of 1 on the side of the true class.

    Of several columns, a row's margin is that of its true class less the highest other (Crammer and Singer, 2001).

    >>> hinge_loss([1, 0, 1], [2.5, -0.5, -1.0])
    0.8333333333333334
    >>> hinge_loss(["a", "b", "c"], [[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.5]])
    0.16666666666666666
    """

    aliases = {"hinge": {}}
    kind = "margin"
    kinds = ("margin",)
    takes = ""
    better = "lower"
    range = (0.0, math.inf)
    formula = (
        "mean of max(0, 1 − margin) where the row is positive, max(0, 1 + margin) where not; "
        "of one column per class, max(0, 1 − (margin of the true class − highest other))"
    )
    baselines = ("constant",)
    reading = "0: every row is right by a margin of 1 or more; a margin of 0 costs 1."
    outliers = "high: a row that is wrong costs as much as its margin is large."
    landmarks = ((1.0, "every margin is 0"),)
    related = ("margin_accuracy", "logloss")
    pitfalls = (
        "It depends on the unit of the margins: dividing them all by 10 changes it, but no decision.",
        "Rows that are right by more than 1 do not count.",
    )

    @property
    def cost(self) -> Cost:
        return Cost("hinge")

    def reads_of(self, target: Target) -> ProbabilitiesOf:
        return super().reads_of(target.of_margins())

    def interval_reads(self, target: Target) -> ProbabilitiesOf:
        return super().interval_reads(target.of_margins())

    def kind_hint(self, kind: str) -> Text:
        return Text('Pass margins, such as those of decision_function, with {kind="margin"}')


hinge_loss = HingeLoss()
