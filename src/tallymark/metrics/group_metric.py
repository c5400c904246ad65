"""Metrics of groups: another metric in every group of the rows, and a way to make one number of its values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from tallymark.batch import Batch
from tallymark.errors import ParameterError
from tallymark.grouping import group_columns
from tallymark.metrics import registry
from tallymark.metrics.base import FACTS, NOT_GIVEN, Answer, Better, Metric, Undefined
from tallymark.metrics.naming import metric
from tallymark.metrics.parameters import Parameter
from tallymark.report import show_number
from tallymark.states import Group, Plan, Reads, Slice, slice_states
from tallymark.target import Target, show_labels

__all__ = ["GroupMetric", "gap", "ratio", "worst"]

FEW_GROUPS = Undefined("fewer than two groups have a value")


def _metrics(name: str, value: Any) -> tuple[Metric, ...]:
    found = tuple(map(metric, value if isinstance(value, (tuple, list)) else [value]))
    for item in found:
        if isinstance(item, GroupMetric):
            raise ParameterError(f"`{name}` must be metrics of rows; {item} is one of groups")
    if not found:
        raise ParameterError(f"`{name}` must name a metric; it was empty")
    return found


class Extreme:
    """The groups at both ends of the values of a metric."""

    __slots__ = ("high", "low", "values")

    def __init__(self, values: Mapping[Group, float]) -> None:
        self.values = values
        self.low = min(values, key=lambda group: values[group])
        self.high = max(values, key=lambda group: values[group])

    def show(self, group: Group) -> str:
        """A group with its value."""
        return f"{show_group(group)} ({show_number(self.values[group])})"


def show_group(group: Group) -> str:
    """A group as a reader sees it."""
    return " · ".join(map(str, group)) if isinstance(group, tuple) else str(group)


class GroupMetric(Metric, abstract=True):
    """One or more metrics in every group, and a way to combine the values of the groups.

    A subclass writes `combine_one` for the values of one metric, and says which of several metrics `counts`.
    """

    arguments = ("y_true", "y_pred", "by=by")
    family: ClassVar[str] = "fairness"
    when_undefined = "Fewer than two groups have a value."
    pitfalls: ClassVar[tuple[str, ...]] = ("Small groups differ by chance: look at their sizes, and at `min_rows`.",)
    known: ClassVar[dict[str, tuple[str, ...]]] = {}
    """The names of compositions that have one, and the metrics of each."""

    of: tuple[Metric, ...] = Parameter(None, _metrics)  # type: ignore[assignment]
    """The metrics whose values are combined."""

    def combine_one(self, ends: Extreme) -> float | Undefined:
        """The value of two groups or more."""
        raise NotImplementedError(f"{type(self).__name__} must define `combine_one`")

    def decisive(self, values: Sequence[float]) -> int:
        """The place of the value that counts, where there are several metrics."""
        raise NotImplementedError(f"{type(self).__name__} must define `decisive`")

    def combine(self, answers: Sequence[Mapping[Group, Answer]]) -> Answer:
        """The value of the groups, given the answers of every metric."""
        values, notes = [], []
        for item, by_group in zip(self.of, answers, strict=True):
            _check_numbers(item, by_group)
            defined = {group: answer.value for group, answer in by_group.items() if _is_number(answer.value)}
            without = [show_group(group) for group in by_group if group not in defined]
            if without:
                notes.append(f"{item} has no value for {show_labels(without, 3)}: left out")
            if len(defined) < 2:
                return self.settle(FEW_GROUPS, tuple(notes))
            ends = Extreme(defined)
            found = self.combine_one(ends)
            if isinstance(found, Undefined):
                return self.settle(found, tuple(notes))
            values.append(found)
            notes.append(f"{item} is highest for {ends.show(ends.high)}, lowest for {ends.show(ends.low)}")
        return self.settle(values[self.decisive(values)], tuple(notes))

    def read_slices(self, slices: Sequence[Slice], place: Callable[[Metric], int], least: int) -> Answer:
        """The value of slices whose states are where `place` says; groups of fewer than `least` rows are left out."""
        large = [each for each in slices if each.rows.n >= least]
        answers = [{each.group: item.answer(each.states[place(item)]) for each in large} for item in self.of]
        found = self.combine(answers)
        if len(large) == len(slices):
            return found
        small = [show_group(each.group) for each in slices if each.rows.n < least]
        note = f"groups of fewer than {least:,} rows are left out: {show_labels(small, 3)}"
        return found._replace(notes=(*found.notes, note))

    # Facts follow from those of the metrics.

    @property
    def kind(self) -> str:  # type: ignore[override]
        return self.of[0].kind

    @property
    def unit(self) -> str:  # type: ignore[override]
        units = {item.unit for item in self.of}
        return units.pop() if len(units) == 1 else ""

    @property
    def outliers(self) -> str:  # type: ignore[override]
        return " ".join(dict.fromkeys(item.outliers for item in self.of))

    @property
    def related(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(map(str, self.of))

    @property
    def by_query(self) -> bool:  # type: ignore[override]
        return any(item.by_query for item in self.of)

    @property
    def reads(self) -> Reads:
        return self.of[0].reads

    def all_needs(self, target: Target) -> list[Reads]:
        return [reads for item in self.of for reads in item.all_needs(target)]

    def check_columns(self, truth_columns: int, prediction_columns: int) -> None:
        for item in self.of:
            item.check_columns(truth_columns, prediction_columns)

    def __call__(
        self,
        y_true: object = NOT_GIVEN,
        y_pred: object = NOT_GIVEN,
        *,
        by: object = None,
        min_rows: int = 1,
        weights: object = None,
        query: object = None,
        kind: str | None = None,
        classes: object = None,
        positive: object = None,
        normalize: bool = False,
        missing: str = "error",
        **parameters: Any,
    ) -> Any:
        """The value on these rows; `by` holds the group of each row."""
        if y_true is NOT_GIVEN or y_pred is NOT_GIVEN or by is None:
            raise ParameterError(f"{self} is called with `y_true`, `y_pred` and `by`, the group of each row")
        if parameters:
            raise ParameterError(self.unknown_parameter(next(iter(parameters)), ("by", "min_rows", *FACTS)))
        target = Target(kind, classes=classes, positive=positive, normalize=normalize)
        batch = Batch(y_true, y_pred, weights, missing=missing, query=query, by=group_columns(by))
        batch.require_rows()
        self.check_columns(batch.truth_columns, batch.prediction_columns)
        plan = Plan(self.all_needs(target))
        slices = slice_states(batch, plan.fold(batch))
        return self.read_slices(slices, lambda item: plan.place(item.needs(target)), check_min_rows(min_rows)).value

    def to_dict(self) -> dict[str, Any]:
        changed = {key: value for key, value in self._changed().items() if key != "of"}
        return {"name": self.name, "of": [str(item) for item in self.of], **changed}

    def __str__(self) -> str:
        written = tuple(map(str, self.of))
        own = [f"{key}={value!r}" for key, value in self._changed().items() if key != "of"]
        for name, known in self.known.items():
            if known == written:
                return f"{name}({', '.join(own)})" if own else name
        return f"{self.name}({', '.join((*written, *own))})"


def _check_numbers(item: Metric, answers: Mapping[Group, Answer]) -> None:
    for answer in answers.values():
        if not isinstance(answer.value, float):
            held = "a value for each class or output" if isinstance(answer.value, (dict, list)) else "no number"
            raise ParameterError(f"only metrics with one number per group can be combined; {item} has {held}")


def _is_number(value: object) -> bool:
    return isinstance(value, float) and not math.isnan(value)


def check_min_rows(min_rows: object) -> int:
    """Refuse a smallest size of groups that is no whole number."""
    if isinstance(min_rows, bool) or not isinstance(min_rows, int) or min_rows < 1:
        raise ParameterError(f"`min_rows` must be a whole number from 1 on; it was {min_rows!r}")
    return min_rows


class Gap(GroupMetric, abstract=True):
    """How far the values of a metric in the groups are apart: the highest less the lowest."""

    name = "gap"
    known = {
        "demographic_parity": ("selection_rate",),
        "equal_opportunity": ("recall",),
        "equalized_odds": ("recall", "fallout"),
    }
    formula = "max − min over the groups; of several metrics the largest"
    reading = "0 means that all groups get the same."
    landmarks = ((0.0, "all groups get the same"),)
    at_perfect = None

    @property
    def better(self) -> Better:
        return "lower"

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, max(high - low for low, high in (item.range for item in self.of)))

    def combine_one(self, ends: Extreme) -> float | Undefined:
        return ends.values[ends.high] - ends.values[ends.low]

    def decisive(self, values: Sequence[float]) -> int:
        return values.index(max(values))


class Ratio(GroupMetric, abstract=True):
    """The lowest value of a metric in the groups, as a share of the highest."""

    name = "ratio"
    known = {f"{name}_ratio": metrics for name, metrics in Gap.known.items()}
    formula = "min / max over the groups; of several metrics the smallest"
    unit = ""
    reading = "1 means that all groups get the same; below 0.8 is often taken as a sign of disparate impact."
    landmarks = ((1.0, "all groups get the same"),)
    when_undefined = "Fewer than two groups have a value, one is negative or infinite, or all are 0."
    pitfalls = (*GroupMetric.pitfalls, "Between small values a small difference is a small ratio.")

    @property
    def better(self) -> Better:
        return "higher"

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, 1.0)

    def combine_one(self, ends: Extreme) -> float | Undefined:
        low, high = ends.values[ends.low], ends.values[ends.high]
        if low < 0:
            return Undefined("a ratio needs values that are not negative")
        if high == 0:
            return Undefined("the value is 0 in every group")
        return low / high if math.isfinite(high) else Undefined("the value is infinite in a group")

    def decisive(self, values: Sequence[float]) -> int:
        return values.index(min(values))


class Worst(GroupMetric, abstract=True):
    """The value of a metric in the group where it is worst."""

    name = "worst"
    formula = "the worst value over the groups"
    reading = "What the group that fares worst gets."
    pitfalls = (*GroupMetric.pitfalls, "The more groups there are, the worse is the worst of them by chance alone.")

    @property
    def better(self) -> Better:
        return self.of[0].better

    @property
    def range(self) -> tuple[float, float]:
        return self.of[0].range

    def combine_one(self, ends: Extreme) -> float | Undefined:
        better = self.of[0].better
        if better is None:
            raise ParameterError(f"neither high nor low values of {self.of[0]} are worse; take its gap or ratio")
        low, high = ends.values[ends.low], ends.values[ends.high]
        if isinstance(better, str):
            return low if better == "higher" else high
        return max(low, high, key=lambda value: abs(value - better))

    def decisive(self, values: Sequence[float]) -> int:
        if len(values) > 1:
            raise ParameterError(f"worst takes one metric; it was given {', '.join(map(str, self.of))}")
        return 0


def gap(*of: str | Metric, **parameters: Any) -> GroupMetric:
    """The gap of a metric between groups: its highest value less its lowest. Of several metrics, the largest gap.

    >>> gap("recall")([1, 1, 1, 0], [1, 0, 1, 0], by=["a", "a", "b", "b"])
    0.5
    """
    return Gap(of=_metrics("of", parameters.pop("of", of)), **parameters)


def ratio(*of: str | Metric, **parameters: Any) -> GroupMetric:
    """The ratio of a metric between groups: its lowest value over its highest. Of several metrics, the smallest ratio.

    >>> ratio("recall")([1, 1, 1, 0], [1, 0, 1, 0], by=["a", "a", "b", "b"])
    0.5
    """
    return Ratio(of=_metrics("of", parameters.pop("of", of)), **parameters)


def worst(*of: str | Metric, **parameters: Any) -> GroupMetric:
    """The value of a metric in the group where it is worst.

    >>> worst("accuracy")([1, 1, 1, 0], [1, 0, 1, 0], by=["a", "a", "b", "b"])
    0.5
    """
    return Worst(of=_metrics("of", parameters.pop("of", of)), **parameters)


for _make in (gap, ratio, worst):
    registry.makers[_make.__name__] = _make
for _kind, _maker in ((Gap, gap), (Ratio, ratio)):
    for _name, _of in _kind.known.items():
        registry.makers[_name] = lambda *, _maker=_maker, _of=_of, **parameters: _maker(of=_of, **parameters)
