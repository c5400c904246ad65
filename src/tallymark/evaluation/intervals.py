"""Intervals: how far the value of the whole population may lie from that of these rows.

A metric that has an analytic interval gives it where every row counts once; elsewhere rows are resampled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.batch import Batch
from tallymark.errors import ParameterError
from tallymark.evaluation.chosen import Chosen
from tallymark.evaluation.group_intervals import AtLevel, compared, fill_group_cells, interval_in_group
from tallymark.evaluation.interval_cells import (
    Found,
    Resamples,
    fill_cells,
    formula_interval,
    resampled_interval,
)
from tallymark.evaluation.resampling import leave_out_values, resample_values, row_keys
from tallymark.evaluation.result import Cell, Report
from tallymark.evaluation.settings import IntervalSettings
from tallymark.evaluation.unseen import unseen_moves
from tallymark.metrics import GroupMetric
from tallymark.states import Plan, Reads, Slice, State, States, UnitsOf, nested, query_keys, slice_states


class _Rows(NamedTuple):
    """Rows with their states: all of them, or those of a group."""

    batch: Batch
    states: States
    report: Report


def add_intervals(
    report: Report,
    settings: IntervalSettings,
    chosen: Chosen,
    states: States,
    batch: Batch,
    slices: Sequence[Slice] | None = None,
) -> Report:
    """The report with an interval in every cell that can have one, those of the slices among them."""
    for each in (report, *(report.slices or {}).values()):
        each.interval = settings
    keys = row_keys(batch)  # keys or clusters that cannot be are refused, whatever reads them, and name their row
    if keys is None and batch.weights is not None:
        batch.keys = np.arange(batch.n, dtype=np.uint64)  # the place of a row is that among all, as in a tally
    counted = batch.weighing()
    if counted is not batch and counted.n:
        batch, states = counted, chosen.fold(counted)
        slices = None if slices is None else slice_states(batch, states)
    all_rows = [_Rows(batch, states, report)]
    if slices is not None and report.slices is not None:
        all_rows += [_rows_of(each, report.slices[each.group]) for each in slices]
    maker = _Maker(settings, chosen, report, states, batch)
    for rows in all_rows:
        maker.fill(rows)
    if slices is not None:
        maker.fill_groups(report, slices)
    return report


class _Maker:
    """Makes the intervals of one evaluation."""

    def __init__(
        self, settings: IntervalSettings, chosen: Chosen, report: Report, states: States, batch: Batch
    ) -> None:
        self._settings = settings
        self._chosen = chosen
        self._plain = batch.cluster_side is None and batch.counts_once
        metrics = chosen.metrics.items()
        self._metrics = {key: item for key, item in metrics if report.cell(key).error is None}
        self._of_rows = {key: item for key, item in self._metrics.items() if not isinstance(item, GroupMetric)}
        self._items = {**compared(self._metrics), **self._of_rows}
        places = {key: chosen.plan.place(item.needs(chosen.target)) for key, item in self._items.items()}
        settled = {place: states[place].reads.settled(batch, states[place]) for place in set(places.values())}
        self._reads = {key: settled[place] for key, place in places.items()}
        self._interval_reads, self._interval_places = self._plan_intervals(batch) if self._analytic else ([], {})
        if batch.cluster_side is not None and any(item.by_query for item in self._metrics.values()):
            check_nested(batch)

    @property
    def _analytic(self) -> bool:
        return self._plain and self._settings.method != "bootstrap"

    def _plan_intervals(self, batch: Batch) -> tuple[list[Reads], dict[str, int]]:
        """What analytic intervals read beside the states of the values, with the classes of all rows; and which of it
        each of them reads."""
        wanted = {key: item.interval_reads(self._chosen.target) for key, item in self._items.items()}
        asked = {key: reads for key, reads in wanted.items() if reads is not None}
        plan = Plan(asked.values())
        settled = [reads.settled(batch, state) for reads, state in zip(plan.reads, plan.fold(batch), strict=True)]
        return settled, {key: plan.place(reads) for key, reads in asked.items()}

    def fill(self, rows: _Rows) -> None:
        """The intervals of some rows."""
        level, folded = self._settings.level, dict[int, State]()

        def by_resampling(left: Mapping[str, Cell]) -> dict[str, Found]:
            return self._bootstrap({key: cell.value for key, cell in left.items()}, rows, level)

        fill_cells(
            {key: rows.report.cell(key) for key in self._of_rows},
            lambda key: self._analytic_of(key, rows, folded, level),
            by_resampling,
            self._settings,
            plain=self._plain,
        )

    def _analytic_of(self, key: str, rows: _Rows, folded: dict[int, State], level: float) -> Found | None:
        item = self._items[key]
        if not self._analytic:
            return formula_interval(item, level, None)
        place = self._interval_places.get(key)
        if place is None:
            state = self._chosen.plan.pick(rows.states, item.needs(self._chosen.target))
        else:
            if place not in folded:
                folded[place] = self._interval_reads[place].fold(rows.batch)
            state = folded[place]
        return formula_interval(item, level, state)

    def _bootstrap(self, values: Mapping[str, Any], rows: _Rows, level: float) -> dict[str, Found]:
        """The intervals of values from those in replicates and without some rows, part by part."""
        settings, keys = self._settings, row_keys(rows.batch)
        items = {key: self._items[key] for key in values}
        reads = {key: self._reads[key] for key in values}
        resampled = resample_values(items, reads, rows.batch, settings.seed, settings.resamples, keys)
        without = leave_out_values(items, reads, rows.batch, keys) or {}
        clusters, single = rows.batch.cluster_side is not None, UnitsOf().fold(rows.batch).single
        out = {}
        for key, item in items.items():
            state = self._chosen.plan.pick(rows.states, item.needs(self._chosen.target)).under(reads[key])
            units = units_of(rows.batch, by_query=item.by_query)
            resamples = Resamples(resampled[key], without.get(key), unseen_moves(item, state, units, level))
            method = settings.name_of(clusters=clusters, by_query=item.by_query)
            out[key] = resampled_interval(item, values[key], resamples, level, units, method, single=single)
        return out

    def fill_groups(self, report: Report, slices: Sequence[Slice]) -> None:
        """The intervals of metrics that compare groups."""
        least = 1 if report.slices is None else report.slices.min_rows
        sizes = {} if report.slices is None else report.slices.sizes
        large = [_rows_of(each, report) for each in slices if sizes.get(each.group, least) >= least]
        fill_group_cells(report, self._metrics, large, self._settings, self._of_group)

    def _of_group(self, key: str, rows: _Rows) -> AtLevel | None:
        item = self._items[key]
        value = item.answer(self._chosen.plan.pick(rows.states, item.needs(self._chosen.target))).value
        return interval_in_group(
            item,
            value,
            self._settings,
            lambda level: self._analytic_of(key, rows, {}, level),
            lambda level: self._bootstrap({key: value}, rows, level)[key],
            plain=self._plain,
        )


def _rows_of(each: Slice, report: Report) -> _Rows:
    assert each.rows is not None  # of a batch
    return _Rows(each.rows, each.states, report)


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
            "`cluster` must be the same in all rows of a query, since queries are resampled as a whole"
        )
