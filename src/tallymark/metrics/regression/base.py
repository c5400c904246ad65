"""What all regression metrics share: outputs, and formulas over the sums of one output."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import DomainError, InputError, ShapeError
from tallymark.intervals.analytic import (
    HALL,
    ONE_ROW,
    TOO_LARGE,
    Ends,
    Interval,
    NoInterval,
    dominated_note,
    few_rows_note,
    interval_by_output,
    mean_ends,
    single_interval,
)
from tallymark.metrics.answer import Answer, Undefined
from tallymark.metrics.base import Metric
from tallymark.metrics.parameters import choice, output_choice
from tallymark.states.base import Reads, divide
from tallymark.states.rows import Rows, RowsOf
from tallymark.states.sums import LOWEST, PAIRED, Moments, Output, Sums, SumsOf, Term, check_layout, moments

__all__ = ["Bound", "MeanMetric", "RowMetric", "SumMetric"]


CONSTANT_TRUTH = Undefined("the truth is constant")
TOO_LITTLE = Undefined("the truth varies too little for its variance to be positive in float64")
TOO_SMALL = Undefined("the squares of the errors are too small for float64")
OVERFLOW = Undefined("the squares are too large for float64")


class Bound(NamedTuple):
    """A condition on the values: `who` is y_true, y_pred or width (upper - lower)."""

    who: str
    limit: float
    strict: bool

    def holds(self, lowest: float) -> bool:
        """Whether values from `lowest` on meet the condition."""
        return lowest > self.limit if self.strict else lowest >= self.limit

    def error(self, metric: str, value: float, place: str | None) -> DomainError:
        """The error for a value that breaks the condition, without its place where the rows are gone."""
        if self.who == "width":
            expected = f"have the lower bound in column 0 and the upper bound in column 1 for {metric}"
            return DomainError(argument="y_pred", expected=expected, got=f"a width of {value}", place=place)
        return DomainError(argument=self.who, expected=f"be {self} for {metric}", got=str(value), place=place)

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
        check_layout(self.layout, truth_columns, prediction_columns, self.quantiles)
        count = self.count_outputs(prediction_columns)
        if isinstance(self.outputs, tuple) and len(self.outputs) != count:
            raise ShapeError(
                argument="outputs", expected="have one weight per output", got=f"{len(self.outputs)} for {count}"
            )

    def count_outputs(self, prediction_columns: int) -> int:
        """How many values there are before they are combined."""
        return prediction_columns

    def check_bounds(self, lowest: Callable[[str], float], batch: Batch | None, *, through: str | None = None) -> None:
        """Reject values that break a condition; `lowest` looks up the lowest value of y_true, y_pred or width."""
        for bound in self.requires:
            found = lowest(bound.who)
            if not bound.holds(found):
                value, place = (found, None) if batch is None else _locate(bound, batch, through)
                raise bound.error(str(self), value, place)

    method: ClassVar[str] = ""
    """How the interval of one output is found, where there is a formula."""

    def has_analytic_interval(self, columns: tuple[int, int]) -> bool:
        return bool(self.method) and (self.outputs == "each" or self.count_outputs(columns[1]) == 1)

    def combine_intervals(
        self, found: Sequence[Ends | NoInterval], rows: int, notes: tuple[str, ...] = ()
    ) -> Interval | NoInterval | None:
        """The interval of one output, or of each. Of the mean of several there is none, since they go together."""
        notes = few_rows_note(rows) or notes
        if self.outputs == "each":
            return interval_by_output(found, self.method, notes)
        return single_interval(found[0], self.method, notes) if len(found) == 1 else None

    def combine(self, values: Sequence[float | Undefined], notes: tuple[str, ...] = ()) -> Answer:
        """One value from the values of the outputs."""
        if len(values) == 1 and self.outputs != "each":
            return self.to_answer(values[0], notes)
        shares = self.outputs if isinstance(self.outputs, tuple) else (1.0,) * len(values)
        counted = [
            (k, share, self.to_answer(value))
            for k, (share, value) in enumerate(zip(shares, values, strict=True))
            if share
        ]
        reason = "; ".join(f"output {k}: {answer.reason}" for k, _, answer in counted if answer.reason) or None
        found = [answer.value for _, _, answer in counted]
        if self.outputs == "each":
            return Answer(found, reason, notes)
        mean = _weighted_mean(found, [share for _, share, _ in counted])
        return Answer(mean, reason or (None if math.isfinite(mean) else TOO_LARGE), notes)


def _weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """An order-independent mean that lets NaN and infinities through."""
    if not all(map(math.isfinite, values)):
        return math.nan if any(map(math.isnan, values)) else sum(v for v in values if math.isinf(v))
    largest = max(weights)
    shares = [weight / largest for weight in weights]
    try:
        return math.fsum(w * v for w, v in zip(shares, values, strict=True)) / math.fsum(shares)
    except OverflowError:
        whole = math.fsum(shares)
        return math.fsum(w / whole * v for w, v in zip(shares, values, strict=True))


class LogLinked(Regression, abstract=True):
    """A metric on means that are above 0, which many models predict as logs."""

    link: str | None = choice(None, "log")
    """What the predictions are: means, or with "log" the logs of means."""

    def check_bounds(self, lowest: Callable[[str], float], batch: Batch | None, *, through: str | None = None) -> None:
        try:
            super().check_bounds(lowest, batch, through=through)
        except DomainError as error:
            if error.argument == "y_pred" and through is None:
                error.add_hint('If the predictions are logs, pass link="log"')
            raise


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

    def read(self, state: Sums) -> Answer:
        columns = state.columns
        count = self.count_outputs(columns[1]) if columns else 0
        if count == 1 and self.outputs != "each":  # as nearly always
            return self.to_answer(self.output(state.at(0)), self.notes(state))
        return self.combine([self.output(state.at(k)) for k in range(count)], self.notes(state))

    def output_ends(self, s: Output, rows: int, level: float) -> Ends | NoInterval:
        """The interval of one output, where there is a formula."""
        raise NotImplementedError(f"{type(self).__name__} must define `output_ends`")

    def analytic_interval(self, state: Sums, level: float) -> Interval | NoInterval | None:
        if not self.method or state.columns is None:
            return None
        found: list[Ends | NoInterval] = []
        notes: tuple[str, ...] = ()
        for s in map(state.at, range(self.count_outputs(state.columns[1]))):
            value = self.output(s)
            if isinstance(value, Undefined) or not math.isfinite(value):
                found.append(NoInterval(value.reason if isinstance(value, Undefined) else TOO_LARGE))
            else:
                found.append(self.output_ends(s, state.n, level))
                notes = notes or self.output_notes(s, state.n)
        return self.combine_intervals(found, state.n, notes)

    def output_notes(self, s: Output, rows: int) -> tuple[str, ...]:
        """What to know about the interval of one output."""
        return ()

    def check_values(self, state: Sums, batch: Batch | None) -> None:
        if self.requires:
            self.check_bounds(lambda who: state.lowest(LOWEST[who]), batch, through=state.reads.link)


class MeanMetric(SumMetric, abstract=True):
    """A metric that is the mean of one term, or rises with it. A subclass names its `term`, and writes `from_mean` if
    it is not the mean itself."""

    method = HALL
    term: ClassVar[Term]

    def reads_terms(self) -> tuple[Term, ...]:
        return (self.term,)

    def from_mean(self, mean: float) -> float:
        """The value, by the mean of the term."""
        return mean

    def output(self, s: Output) -> float | Undefined:
        return self.from_mean(s.mean(self.term))

    @property
    def powers(self) -> tuple[Term, ...]:
        """The terms that are the square of the metric's own and, where it can be skewed, its cube."""
        return self.term.squares, self.term.cubes

    def interval_reads(self, target: Target) -> Reads | None:
        return self.needs(target).join(SumsOf(*self.powers)) if self.method else None

    def output_ends(self, s: Output, rows: int, level: float) -> Ends | NoInterval:
        if rows < 2:
            return ONE_ROW
        ends = mean_ends(self._moments(s, rows), rows, level)
        if isinstance(ends, NoInterval):
            return ends
        least = 0.0 if self.range[0] == 0 else -math.inf  # a mean of terms that are not negative is not either
        return self.from_mean(max(ends[0], least)), self.from_mean(ends[1])

    def output_notes(self, s: Output, rows: int) -> tuple[str, ...]:
        return dominated_note(self._moments(s, rows), rows) if rows > 1 and self.method == HALL else ()

    def _moments(self, s: Output, rows: int) -> Moments | None:
        totals = [s.exact(term) for term in (self.term, *self.powers)]
        return None if None in totals else moments(rows, s.weight, *totals)  # type: ignore[arg-type]


