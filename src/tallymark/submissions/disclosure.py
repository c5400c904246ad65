"""What participants of a challenge may know of a report: its scores, and no more.

Reasons, notes and errors may name classes, and rows are the answers themselves, so a report that participants see is
made anew from scores, intervals and counts.
"""

from __future__ import annotations

from tallymark.errors import ParameterError, Rejection, Text
from tallymark.evaluation.report import Cell, Report
from tallymark.submissions.problems import SubmissionProblems, rejection, submission_problem


def scores_only(report: Report) -> Report:
    """The report without reasons, notes, errors and rows."""
    cells = {key: _score(key, report.cell(key)) for key in report}
    found = Report(cells, n=report.n, total_weight=report.total_weight, kind=report.kind)
    found.interval = report.interval
    return found


def _score(key: str, cell: Cell) -> Cell:
    if cell.error is not None:
        raise not_scored()
    if not isinstance(cell.value, float):
        raise ParameterError(
            Text("{metrics} must each be one number in a challenge; {} is not", key), argument="metrics"
        )
    return Cell(cell.metric, cell.value, cell.n, cell.weight, lo=cell.lo, hi=cell.hi, method=cell.method)


def not_scored() -> Rejection:
    """The error that a participant gets where a score cannot be computed."""
    return rejection("`submission`", SubmissionProblems([submission_problem("not_scored")]))
