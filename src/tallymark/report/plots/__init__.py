"""Drawings of plain data through matplotlib, which is loaded when one of them is drawn."""

from tallymark.report.plots.bars import MOST_BARS, Bar, bars_plot
from tallymark.report.plots.canvas import show_short
from tallymark.report.plots.forest import MOST_PAIRS, Pair, differences_plot
from tallymark.report.plots.lines import Line, precision_recall_plot, roc_plot
from tallymark.report.plots.looks import DARK, LIGHT, LOOKS, Look, look_style
from tallymark.report.plots.matrix import MOST_CLASSES, matrix_plot, mistakes_plot
from tallymark.report.plots.plot import Plot
from tallymark.report.plots.reliability import Bin, reliability_plot
from tallymark.report.plots.rows import predictions_plot, residuals_plot, spread_table
from tallymark.report.plots.thinning import BLOCK, spaced
from tallymark.report.plots.thresholds import Best, thresholds_plot

__all__ = [
    "BLOCK",
    "DARK",
    "LIGHT",
    "LOOKS",
    "MOST_BARS",
    "MOST_CLASSES",
    "MOST_PAIRS",
    "Bar",
    "Best",
    "Bin",
    "Line",
    "Look",
    "Pair",
    "Plot",
    "bars_plot",
    "differences_plot",
    "look_style",
    "matrix_plot",
    "mistakes_plot",
    "precision_recall_plot",
    "predictions_plot",
    "reliability_plot",
    "residuals_plot",
    "roc_plot",
    "show_short",
    "spaced",
    "spread_table",
    "thresholds_plot",
]
