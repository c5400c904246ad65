"""Ways to compare groups, and the compositions that have names: each is a rate and a gap between groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tallymark.errors import ParameterError
from tallymark.intervals.analytic import NoInterval
from tallymark.metrics import registry
from tallymark.metrics.answer import Undefined
from tallymark.metrics.base import Better, Metric
from tallymark.metrics.classification.precision_recall import recall
from tallymark.metrics.classification.rates import fallout, selection_rate
from tallymark.metrics.fairness.base import Extreme, GroupMetric, read_metrics
from tallymark.metrics.listing import show_better

__all__ = [
    "demographic_parity",
    "demographic_parity_ratio",
    "equal_opportunity",
    "equal_opportunity_ratio",
    "equalized_odds",
    "equalized_odds_ratio",
    "gap",
    "ratio",
    "worst",
]


class Gap(GroupMetric, abstract=True):
    """How far the values of a metric in the groups are apart: the highest less the lowest."""

    name = "gap"
    known = {
        "demographic_parity": ("selection_rate",),
        "equal_opportunity": ("recall",),
        "equalized_odds": ("recall", "fallout"),
    }
    meanings = {
        "demographic_parity": "The gap between groups in how often they are called positive.",
        "equal_opportunity": "The gap between groups in how often those who truly are positive are found.",
        "equalized_odds": "The larger gap between groups of two: how often positives are found, and how often "
        "negatives raise a false alarm.",
    }
    examples = {
        "demographic_parity": """
            >>> demographic_parity([1, 0, 1, 0], [1, 0, 1, 1], by=["a", "a", "b", "b"])
            0.5
            """,
        "equal_opportunity": """
            >>> equal_opportunity([1, 1, 1, 0], [1, 0, 1, 0], by=["a", "a", "b", "b"])
            0.5
            """,
        "equalized_odds": """
            >>> equalized_odds([1, 1, 0, 1, 0], [1, 0, 0, 1, 1], by=["a", "a", "a", "b", "b"])
            1.0
            """,
    }
    formula = "max − min over the groups; of several metrics the largest"
    reading = "0 means that all groups get the same."
    landmarks = ((0.0, "all groups get the same"),)
    at_perfect = None

    @property
    def better(self) -> Better:
        return "lower"

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, max(high - low for low, high in (item.range for item in self.of)))

    def combine_one(self, ends: Extreme) -> float | Undefined:
        return ends.values[ends.high] - ends.values[ends.low]

    def decisive(self, values: Sequence[float]) -> float:
        return max(values)

    def bounds(self, lows: Sequence[float], highs: Sequence[float]) -> tuple[float, float] | NoInterval:
        return max(max(lows) - min(highs), 0.0), max(highs) - min(lows)


class Ratio(GroupMetric, abstract=True):
    """The lowest value of a metric in the groups, as a share of the highest."""

    name = "ratio"
    known = {f"{name}_ratio": metrics for name, metrics in Gap.known.items()}
    meanings = {
        "demographic_parity_ratio": "The lowest share of a group that is called positive, over the highest.",
        "equal_opportunity_ratio": "The lowest recall of the groups as a share of the highest.",
        "equalized_odds_ratio": "The smaller of two ratios between groups: of recall, and of fallout.",
    }
    examples = {
        "demographic_parity_ratio": """
            >>> demographic_parity_ratio([1, 0, 1, 0], [1, 0, 1, 1], by=["a", "a", "b", "b"])
            0.5
            """,
        "equal_opportunity_ratio": """
            >>> equal_opportunity_ratio([1, 1, 1, 0], [1, 0, 1, 0], by=["a", "a", "b", "b"])
            0.5
            """,
        "equalized_odds_ratio": """
            >>> equalized_odds_ratio([1, 0, 0, 1, 0], [1, 1, 0, 1, 1], by=["a", "a", "a", "b", "b"])
            0.5
            """,
    }
    formula = "min / max over the groups; of several metrics the smallest"
    unit = ""
    reading = "1 means that all groups get the same; below 0.8 is often taken as a sign of disparate impact."
    landmarks = ((1.0, "all groups get the same"),)
    when_undefined = "Fewer than two groups have a value, one is negative or infinite, or all are 0."
    pitfalls = (*GroupMetric.pitfalls, "Between small values a small difference is a small ratio.")

    @property
    def better(self) -> Better:
        return "higher"

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, 1.0)

    def combine_one(self, ends: Extreme) -> float | Undefined:
        low, high = ends.values[ends.low], ends.values[ends.high]
        if low < 0:
            return Undefined("a ratio needs values that are not negative")
        if high == 0:
            return Undefined("the highest value is 0")
        return low / high if math.isfinite(high) else Undefined("the value is infinite in a group")

    def decisive(self, values: Sequence[float]) -> float:
        return min(values)

    def bounds(self, lows: Sequence[float], highs: Sequence[float]) -> tuple[float, float] | NoInterval:
        if min(lows) < 0:
            return NoInterval("the value of a group may be negative, and a ratio needs values that are not")
        if max(highs) == 0:
            return NoInterval("the value may be 0 in every group")
        return min(lows) / max(highs), min(min(highs) / max(lows), 1.0) if max(lows) > 0 else 1.0


class Worst(GroupMetric, abstract=True):
    """The value of a metric in the group where it is worst."""

    name = "worst"
    least_groups = 1
    when_undefined = "No group has a value."
    formula = "the worst value over the groups"
    reading = "What the group that fares worst gets."
    pitfalls = (*GroupMetric.pitfalls, "The more groups there are, the worse is the worst of them by chance alone.")

    @property
    def better(self) -> Better:
        return self.of[0].better

    @property
    def range(self) -> tuple[float, float]:
        return self.of[0].range

    def combine_one(self, ends: Extreme) -> float | Undefined:
        better = self.of[0].better
        if better is None:
            raise ParameterError(f"{self.of[0]} has no better direction and no worst group; use its gap or ratio")
        low, high = ends.values[ends.low], ends.values[ends.high]
        if isinstance(better, str):
            return low if better == "higher" else high
        return max(low, high, key=lambda value: abs(value - better))

    def display_with(self, of: str) -> str:
        return f"worst {of}"

    def decisive(self, values: Sequence[float]) -> float:
        if len(values) > 1:
            raise ParameterError(f"worst takes one metric; got {', '.join(map(str, self.of))}")
        return values[0]

    def bounds(self, lows: Sequence[float], highs: Sequence[float]) -> tuple[float, float] | NoInterval:
        item, better = self.of[0], self.of[0].better
        if not isinstance(better, str):
            return NoInterval(f"{item} is best {show_better(better)}, and the worst group may be off to either side")
        return (min(lows), min(highs)) if better == "higher" else (max(lows), max(highs))


def gap(*of: str | Metric, **parameters: Any) -> GroupMetric:
    """The gap of a metric between groups: its highest value less its lowest. Of several metrics, the largest gap.

    The parameters of a metric are written with it, as in ``gap("fscore(beta=2)")``; the only one of gap itself is
    ``undefined``, which replaces undefined values.

    >>> gap("recall")([1, 1, 1, 0], [1, 0, 1, 0], by=["a", "a", "b", "b"])
    0.5
    """
    return Gap(of=read_metrics("of", parameters.pop("of", of)), **parameters)


def ratio(*of: str | Metric, **parameters: Any) -> GroupMetric:
    """The ratio of a metric between groups: its lowest value over its highest. Of several metrics, the smallest ratio.

    The parameters of a metric are written with it, as in ``ratio("fscore(beta=2)")``; the only one of ratio itself is
    ``undefined``, which replaces undefined values.

    >>> ratio("recall")([1, 1, 1, 0], [1, 0, 1, 0], by=["a", "a", "b", "b"])
    0.5
    """
    return Ratio(of=read_metrics("of", parameters.pop("of", of)), **parameters)


def worst(*of: str | Metric, **parameters: Any) -> GroupMetric:
    """The value of a metric in the group where it is worst.

    The parameters of a metric are written with it, as in ``worst("fscore(beta=2)")``; the only one of worst itself is
    ``undefined``, which replaces undefined values.

    >>> worst("accuracy")([1, 1, 1, 0], [1, 0, 1, 0], by=["a", "a", "b", "b"])
    0.5
    """
    return Worst(of=read_metrics("of", parameters.pop("of", of)), **parameters)


for _make in (gap, ratio, worst):
    registry.makers[_make.__name__] = _make
for _kind, _maker in ((Gap, gap), (Ratio, ratio)):
    for _name, _of in _kind.known.items():
        registry.makers[_name] = lambda *, _maker=_maker, _of=_of, **parameters: _maker(of=_of, **parameters)

demographic_parity, demographic_parity_ratio = gap(selection_rate), ratio(selection_rate)
equal_opportunity, equal_opportunity_ratio = gap(recall), ratio(recall)
equalized_odds, equalized_odds_ratio = gap(recall, fallout), ratio(recall, fallout)
registry.compositions += [demographic_parity, equal_opportunity, equalized_odds]
registry.compositions += [demographic_parity_ratio, equal_opportunity_ratio, equalized_odds_ratio]
