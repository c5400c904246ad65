"""Intervals of rows that come in pieces: which states they need, and what those say once they are added.

A plan of these states is folded beside that of the values, piece by piece, and the intervals are read from the states
alone: those that `evaluate` finds of the rows, to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallymark.evaluation.chosen import Chosen
from tallymark.evaluation.intervals import BOUNDED, can_have, no_formula, put_interval, resampled_interval
from tallymark.evaluation.resampling import read_resampled
from tallymark.evaluation.result import Cell, Report
from tallymark.evaluation.settings import IntervalSettings
from tallymark.metrics import Metric
from tallymark.metrics.base import Interval, NoInterval
from tallymark.states import KEPT, NO_KEYS, Plan, Reads, Resampled, ResampledOf, States, Units, UnitsOf

GROWS = "a tally keeps resamples of small states only, and that of {} grows with the rows; evaluate resamples the rows"
LOST = {
    "size": "resamples of so large a state are not kept; evaluate resamples the rows",
    NO_KEYS: "rows of tallies that were added can be resampled only if `keys` tell them apart; pass them to update",
}
MIXED = (
    "only some rows came with weights; pass weights of 1 for the others, or have all rows resampled by "
    'ci_method="bootstrap"'
)


class IntervalStates:
    """What the intervals of chosen metrics read, beside the states of the values."""

    __slots__ = ("_analytic", "_chosen", "_metrics", "_resampled", "_settings", "plan")

    def __init__(self, chosen: Chosen, settings: IntervalSettings, columns: tuple[int, int] | None) -> None:
        self._chosen = chosen
        self._settings = settings
        every = {key: item for key, item in chosen.metrics.items() if key not in chosen.errors}
        self._metrics = every
        wanted = {key: item for key, item in every.items() if not item.no_interval}
        self._analytic: dict[str, Reads] = {}
        if settings.method != "bootstrap":
            asked = {key: item.interval_reads(chosen.target) for key, item in wanted.items()}
            self._analytic = {key: reads for key, reads in asked.items() if reads is not None}
        self._resampled: dict[str, ResampledOf] = {}
        if settings.method != "analytic" and columns is not None:
            small = {key: item for key, item in wanted.items() if self._is_small(item) and not item.no_bootstrap}
            self._resampled = {key: self._resamples_of(item, columns) for key, item in small.items()}
        self.plan = Plan([UnitsOf(), *self._analytic.values(), *self._resampled.values()])

    def _is_small(self, item: Metric) -> bool:
        return type(item.needs(self._chosen.target).zero()).size in KEPT

    def _resamples_of(self, item: Metric, columns: tuple[int, int]) -> ResampledOf:
        settings = self._settings
        always = settings.method == "bootstrap" or not item.has_formula(columns)
        return ResampledOf(item.needs(self._chosen.target), settings.seed, settings.resamples, always=always)

    def fill(self, report: Report, values: States, states: States) -> Report:
        """The report with an interval in every cell that can have one."""
        report.interval = self._settings
        units = self.plan.pick(states, UnitsOf())
        assert isinstance(units, Units)
        cells = {key: report.cell(key) for key in self._metrics}
        for cell in cells.values():
            if cell.method is not None:
                cell.notes += (BOUNDED,)
        left = {}
        for key, cell in cells.items():
            if not can_have(cell):
                continue
            found = self._of_formula(key, units, values, states)
            if found is None and self._settings.method != "analytic":
                left[key] = cell
            elif found is None:
                cell.notes += (no_formula(cell.metric, plain=units.plain),)
            else:
                put_interval(cell, found)
        self._bootstrap(left, units, states)
        return report

    def _of_formula(self, key: str, units: Units, values: States, states: States) -> Interval | NoInterval | None:
        item = self._metrics[key]
        if item.no_interval:
            return NoInterval(item.no_interval)
        found = None
        if units.plain and self._settings.method != "bootstrap":
            reads = self._analytic.get(key)
            if reads is None:
                state = self._chosen.plan.pick(values, item.needs(self._chosen.target))
            else:
                state = self.plan.pick(states, reads)
            found = item.interval(state, self._settings.level)
        return NoInterval(item.no_bootstrap) if found is None and item.no_bootstrap else found

    def _bootstrap(self, cells: Mapping[str, Cell], units: Units, states: States) -> None:
        """The intervals from replicates; metrics that read one state are read together."""
        by_place: dict[int, dict[str, Metric]] = {}
        for key, cell in cells.items():
            if key in self._resampled:
                by_place.setdefault(self.plan.place(self._resampled[key]), {})[key] = cell.metric
            else:
                put_interval(cell, NoInterval(GROWS.format(cell.metric.name)))
        method = self._settings.name_of(clusters=units.clusters is not None, by_query=False)
        for place, metrics in by_place.items():
            state = states[place]
            assert isinstance(state, Resampled)
            why = LOST.get(state.lost) or (MIXED if state.n < units.n else None)
            if why is not None:
                for key in metrics:
                    put_interval(cells[key], NoInterval(why))
                continue
            replicates, without = read_resampled(metrics, state)
            for key, item in metrics.items():
                left_out = None if without is None else without[key]
                value, level = cells[key].value, self._settings.level
                found = resampled_interval(item, value, replicates[key], left_out, level, units.count(), method)
                put_interval(cells[key], found)
