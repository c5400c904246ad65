"""Predicted intervals: two columns of predictions, lower and upper bound."""

from __future__ import annotations

import math

from tallymark.data.target import Target
from tallymark.intervals.analytic import WILSON, Ends, wilson
from tallymark.metrics.parameters import number
from tallymark.metrics.regression.base import Bound, MeanMetric
from tallymark.states.base import Reads
from tallymark.states.sums import INTERVAL, Output, Term

__all__ = ["Coverage", "IntervalScore", "coverage", "interval_score"]


COVERED = Term("covered")


class IntervalMetric(MeanMetric, abstract=True):
    """Reads a lower and an upper bound against one column of truth."""

    layout = INTERVAL
    requires = (Bound("width", 0.0, strict=False),)

    level: float = number(0.9, above=0, below=1)
    """The share of rows that the intervals are meant to contain."""

    def count_outputs(self, prediction_columns: int) -> int:
        return 1


class IntervalScore(IntervalMetric):
    """The mean width of predicted intervals, plus a price for every row outside.

    >>> interval_score([1, 5], [[0, 2], [0, 4]], level=0.5)
    5.0
    """

    range = (0.0, math.inf)
    at_perfect = 0.0
    formula = "mean of (u − l) + 2/(1 − level) · (distance of y from [l, u])"
    reading = "Narrow intervals that contain the truth score low."
    outliers = "low: a truth outside counts by its distance, times 2 / (1 − level)."
    related = ("pinball",)
    pitfalls = ("Compare only at the same level.",)
    samples = ({}, {"level": 0.5})

    @property
    def term(self) -> Term:  # type: ignore[override]
        return Term("interval", (1.0 - self.level,))


class Coverage(IntervalMetric):
    """The share of rows whose truth lies in the predicted interval; best at the nominal level.

    >>> coverage([1, 5], [[0, 2], [0, 4]], level=0.9)
    0.5
    """

    unit = ""
    range = (0.0, 1.0)
    at_perfect = 1.0
    formula = "Σ w [l ≤ y ≤ u] / Σ w"
    reading = "Below the level, the intervals are too narrow; above, too wide."
    outliers = "none: a row is inside or outside, by whatever distance."
    related = ("pinball",)
    pitfalls = ("Intervals wide enough cover everything: read it beside interval_score.",)
    samples = ({}, {"level": 0.5})
    method = WILSON
    term = COVERED

    @property
    def better(self) -> float:
        return self.level

    @property
    def landmarks(self) -> tuple[tuple[float, str], ...]:  # type: ignore[override]
        return ((self.level, "as many as the intervals promise"), (1.0, "every row, which too wide intervals do"))

    def interval_reads(self, target: Target) -> Reads | None:
        return None

    def output_ends(self, s: Output, rows: int, level: float) -> Ends:
        return wilson(s.total(COVERED), rows, level)


interval_score = IntervalScore()
coverage = Coverage()
