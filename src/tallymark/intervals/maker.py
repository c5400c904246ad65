"""Picks the method of an interval: the formula of the metric, the posterior of a table of labels, or the bootstrap."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tallymark.errors import Text
from tallymark.intervals.bca import bca_interval
from tallymark.intervals.interval import Interval, NoInterval
from tallymark.intervals.methods import BOOTSTRAP, OF_CLUSTERS, OF_QUERIES, SIMULTANEOUS
from tallymark.intervals.posterior import has_posterior, posterior_intervals
from tallymark.intervals.providers import IntervalSource
from tallymark.intervals.settings import Intervals, lacks_resamples
from tallymark.states.labels.pairs import Pairs

if TYPE_CHECKING:
    from tallymark.metrics.base import Metric
    from tallymark.metrics.fairness.base import GroupMetric

Found = Interval | NoInterval


class IntervalMaker:
    """Makes the intervals of one evaluation. `plain` rows have neither weights nor clusters."""

    def __init__(self, settings: Intervals, *, plain: bool) -> None:
        self.settings = settings
        self._plain = plain

    def intervals(
        self, rows: IntervalSource, values: Mapping[Metric, Any], level: float | None = None
    ) -> dict[Metric, Found]:
        """The intervals of metrics, given their values, or why there are none."""
        level = self.settings.level if level is None else level
        out: dict[Metric, Found | None] = dict.fromkeys(values)
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
    ) -> dict[Metric, Found]:
        settings = self.settings
        lacking = lacks_resamples(level, settings.number_of_resamples)
        out: dict[Metric, Found] = {}
        for item in items:
            if item.no_bootstrap:
                out[item] = NoInterval(item.no_bootstrap)
            elif settings.method == "analytic":
                out[item] = NoInterval(self._no_formula(item))
            elif lacking:
                out[item] = NoInterval(lacking)
        left = [item for item in items if item not in out]
        clusters = rows.units.clusters is not None
        for item, resamples in (rows.resampled(left) if left else {}).items():
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

    def of_groups(self, item: GroupMetric, groups: Sequence[IntervalSource]) -> Found:
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
