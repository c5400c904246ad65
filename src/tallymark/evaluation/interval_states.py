"""Intervals of rows that come in pieces: which states they need, and what those say once they are added.

A plan of these states is folded beside that of the values, piece by piece, and the intervals are read from the states
alone: those that `evaluate` finds of the rows, to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallymark.evaluation.chosen import Chosen
from tallymark.evaluation.group_intervals import AtLevel, compared, fill_group_cells, interval_in_group
from tallymark.evaluation.interval_cells import Found, Resamples, fill_cells, formula_interval, resampled_interval
from tallymark.evaluation.pieces import Piece
from tallymark.evaluation.resampling import read_resampled
from tallymark.evaluation.result import Cell, Report
from tallymark.evaluation.settings import IntervalSettings
from tallymark.evaluation.unseen import unseen_moves
from tallymark.metrics import GroupMetric, Metric
from tallymark.metrics.answer import NoInterval
from tallymark.states import KEPT, NO_KEYS, Group, Plan, Reads, Resampled, ResampledOf, Units, UnitsOf

GROWS = "a tally keeps resamples of small states only, and that of {} grows with the rows; evaluate resamples the rows"
LOST = {
    "size": "resamples of so large a state are not kept; evaluate resamples the rows",
    NO_KEYS: "rows of tallies that were added can be resampled only if `keys` tell them apart; pass them to update",
}
NO_FORMULA = (
    "its formula has none for these rows, and a tally keeps no resamples of what has a formula; ask for them by "
    'ci_method="bootstrap"'
)
MIXED = (
    "only some rows came with weights; pass weights of 1 for the others, or have all rows resampled by "
    'ci_method="bootstrap"'
)


class IntervalStates:
    """What the intervals of chosen metrics read, beside the states of the values."""

    __slots__ = ("_analytic", "_chosen", "_items", "_metrics", "_resampled", "_settings", "plan")

    def __init__(self, chosen: Chosen, settings: IntervalSettings, columns: tuple[int, int] | None) -> None:
        self._chosen = chosen
        self._settings = settings
        self._metrics = {key: item for key, item in chosen.metrics.items() if key not in chosen.errors}
        of_rows = {key: item for key, item in self._metrics.items() if not isinstance(item, GroupMetric)}
        self._items = {**compared(self._metrics), **of_rows}
        wanted = {key: item for key, item in self._items.items() if not item.no_interval}
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

    def fill(self, report: Report, whole: Piece, groups: Mapping[Group, Piece]) -> Report:
        """The report with an interval in every cell that can have one, those of the slices among them."""
        plain = self._units(whole).plain
        self._fill(report, whole, plain)
        if report.slices is None:
            return report
        for group, each in report.slices.items():
            self._fill(each, groups[group], plain)
        large = [groups[group] for group, n in report.slices.sizes.items() if n >= report.slices.min_rows]
        fill_group_cells(
            report,
            self._metrics,
            large,
            self._settings,
            lambda key, rows: self._of_group(key, rows, plain),
        )
        return report

    def _fill(self, report: Report, rows: Piece, plain: bool) -> None:
        level = self._settings.level

        def by_resampling(left: Mapping[str, Cell]) -> dict[str, Found]:
            return self._bootstrap({key: cell.value for key, cell in left.items()}, rows, level)

        report.interval = self._settings
        fill_cells(
            {key: report.cell(key) for key in self._items if key in self._metrics},
            lambda key: self._of_formula(key, rows, plain, level),
            by_resampling,
            self._settings,
            plain=plain,
        )

    def _of_group(self, key: str, rows: Piece, plain: bool) -> AtLevel | None:
        item = self._items[key]
        value = item.answer(self._chosen.plan.pick(rows.values, item.needs(self._chosen.target))).value
        return interval_in_group(
            item,
            value,
            self._settings,
            lambda level: self._of_formula(key, rows, plain, level),
            lambda level: self._bootstrap({key: value}, rows, level)[key],
            plain=plain,
        )

    def _units(self, rows: Piece) -> Units:
        units = self.plan.pick(rows.intervals, UnitsOf())
        assert isinstance(units, Units)
        return units

    def _of_formula(self, key: str, rows: Piece, plain: bool, level: float) -> Found | None:
        item, reads = self._items[key], self._analytic.get(key)
        state = None
        if plain and self._settings.method != "bootstrap":
            wanted = item.needs(self._chosen.target)
            state = (
                self._chosen.plan.pick(rows.values, wanted) if reads is None else self.plan.pick(rows.intervals, reads)
            )
            state = state.of_rows(self._units(rows).n)  # those that weigh nothing are as if they were not there
        return formula_interval(item, level, state)

    def _bootstrap(self, values: Mapping[str, Any], rows: Piece, level: float) -> dict[str, Found]:
        """The intervals from replicates; metrics that read one state are read together."""
        out: dict[str, Found] = {}
        by_place: dict[int, dict[str, Metric]] = {}
        for key in values:
            if key in self._resampled:
                by_place.setdefault(self.plan.place(self._resampled[key]), {})[key] = self._items[key]
            else:
                out[key] = NoInterval(GROWS.format(self._items[key].name))
        units = self._units(rows)
        method = self._settings.name_of(clusters=units.clusters is not None, by_query=False)
        for place, metrics in by_place.items():
            state = rows.intervals[place]
            assert isinstance(state, Resampled)
            why = LOST.get(state.lost)
            if why is None and state.n < units.n:
                why = NO_FORMULA if units.plain else MIXED
            if why is not None:
                out.update(dict.fromkeys(metrics, NoInterval(why)))
                continue
            replicates, without = read_resampled(metrics, state)
            for key, item in metrics.items():
                left_out = None if without is None else without[key]
                moves = unseen_moves(item, state.settled_whole(), units.count(), level)
                resamples = Resamples(replicates[key], left_out, moves)
                out[key] = resampled_interval(
                    item, values[key], resamples, level, units.count(), method, single=units.single
                )
        return out
