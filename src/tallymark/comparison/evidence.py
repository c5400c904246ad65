"""What the rows say about several models: single rows where a metric can be tested by them, resamples where not."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from tallymark.comparison.difference import difference_between, largest_difference
from tallymark.comparison.paired_tests import Tested, bootstrap, delong, mcnemar
from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import InputError
from tallymark.evaluation.report import Report
from tallymark.intervals.maker import bootstrap_name
from tallymark.intervals.providers import check_nested, units_of
from tallymark.intervals.replicates import resample_values
from tallymark.intervals.settings import Intervals, lacks_resamples
from tallymark.metrics.base import Metric
from tallymark.states.resampling.keys import row_keys
from tallymark.states.resampling.paired_rows import PairedOutcomes, Placements

_ROUNDING = 1e-9
SAME = "the models predict the same in every row"
ByRow = PairedOutcomes | Placements


class Evidence:
    """The rows of several models, read once for all pairs."""

    def __init__(
        self,
        batches: Mapping[str, Batch],
        reports: Mapping[str, Report],
        target: Target,
        settings: Intervals,
    ) -> None:
        counted = {name: batch.without_zero_weights() for name, batch in batches.items()}
        one = next(iter(counted.values()))
        batches = self._batches = counted if one.n else batches
        self._reports = reports
        self._alike: dict[tuple[str, str], bool] = {}  # whether two models predict the same
        self._settings = settings
        report = next(iter(reports.values()))
        self._metrics: dict[str, Metric] = {key: report.cell(key).metric for key in report}
        single = batches if one.counts_once and one.cluster_side is None else None
        self._rows = {key: found for key in report if single and (found := self._by_row(key, single, target))}
        rest = {key: item for key, item in self._metrics.items() if key not in self._rows and self._defined(key)}
        self._lacking = lacks_resamples(settings.level, settings.number_of_resamples)
        if one.cluster_side is not None and any(item.by_query for item in rest.values()):
            check_nested(one)
        reads = {item: item.needs(target) for item in rest.values()}
        self._resampled: dict[str, dict[Metric, Array]] = {}
        keys = row_keys(one)
        for name, batch in batches.items() if rest and not self._lacking else ():
            self._resampled[name] = resample_values(reads, batch, settings.seed, settings.number_of_resamples, keys)

    def _defined(self, key: str) -> bool:
        return sum(math.isfinite(report[key]) for report in self._reports.values()) > 1

    def _by_row(self, key: str, plain: Mapping[str, Batch], target: Target) -> dict[str, ByRow] | None:
        """What single rows say of each model; None where they do not make up the values of this metric."""
        item = self._metrics[key]
        if isinstance(item.better, (int, float)):
            return None  # what is compared is the distance from the best value
        found = {name: item.paired(batch, target) for name, batch in plain.items() if self._has_value(name, key)}
        rows = {name: held for name, held in found.items() if held is not None}
        if not rows or len(rows) < len(found):
            return None
        # A metric may inherit its rows and have a formula of its own.
        offsets = [self._reports[name][key] - value_of(held) for name, held in rows.items()]
        scale = next(iter(rows.values())).scale
        return rows if max(offsets) - min(offsets) <= _ROUNDING * scale else None

    def _has_value(self, name: str, key: str) -> bool:
        return math.isfinite(self._reports[name][key])

    def _same(self, first: str, second: str) -> bool:
        if (first, second) not in self._alike:
            self._alike[first, second] = self._batches[first].predicts_like(self._batches[second])
        return self._alike[first, second]

    def test(self, key: str, first: str, second: str) -> Tested:
        """The test of two models in a metric."""
        without = [name for name in sorted((first, second)) if not self._has_value(name, key)]
        if without:
            return Tested("none", reason="; ".join(f"{n}: {self._reports[n].cell(key).reason}" for n in without))
        if self._same(first, second):
            return Tested("none", 1.0, reason=SAME)
        if key in self._rows:
            one, other = self._rows[key][first], self._rows[key][second]
            if isinstance(one, PairedOutcomes) and isinstance(other, PairedOutcomes):
                return mcnemar(one, other, self._settings.level)
            if isinstance(one, Placements) and isinstance(other, Placements):
                return delong(one, other, self._settings.level)
        item = self._metrics[key]
        if item.no_interval or item.no_bootstrap:
            return Tested("none", reason=item.no_interval or item.no_bootstrap)
        if self._lacking:
            return Tested("none", reason=self._lacking)
        differences = _differences(item, self._resampled[first][item], self._resampled[second][item])
        method = bootstrap_name(clusters=self._batches[first].cluster_side is not None, by_query=item.by_query)
        units = units_of(self._batches[first], by_query=item.by_query)
        sizes = (self._reports[first][key], self._reports[second][key], item.rounding_scale)
        found = bootstrap(differences, self._settings.level, f"paired {method}", units, sizes)
        most = largest_difference(item)
        return found._replace(lo=max(found.lo, -most), hi=min(found.hi, most))


def _differences(item: Metric, first: Array, second: Array) -> Array:
    if len(first) != len(second):
        raise InputError("the input changed while it was being read")
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    return np.array([difference_between(item, *pair) for pair in pairs])


def value_of(rows: ByRow) -> float:
    """The value that single rows make up, up to a constant."""
    if isinstance(rows, PairedOutcomes):
        return rows.scale * int(np.count_nonzero(rows.counts)) / max(len(rows.counts), 1)
    pairs = max(2 * len(rows.positive) * len(rows.negative), 1)
    return rows.scale * (int(rows.positive.sum()) / pairs)
