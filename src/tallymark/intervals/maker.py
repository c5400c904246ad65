"""IntervalMaker: picks the method of each interval, and reads states and resamples from an IntervalSource.

The method is the formula of the metric, the posterior of a table of labels, or the bootstrap. There are two sources:
`RowsInMemory` folds and resamples the rows, `KeptStates` reads what a tally has kept of rows that are gone. Both give
the same ends to the last bit, since everything after the states is shared.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import ParameterError, Text
from tallymark.intervals.analytic import Interval, NoInterval
from tallymark.intervals.bca import Resamples, bca_interval
from tallymark.intervals.methods import BOOTSTRAP, OF_CLUSTERS, OF_QUERIES, SIMULTANEOUS
from tallymark.intervals.posterior import has_posterior, posterior_intervals
from tallymark.intervals.replicates import leave_out_values, read_resampled, resample_values
from tallymark.intervals.settings import Intervals, lacks_resamples
from tallymark.states.base import Plan, Reads, State, States
from tallymark.states.labels.pairs import Pairs
from tallymark.states.resampling.keys import nested, query_keys, row_keys
from tallymark.states.resampling.replicates import KEPT, NO_KEYS, Resampled, ResampledOf
from tallymark.states.resampling.units import Units, UnitsOf

if TYPE_CHECKING:
    from tallymark.metrics.base import Metric
    from tallymark.metrics.fairness.base import GroupMetric


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

    `formulas` are what formulas ask for. Of rows that come in pieces, `kept` says, the plan has what a tally keeps as
    well: their units, and `resamples` if it is known how many `columns` of truth and prediction they have.
    """

    __slots__ = ("formulas", "resamples", "settings", "states", "target", "values")

    def __init__(
        self,
        metrics: Iterable[Metric],
        values: Plan,
        target: Target,
        settings: Intervals,
        columns: tuple[int, int] | None = None,
        *,
        kept: bool = False,
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
        units = [UnitsOf()] if kept else []
        self.states = Plan([*units, *self.formulas.values(), *self.resamples.values()])

    def _resamples_of(self, item: Metric, columns: tuple[int, int]) -> ResampledOf:
        settings = self.settings
        always = settings.method == "bootstrap" or not item.has_analytic_interval(columns)
        return ResampledOf(item.needs(self.target), settings.seed, settings.number_of_resamples, always=always)


class IntervalSource(ABC):
    """What intervals of some rows are made of: all rows, or those of a group."""

    def __init__(self, plan: IntervalPlan, values: States, intervals: States) -> None:
        self.plan = plan
        self._values = values
        self._intervals = intervals

    @property
    @abstractmethod
    def n(self) -> int:
        """How many rows there are."""

    @property
    @abstractmethod
    def units(self) -> Units:
        """The rows, clusters and weights that are resampled."""

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
        return state.with_row_count(self.n)

    @abstractmethod
    def resample(self, items: Sequence[Metric]) -> Mapping[Metric, Resamples | NoInterval]:
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

    @property
    def n(self) -> int:
        return self._batch.n

    @property
    def units(self) -> Units:
        return UnitsOf().fold(self._batch)

    def _resolved(self, item: Metric) -> Reads:
        state = self._whole._value_state(item)
        return state.reads.resolved(self._whole._batch, state)

    def resample(self, items: Sequence[Metric]) -> Mapping[Metric, Resamples | NoInterval]:
        settings, batch = self.plan.settings, self._batch
        reads, keys = {item: self._resolved(item) for item in items}, row_keys(batch)
        values = resample_values(reads, batch, settings.seed, settings.number_of_resamples, keys)
        left_out = leave_out_values(reads, batch, keys) or {}
        units = {by_query: units_of(batch, by_query=by_query) for by_query in {item.by_query for item in items}}
        return {item: Resamples(values[item], left_out.get(item), units[item.by_query]) for item in items}


class KeptStates(IntervalSource):
    """Rows that are gone: their resamples were kept."""

    @property
    def n(self) -> int:
        return self.units.n

    @property
    def units(self) -> Units:
        found = self.plan.states.pick(self._intervals, UnitsOf())
        assert isinstance(found, Units)
        return found

    def resample(self, items: Sequence[Metric]) -> Mapping[Metric, Resamples | NoInterval]:
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
    """Reject clusters that part the rows of a query."""
    keys = row_keys(batch)
    if batch.has_query and keys is not None and not nested(batch, keys):
        raise ParameterError(
            argument="cluster", expected="be the same in all rows of a query, since queries are resampled as a whole"
        )


IntervalResult = Interval | NoInterval


class IntervalMaker:
    """Makes the intervals of one evaluation. `plain` rows have neither weights nor clusters."""

    def __init__(self, settings: Intervals, *, plain: bool) -> None:
        self.settings = settings
        self._plain = plain

    def intervals(
        self, rows: IntervalSource, values: Mapping[Metric, Any], level: float | None = None
    ) -> dict[Metric, IntervalResult]:
        """The intervals of metrics, given their values, or why there are none."""
        level = self.settings.level if level is None else level
        out: dict[Metric, IntervalResult | None] = dict.fromkeys(values)
        tables: dict[Any, tuple[Pairs, list[Metric]]] = {}
        for item in values:
            if item.no_interval:
                out[item] = NoInterval(item.no_interval)
            elif self._plain and self.settings.method != "bootstrap":
                state = rows.state_of(item)
                out[item] = item.interval(state, level)
                if out[item] is None and has_posterior(item, state):
                    tables.setdefault(state.reads, (state, []))[1].append(item)  # type: ignore[arg-type]
        for table, items in tables.values():
            out.update(posterior_intervals(items, table, level, self.settings.seed))
        left = [item for item, found in out.items() if found is None]
        found = self._bootstrap(rows, left, values, level) if left else {}
        return {item: each if each is not None else found[item] for item, each in out.items()}

    def _bootstrap(
        self, rows: IntervalSource, items: Sequence[Metric], values: Mapping[Metric, Any], level: float
    ) -> dict[Metric, IntervalResult]:
        settings = self.settings
        lacking = lacks_resamples(level, settings.number_of_resamples)
        out: dict[Metric, IntervalResult] = {}
        for item in items:
            if item.no_bootstrap:
                out[item] = NoInterval(item.no_bootstrap)
            elif settings.method == "analytic":
                out[item] = NoInterval(self._no_formula(item))
            elif lacking:
                out[item] = NoInterval(lacking)
        left = [item for item in items if item not in out]
        clusters = rows.units.clusters is not None
        for item, resamples in (rows.resample(left) if left else {}).items():
            method = bootstrap_name(clusters=clusters, by_query=item.by_query)
            out[item] = (
                resamples
                if isinstance(resamples, NoInterval)
                else bca_interval(item, values[item], resamples, level, method)
            )
        return out

    def _no_formula(self, item: Metric) -> Text:
        why = (
            f"{item.name} has no analytic interval for these rows"
            if self._plain
            else "analytic intervals need rows of weight 1 without clusters"
        )
        return Text('{}; use {ci=tm.Intervals(method="bootstrap")}', why)

    def of_groups(self, item: GroupMetric, groups: Sequence[IntervalSource]) -> IntervalResult:
        """The interval of a metric that compares groups: what follows from intervals of all of them at once.

        Resampling would not do: the highest of many groups is too high by chance, and more so in resamples."""
        values = [{rows: value for rows in groups if not math.isnan(value := rows.value_of(one))} for one in item.of]
        if not all(values):
            return NoInterval("no group has a value")
        level = 1 - (1 - self.settings.level) / sum(map(len, values))  # groups without a value cannot miss it
        ends = []
        for one, by_group in zip(item.of, values, strict=True):
            known: list[Interval] = []
            for rows, value in by_group.items():
                if math.isinf(value):
                    return NoInterval("the value of a group is infinite")
                found = self.intervals(rows, {one: value}, level)[one]
                if isinstance(found, NoInterval):
                    return NoInterval(Text("a group has none: {}", found.reason))
                known.append(found)
            bounds = item.bounds([each.lo for each in known], [each.hi for each in known])
            if isinstance(bounds, NoInterval):
                return bounds
            ends.append(bounds)
        return Interval(item.decisive([lo for lo, _ in ends]), item.decisive([hi for _, hi in ends]), SIMULTANEOUS)


def bootstrap_name(*, clusters: bool, by_query: bool) -> str:
    """The bootstrap by what is resampled."""
    return OF_CLUSTERS if clusters else OF_QUERIES if by_query else BOOTSTRAP
