"""What all regression metrics share: outputs, and formulas over the sums of one output."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tallymark.batch import Batch, Target
from tallymark.errors import DomainError, ShapeError
from tallymark.metrics.base import Answer, Metric, Undefined
from tallymark.metrics.parameters import output_choice
from tallymark.states import LOWEST, PAIRED, Output, Reads, Rows, RowsOf, State, Sums, SumsOf, Term, check_columns

__all__ = ["Bound", "RowMetric", "SumMetric"]

CONSTANT_TRUTH = Undefined("the truth is constant")
TOO_LITTLE = Undefined("the truth varies too little for its variance to be positive in float64")
OVERFLOW = Undefined("the squares are too large for float64")


class Bound(NamedTuple):
    """A condition on the values: `who` is y_true, y_pred or width (upper - lower)."""

    who: str
    limit: float
    strict: bool

    def holds(self, lowest: float) -> bool:
        """Whether values from `lowest` on meet the condition."""
        return lowest > self.limit if self.strict else lowest >= self.limit

    def __str__(self) -> str:
        return f"{'greater than' if self.strict else 'at least'} {self.limit:g}"


class Regression(Metric, abstract=True):
    """A metric on numbers. Several outputs give the mean of their values, or as `outputs` says."""

    family: ClassVar[str] = "regression"
    unit: ClassVar[str] = "same as y"

    outputs: str | tuple[float, ...] = output_choice()
    """How several outputs become one value: "mean", "each", or one weight per output."""

    @property
    def layout(self) -> str:
        """How columns of predictions answer columns of the truth."""
        return PAIRED

    @property
    def quantiles(self) -> int:
        """How many columns of predictions the quantile layout asks for."""
        return 1

    @property
    def requires(self) -> tuple[Bound, ...]:
        """Conditions on the values, without which the metric has no meaning."""
        return ()

    def check_columns(self, truth_columns: int, prediction_columns: int) -> None:
        check_columns(self.layout, truth_columns, prediction_columns, self.quantiles)
        count = self.count_outputs(prediction_columns)
        if isinstance(self.outputs, tuple) and len(self.outputs) != count:
            raise ShapeError(f"`outputs` must have one weight per output; it had {len(self.outputs)} for {count}")

    def count_outputs(self, prediction_columns: int) -> int:
        """How many values there are before they are combined."""
        return prediction_columns

    def needs(self, target: Target) -> Reads:
        reads = self.reads
        if target.kind == "margin" and self.link is not None and isinstance(reads, SumsOf):
            return reads.through(self.link)
        return super().needs(target)

    def check_bounds(self, lowest: Callable[[str], float], batch: Batch | None) -> None:
        """Refuse values that break a condition; `lowest` looks up the lowest value of y_true, y_pred or width."""
        for bound in self.requires:
            found = lowest(bound.who)
            if not bound.holds(found):
                raise DomainError(_explain(str(self), bound, found, batch))

    def combine(self, values: Sequence[float | Undefined], notes: tuple[str, ...] = ()) -> Answer:
        """One value from the values of the outputs."""
        if len(values) == 1 and self.outputs != "each":
            return self.settle(values[0], notes)
        answers = [self.settle(value) for value in values]
        reasons = [f"output {k}: {answer.reason}" for k, answer in enumerate(answers) if answer.reason]
        found = [answer.value for answer in answers]
        reason = "; ".join(reasons) or None
        if self.outputs == "each":
            return Answer(found, reason, notes)
        if isinstance(self.outputs, tuple):
            pairs = [(w, v) for w, v in zip(self.outputs, found, strict=True) if w > 0]
            return Answer(_fsum([w * v for w, v in pairs]) / math.fsum(w for w, _ in pairs), reason, notes)
        return Answer(_fsum(found) / len(found), reason, notes)


def _fsum(values: Sequence[float]) -> float:
    """An order-independent sum that lets NaN and infinities through."""
    return math.fsum(values) if all(map(math.isfinite, values)) else sum(values)


class SumMetric(Regression, abstract=True):
    """A regression metric whose formula reads sums. A subclass names its `terms` and writes `output`."""

    terms: ClassVar[tuple[Term, ...]] = ()

    def reads_terms(self) -> tuple[Term, ...]:
        """The terms, where they depend on parameters."""
        return self.terms

    @property
    def reads(self) -> SumsOf:
        cached: SumsOf | None = vars(self).get("_reads")
        if cached is None:
            cached = SumsOf(*self.reads_terms(), *(LOWEST[bound.who] for bound in self.requires))
            vars(self)["_reads"] = cached
        return cached

    def output(self, s: Output) -> float | Undefined:
        """The value of one output."""
        raise NotImplementedError(f"{type(self).__name__} must define `output`")

    def answer(self, state: State, batch: Batch | None = None) -> Answer:
        if not isinstance(state, Sums) or state.columns is None or state.weight == 0:
            return super().answer(state, batch)
        self.check_values(state, batch)
        count = self.count_outputs(state.columns[1])
        return self.combine([self.output(state.at(k)) for k in range(count)], self.notes(state))

    def check_values(self, state: Sums, batch: Batch | None) -> None:
        if self.requires:
            self.check_bounds(lambda who: state.lowest(LOWEST[who]), batch)


def _explain(metric: str, bound: Bound, lowest: float, batch: Batch | None) -> str:
    where = f"; the lowest value is {lowest}"
    if batch is not None:
        values = batch.prediction[:, 1] - batch.prediction[:, 0] if bound.who == "width" else None
        if values is None:
            values = batch.truth if bound.who == "y_true" else batch.prediction
        bad = ~(values > bound.limit if bound.strict else values >= bound.limit)
        if batch.weights is not None:
            bad &= (batch.weights > 0) if bad.ndim == 1 else (batch.weights > 0)[:, None]
        row = int(np.argmax(bad if bad.ndim == 1 else bad.any(axis=1)))
        found = values[row] if values.ndim == 1 else values[row][bad[row]][0]
        where = f"; row {row} has {float(found)}"
    if bound.who == "width":
        return (
            f"`y_pred` must have its lower bound in column 0 and its upper in column 1 for {metric}"
            f"{where.replace('value', 'width').replace('has', 'has a width of')}"
        )
    return f"`{bound.who}` must be {bound} for {metric}{where}"


class RowMetric(Regression, abstract=True):
    """A regression metric that needs the rows themselves. A subclass writes `column`."""

    @property
    def reads(self) -> RowsOf:
        return RowsOf()

    def column(self, truth: Any, prediction: Any, weights: Any) -> float | Undefined:
        """The value of one output from its rows, in any order; weights are positive or None."""
        raise NotImplementedError(f"{type(self).__name__} must define `column`")

    def answer(self, state: State, batch: Batch | None = None) -> Answer:
        if not isinstance(state, Rows) or state.n == 0 or state.weight == 0:
            return super().answer(state, batch)
        truth, prediction, weights = state.arrays()
        lowest = {"y_true": truth.min, "y_pred": prediction.min}
        self.check_bounds(lambda who: float(lowest[who]()), batch)
        values = [self.column(truth[:, k], prediction[:, k], weights) for k in range(truth.shape[1])]
        return self.combine(values)


TRUTH = Term("exact_truth")
TRUTH_SQUARES = Term("exact_truth_squares")
TRUTH_RANGE = Term("truth_range")
TRUTH_TERMS = (TRUTH, TRUTH_SQUARES, TRUTH_RANGE)


def truth_variance(s: Output) -> int | Undefined:
    """The variance of the truth times weight², exactly and positive; or why there is none."""
    if s.lowest(TRUTH_RANGE) == s.highest(TRUTH_RANGE):
        return CONSTANT_TRUTH
    spread = variance(s.weight, s.exact(TRUTH_SQUARES), s.exact(TRUTH))
    if spread is None:
        return OVERFLOW
    return spread if spread > 0 else TOO_LITTLE


def variance(weight: int, squares: int | None, total: int | None) -> int | None:
    """Weight * squares - total², exactly: the variance times weight²; None if a square overflowed."""
    return None if squares is None or total is None else weight * squares - total * total
