"""What participants of a challenge may know of a report: its scores, rounded, and no more.

Reasons, notes and errors may name classes, and rows are the answers themselves, so a report that participants see is
made anew from scores, intervals and counts. Scores are rounded because all digits of a score, after each of many
submissions, reveal single answers (Blum and Hardt 2015, The ladder: a reliable leaderboard for machine learning
competitions).
"""

from __future__ import annotations

import math

from tallymark.errors import ParameterError, Rejection, Text
from tallymark.evaluation.report import Cell, Report
from tallymark.metrics.base import Metric
from tallymark.rendering.table import DIGITS
from tallymark.submissions.problems import SubmissionProblems, rejection, submission_problem
from tallymark.submissions.result import shown_in_percent


def scores_only(report: Report, positive: str | None = None) -> Report:
    """The report with rounded scores, and without reasons, notes, errors and rows. `positive` is the positive class, if
    participants know it."""
    cells = {key: _score(key, report.cell(key)) for key in report}
    found = Report(cells, n=report.n, total_weight=report.total_weight, kind=report.kind, positive=positive)
    found.interval = report.interval
    return found


def disclosed(item: Metric, value: float) -> float:
    """A score as a challenge shows it: shares to a tenth of a percent, others to four significant digits.

    >>> import tallymark as tm
    >>> disclosed(tm.accuracy, 0.80412), disclosed(tm.rmse, 12.34567)
    (0.804, 12.35)
    """
    if not math.isfinite(value):
        return value
    return round(value, 3) if shown_in_percent(item) else float(f"{value:.{DIGITS}g}")


def _score(key: str, cell: Cell) -> Cell:
    if cell.error is not None:
        raise not_scored()
    if not isinstance(cell.value, float):
        raise ParameterError(
            Text("{metrics} must each be one number in a challenge; {} is not", key), argument="metrics"
        )
    value, lo, hi = (None if x is None else disclosed(cell.metric, x) for x in (cell.value, cell.lo, cell.hi))
    return Cell(cell.metric, value, cell.n, cell.weight, lo=lo, hi=hi, method=cell.method)


def not_scored() -> Rejection:
    """The error that a participant gets where a score cannot be computed."""
    return rejection("`submission`", SubmissionProblems([submission_problem("not_scored")]))
