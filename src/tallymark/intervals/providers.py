"""Where intervals get their states and resamples from: rows in memory, or states that were kept of rows in pieces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import ParameterError, Text
from tallymark.intervals.bca import Resamples
from tallymark.intervals.interval import NoInterval
from tallymark.intervals.replicates import leave_out_values, read_resampled, resample_values
from tallymark.intervals.settings import Intervals
from tallymark.states.base import Reads, State
from tallymark.states.plan import Plan, States
from tallymark.states.resampling.keys import nested, query_keys, row_keys
from tallymark.states.resampling.replicates import KEPT, NO_KEYS, Resampled, ResampledOf
from tallymark.states.resampling.units import Units, UnitsOf

if TYPE_CHECKING:
    from tallymark.metrics.base import Metric

GROWS = "a tally keeps resamples of small states only, and the state of {} grows with the rows; use evaluate"
LOST = {
    "size": "the state is too large for a tally to keep its resamples; use evaluate",
    NO_KEYS: "rows of tallies that were added can be resampled only if they have `keys`; pass them to update",
}
NO_FORMULA = Text(
    'the tally kept no resamples of it, and these rows need them; use {ci=tm.Intervals(method="bootstrap")}'
)
MIXED = Text(
    'only some rows have weights; pass weights of 1 for the others, or use {ci=tm.Intervals(method="bootstrap")}'
)


class IntervalPlan:
    """Which states the intervals of metrics read, beside those of their values.

    `formulas` are what formulas ask for, `resamples` what is kept of rows in pieces: `columns` are how many columns of
    truth and prediction these have, None where nothing is to be kept.
    """

    __slots__ = ("formulas", "resamples", "settings", "states", "target", "values")

    def __init__(
        self,
        metrics: Iterable[Metric],
        values: Plan,
        target: Target,
        settings: Intervals,
        columns: tuple[int, int] | None = None,
    ) -> None:
        self.values = values
        self.target = target
        self.settings = settings
        every = [one for item in metrics for one in getattr(item, "of", (item,))]
        wanted = [item for item in dict.fromkeys(every) if not item.no_interval]
        asked = {item: item.interval_reads(target) for item in wanted if settings.method != "bootstrap"}
        self.formulas: dict[Metric, Reads] = {item: reads for item, reads in asked.items() if reads is not None}
        self.resamples: dict[Metric, ResampledOf] = {}
        if settings.method != "analytic" and columns is not None:
            small = [item for item in wanted if not item.no_bootstrap and type(item.needs(target).zero()).size in KEPT]
            self.resamples = {item: self._resamples_of(item, columns) for item in small}
        self.states = Plan([UnitsOf(), *self.formulas.values(), *self.resamples.values()])

    def _resamples_of(self, item: Metric, columns: tuple[int, int]) -> ResampledOf:
        settings = self.settings
        always = settings.method == "bootstrap" or not item.has_formula(columns)
        return ResampledOf(item.needs(self.target), settings.seed, settings.number_of_resamples, always=always)


class IntervalSource(ABC):
    """What intervals of some rows are made of: all rows, or those of a group."""

    def __init__(self, plan: IntervalPlan, values: States, intervals: States) -> None:
        self.plan = plan
        self._values = values
        self._intervals = intervals

    @property
    def units(self) -> Units:
        """The rows, clusters and weights."""
        found = self.plan.states.pick(self._intervals, UnitsOf())
        assert isinstance(found, Units)
        return found

    def value_of(self, item: Metric) -> Any:
        """The value of a metric."""
        return item.answer(self._value_state(item)).value

    def _value_state(self, item: Metric) -> State:
        return self.plan.values.pick(self._values, item.needs(self.plan.target))

    def state_of(self, item: Metric) -> State:
        """The state that the formula of a metric's interval reads. Rows that weigh nothing are as if they were not
        there."""
        reads = self.plan.formulas.get(item)
        state = self._value_state(item) if reads is None else self.plan.states.pick(self._intervals, reads)
        return state.with_row_count(self.units.n)

    @abstractmethod
    def resampled(self, items: Sequence[Metric]) -> Mapping[Metric, Resamples | NoInterval]:
        """The values of metrics in resamples, or why there are none."""


class RowsInMemory(IntervalSource):
    """Rows that are there: they are resampled when asked for."""

    def __init__(self, plan: IntervalPlan, values: States, batch: Batch, whole: RowsInMemory | None = None) -> None:
        self._batch = batch
        self._whole = self if whole is None else whole
        if whole is None:
            intervals = plan.states.fold(batch)
        else:  # classes are those of all rows
            intervals = tuple(state.reads.resolved(whole._batch, state).fold(batch) for state in whole._intervals)
        super().__init__(plan, values, intervals)

    def _resolved(self, item: Metric) -> Reads:
        state = self._whole._value_state(item)
        return state.reads.resolved(self._whole._batch, state)

    def resampled(self, items: Sequence[Metric]) -> Mapping[Metric, Resamples | NoInterval]:
        settings, batch = self.plan.settings, self._batch
        reads, keys = {item: self._resolved(item) for item in items}, row_keys(batch)
        values = resample_values(reads, batch, settings.seed, settings.number_of_resamples, keys)
        left_out = leave_out_values(reads, batch, keys) or {}
        units = {by_query: units_of(batch, by_query=by_query) for by_query in {item.by_query for item in items}}
        return {item: Resamples(values[item], left_out.get(item), units[item.by_query]) for item in items}


class KeptStates(IntervalSource):
    """Rows that are gone: their resamples were kept."""

    def resampled(self, items: Sequence[Metric]) -> Mapping[Metric, Resamples | NoInterval]:
        units, kept = self.units, self.plan.resamples
        out: dict[Metric, Resamples | NoInterval] = {}
        by_place: dict[int, list[Metric]] = {}
        for item in items:
            if item in kept:
                by_place.setdefault(self.plan.states.place(kept[item]), []).append(item)
            else:
                out[item] = NoInterval(GROWS.format(item.name))
        for place, metrics in by_place.items():
            state = self._intervals[place]
            assert isinstance(state, Resampled)
            why: str | Text | None = LOST.get(state.lost)
            if why is None and state.n < units.n:
                why = NO_FORMULA if units.plain else MIXED
            if why is not None:
                out.update(dict.fromkeys(metrics, NoInterval(why)))
                continue
            values, left_out = read_resampled(metrics, state)
            for item in metrics:
                out[item] = Resamples(values[item], None if left_out is None else left_out[item], units.count())
        return out


def units_of(batch: Batch, *, by_query: bool) -> float:
    """How many rows, clusters or queries are resampled; of rows with weights, how many equal ones would tell as
    much."""
    if by_query and (keys := query_keys(batch, row_keys(batch))) is not None:
        return len(np.unique(keys))
    return UnitsOf().fold(batch).count()


def check_nested(batch: Batch) -> None:
    """Refuse clusters that part the rows of a query."""
    keys = row_keys(batch)
    if batch.has_query and keys is not None and not nested(batch, keys):
        raise ParameterError(
            argument="cluster", expected="be the same in all rows of a query, since queries are resampled as a whole"
        )
