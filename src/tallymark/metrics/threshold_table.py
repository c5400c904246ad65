"""The threshold table: what every threshold does, the value of any metric there, and which threshold is best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.errors import ParameterError, Text, UndefinedError, brief
from tallymark.metrics.answer import TOO_LARGE, Undefined
from tallymark.metrics.base import Metric
from tallymark.metrics.curve import Curve
from tallymark.metrics.curves import UNIT, from_none, thresholds
from tallymark.metrics.parameters import Parameter, number
from tallymark.metrics.scores import StepMetric
from tallymark.metrics.threshold_values import Table, label_metric, values_at
from tallymark.states import Cells, Steps

__all__ = ["ThresholdTable", "Thresholds", "threshold_table"]


class ChosenThreshold(NamedTuple):
    """A threshold, the value or cost there, and what it does to the rows."""

    threshold: float
    value: float
    tp: float
    fp: float
    fn: float
    tn: float


class Thresholds(Curve):
    """Every distinct score as a threshold, the highest first, with the weights of what is called rightly and wrongly.

    A row is called positive if its score reaches the threshold; the first threshold is infinite, and calls none so.
    `table["mcc"]` is the value of a metric on labels at every threshold, `best` picks one; it prints and exports.
    """

    __slots__ = ()
    row = "threshold"

    @property
    def cells(self) -> Table:
        """The weights of true and false positives, false and true negatives, one for each threshold."""
        return self.columns["tp"], self.columns["fp"], self.columns["fn"], self.columns["tn"]

    def __getitem__(self, name: Any) -> Array:
        return self.columns[name] if isinstance(name, str) and name in self.columns else self.values(name)

    def values(self, metric: str | Metric) -> Array:
        """The value of a metric on labels at every threshold; NaN where it is undefined."""
        return values_at(label_metric(metric), self.cells)

    def with_metrics(self, metrics: str | Metric | Iterable[str | Metric]) -> Thresholds:
        """The table with a column for each of these metrics, and no others."""
        shown = {"threshold": self.columns["threshold"], **dict(zip(Cells._fields, self.cells, strict=True))}
        return Thresholds(
            self.title, {**shown, **{name: self.values(name) for name in metric_names("metrics", metrics)}}
        )

    def best(self, metric: str | Metric | None = None, *, cost: Mapping[str, float] | None = None) -> ChosenThreshold:
        """The threshold with the best value of a metric (fscore if none is named), or the least cost.

        `cost` has what a row costs by what becomes of it, such as `{"fp": 1, "fn": 5}`; what is not named costs
        nothing. Of equal thresholds the highest is taken. A threshold without a value is never the best.
        """
        if metric is not None and cost is not None:
            raise ParameterError(Text("either {metric} or {cost} says what is best; both were given"))
        found = self.choose("fscore" if metric is None else metric) if cost is None else self.cheapest(cost)
        if isinstance(found, Undefined):
            raise UndefinedError(f"no threshold is the best: {found.reason}")
        return found

    def at(self, threshold: float) -> ChosenThreshold:
        """What a threshold of one's own does: that of the lowest score which reaches it. Its value is the threshold."""
        wanted = number(0.0).normal("threshold", threshold)
        place = int(np.count_nonzero(self.columns["threshold"] >= wanted)) - 1
        return self._chosen(place, wanted)

    def choose(self, metric: str | Metric) -> ChosenThreshold | Undefined:
        """The threshold with the best value of a metric, or why there is none."""
        wanted = label_metric(metric)
        values, better = self.values(wanted), wanted.better
        distance = -values if better == "higher" else values if better == "lower" else abs(values - better)
        return self._lowest(distance, values) or Undefined(f"{wanted} is undefined at every threshold")

    def cheapest(self, cost: Mapping[str, float]) -> ChosenThreshold | Undefined:
        """The threshold of the least cost, or why there is none."""
        if not isinstance(cost, Mapping) or not cost or not set(cost) <= set(Cells._fields):
            raise ParameterError(argument="cost", expected="have a number for some of tp, fp, fn, tn", got=brief(cost))
        each = {name: number(0.0).normal(f"cost[{name!r}]", value) for name, value in cost.items()}
        with np.errstate(over="ignore", invalid="ignore"):
            costs = sum(each[name] * self.columns[name] for name in Cells._fields if name in each)
        if np.isnan(costs).any() or np.isneginf(costs).any():  # one of these could be the least, and none is known
            return Undefined(TOO_LARGE)
        return self._lowest(costs, costs) or Undefined(TOO_LARGE)

    def _lowest(self, distance: Any, values: Any) -> ChosenThreshold | None:
        """The first place of the least distance; NaN is none."""
        if not np.isfinite(distance).any():
            return None
        place = int(np.nanargmin(distance))
        return self._chosen(place, values[place])

    def _chosen(self, place: int, value: float) -> ChosenThreshold:
        counts = [float(self.columns[name][place]) for name in Cells._fields]
        return ChosenThreshold(float(self.columns["threshold"][place]), float(value), *counts)


