"""The plots of a report: which can be drawn, and of what."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tallymark.errors import ParameterError, TallymarkError, UndefinedError
from tallymark.evaluation.source import Source
from tallymark.metrics import Metric, auc, average_precision, pr_curve, roc_curve
from tallymark.metrics.base import Undefined
from tallymark.metrics.confusion import show_label
from tallymark.metrics.curves import CurveMetric
from tallymark.metrics.scores import RankMetric
from tallymark.report import Table
from tallymark.report.plots import MOST_LINES, Line, Plot, precision_recall_plot, roc_plot

if TYPE_CHECKING:
    from tallymark.evaluation.result import Report

_RANKED = ("roc", "precision_recall", "thresholds")
_OF_KIND = {
    "value": ("residuals", "predictions"),
    "label": ("confusion",),
    "probability": (*_RANKED, "reliability", "confusion"),
    "margin": (*_RANKED, "reliability", "confusion"),
    "score": _RANKED,
}
_OF_FAMILY = {
    "regression": _OF_KIND["value"],
    "classification": _OF_KIND["label"],
    "probability": _OF_KIND["probability"],
    "score": _OF_KIND["score"],
}


class ReportPlots:
    """The plots of a report. `available()` names those that it can draw; each is a method, and gives a `Plot`.

    >>> import tallymark as tm
    >>> report = tm.evaluate([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], ["auc"])
    >>> report.plot.available()
    ('roc', 'precision_recall')
    >>> report.plot.roc().description
    'ROC curve: the area under the curve is 0.75; chance has 0.5.'
    """

    def __init__(self, report: Report) -> None:
        self._report = report

    def available(self) -> tuple[str, ...]:
        """The names of the plots that can be drawn of these rows."""
        return tuple(name for name, reason in self._tried().items() if reason is None)

    def reasons(self) -> dict[str, str]:
        """Why plots that would suit these predictions cannot be drawn, by name."""
        return {name: reason for name, reason in self._tried().items() if reason is not None}

    def _tried(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for name in self._suited():
            draw: Callable[[], Plot] = getattr(self, name)
            try:
                draw()
                found[name] = None
            except TallymarkError as error:
                found[name] = str(error)
        return found

    def _suited(self) -> tuple[str, ...]:
        """The plots that suit the kind of the predictions, or where that was not said, the metrics that read them."""
        names: list[str] = []
        if self._report._source is not None:
            kind = self._report.kind
            cells = [self._report.cell(key) for key in self._report]
            families = [cell.metric.family for cell in cells if cell.error is None]
            names += _OF_KIND[kind] if kind else [name for each in families for name in _OF_FAMILY.get(each, ())]
        if self._report.slices is not None:
            names.append("slices")
        return tuple(name for name in dict.fromkeys(names) if hasattr(self, name))

    @property
    def _source(self) -> Source:
        if self._report._source is None:
            raise ParameterError(
                "this report has neither rows nor states to draw from: it is that of a group, or was read from a file. "
                "Evaluate its rows alone"
            )
        return self._report._source

    def roc(self) -> Plot:
        """True against false positives at every threshold; of several classes, each against the rest."""
        lines, table = self._lines(roc_curve, auc, "fpr", "tpr")
        return roc_plot(lines, table)

    def precision_recall(self) -> Plot:
        """Precision by recall at every threshold; of several classes, each against the rest."""
        lines, table = self._lines(pr_curve, average_precision, "recall", "precision")
        return precision_recall_plot(lines, table)

    def _lines(self, curve: CurveMetric, area: RankMetric, x: str, y: str) -> tuple[list[Line], Table]:
        state: Any = self._source.state(curve)
        if state.n == 0 or not state.several:
            found = self._defined(curve)
            lo, hi = self._interval(area)
            return [Line("", found[x], found[y], self._defined(area), lo, hi, float(found[y][-1]))], found.table()
        lines = []
        for place, label in enumerate(state.classes):
            drawn, value = curve.of_class(state, place), area.of_class(state, place)
            if isinstance(drawn, Undefined) or isinstance(value, Undefined):
                reason = next(each.reason for each in (drawn, value) if isinstance(each, Undefined))
                raise UndefinedError(f"{curve.name} is undefined for class {label!r}: {reason}")
            lines.append(Line(show_label(label), drawn[x], drawn[y], value, share=float(drawn[y][-1])))
        lines.sort(key=lambda line: -line.area)
        rows = [(line.name, line.area) for line in lines]
        table = Table(f"{curve.title} of each class against the rest", ("class", area.name), rows, numbers=(area.name,))
        half = MOST_LINES // 2
        return (lines if len(lines) <= MOST_LINES else lines[:half] + lines[-half:]), table

    def _defined(self, item: Metric) -> Any:
        """The value of a metric; where it is undefined, an error that says why."""
        answer = self._source.answer(item)
        if isinstance(answer.value, float) and math.isnan(answer.value):
            raise UndefinedError(f"{item.name} is undefined: {answer.reason}")
        return answer.value

    def _interval(self, item: Metric) -> tuple[float | None, float | None]:
        """The interval of a metric that the report has."""
        if item not in self._report:
            return None, None
        cell = self._report.cell(item)
        return (None, None) if cell.bounded else (cell.lo, cell.hi)