def _locate(bound: Bound, batch: Batch, link: str | None) -> tuple[float, str]:
    """The first value that breaks the bound, and its row; margins are judged by what the link makes of them."""
    values = np.asarray(batch.truth if bound.who == "y_true" else batch.prediction, dtype=np.float64)
    if bound.who == "width":
        values = values[:, 1] - values[:, 0]
    table = values.reshape(len(values), -1)
    read = np.exp(table) if link is not None and bound.who == "y_pred" else table
    bad = ~(read > bound.limit if bound.strict else read >= bound.limit)
    if batch.weights is not None:
        bad &= np.asarray(batch.weights)[:, None] > 0
    if not bad.any():
        raise InputError("the input changed while it was being read")
    row, column = (int(place[0]) for place in np.nonzero(bad))
    return float(table[row, column]), batch.places.row(row)


class RowMetric(Regression, abstract=True):
    """A regression metric that needs the rows themselves. A subclass writes `column`."""

    @property
    def reads(self) -> RowsOf:
        return RowsOf()

    def column(self, truth: Any, prediction: Any, weights: Any) -> float | Undefined:
        """The value of one output from its rows, in any order; weights are positive or None."""
        raise NotImplementedError(f"{type(self).__name__} must define `column`")

    def column_ends(self, truth: Any, prediction: Any, level: float) -> Ends | NoInterval:
        """The interval of one output from its unweighted rows, where there is a formula."""
        raise NotImplementedError(f"{type(self).__name__} must define `column_ends`")

    def analytic_interval(self, state: Rows, level: float) -> Interval | NoInterval | None:
        truth, prediction, weights = state.arrays()
        if not self.method or (weights is not None and (weights != 1).any()):
            return None
        found = [self.column_ends(truth[:, k], prediction[:, k], level) for k in range(truth.shape[1])]
        return self.combine_intervals(found, state.n)

    def arrays(self, state: Rows) -> tuple[Array, Array, Array | None]:
        """The truth, the predictions and the weights as the formula reads them."""
        return state.arrays()

    def check_values(self, state: Rows, batch: Batch | None) -> None:
        if self.requires:
            truth, prediction, _ = self.arrays(state)
            lowest = {"y_true": truth, "y_pred": prediction}
            self.check_bounds(lambda who: float(lowest[who].min()), batch)

    def read(self, state: Rows) -> Answer:
        truth, prediction, weights = self.arrays(state)
        if weights is not None:
            # Only the ratios of weights matter; near 1, no product of theirs can leave float64.
            weights = weights / 2.0 ** np.floor(np.log2(weights.max()))
        return self.combine([self.column(truth[:, k], prediction[:, k], weights) for k in range(truth.shape[1])])


