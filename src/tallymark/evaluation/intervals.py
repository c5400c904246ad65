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
from tallymark.evaluation.percentiles import influence_of, percentile_interval
from tallymark.evaluation.resampling import leave_out_values, numbers_of, resample_values, row_keys
from tallymark.evaluation.result import Cell, Report
from tallymark.evaluation.settings import IntervalSettings, least_resamples
from tallymark.metrics import GroupMetric, Metric
from tallymark.metrics.base import Interval, NoInterval
from tallymark.states import Plan, Reads, Slice, State, States, nested, query_keys

BOUNDED = "lo and hi are bounds of the value on these rows, not an interval; leave `bounded` out for one"


SIMULTANEOUS = "intervals of all groups at once"


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
        maker.fill_groups(report, slices)
    return report


class _Maker:
    """Makes the intervals of one evaluation."""

    def __init__(self, settings: IntervalSettings, chosen: Chosen, states: States, batch: Batch) -> None:
        self._settings = settings
        self._chosen = chosen
        self._plain = batch.cluster_side is None and _plain(batch)
        metrics = chosen.metrics.items()
        self._metrics = {key: item for key, item in metrics if key not in chosen.errors}
        self._of_rows = {key: item for key, item in self._metrics.items() if not isinstance(item, GroupMetric)}
        compared = [item for item in self._metrics.values() if isinstance(item, GroupMetric)]
        self._items = {**{f"of {each}": each for item in compared for each in item.of}, **self._of_rows}
        read = {key: chosen.plan.pick(states, item.needs(chosen.target)) for key, item in self._items.items()}
        self._reads = {key: state.reads.settled(batch, state) for key, state in read.items()}
        self._of_interval = self._interval_reads(batch) if self._analytic else {}
        row_keys(batch)  # clusters that are no labels are refused, whatever reads them
        if batch.cluster_side is not None and any(item.by_query for item in self._metrics.values()):
            check_nested(batch)

    @property
    def _analytic(self) -> bool:
        return self._plain and self._settings.method != "bootstrap"

    def _interval_reads(self, batch: Batch) -> dict[str, Reads]:
        """What analytic intervals read beside the states of the values, with the classes of all rows."""
        wanted = {key: item.interval_reads(self._chosen.target) for key, item in self._items.items()}
        asked = {key: reads for key, reads in wanted.items() if reads is not None}
        plan = Plan(asked.values())
        states = plan.fold(batch)
        return {
            key: plan.reads[plan.place(reads)].settled(batch, plan.pick(states, reads)) for key, reads in asked.items()
        }

    def fill(self, rows: _Rows) -> None:
        """The intervals of some rows."""
        every = {key: rows.report.cell(key) for key in self._of_rows}
        for cell in every.values():
            if cell.method is not None:
                cell.notes += (BOUNDED,)
        cells = {key: cell for key, cell in every.items() if _can_have(cell)}
        folded: dict[Reads, State] = {}
        left = {}
        for key, cell in cells.items():
            found = self._analytic_of(key, rows, folded, self._settings.level)
            if found is None and self._settings.method != "analytic":
                left[key] = cell
            elif found is None:
                cell.notes += (self._no_formula(cell.metric),)
            else:
                _put(cell, found)
        if left:
            values = {key: cell.value for key, cell in left.items()}
            for key, found in self._bootstrap(values, rows, self._settings.level).items():
                _put(left[key], found)

    def _analytic_of(
        self, key: str, rows: _Rows, folded: dict[Reads, State], level: float
    ) -> Interval | NoInterval | None:
        item = self._items[key]
        if item.no_interval:
            return NoInterval(item.no_interval)
        if not self._analytic:
            return NoInterval(item.no_bootstrap) if item.no_bootstrap else None
        reads = self._of_interval.get(key)
        if reads is None:
            state = self._chosen.plan.pick(rows.states, item.needs(self._chosen.target))
        else:
            if reads not in folded:
                folded[reads] = reads.fold(rows.batch)
            state = folded[reads]
        found = item.interval(state, level)
        return NoInterval(item.no_bootstrap) if found is None and item.no_bootstrap else found

    def _no_formula(self, item: Metric) -> str:
        why = (
            f"{item.name} has no analytic interval"
            if self._plain
            else "analytic intervals are for single rows of weight 1"
        )
        return f'{why}; ci_method="bootstrap" resamples the rows'

    def _bootstrap(self, values: Mapping[str, Any], rows: _Rows, level: float) -> dict[str, Interval | NoInterval]:
        """The intervals of values from those in replicates and without some rows, part by part."""
        settings, keys = self._settings, row_keys(rows.batch)
        items = {key: self._items[key] for key in values}
        reads = {key: self._reads[key] for key in values}
        resampled = resample_values(items, reads, rows.batch, settings.seed, settings.resamples, keys)
        without = leave_out_values(items, reads, rows.batch, keys) or {}
        return {
            key: self._percentiles(items[key], value, resampled[key], without.get(key), rows.batch, level)
            for key, value in values.items()
        }

    def _percentiles(
        self, item: Metric, value: Any, replicates: Array, without: Array | None, batch: Batch, level: float
    ) -> Interval | NoInterval:
        numbers = numbers_of(value)
        lines = replicates if replicates.ndim == 2 else replicates[None, :]
        left_out = np.zeros((len(numbers), 1)) if without is None else np.atleast_2d(without)
        units = units_of(batch, by_query=item.by_query)
        found = [
            percentile_interval(number, line, level, item.range, units, influence_of(rest, units))
            for number, line, rest in zip(numbers, lines, left_out, strict=True)
        ]
        notes = tuple(dict.fromkeys(each.note for each in found if each.note))
        if all(each.lo is None for each in found):
            return NoInterval("; ".join(notes))
        return Interval(
            _shaped(value, [each.lo for each in found]),
            _shaped(value, [each.hi for each in found]),
            self._settings.name_of(batch, by_query=item.by_query),
            notes,
        )

    def fill_groups(self, report: Report, slices: Sequence[Slice]) -> None:
        """The intervals of metrics that compare groups.

        Resampling would not do: the highest of many groups is higher than it should be by chance, and higher still in
        resamples. All groups lie within intervals of a higher level at once, and so does what compares them.
        """
        least = 1 if report.slices is None else report.slices.min_rows
        large = [each for each in slices if each.rows.n >= least]
        for key, item in self._metrics.items():
            cell = report.cell(key)
            if isinstance(item, GroupMetric) and _can_have(cell):
                _put(cell, self._of_groups(item, [_Rows(each.rows, each.states, report) for each in large]))

    def _of_groups(self, item: GroupMetric, groups: Sequence[_Rows]) -> Interval | NoInterval:
        level = 1 - (1 - self._settings.level) / (len(groups) * len(item.of))
        ends = []
        for one in item.of:
            found = [self._of_group(f"of {one}", rows, level) for rows in groups]
            missing = next((each for each in found if isinstance(each, NoInterval)), None)
            if missing is not None:
                return NoInterval(f"a group has none: {missing.reason}")
            known = [each for each in found if isinstance(each, Interval)]
            ends.append(item.bounds([each.lo for each in known], [each.hi for each in known]))
        held = [each for each in ends if each is not None]
        if len(held) < len(ends):
            return NoInterval("the intervals of the groups do not tell")
        return Interval(item.decisive([lo for lo, _ in held]), item.decisive([hi for _, hi in held]), SIMULTANEOUS)

    def _of_group(self, key: str, rows: _Rows, level: float) -> Interval | NoInterval | None:
        """The interval in one group; None where it has no value."""
        item = self._items[key]
        value = item.answer(self._chosen.plan.pick(rows.states, item.needs(self._chosen.target))).value
        if math.isnan(value):
            return None
        found = self._analytic_of(key, rows, {}, level)
        if found is not None:
            return found
        if self._settings.method == "analytic":
            return NoInterval(self._no_formula(item))
        if least_resamples(level) > self._settings.resamples:
            return NoInterval(f"so many groups need at least {least_resamples(level):,} `resamples`")
        return self._bootstrap({key: value}, rows, level)[key]


def units_of(batch: Batch, *, by_query: bool) -> float:
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
