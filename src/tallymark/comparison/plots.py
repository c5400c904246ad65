"""The plots of a comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tallymark.comparison.difference import Difference
from tallymark.errors import TallymarkError
from tallymark.evaluation.plots import PRECISION_RECALL, ROC
from tallymark.intervals.settings import show_level
from tallymark.metrics.base import Metric
from tallymark.metrics.listing import show_better
from tallymark.rendering.plots.curves import Line, precision_recall_plot, roc_plot
from tallymark.rendering.plots.forest import MOST_PAIRS, ForestRow, differences_plot
from tallymark.rendering.plots.plot import Plot
from tallymark.rendering.table import Table

if TYPE_CHECKING:
    from tallymark.comparison.result import Comparison


class ComparisonPlots:
    """The plots of a comparison. `available()` names those that it can draw; each is a method, and gives a `Plot`."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def available(self) -> tuple[str, ...]:
        """The names of the plots that can be drawn of these models."""
        return ("differences", *(name for name in ("roc", "precision_recall") if self._can(name)))

    def _can(self, name: str) -> bool:
        if any(name not in report.plot._suitable() for report in self._comparison.reports.values()):
            return False
        try:
            getattr(self, name)()
        except TallymarkError:
            return False
        return True

    def differences(self, metric: str | Metric | None = None) -> Plot:
        """The differences of all pairs in a metric (the first, unless one is named), with intervals and letters."""
        comparison = self._comparison
        key = comparison.metrics[0] if metric is None else comparison._key(metric)
        differences = [each for each in comparison if each.metric == key]
        shown = sorted(differences, key=lambda d: -abs(d.value) if math.isfinite(d.value) else 0.0)[:MOST_PAIRS]
        pairs = [
            ForestRow(_pair_label(d), d.value, d.lo, d.hi, d.significant, _difference_text(d))
            for d in differences
            if d in shown
        ]
        lettered = len(differences) > 1 and comparison.settings.baseline is None
        letters = comparison.groups(key) if lettered else dict.fromkeys(comparison.models, "")
        ranks = [(name, value, letters[name]) for name, value in comparison.ranking(key).items()]
        headings = ("pair", "difference", "lo", "hi", "p", "verdict")
        name = comparison._report.display_name(key)
        rows = [(_pair_label(d), d.value, d.lo, d.hi, d.p_corrected, d.verdict) for d in differences]
        table = Table(f"Differences in {name}", headings, rows, numbers=headings[1:5], named_rows=True)
        better = show_better(comparison._report.cell(key).metric.better)
        level, kind = show_level(comparison.settings.level), comparison.intervals
        intervals = f"{level} interval" if kind is None else f"{kind} {level} intervals"
        return differences_plot(name, pairs, ranks, table, intervals=intervals, better=better)

    def roc(self) -> Plot:
        """The ROC curves of all models, of two classes."""
        lines = [report.plot._curve_line(name, *ROC)[0] for name, report in self._comparison.reports.items()]
        return roc_plot(*_ranked_lines(lines, "ROC curves", ROC[1].display_name))

    def precision_recall(self) -> Plot:
        """Precision by recall of all models, of two classes."""
        lines = [
            report.plot._curve_line(name, *PRECISION_RECALL)[0] for name, report in self._comparison.reports.items()
        ]
        return precision_recall_plot(*_ranked_lines(lines, "precision and recall", PRECISION_RECALL[1].display_name))


def _ranked_lines(lines: list[Line], title: str, what: str) -> tuple[list[Line], Table]:
    lines = sorted(lines, key=lambda line: -line.area)
    rows = [(line.name, line.area) for line in lines]
    return lines, Table(title, ("model", what), rows, numbers=(what,), named_rows=True)


def _pair_label(difference: Difference) -> str:
    return f"{difference.second} − {difference.first}"


def _difference_text(difference: Difference) -> str:
    return "undefined" if math.isnan(difference.value) else difference.amount()