TRUTH = Term("exact_truth")
TRUTH_SQUARES = Term("exact_truth_squares")
TRUTH_RANGE = Term("truth_range")
TRUTH_TERMS = (TRUTH, TRUTH_SQUARES, TRUTH_RANGE)


def truth_variance(s: Output) -> int | Undefined:
    """The variance of the truth times weight², exactly and positive; or why there is none."""
    spread = variance(s.weight, s.exact(TRUTH_SQUARES), s.exact(TRUTH))
    lowest = s.lowest(TRUTH_RANGE)
    if lowest == s.highest(TRUTH_RANGE) and (abs(lowest) < 2**53 or not spread):  # larger integers may differ as well
        return CONSTANT_TRUTH
    if spread is None:
        return OVERFLOW
    return spread if spread > 0 and not s.lost(TRUTH_SQUARES) else TOO_LITTLE


def is_tiny(spread: int, weight: int) -> bool:
    """Whether a variance is so small that squares of errors which float64 cannot hold would matter beside it."""
    return divide(spread, weight * weight) < 2.0**-900


def variance(weight: int, squares: int | None, total: int | None) -> int | None:
    """Weight * squares - total², exactly: the variance times weight²; None if a square overflowed."""
    return None if squares is None or total is None else weight * squares - total * total
