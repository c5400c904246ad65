"""Drawings of plain data through matplotlib, which is loaded when one of them is drawn."""

from tallymark.report.plots.lines import MOST_LINES, Line, precision_recall_plot, roc_plot
from tallymark.report.plots.looks import DARK, LIGHT, LOOKS, Look, look_style
from tallymark.report.plots.plot import Plot

__all__ = [
    "DARK",
    "LIGHT",
    "LOOKS",
    "MOST_LINES",
    "Line",
    "Look",
    "Plot",
    "look_style",
    "precision_recall_plot",
    "roc_plot",
]
