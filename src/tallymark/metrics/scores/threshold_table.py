"""The threshold table: what every threshold does, the value of any metric there, and which threshold is best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.errors import ParameterError, Text, UndefinedError, brief
from tallymark.intervals.analytic import TOO_LARGE
from tallymark.metrics.answer import Undefined
from tallymark.metrics.base import Metric
from tallymark.metrics.classification.base import LabelMetric
from tallymark.metrics.naming import metric
from tallymark.metrics.parameters import Parameter, number
from tallymark.metrics.scores.base import StepMetric
from tallymark.metrics.scores.curve import Curve
from tallymark.metrics.scores.curves import UNIT, from_none, thresholds
from tallymark.states.labels.counts import Cells, ThresholdCounts
from tallymark.states.labels.pairs import Pairs
from tallymark.states.scores.runs import Steps

__all__ = ["ThresholdTable", "Thresholds", "threshold_table"]


CellArrays = tuple[Array, Array, Array, Array]
"""The weights of true and false positives, false and true negatives, one for each threshold."""

_TITLE = "threshold table"
_DECISIVE = ("answer", "read", "settle", "formula_value", "averaged")
"""What a metric of the user's own may write anew, so that its value is no longer the ratio of its parent."""


def label_metric(wanted: Any, name: str = "metric") -> LabelMetric:
    """The metric that was asked for, if it has one value for labels of two classes."""
    found: Metric = metric(wanted)
    if not isinstance(found, LabelMetric) or found.better is None or getattr(found, "average", "") is None:
        raise ParameterError(
            argument=name, expected='be a metric on labels with one value, such as "fscore"', got=f"{found}"
        )
    if found.threshold != type(found)().threshold:
        raise ParameterError(
            argument=name, expected="leave out its threshold, since every score is tried as one", got=f"{found}"
        )
    return found


def values_at(item: LabelMetric, cells: CellArrays) -> Array:
    """The value at every threshold, given the counts as arrays; NaN, or what `undefined` says, where there is none."""
    found = _by_ratio(item, cells) if _is_ratio(item) else None
    return _one_by_one(item, cells) if found is None else found


def _is_ratio(item: LabelMetric) -> bool:
    """Whether the class that says what the ratio is also has the last word on what becomes of it."""
    classes = type(item).__mro__

    def place(name: str) -> int:
        return next((k for k, cls in enumerate(classes) if name in vars(cls)), len(classes))

    return min(place("ratio"), place("fraction")) <= min(map(place, _DECISIVE))


def _by_ratio(item: LabelMetric, cells: CellArrays) -> Array | None:
    """One formula over all thresholds; None where it cannot take arrays, or where they leave the doubles."""
    with np.errstate(all="ignore"):
        try:
            found = item.ratio(ThresholdCounts(*cells))
            if found is None:
                return None
            above, below = (np.broadcast_to(np.asarray(side, np.float64), len(cells[0])) for side in found)
        except (TypeError, ValueError, OverflowError):  # of a formula that takes whole numbers only
            return None
        if not (np.isfinite(above).all() and np.isfinite(below).all()):
            return None
        values: Array = item.from_ratio(above / below)
    nothing = below == 0
    if nothing.any():
        values[nothing] = item.to_answer(Undefined(item.why or "the denominator is zero")).value
    return values


def _one_by_one(item: LabelMetric, cells: CellArrays) -> Array:
    """The exact formula at each threshold."""
    out = np.empty(len(cells[0]))
    for k, table in enumerate(zip(*map(Array.tolist, cells), strict=True)):
        value = item.answer(_state(table)).value
        if not isinstance(value, (float, int)):
            raise ParameterError(
                Text("{metric} must be one with one value; {} gave {}", item, repr(value)), argument="metric"
            )
        out[k] = value
    return out


def _state(table: tuple[float, ...]) -> Pairs:
    parts = [weight.as_integer_ratio() for weight in table]
    whole = max(below for _, below in parts)
    tp, fp, fn, tn = (above * (whole // below) for above, below in parts)
    return Pairs.of_table(Cells(tp, fp, fn, tn), 1 - whole.bit_length())


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
    def cells(self) -> CellArrays:
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
            raise ParameterError(Text("pass either {metric} or {cost}, not both"))
        found = self.choose("fscore" if metric is None else metric) if cost is None else self.cheapest(cost)
        if isinstance(found, Undefined):
            raise UndefinedError(f"there is no best threshold: {found.reason}")
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
            raise ParameterError(argument="cost", expected="map some of tp, fp, fn, tn to numbers", got=brief(cost))
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
    threshold  tp  fp  fn  tn  precision  recall  fscore
    ─────────  ──  ──  ──  ──  ─────────  ──────  ──────
            ∞   0   0   2   2  undefined     0    0
         0.8    1   0   1   2     1          0.5  0.6667
         0.4    1   1   1   1     0.5        0.5  0.5
         0.35   2   1   0   1     0.6667     1    0.8
         0.1    2   2   0   0     0.5        1    0.6667
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
    """Metrics on labels, shown beside the counts."""

    def from_steps(self, steps: Steps) -> Thresholds:
        return threshold_counts(steps).with_metrics(self.metrics)

    def restore_value(self, data: Any) -> Any:
        return Thresholds.from_dict(_TITLE, data)


def threshold_counts(steps: Steps) -> Thresholds:
    """The counts at every threshold."""
    columns = {
        "threshold": thresholds(steps),
        "tp": from_none(steps.tp),
        "fp": from_none(steps.fp),
        "fn": from_none(steps.fn, steps.positives),
        "tn": from_none(steps.tn, steps.negatives),
    }
    return Thresholds(_TITLE, columns)


threshold_table = ThresholdTable()
