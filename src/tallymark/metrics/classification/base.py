"""What all metrics on labels share: how predictions become labels, and how values of classes become one."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

import numpy as np

from tallymark.data.batch import Batch
from tallymark.data.target import Target, show_labels
from tallymark.errors import KindError, ParameterError, Text
from tallymark.intervals.analytic import (
    NO_SPREAD,
    WILSON,
    Ends,
    Interval,
    NoInterval,
    few_rows_note,
    interval_by_part,
    share_interval,
    wilson,
)
from tallymark.metrics.answer import Answer, Undefined
from tallymark.metrics.base import Metric
from tallymark.metrics.parameters import absent_choice, choice, probability
from tallymark.rendering.table import show_number
from tallymark.states.base import divide
from tallymark.states.labels.counts import Cells, Counts, DrawnCounts
from tallymark.states.labels.pairs import PairsOf
from tallymark.states.resampling.paired_rows import PairedOutcomes, read_paired_outcomes

__all__ = ["AveragedMetric", "LabelMetric"]


AVERAGES = ("binary", "macro", "micro", "weighted", None)
BANDS_OF_SHARES = (0.6, 0.8)


class LabelMetric(Metric, abstract=True):
    """A metric on labels. Probabilities become labels by a threshold or by the largest; margins become probabilities.

    A subclass writes `ratio(counts)`, where counts are those of every class, or `formula_value(counts)` if its value is
    no fraction of them.
    """

    why: ClassVar[str] = ""
    """Why the ratio does not exist where its denominator is zero."""
    share_of: ClassVar[tuple[str, str] | None] = None
    """Where the value is a share of rows: of "all", "positive" or "negative" ones, those that are "right" or "wrong";
    or of all, those that were "called" positive."""
    is_share: ClassVar[bool] = False
    """Whether the ratio is a share of rows, each of which is in it or not."""
    family: ClassVar[str] = "classification"
    outliers: ClassVar[str] = "none: a label is right or wrong, and no row counts for more than its weight."
    kind: ClassVar[str] = "label"
    kinds: ClassVar[tuple[str, ...]] = ("label", "probability", "margin")
    takes: ClassVar[str] = "labels, probabilities or margins"

    threshold: float = probability(0.5)
    """The probability of the positive class from which on a row is called positive."""

    def reads_of(self, target: Target) -> PairsOf:
        return PairsOf(target, self.threshold)

    def paired_rows(self, batch: Batch, target: Target) -> PairedOutcomes | None:
        reads = self.needs(target)
        if self.share_of is None or batch.truth_columns > 1 or not isinstance(reads, PairsOf):
            return None
        return read_paired_outcomes(reads, batch, *self.share_of)

    def ratio(self, c: Counts) -> tuple[Any, Any] | None:
        """Numerator and denominator, if the value is one fraction of the counts. These are whole numbers, or arrays of
        floats, one for each of many thresholds: the formula must be the same for both."""
        return None

    def from_ratio(self, quotient: Any) -> Any:
        """The value, where it is a function of the fraction."""
        return quotient

    def formula_value(self, c: Counts) -> float | Undefined:
        found = self.ratio(c)
        if found is None:
            raise NotImplementedError(f"{type(self).__name__} must define `ratio` or `formula_value`")
        above, below = found
        return float(self.from_ratio(divide(above, below))) if below else Undefined(self.why)

    def read(self, state: Any) -> Answer:
        return self.to_answer(self.formula_value(state.counts()), self.notes(state))

    def has_analytic_interval(self, columns: tuple[int, int]) -> bool:
        return columns[0] == 1  # else by the posterior of the table

    def values_of_draws(self, c: DrawnCounts) -> Any:
        """The values of many tables, NaN where undefined; one line per class where the value has one. None: each is
        to be read by itself."""
        found = self.ratio(c)
        return None if found is None else self.from_ratio(quotients(*found))

    def analytic_interval(self, state: Any, level: float) -> Interval | NoInterval | None:
        counts = state.counts()
        found = self.ratio(counts) if self.is_share else None
        if found is None:
            return None
        hits, rows = map(counts.to_float, found)
        return share_interval(hits, rows, level)


def require_single(counts: Counts, metric: Metric) -> None:
    """Require one label per row."""
    if not counts.single:
        raise KindError(Text("{} reads one label per row; {y_true} is a table with several", metric))


def require_positive(counts: Counts, metric: Metric, who: str) -> None:
    """Require one label per row, and a positive class where there are more than two."""
    require_single(counts, metric)
    if len(counts.classes) > 2 and counts.target.positive is None:
        raise ParameterError(
            argument="positive", expected=f"be given for {who}, since there are {len(counts.classes)} classes"
        )


class AveragedMetric(LabelMetric, abstract=True):
    """A metric of one class against the rest: a ratio of counts. `average` says how the classes become one value.

    A subclass writes `fraction(cells)`, the numerator and the denominator for one class.
    """

    better = "higher"
    range = (0.0, 1.0)
    at_perfect = 1.0
    samples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"average": "macro"},
        {"average": "micro"},
        {"average": "weighted"},
        {"average": None},
        {"average": "macro", "absent": "skip"},
    )

    positive_baselines: ClassVar[tuple[str, ...]] = ()
    """The baselines of the value of the positive class."""
    of_true_rows: ClassVar[bool] = False
    """Whether the fraction is a share of the rows that truly are of the class."""

    average: str | None = choice("auto", *AVERAGES)
    """How the classes become one value: "binary" (the positive class), "macro" (their mean), "micro" (of the counts
    added up), "weighted" (the mean by how often a class is true), or None for one value per class. By default binary
    for two classes; with more, it must be given."""
    absent: float | str = absent_choice()
    """What a class without a value earns inside an average: by default the worst value, 1 for a rate that is better
    lower and 0 for the others; "skip" leaves it out."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        absent = cls._parameters["absent"]
        if cls.better == "lower" and absent is AveragedMetric._parameters["absent"]:
            cls._parameters["absent"] = absent_choice(1.0)

    def _display_parts(self) -> tuple[str, tuple[str, ...]]:
        name, expressed = super()._display_parts()
        if self.average is None:
            return f"{name} by class", (*expressed, "average")
        prefix = "" if self.average in ("auto", "binary") else f"{self.average} "
        return f"{prefix}{name}", (*expressed, "average")

    @property
    def baselines(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.positive_baselines if self.is_of_positive_class else ("majority",)

    @property
    def is_of_positive_class(self) -> bool:
        return self.average in ("auto", "binary")

    @property
    def class_formula(self) -> str:
        """The formula for one class, with the parameters of this metric."""
        return self.formula

    @property
    def formula_text(self) -> str:
        average = {
            "macro": "mean over the classes of ",
            "weighted": "mean over the classes, weighted by their true rows, of ",
            "micro": "with the counts of all classes added up, ",
            None: "for each class, ",
        }.get(self.average, "")
        return f"{average}{self.class_formula}"

    def fraction(self, c: Cells) -> tuple[int, int]:
        """Numerator and denominator for one class."""
        raise NotImplementedError(f"{type(self).__name__} must define `fraction`")

    def paired_rows(self, batch: Batch, target: Target) -> PairedOutcomes | None:
        return super().paired_rows(batch, target) if self.average in ("auto", "binary") else None

    def ratio(self, c: Counts) -> tuple[Any, Any] | None:
        return self.fraction(c.cell(c.positive())) if self.average in ("auto", "binary") else None

    def read(self, state: Any) -> Answer:
        counts = state.counts()
        average = self.resolve_average(counts)
        if average is None:
            return self._per_class(counts)
        return self.to_answer(self.averaged(counts, average), self._absent_note(counts, average))

    def _absent_note(self, counts: Counts, average: str) -> tuple[str, ...]:
        """Which classes have no value of their own in this average."""
        if average not in ("macro", "weighted"):
            return ()
        values = self.class_values(counts)
        absent = [label for label, value in zip(counts.classes, values, strict=True) if value is None]
        if not absent or len(values) == 1:
            return ()
        fate = "left out" if self.absent == "skip" else f"counted as {show_number(float(self.absent))}"
        return (f"{show_labels(absent, 3)} {fate}: {self.why}",)

    def resolve_average(self, counts: Counts) -> str | None:
        """How to average on these classes. Never a guess: more than two classes need the user's word."""
        average = self.average
        several = len(counts.classes) > 2
        if average == "auto":
            if counts.single and not several:
                return "binary"
            found = f"there are {len(counts.classes)} classes" if counts.single else "rows have several labels"
            listed = ", ".join(f'"{a}"' for a in self._choices() if a not in (None, "auto", "binary"))
            if counts.single and counts.target.positive is not None:
                listed = f'"binary" (the positive class against the rest), {listed}'
            raise ParameterError(
                argument="average", expected=f"be given for {self.name}, since {found}: one of {listed}, or None"
            )
        if average == "binary":
            require_positive(counts, self, 'average="binary"')
        return average

    def _choices(self) -> tuple[str | None, ...]:
        return AVERAGES

    def averaged(self, counts: Counts, average: str) -> float | Undefined:
        """The value over the classes."""
        if average == "binary":
            return self._ratio(counts.cell(counts.positive()))
        if average == "micro":
            return self._ratio(counts.summed())
        values = self.class_values(counts)
        if values == [None]:  # one class has nothing to be averaged with
            return Undefined(self.why)
        shares = [divide(weight, counts.total) for weight in counts.truth] if average == "weighted" else None
        return mean_of_classes(values, shares, self.absent, self.why)

    def class_values(self, counts: Counts) -> list[float | None]:
        """The value of every class; None where it does not exist."""
        if self in counts.memo:
            return counts.memo[self]
        seen: dict[tuple[int, int, int], float | None] = {}  # of a million classes most have the same few counts
        out: list[float | None] = []
        for key in zip(counts.hits, counts.truth, counts.predicted, strict=True):
            if key not in seen:
                above, below = self.fraction(counts.table(*key))
                seen[key] = divide(above, below) if below else None
            out.append(seen[key])
        counts.memo[self] = out
        return out

    def values_of_draws(self, c: DrawnCounts) -> Any:
        average = self.resolve_average(c)
        if average in ("binary", "micro"):
            return quotients(*self.fraction(c.summed() if average == "micro" else c.cell(c.positive())))
        values = quotients(*self.fraction(c.every_cell()))
        return values if average is None else self.mean_of_draws(values, c.truth if average == "weighted" else None)

    def mean_of_draws(self, values: Any, shares: Any) -> Any:
        """The mean over the classes in many tables, by their shares if there are any."""
        known = ~np.isnan(values)
        counted = np.ones_like(values) if shares is None else shares
        absent = self.absent
        if isinstance(absent, str):
            counted, absent = np.where(known, counted, 0.0), 0.0
        return quotients((counted * np.where(known, values, absent)).sum(axis=0), counted.sum(axis=0))

    def analytic_interval(self, state: Any, level: float) -> Interval | NoInterval | None:
        """Wilson's interval of what is a share of rows, or rises or falls with one."""
        try:
            return self._wilson(state.counts(), level)
        except (OverflowError, TypeError):  # a fraction that takes whole numbers only, or makes them too large
            return None

    def _wilson(self, counts: Counts, level: float) -> Interval | NoInterval | None:
        average = self.resolve_average(counts)
        if average is None and self.monotone_in is not None:
            found: dict[Hashable, Any] = {
                label: self._class_interval(counts, k, level) for k, label in enumerate(counts.classes)
            }
            return interval_by_part(found, WILSON, "class")
        if average == "binary" and self.monotone_in is not None:
            ends, notes = self._class_interval(counts, counts.positive(), level)
            return ends if isinstance(ends, NoInterval) else Interval(*ends, WILSON, notes)
        if not counts.single:
            return None  # the labels of a row go together, and the state does not know how
        if average == "micro":
            return self._micro_interval(counts, level)
        if average == "weighted" and self.of_true_rows:  # by their shares, classes add up to the rows
            hits = sum(self.fraction(counts.cell(k))[0] for k in range(len(counts.classes)))
            return share_interval(counts.to_float(hits), counts.to_float(counts.total), level)
        return None

    @property
    def monotone_in(self) -> AveragedMetric | None:
        """The share of rows that the value of a class rises with, where there is one: the metric itself, or another."""
        return self if self.is_share else None

    def from_share(self, share: float) -> float:
        """The value of a class, by the share of rows that it rises with."""
        return share

    def _class_interval(
        self, counts: Counts, place: int | None, level: float
    ) -> tuple[Ends | NoInterval, tuple[str, ...]]:
        """Wilson's interval of one class, by its rows."""
        assert self.monotone_in is not None
        cells = Cells(*map(counts.to_float, counts.cell(place)))  # type: ignore[arg-type]
        hits, rows = self.monotone_in.fraction(cells)
        if not rows:
            return NoInterval(self.why), ()
        lo, hi = map(self.from_share, wilson(hits, rows, level))
        _, _, which = self.monotone_in.why.partition("no row ")
        return (lo, hi), few_rows_note(rows, f" {which}" if which else "")

    def _micro_interval(self, counts: Counts, level: float) -> Interval | NoInterval:
        """Of the tables added up, all is a function of how many rows are right, and rises or falls with it."""
        rows, classes = counts.to_float(counts.total), len(counts.classes)
        ends = []
        for right in wilson(counts.to_float(counts.right), rows, level):
            above, below = self.fraction(Cells(right, 1 - right, 1 - right, classes - 2 + right))  # type: ignore[arg-type]
            ends.append(above / below)
        if ends[0] == ends[1]:  # whatever is predicted, as the share of one class in all is
            return NO_SPREAD
        return Interval(min(ends), max(ends), WILSON, few_rows_note(rows))

    def _ratio(self, c: Cells) -> float | Undefined:
        above, below = self.fraction(c)
        return divide(above, below) if below else Undefined(self.why)

    def _per_class(self, counts: Counts) -> Answer:
        answers = {
            label: self.to_answer(Undefined(f"class {label!r}: {self.why}") if value is None else value)
            for label, value in zip(counts.classes, self.class_values(counts), strict=True)
        }
        reasons = [answer.reason for answer in answers.values() if answer.reason]
        return Answer({label: answer.value for label, answer in answers.items()}, "; ".join(reasons) or None)


def quotients(above: Any, below: Any) -> Any:
    """Fractions of arrays, NaN where the denominator is 0."""
    above, below = np.broadcast_arrays(np.asarray(above, float), np.asarray(below, float))
    return np.divide(above, below, out=np.full(above.shape, math.nan), where=below != 0)


def mean_of_classes(
    values: Sequence[float | None], shares: Sequence[float] | None, absent: float | str, why: str
) -> float | Undefined:
    """The mean over classes, by their shares if there are any, in an order that does not matter."""
    if absent == "skip":
        kept = [k for k, value in enumerate(values) if value is not None]
        values = [values[k] for k in kept]
        shares = None if shares is None else [shares[k] for k in kept]
    found = [absent if value is None else value for value in values]
    if shares is None:
        return math.fsum(found) / len(found) if found else Undefined(why)  # type: ignore[arg-type]
    whole = math.fsum(shares)
    if not whole:
        return Undefined(why)
    return math.fsum(share * value for share, value in zip(shares, found, strict=True)) / whole  # type: ignore[operator]
