"""What all metrics on scores share: two classes and a score for the positive one, or a column of scores per class."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from tallymark.errors import ShapeError
from tallymark.labels import Label
from tallymark.metrics.answer import TOO_LARGE, Answer, Undefined
from tallymark.metrics.labels import mean_of_classes
from tallymark.metrics.parameters import choice
from tallymark.metrics.target_metric import TargetMetric
from tallymark.states import RankSums, Reads, Scores, ScoresOf, ScoreState, Steps, divide, sum_ranks
from tallymark.target import Target

__all__ = ["RankMetric", "ScoreMetric", "StepMetric"]

V = TypeVar("V")

ONE_CLASS = Undefined("all rows are of one class")
NO_POSITIVE = Undefined("no row is positive")


class ScoreMetric(TargetMetric, abstract=True):
    """A metric that reads the order of scores. Any numbers are scores; margins are taken as they are."""

    family: ClassVar[str] = "score"
    outliers: ClassVar[str] = "none: only the order of the scores counts."
    kind: ClassVar[str] = "score"
    kinds: ClassVar[tuple[str, ...]] = ("score", "probability", "margin")
    takes: ClassVar[str] = "scores, probabilities or margins"
    better = "higher"
    range = (0.0, 1.0)
    at_perfect: ClassVar[float | None] = 1.0
    wants: ClassVar[str] = ""
    """Which of the sums over the order the formula reads, beyond the pairs that are in order."""

    @property
    def by_ranges(self) -> bool:
        """Whether it reads no more of two classes than sums over the order, which add up over ranges of scores."""
        return False

    def reads_of(self, target: Target) -> Reads:
        return ScoresOf(target, frozenset({self.wants}))


class RankMetric(ScoreMetric, abstract=True):
    """One number about the order of the scores. Three or more classes are each set against the rest and averaged.

    A subclass names the sum that it `wants` and writes `of_sums`, the value of two classes.
    """

    symmetric_columns: ClassVar[bool] = False
    """Whether two columns of predictions may change places together with their classes."""
    samples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"average": "weighted"})

    average: str = choice("macro", "weighted")
    """How three or more classes, each against the rest, become one value: their mean, or the mean by how often a class
    is true."""

    @property
    def by_ranges(self) -> bool:
        return True

    def of_sums(self, sums: RankSums) -> float | Undefined:
        """The value of two classes."""
        raise NotImplementedError(f"{type(self).__name__} must define `of_sums`")

    def read(self, state: Any) -> Answer:
        if not state.several:
            return self.settle(self.of_sums(state.sums(symmetric=self.symmetric_columns, wants=self.wants)))
        return self.settle(self.of_classes(state))

    def of_class(self, state: Scores, place: int) -> float | Undefined:
        """The value of one of several classes against the rest."""
        return self.of_sums(sum_ranks(*state.one_against_rest(place), frozenset({self.wants})))

    def of_classes(self, state: Scores) -> float | Undefined:
        """The value of three or more classes."""
        found = self.against_rest(state, lambda place: self.of_class(state, place), 0.0)
        return found if isinstance(found, Undefined) else average_classes(found, self.shares_of(state))

    def against_rest(
        self, state: ScoreState[Any, Any], value: Callable[[int], V | Undefined], nothing: V
    ) -> list[V] | Undefined:
        """The value of every class against the rest, by its place; `nothing` of a class that has no weight in the
        average."""
        values: list[V] = []
        for place, (label, weight) in enumerate(zip(state.classes, state.class_weights(), strict=True)):
            if not weight and self.average == "macro":
                return no_row(label)
            found = value(place) if weight else nothing
            if isinstance(found, Undefined):
                return found
            values.append(found)
        return values

    def shares_of(self, state: ScoreState[Any, Any]) -> list[int] | None:
        """The weights by which classes are averaged; None if they count alike."""
        return state.class_weights() if self.average == "weighted" else None


def no_row(label: Label) -> Undefined:
    """Why a mean over classes has no value where one of them is in no row."""
    return Undefined(f"class {label!r}: no row has it")


def average_classes(values: Sequence[float], weights: Sequence[int] | None) -> float | Undefined:
    """The mean over classes, by their exact weights if there are any."""
    shares = None if weights is None else [divide(weight, sum(weights)) for weight in weights]
    return mean_of_classes(list(values), shares, 0.0, "no rows")


class StepMetric(ScoreMetric, abstract=True):
    """What every threshold does to two classes: a curve, a table. A subclass writes `of_steps`."""

    better = None  # type: ignore[assignment]
    range = (-math.inf, math.inf)
    at_perfect: ClassVar[float | None] = None

    def of_steps(self, steps: Steps) -> Any:
        """The value of all thresholds."""
        raise NotImplementedError(f"{type(self).__name__} must define `of_steps`")

    def read(self, state: Any) -> Answer:
        if state.several:
            raise ShapeError(
                f"{self.name} reads two classes; `y_pred` had {state.columns[1]} columns. Pass one class "
                f"against the rest: {self.name}(y_true == {state.classes[0]!r}, y_pred[:, 0])"
            )
        steps = state.steps()
        if not steps.finite:
            return self.settle(Undefined(TOO_LARGE))
        return self.settle(self.of_steps(steps))
