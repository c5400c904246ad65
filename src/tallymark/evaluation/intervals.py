"""Intervals: how far the value of the whole population may lie from that of these rows.

A metric that has an analytic interval gives it where every row counts once; elsewhere rows are resampled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.batch import Batch
from tallymark.errors import ParameterError
from tallymark.evaluation.chosen import Chosen
from tallymark.evaluation.percentiles import acceleration_of, percentile_interval
from tallymark.evaluation.resampling import leave_out_values, numbers_of, resample_values, row_keys
from tallymark.evaluation.result import Cell, Report
from tallymark.evaluation.settings import IntervalSettings
from tallymark.metrics import GroupMetric, Metric
from tallymark.metrics.base import Answer, Interval, NoInterval
from tallymark.states import Plan, Reads, Slice, State, States, nested, query_keys

BOUNDED = "lo and hi are bounds of the value on these rows, not an interval; leave `bounded` out for one"


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
    all_rows = [_Rows(batch, states, report)]
    if slices is not None and report.slices is not None:
        all_rows += [_Rows(each.rows, each.states, report.slices[each.group]) for each in slices]
    maker = _Maker(settings, chosen, states, batch)
    for rows in all_rows:
        rows.report.interval = settings
        maker.fill(rows)
    if slices is not None:
        maker.fill_groups(report, slices, batch)
    return report


class _Maker:
    """Makes the intervals of one evaluation."""

    def __init__(self, settings: IntervalSettings, chosen: Chosen, states: States, batch: Batch) -> None:
        self._settings = settings
        self._chosen = chosen
        self._plain = batch.cluster_side is None and _plain(batch)
        metrics = chosen.metrics.items()
        self._metrics = {key: item for key, item in metrics if key not in chosen.errors}
        of_rows = {key: item for key, item in self._metrics.items() if not isinstance(item, GroupMetric)}
        read = {key: chosen.plan.pick(states, item.needs(chosen.target)) for key, item in of_rows.items()}
        self._reads = {key: state.reads.settled(batch, state) for key, state in read.items()}
        self._of_interval = self._interval_reads(batch) if self._analytic else {}
        if batch.cluster_side is not None and any(item.by_query for item in self._metrics.values()):
            check_nested(batch)

    @property
    def _analytic(self) -> bool:
        return self._plain and self._settings.method != "bootstrap"

    def _interval_reads(self, batch: Batch) -> dict[str, Reads]:
        """What analytic intervals read beside the states of the values, with the classes of all rows."""
        wanted = {key: self._metrics[key].interval_reads(self._chosen.target) for key in self._reads}
        asked = {key: reads for key, reads in wanted.items() if reads is not None}
        plan = Plan(asked.values())
        states = plan.fold(batch)
        return {
            key: plan.reads[plan.place(reads)].settled(batch, plan.pick(states, reads)) for key, reads in asked.items()
        }

    def fill(self, rows: _Rows) -> None:
        """The intervals of some rows."""
        every = {key: rows.report.cell(key) for key in self._reads}
        for cell in every.values():
            if cell.method is not None:
                cell.notes += (BOUNDED,)
        cells = {key: cell for key, cell in every.items() if _can_have(cell)}
        folded: dict[Reads, State] = {}
        left = {}
        for key, cell in cells.items():
            found = self._analytic_of(key, cell.metric, rows, folded) if self._analytic else None
            if found is None and self._settings.method != "analytic":
                left[key] = cell
            elif found is None:
                cell.notes += (self._no_formula(cell.metric),)
            else:
                _put(cell, found)
        if left:
            items = {key: cell.metric for key, cell in left.items()}
            reads = {key: self._reads[key] for key in left}
            values = self._resample(items, reads, rows.batch)
            without = leave_out_values(items, reads, rows.batch, row_keys(rows.batch)) or {}
            for key, cell in left.items():
                _put(cell, self._bootstrap(cell, values[key], without.get(key), rows.batch))

    def _analytic_of(
        self, key: str, item: Metric, rows: _Rows, folded: dict[Reads, State]
    ) -> Interval | NoInterval | None:
        reads = self._of_interval.get(key)
        if reads is None:
            state = self._chosen.plan.pick(rows.states, item.needs(self._chosen.target))
        else:
            if reads not in folded:
                folded[reads] = reads.fold(rows.batch)
            state = folded[reads]
        return item.interval(state, self._settings.level)

    def _no_formula(self, item: Metric) -> str:
        why = (
            f"{item.name} has no analytic interval"
            if self._plain
            else "analytic intervals are for single rows of weight 1"
        )
        return f'{why}; ci_method="bootstrap" resamples the rows'

    def _resample(self, items: Mapping[str, Metric], reads: Mapping[str, Reads], batch: Batch) -> dict[str, Array]:
        settings = self._settings
        return resample_values(items, reads, batch, settings.seed, settings.resamples, row_keys(batch))

    def _bootstrap(self, cell: Cell, values: Array, without: Array | None, batch: Batch) -> Interval | NoInterval:
        """The interval of a value from those in replicates and without some rows, part by part."""
        numbers = numbers_of(cell.value)
        lines = values if values.ndim == 2 else values[None, :]
        left_out = np.zeros((len(numbers), 1)) if without is None else np.atleast_2d(without)
        units = _units(batch, by_query=cell.metric.by_query)
        found = [
            percentile_interval(number, line, self._settings.level, cell.metric.range, units, acceleration_of(rest))
            for number, line, rest in zip(numbers, lines, left_out, strict=True)
        ]
        notes = tuple(dict.fromkeys(each.note for each in found if each.note))
        if all(each.lo is None for each in found):
            return NoInterval("; ".join(notes))
        return Interval(
            _shaped(cell.value, [each.lo for each in found]),
            _shaped(cell.value, [each.hi for each in found]),
            self._settings.name_of(batch, by_query=cell.metric.by_query),
            notes,
        )

    def fill_groups(self, report: Report, slices: Sequence[Slice], batch: Batch) -> None:
        """The intervals of metrics that compare groups: their values in replicates are those of the groups."""
        least = 1 if report.slices is None else report.slices.min_rows
        large = [each for each in slices if each.rows.n >= least]
        for key, item in self._metrics.items():
            cell = report.cell(key)
            if not isinstance(item, GroupMetric) or not _can_have(cell):
                continue
            if self._settings.method == "analytic":
                cell.notes += (self._no_formula(item),)
                continue
            _put(cell, self._bootstrap(cell, self._resample_groups(item, large), None, batch))

    def _resample_groups(self, item: GroupMetric, slices: Sequence[Slice]) -> Array:
        items = {str(place): each for place, each in enumerate(item.of)}
        plan, target = self._chosen.plan, self._chosen.target
        by_group = {}
        for each in slices:
            reads = {key: each.states[plan.place(one.needs(target))].reads for key, one in items.items()}
            by_group[each.group] = self._resample(items, reads, each.rows)
        out = np.full(self._settings.resamples, math.nan)
        settled = item.replace(undefined=None)
        for replicate in range(len(out)):
            answers = [
                {group: Answer(float(values[key][replicate])) for group, values in by_group.items()} for key in items
            ]
            out[replicate] = settled.combine(answers).value
        return out


def _units(batch: Batch, *, by_query: bool) -> float:
    """How many rows, clusters or queries are resampled; of rows with weights, how many equal ones would tell as much
    (Kish)."""
    keys = row_keys(batch)
    if by_query:
        keys = query_keys(batch, keys)
    if by_query or batch.cluster_side is not None:
        return len(np.unique(keys)) if keys is not None else batch.n
    if batch.weights is None:
        return batch.n
    shares = np.asarray(batch.weights, np.float64) / max(float(np.max(batch.weights)), 1e-300)
    squares = float((shares**2).sum())
    return float(shares.sum()) ** 2 / squares if squares > 0.0 else 0.0


def check_nested(batch: Batch) -> None:
    """Refuse clusters that part the rows of a query."""
    keys = row_keys(batch)
    if batch.has_query and keys is not None and not nested(batch, keys):
        raise ParameterError(
            "`cluster` must be the same in all rows of a query, since queries are resampled as a whole"
        )


def _plain(batch: Batch) -> bool:
    return batch.weights is None or bool((np.asarray(batch.weights) == 1).all())


def _can_have(cell: Cell) -> bool:
    """Whether a cell has numbers to put an interval around. Bounds are not to be taken for one."""
    if cell.error is not None or cell.shows_itself or cell.method is not None:
        return False
    return any(map(math.isfinite, numbers_of(cell.value)))


def _put(cell: Cell, found: Interval | NoInterval) -> None:
    if isinstance(found, NoInterval):
        cell.notes += (f"no interval: {found.reason}",)
    else:
        cell.lo, cell.hi, cell.method = found.lo, found.hi, found.method
        cell.notes += found.notes


def _shaped(value: Any, ends: list[float | None]) -> Any:
    """Ends of intervals in the shape of the value."""
    if isinstance(value, dict):
        return dict(zip(value, ends, strict=True))
    return ends if isinstance(value, list) else ends[0]
