"""Metrics of groups: another metric in every group of the rows, and a way to make one number of its values.

Such a metric has no state: it asks for those of the other metrics and is given their answers. So any metric becomes a
fairness metric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from tallymark.data.arguments import check_min_rows
from tallymark.data.batch import Batch
from tallymark.data.target import Target, target_of
from tallymark.errors import Argument, ParameterError, Text
from tallymark.intervals.analytic import NoInterval
from tallymark.metrics.answer import Answer, Undefined
from tallymark.metrics.base import FACTS, NOT_GIVEN, Metric, ShownSignature
from tallymark.metrics.naming import metric
from tallymark.metrics.parameters import Parameter
from tallymark.rendering.table import show_cell
from tallymark.rendering.text import list_first
from tallymark.states.base import Plan, Reads
from tallymark.states.groups import Group, Slice, group_columns, slice_states

__all__ = ["GroupMetric"]


FEW_GROUPS = Undefined("fewer than two groups have a value")


def read_metrics(name: str, value: Any) -> tuple[Metric, ...]:
    """Metrics of rows, one or several, by name or as they are."""
    found = tuple(map(metric, value if isinstance(value, (tuple, list)) else [value]))
    for item in found:
        if isinstance(item, GroupMetric):
            raise ParameterError(
                Text("{} must be metrics of rows; {} compares groups", Argument(name), item), argument=name
            )
    if not found:
        raise ParameterError(argument=name, expected="name a metric, as in gap(recall)", got="none")
    return found


class Extreme:
    """The groups at both ends of the values of a metric."""

    __slots__ = ("high", "low", "values")

    def __init__(self, values: Mapping[Group, float]) -> None:
        self.values = values
        self.low = min(values, key=lambda group: values[group])
        self.high = max(values, key=lambda group: values[group])

    def describe(self) -> str:
        """Both ends, or whose value it is where all have the same."""
        if self.values[self.low] == self.values[self.high]:
            return f"{show_cell(self.values[self.low])} for {list_first(list(map(show_group, self.values)))}"
        low, high = (f"{show_group(group)} ({show_cell(self.values[group])})" for group in (self.low, self.high))
        return f"highest for {high}, lowest for {low}"


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
    meanings: ClassVar[dict[str, str]] = {}
    """What those are, in one sentence."""
    examples: ClassVar[dict[str, str]] = {}
    """An example of each."""

    of: tuple[Metric, ...] = Parameter(None, read_metrics)  # type: ignore[assignment]
    """The metrics whose values are combined."""

    __signature__: ClassVar[Any] = ShownSignature(takes_parameters=False)

    @property
    def __name__(self) -> str:
        """The name of a composition that has one, else that of the kind."""
        written = tuple(map(str, self.of))
        return next((name for name, known in self.known.items() if known == written), self.name)

    def combine_one(self, ends: Extreme) -> float | Undefined:
        """The value of two groups or more."""
        raise NotImplementedError(f"{type(self).__name__} must define `combine_one`")

    @property
    def formula_text(self) -> str:
        return self.formula if len(self.of) > 1 else self.formula.partition(";")[0]

    def decisive(self, values: Sequence[float]) -> float:
        """The value that counts, where there are several metrics."""
        raise NotImplementedError(f"{type(self).__name__} must define `decisive`")

    def bounds(self, lows: Sequence[float], highs: Sequence[float]) -> tuple[float, float] | NoInterval:
        """Where the value lies if that of each group lies between its ends, or why that cannot be said."""
        raise NotImplementedError(f"{type(self).__name__} must define `bounds`")

    least_groups: ClassVar[int] = 2
    """How many groups must have a value."""

    def combine(self, answers: Sequence[Mapping[Group, Answer]]) -> Answer:
        """The value of the groups, given the answers of every metric."""
        values, notes = [], []
        for item, by_group in zip(self.of, answers, strict=True):
            _check_numbers(item, by_group)
            defined = {group: answer.value for group, answer in by_group.items() if _is_number(answer.value)}
            without = [show_group(group) for group in by_group if group not in defined]
            if without:
                notes.append(f"{item.display_name} has no value for {list_first(without)}: left out")
            if len(defined) < self.least_groups:
                return self.to_answer(FEW_GROUPS, tuple(notes))
            ends = Extreme(defined)
            found = self.combine_one(ends)
            if isinstance(found, Undefined):
                return self.to_answer(found, tuple(notes))
            values.append(found)
            notes.append(f"{item.display_name} is {ends.describe()}")
        return self.to_answer(self.decisive(values), tuple(notes))

    def compare(self, answers: Sequence[Mapping[Group, Answer]], sizes: Mapping[Group, int], least: int) -> Answer:
        """The value of the groups of at least so many rows; a note names the others."""
        large = {group for group, n in sizes.items() if n >= least}
        found = self.combine([{g: answer for g, answer in held.items() if g in large} for held in answers])
        if len(large) == len(sizes):
            return found
        small = [show_group(group) for group in sizes if group not in large]
        note = f"groups of fewer than {least:,} rows are left out: {list_first(small)}"
        return found._replace(notes=(*found.notes, note))

    def read_slices(self, slices: Sequence[Slice], place: Callable[[Metric], int], least: int) -> Answer:
        """The value of slices whose states are where `place` says; groups of fewer than `least` rows are left out."""
        answers = [{each.group: item.answer(each.states[place(item)]) for each in slices} for item in self.of]
        return self.compare(answers, {each.group: each.n for each in slices}, least)

    # Facts follow from those of the metrics.

    @property
    def description(self) -> str:
        return self.meanings.get(str(self).partition("(")[0], super().description)

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

    def __call__(  # type: ignore[override]  # groups may come third
        self,
        y_true: object = NOT_GIVEN,
        y_pred: object = NOT_GIVEN,
        by: object = None,
        *,
        min_rows: int = 1,
        weights: object = None,
        query: object = None,
        target: Target | None = None,
        kind: str | None = None,
        classes: object = None,
        positive: object = None,
        normalize: bool = False,
        missing: str = "error",
        **parameters: Any,
    ) -> Any:
        """The value on these rows; `by` holds the group of each row."""
        if y_true is NOT_GIVEN or y_pred is NOT_GIVEN or by is None:
            raise ParameterError(Text("{} needs {y_true}, {y_pred} and {by}, the group of each row", self))
        if parameters:
            raise self.unknown_parameter(parameters, ("by", "min_rows", *FACTS))
        about = target_of(target, kind, classes, positive, normalize)
        batch = Batch(y_true, y_pred, weights, missing=missing, query=query, by=group_columns(by))
        batch.require_rows()
        self.check_columns(batch.truth_columns, batch.prediction_columns)
        plan = Plan(self.all_needs(about))
        slices = slice_states(batch, plan.fold(batch))
        return self.read_slices(slices, lambda item: plan.place(item.needs(about)), check_min_rows(min_rows)).value

    def unknown_parameter(self, given: Mapping[str, Any], known: Iterable[str]) -> ParameterError:
        key, value = next(iter(given.items()))
        takers = [item for item in self.of if key in item.parameters()]
        if not takers:
            return super().unknown_parameter(given, known)
        meant = (item.replace(**{key: value}) if item in takers else item for item in self.of)
        written = ", ".join(f'"{item}"' for item in meant)
        return ParameterError(
            Text("{} is a parameter of {}", Argument(key), " and ".join(item.name for item in takers)),
            argument=key,
            hint=f"Write it there, as in {self.name}({written})",
        )

    def _display_parts(self) -> tuple[str, tuple[str, ...]]:
        if self.__name__ != self.name:
            return self.__name__.replace("_", " ") + " difference" * (self.name == "gap"), ("of",)
        return self.display_with(" and ".join(item.display_name for item in self.of)), ("of",)

    def display_with(self, of: str) -> str:
        """The display name, with those of the metrics that are compared."""
        return f"{of} {self.name}"

    def to_dict(self) -> dict[str, Any]:
        changed = {key: value for key, value in self._changed().items() if key != "of"}
        return {"name": self.name, "of": [str(item) for item in self.of], **changed}

    def __str__(self) -> str:
        name = self.__name__
        given = [str(item) for item in self.of] if name == self.name else []
        given += [f"{key}={value!r}" for key, value in self._changed().items() if key != "of"]
        return f"{name}({', '.join(given)})" if given else name


def _check_numbers(item: Metric, answers: Mapping[Group, Answer]) -> None:
    for answer in answers.values():
        if not isinstance(answer.value, float):
            held = "a value for each class or output" if isinstance(answer.value, (dict, list)) else "no number"
            raise ParameterError(f"only metrics with one number per group can be combined; {item} has {held}")


def _is_number(value: object) -> bool:
    return isinstance(value, float) and not math.isnan(value)
