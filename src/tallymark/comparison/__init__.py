"""Comparison: several models on the same rows, with tests and intervals of their differences."""

from tallymark.comparison.compare import compare
from tallymark.comparison.difference import Difference
from tallymark.comparison.plots import ComparisonPlots
from tallymark.comparison.result import Comparison

__all__ = [
    "Comparison",
    "ComparisonPlots",
    "Difference",
    "compare",
]
