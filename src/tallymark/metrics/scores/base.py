"""What metrics on scores share: a score for the positive class, or a column of scores per class."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

from tallymark.data.labels import Label
from tallymark.data.target import Target
from tallymark.errors import ShapeError, Text
from tallymark.intervals.analytic import TOO_LARGE
from tallymark.metrics.answer import Answer, Undefined
from tallymark.metrics.base import Metric
from tallymark.metrics.classification.base import mean_of_classes
from tallymark.metrics.parameters import choice
from tallymark.rendering.table import show_number
from tallymark.states.base import Reads, divide
from tallymark.states.scores.binned import BoundedScores, BoundedScoresOf
from tallymark.states.scores.runs import RankSums, Steps, sum_ranks
from tallymark.states.scores.scores import Scores, ScoresOf, ScoreState

__all__ = ["Bounded", "RankMetric", "ScoreMetric", "StepMetric"]


class Bounded(float):
    """A number with bounds: the exact value lies in [lo, hi].

    >>> Bounded(0.75, 0.74, 0.76)
    0.75 in [0.74, 0.76]
    """

    __slots__ = ("hi", "lo")
    lo: float
    hi: float

    def __new__(cls, value: float, lo: float, hi: float) -> Bounded:
        out = super().__new__(cls, value)
        out.lo, out.hi = lo, hi
        return out

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (float(self), self.lo, self.hi)

    def __repr__(self) -> str:
        return f"{float(self)!r} in [{self.lo!r}, {self.hi!r}]"


class Bounds(NamedTuple):
    """A value, and the lowest and highest that the exact one can be."""

    value: float
    lo: float
    hi: float


def bounded_answer(metric: Metric, found: Bounds | Undefined) -> Answer:
    """The answer of a metric that was read from bins."""
    if isinstance(found, Undefined) or math.isnan(found.value):
        return metric.to_answer(found if isinstance(found, Undefined) else found.value)
    lo, hi = max(found.lo, metric.range[0]), min(found.hi, metric.range[1])
    least, most = show_number(lo), show_number(hi)
    notes = () if least == most else (f"the exact value lies between {least} and {most}",)
    return Answer(Bounded(found.value, lo, hi), None, notes, lo, hi, "bounded")


V = TypeVar("V")

ONE_CLASS = Undefined("all rows are of one class")
NO_POSITIVE = Undefined("no row is positive")
_ROUNDING = 2.0**-50


class ScoreMetric(Metric, abstract=True):
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
    def supports_ranges(self) -> bool:
        """Whether it reads no more of two classes than sums over the order, which add up over ranges of scores."""
        return False

    def reads_of(self, target: Target) -> Reads:
        return ScoresOf(target, frozenset({self.wants}))


class RankMetric(ScoreMetric, abstract=True):
    """One number about the order of the scores. Three or more classes are each set against the rest and averaged.

    A subclass names the sum that it `wants` and writes `from_rank_sums`, the value of two classes. One whose state can
    be kept in bins makes `bounded` a parameter and writes `from_bins` too.
    """

    symmetric_columns: ClassVar[bool] = False
    """Whether two columns of predictions may change places together with their classes."""
    samples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"average": "weighted"})

    average: str = choice("macro", "weighted")
    """How three or more classes, each against the rest, become one value: their mean, or the mean by how often a class
    is true."""
    bounded: int | None = None
    """The most bins that the state may hold, and the value then comes with bounds; None for the exact value, from a
    state that grows with the distinct scores."""

    @property
    def supports_ranges(self) -> bool:
        return True

    def reads_of(self, target: Target) -> Reads:
        return super().reads_of(target) if self.bounded is None else BoundedScoresOf(target, self.bounded)

    def from_rank_sums(self, sums: RankSums) -> float | Undefined:
        """The value of two classes."""
        raise NotImplementedError(f"{type(self).__name__} must define `from_rank_sums`")

    def from_bins(self, negative: list[int], positive: list[int], *, exact: bool) -> Bounds | Undefined:
        """The value of two classes and its bounds, from their weights in bins. Bins are in order; with `exact`, each of
        them is one score."""
        raise NotImplementedError(f"{type(self).__name__} must define `from_bins`")

    def read(self, state: Any) -> Answer:
        if self.bounded is not None:
            return bounded_answer(self, self.from_binned_scores(state))
        if not state.several:
            return self.to_answer(self.from_rank_sums(state.sums(symmetric=self.symmetric_columns, wants=self.wants)))
        return self.to_answer(self.from_classes(state))

    def from_class(self, state: Scores, place: int) -> float | Undefined:
        """The value of one of several classes against the rest."""
        return self.from_rank_sums(sum_ranks(*state.one_against_rest(place), frozenset({self.wants})))

    def from_classes(self, state: Scores) -> float | Undefined:
        """The value of three or more classes."""
        found = self.against_rest(state, lambda place: self.from_class(state, place), 0.0)
        return found if isinstance(found, Undefined) else average_classes(found, self.class_shares(state))

    def from_binned_scores(self, state: BoundedScores) -> Bounds | Undefined:
        """The value of all classes and its bounds, from a state in bins."""

        def value(place: int) -> Bounds | Undefined:
            return self.from_bins(*state.one_against_rest(place), exact=state.binned[place].exact)

        if not state.several:
            return self.from_bins(*state.binary(symmetric=self.symmetric_columns), exact=state.binned[0].exact)
        found = self.against_rest(state, value, Bounds(0.0, 0.0, 0.0))
        return found if isinstance(found, Undefined) else average_bounds(found, self.class_shares(state))

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

    def class_shares(self, state: ScoreState[Any, Any]) -> list[int] | None:
        """The weights by which classes are averaged; None if they count alike."""
        return state.class_weights() if self.average == "weighted" else None


def no_row(label: Label) -> Undefined:
    """Why a mean over classes has no value where one of them is in no row."""
    return Undefined(f"class {label!r}: no row has this class")


def average_classes(values: Sequence[float], weights: Sequence[int] | None) -> float | Undefined:
    """The mean over classes, by their exact weights if there are any."""
    shares = None if weights is None else [divide(weight, sum(weights)) for weight in weights]
    return mean_of_classes(list(values), shares, 0.0, "no rows")


def average_bounds(found: Sequence[Bounds], weights: Sequence[int] | None) -> Bounds | Undefined:
    """The mean of values, and of their bounds, which hold the exact mean however that was rounded."""
    parts = [average_classes(list(part), weights) for part in zip(*found, strict=True)]
    for part in parts:
        if isinstance(part, Undefined):
            return part
    value, lo, hi = (float(part) for part in parts)  # type: ignore[arg-type]
    return Bounds(value, lo - _ROUNDING, hi + _ROUNDING)


class StepMetric(ScoreMetric, abstract=True):
    """What every threshold does to two classes: a curve, a table. A subclass writes `from_steps`."""

    better = None  # type: ignore[assignment]
    range = (-math.inf, math.inf)
    at_perfect: ClassVar[float | None] = None

    def from_steps(self, steps: Steps) -> Any:
        """The value of all thresholds."""
        raise NotImplementedError(f"{type(self).__name__} must define `from_steps`")

    def read(self, state: Any) -> Answer:
        if state.several:
            raise ShapeError(
                Text("{} reads two classes; {y_pred} had {} columns", self.name, state.columns[1]),
                hint=f"Pass one class against the rest: {self.name}(y_true == {state.classes[0]!r}, y_pred[:, 0])",
            )
        steps = state.steps()
        if not steps.finite:
            return self.to_answer(Undefined(TOO_LARGE))
        return self.to_answer(self.from_steps(steps))
