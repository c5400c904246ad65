"""Adds intervals to the cells of a report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from tallymark.data.batch import Batch
from tallymark.errors import Text
from tallymark.evaluation.evaluate import MetricPlan
from tallymark.evaluation.report import Cell, Report
from tallymark.evaluation.tally import TallyStates
from tallymark.intervals.analytic import NoInterval, numbers_of
from tallymark.intervals.maker import (
    IntervalMaker,
    IntervalPlan,
    IntervalResult,
    IntervalSource,
    KeptStates,
    RowsInMemory,
    check_nested,
)
from tallymark.intervals.settings import Intervals, with_method
from tallymark.metrics.fairness.base import GroupMetric
from tallymark.states.base import States
from tallymark.states.groups import Group, Slice, slice_states
from tallymark.states.resampling.keys import row_keys

BOUNDED = "lo and hi are bounds of the value on these rows, not an interval; leave `bounded` out for one"


def add_intervals(
    report: Report,
    settings: Intervals,
    metric_plan: MetricPlan,
    states: States,
    batch: Batch,
    slices: Sequence[Slice] | None = None,
) -> Report:
    """The report of rows in memory with an interval in every cell that can have one, those of the slices among them."""
    if not batch.resampled_by_place:
        row_keys(batch)  # keys or clusters that cannot be are refused, whatever reads them, and name their row
    elif batch.weights is not None:
        batch.keys = np.arange(batch.n, dtype=np.uint64)  # the place of a row is that among all, as in a tally
    counted = batch.without_zero_weights()
    if counted is not batch and counted.n:
        batch, states = counted, metric_plan.fold(counted)
        slices = None if slices is None else slice_states(batch, states)
    metrics = [item for key, item in metric_plan.metrics.items() if report.cell(key).error is None]
    if batch.cluster_side is not None and any(item.by_query for item in metrics):
        check_nested(batch)
    plain = batch.cluster_side is None and batch.has_unit_weights
    asked = settings if plain else with_method(settings, "bootstrap")  # no formula reads other rows
    whole = RowsInMemory(IntervalPlan(metrics, metric_plan.plan, metric_plan.target, asked), states, batch)
    groups = {each.group: RowsInMemory(whole.plan, each.states, each.rows, whole) for each in slices or () if each.rows}
    return _add_to_cells(report, metric_plan, IntervalMaker(settings, plain=plain), whole, groups)


def interval_plan(metric_plan: MetricPlan, settings: Intervals, columns: tuple[int, int] | None) -> IntervalPlan:
    """Which states a tally keeps for its intervals."""

    def plan_of(failed: Mapping[str, object]) -> IntervalPlan:
        metrics = [item for key, item in metric_plan.metrics.items() if key not in failed]
        return IntervalPlan(metrics, metric_plan.plan, metric_plan.target, settings, columns, kept=True)

    plan = plan_of(metric_plan.errors)
    if metric_plan.unreadable:  # whose states were kept with those of the others until they failed
        planned = {key: error for key, error in metric_plan.errors.items() if key not in metric_plan.unreadable}
        plan.states = plan_of(planned).states.part({reads.group for reads in plan.states.reads})
    return plan


def add_kept_intervals(
    report: Report, plan: IntervalPlan, metric_plan: MetricPlan, whole: TallyStates, groups: Mapping[Group, TallyStates]
) -> Report:
    """The report of states with an interval in every cell that can have one, those of the slices among them."""
    kept = KeptStates(plan, *whole)
    if report._source is not None:
        report._source.clustered = kept.units.clusters is not None
    maker = IntervalMaker(plan.settings, plain=kept.units.plain)
    return _add_to_cells(
        report, metric_plan, maker, kept, {group: KeptStates(plan, *piece) for group, piece in groups.items()}
    )


def _add_to_cells(
    report: Report,
    metric_plan: MetricPlan,
    maker: IntervalMaker,
    whole: IntervalSource,
    groups: Mapping[Group, IntervalSource],
) -> Report:
    slices = report.slices
    parts = [(report, whole)]
    if slices is not None:
        parts += [(each, groups[group]) for group, each in slices.items() if group in groups]
    for each in (report, *(slices or {}).values()):
        each.interval = maker.settings
    for each, rows in parts:
        cells = [cell for cell in map(each.cell, each) if not isinstance(cell.metric, GroupMetric)]
        for cell in cells:
            if cell.method is not None:
                cell.interval_notes += (BOUNDED,)
        values = {cell.metric: cell.value for cell in cells if _can_have_interval(cell)}
        intervals = maker.intervals(rows, values)
        for cell in cells:
            if cell.metric in values and _can_have_interval(cell):
                _set_interval(cell, intervals[cell.metric])
    large = list(groups.values())
    if slices is not None:
        large = [groups[group] for group, n in slices.sizes.items() if n >= slices.min_rows and group in groups]
    for key, item in metric_plan.metrics.items():
        if isinstance(item, GroupMetric) and _can_have_interval(report.cell(key)):
            _set_interval(report.cell(key), maker.of_groups(item, large))
            if slices is not None:
                report.cell(key).value_notes = slices._answer(item).notes  # rounded as the intervals of groups say
    return report


def _can_have_interval(cell: Cell) -> bool:
    """Whether a cell has numbers to put an interval around. Bounds are not to be taken for one."""
    if cell.error is not None or cell.is_table or cell.method is not None:
        return False
    return any(map(math.isfinite, numbers_of(cell.value)))


def _set_interval(cell: Cell, interval: IntervalResult) -> None:
    """Give a cell its interval, or the reason why it has none."""
    if isinstance(interval, NoInterval):
        cell.no_interval = Text("no interval: {}", interval.reason)
        cell.interval_notes += (cell.no_interval,)
    else:
        cell.lo, cell.hi, cell.method = interval.lo, interval.hi, interval.method
        cell.interval_notes += interval.notes
