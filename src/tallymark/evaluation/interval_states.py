"""Intervals of rows that come in pieces: which states they need, and what those say once they are added.

A plan of these states is folded beside that of the values, piece by piece, and the intervals are read from the states
alone: those that `evaluate` finds of the rows, to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallymark.evaluation.chosen import Chosen
from tallymark.evaluation.interval_cells import Found, fill_cells, formula_interval, resampled_interval
from tallymark.evaluation.resampling import read_resampled
from tallymark.evaluation.result import Cell, Report
from tallymark.evaluation.settings import IntervalSettings
from tallymark.metrics import Metric
from tallymark.metrics.base import NoInterval
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
        units = self.plan.pick(states, UnitsOf())
        assert isinstance(units, Units)
        report.interval = self._settings
        fill_cells(
            {key: report.cell(key) for key in self._metrics},
            lambda key: self._of_formula(key, units, values, states),
            None if self._settings.method == "analytic" else lambda left: self._bootstrap(left, units, states),
            plain=units.plain,
        )
        return report

    def _of_formula(self, key: str, units: Units, values: States, states: States) -> Found | None:
        item, reads = self._metrics[key], self._analytic.get(key)
        state = None
        if units.plain and self._settings.method != "bootstrap":
            wanted = item.needs(self._chosen.target)
            state = self._chosen.plan.pick(values, wanted) if reads is None else self.plan.pick(states, reads)
        return formula_interval(item, self._settings.level, state)

    def _bootstrap(self, cells: Mapping[str, Cell], units: Units, states: States) -> dict[str, Found]:
        """The intervals from replicates; metrics that read one state are read together."""
        out: dict[str, Found] = {}
        by_place: dict[int, dict[str, Metric]] = {}
        for key, cell in cells.items():
            if key in self._resampled:
                by_place.setdefault(self.plan.place(self._resampled[key]), {})[key] = cell.metric
            else:
                out[key] = NoInterval(GROWS.format(cell.metric.name))
        method, level = (
            self._settings.name_of(clusters=units.clusters is not None, by_query=False),
            self._settings.level,
        )
        for place, metrics in by_place.items():
            state = states[place]
            assert isinstance(state, Resampled)
            why = LOST.get(state.lost) or (MIXED if state.n < units.n else None)
            if why is not None:
                out.update(dict.fromkeys(metrics, NoInterval(why)))
                continue
            replicates, without = read_resampled(metrics, state)
            for key, item in metrics.items():
                left_out, value = None if without is None else without[key], cells[key].value
                out[key] = resampled_interval(item, value, replicates[key], left_out, level, units.count(), method)
        return out
