"""The value of a metric on labels at every threshold of the scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallymark.arrays import Array
from tallymark.errors import ParameterError, Text
from tallymark.metrics.answer import Undefined
from tallymark.metrics.base import Metric
from tallymark.metrics.labels import LabelMetric
from tallymark.metrics.naming import metric
from tallymark.states import Cells, Pairs, ThresholdCounts

Table = tuple[Array, Array, Array, Array]
"""The weights of true and false positives, false and true negatives, one for each threshold."""

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
            argument=name, expected="leave out its threshold, since every score is one", got=f"{found}"
        )
    return found


def values_at(item: LabelMetric, cells: Table) -> Array:
    """The value at every threshold, given the counts as arrays; NaN, or what `undefined` says, where there is none."""
    found = _by_ratio(item, cells) if _is_ratio(item) else None
    return _one_by_one(item, cells) if found is None else found


def _is_ratio(item: LabelMetric) -> bool:
    """Whether the class that says what the ratio is also has the last word on what becomes of it."""
    classes = type(item).__mro__

    def place(name: str) -> int:
        return next((k for k, cls in enumerate(classes) if name in vars(cls)), len(classes))

    return min(place("ratio"), place("fraction")) <= min(map(place, _DECISIVE))


def _by_ratio(item: LabelMetric, cells: Table) -> Array | None:
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
        values: Array = item.of_ratio(above / below)
    nothing = below == 0
    if nothing.any():
        values[nothing] = item.settle(Undefined(item.why or "the denominator is zero")).value
    return values


def _one_by_one(item: LabelMetric, cells: Table) -> Array:
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