def metric_names(name: str, wanted: Any) -> tuple[str, ...]:
    """Metrics on labels as their canonical strings, each once."""
    if isinstance(wanted, (str, Metric)):
        wanted = (wanted,)
    if not isinstance(wanted, Iterable) or isinstance(wanted, (bytes, Mapping)):
        raise ParameterError(argument=name, expected="be metrics on labels, or their names", got=brief(wanted))
    try:
        items = list(wanted)
    except Exception as error:  # an array of no dimensions, say
        raise ParameterError(argument=name, expected="be a list of metrics", got=brief(wanted)) from error
    return tuple(dict.fromkeys(str(label_metric(item, name)) for item in items))


class ThresholdTable(StepMetric):
    """What every threshold does: the rows called positive and negative, rightly and wrongly, and metrics on them.

    >>> table = threshold_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> table
    threshold table · 5 thresholds
    <BLANKLINE>
    threshold  tp  fp  fn  tn  precision  recall    fscore
    ─────────  ──  ──  ──  ──  ─────────  ──────  ────────
            ∞   0   0   2   2  undefined     0    0
         0.8    1   0   1   2   1            0.5  0.666667
         0.4    1   1   1   1   0.5          0.5  0.5
         0.35   2   1   0   1   0.666667     1    0.8
         0.1    2   2   0   0   0.5          1    0.666667
    >>> table.best("accuracy").threshold, table.best(cost={"fp": 1, "fn": 5}).threshold
    (0.8, 0.35)
    """

    aliases = {"thresholds": {}}
    formula = "TP, FP, FN and TN at thresholds t, where s ≥ t is called positive"
    reading = "table[metric] is a metric at every threshold, table.best(metric) or table.best(cost=...) the best one."
    related = ("best_threshold", "roc_curve", "pr_curve")
    pitfalls = ("A threshold is to be chosen on other rows than those it is judged by.", UNIT)
    samples = ({}, {"metrics": ("mcc", "fscore(beta=2)")}, {"metrics": ()})

    metrics: tuple[str, ...] = Parameter(("precision", "recall", "fscore"), metric_names)  # type: ignore[assignment]
    """Metrics on labels that stand beside the counts."""

    def of_steps(self, steps: Steps) -> Thresholds:
        return table_of(steps).with_metrics(self.metrics)


def table_of(steps: Steps) -> Thresholds:
    """The counts at every threshold."""
    columns = {
        "threshold": thresholds(steps),
        "tp": from_none(steps.tp),
        "fp": from_none(steps.fp),
        "fn": from_none(steps.fn, steps.positives),
        "tn": from_none(steps.tn, steps.negatives),
    }
    return Thresholds("threshold table", columns)


threshold_table = ThresholdTable()
