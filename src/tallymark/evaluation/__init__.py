"""Evaluation: the only place that knows both metrics and engines."""

from tallymark.evaluation.accept import Acceptance, Clause, accept
from tallymark.evaluation.evaluate import evaluate
from tallymark.evaluation.result import Cell, Report
from tallymark.evaluation.slices import Slices
from tallymark.evaluation.tally import Tally

__all__ = ["Acceptance", "Cell", "Clause", "Report", "Slices", "Tally", "accept", "evaluate"]
