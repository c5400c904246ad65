"""Evaluation: metrics on rows, tables and streams, as a report.

`default_metrics.py` selects the metrics, `evaluate.py` plans and reads the states that they need, `report.py` holds
the values. `group_slices.py` has the report of every group, `report_intervals.py` adds intervals, `document.py` and
`plots.py` make the page; `residuals.py` and `worst_rows.py` look at single rows. `model.py` asks models for their
predictions; `tally.py` adds up rows that come in pieces; `table.py` reads them from tables, files and clusters.
"""

from typing import TYPE_CHECKING, Any

from tallymark.evaluation.evaluate import evaluate
from tallymark.evaluation.group_slices import Slices
from tallymark.evaluation.report import Cell, Report
from tallymark.evaluation.tally import Tally

if TYPE_CHECKING:
    from tallymark.evaluation.model import evaluate_model
    from tallymark.evaluation.plots import ReportPlots
    from tallymark.evaluation.table import evaluate_table, tally_table
    from tallymark.evaluation.worst_rows import WorstRows
    from tallymark.rendering.plots.plot import Plot

__all__ = [
    "Cell",
    "Plot",
    "Report",
    "ReportPlots",
    "Slices",
    "Tally",
    "WorstRows",
    "evaluate",
    "evaluate_model",
    "evaluate_table",
    "tally_table",
]

_LAZY = {
    "Plot": "rendering.plots.plot",
    "ReportPlots": "evaluation.plots",
    "evaluate_model": "evaluation.model",
    "WorstRows": "evaluation.worst_rows",
    "evaluate_table": "evaluation.table",
    "tally_table": "evaluation.table",
}  # most calls need none of them


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return globals().setdefault(name, getattr(import_module(f"tallymark.{_LAZY[name]}"), name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
