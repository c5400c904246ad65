"""Intervals of metrics that compare groups.

Resampling would not do: the highest of many groups is higher than it should be by chance, and higher still in
resamples. All groups lie within intervals of a higher level at once, and so does what compares them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from tallymark.evaluation.interval_cells import Found, can_have, no_formula, put_interval
from tallymark.evaluation.result import Report
from tallymark.evaluation.settings import IntervalSettings, least_resamples
from tallymark.metrics import GroupMetric, Metric
from tallymark.metrics.answer import Interval, NoInterval

SIMULTANEOUS = "intervals of all groups at once"
G = TypeVar("G")
AtLevel = Callable[[float], Found]


def compared(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """What metrics of groups are made of, under keys of their own."""
    groups = [item for item in metrics.values() if isinstance(item, GroupMetric)]
    return {_key(one): one for item in groups for one in item.of}


def fill_group_cells(
    report: Report,
    metrics: Mapping[str, Metric],
    groups: Sequence[G],
    settings: IntervalSettings,
    of_group: Callable[[str, G], AtLevel | None],
) -> None:
    """The intervals of metrics of groups, from those of a key of `compared` in a group; None where it has no value
    there."""
    for key, item in metrics.items():
        if isinstance(item, GroupMetric) and can_have(report.cell(key)):
            put_interval(report.cell(key), _combined(item, groups, settings, of_group))


def _combined(
    item: GroupMetric,
    groups: Sequence[G],
    settings: IntervalSettings,
    of_group: Callable[[str, G], AtLevel | None],
) -> Found:
    asked = [[at for rows in groups if (at := of_group(_key(one), rows)) is not None] for one in item.of]
    if not all(asked):
        return NoInterval("no group has a value")
    level = 1 - (1 - settings.level) / sum(map(len, asked))  # groups without a value cannot miss it
    ends = []
    for of_one in asked:
        known = []
        for at in of_one:
            found = at(level)
            if isinstance(found, NoInterval):
                return NoInterval(f"a group has none: {found.reason}")
            known.append(found)
        bounds = item.bounds([each.lo for each in known], [each.hi for each in known])
        if isinstance(bounds, NoInterval):
            return bounds
        ends.append(bounds)
    return Interval(item.decisive([lo for lo, _ in ends]), item.decisive([hi for _, hi in ends]), SIMULTANEOUS)


def interval_in_group(
    item: Metric,
    value: Any,
    settings: IntervalSettings,
    by_formula: Callable[[float], Found | None],
    by_resampling: Callable[[float], Found],
    *,
    plain: bool,
) -> AtLevel | None:
    """The interval of a value in one group at any level; None where there is no value."""
    if math.isnan(value):
        return None

    def at(level: float) -> Found:
        if math.isinf(value):
            return NoInterval("its value is infinite")
        found = by_formula(level)
        if found is not None:
            return found
        if settings.method == "analytic":
            return NoInterval(no_formula(item, plain=plain))
        if least_resamples(level) > settings.resamples:
            return NoInterval(f"so many groups need at least {least_resamples(level):,} `resamples`")
        return by_resampling(level)

    return at


def _key(item: Metric) -> str:
    return f"of {item}"
