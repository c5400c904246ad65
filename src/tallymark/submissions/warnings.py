"""What to look at twice in a submission that could be scored."""

from __future__ import annotations

import math
from itertools import islice

from tallymark.evaluation.report import Report
from tallymark.metrics.base import Metric
from tallymark.submissions.confusables import MOST_PAIRS, alike, alike_among
from tallymark.submissions.entries import Entries
from tallymark.submissions.label_codes import Labelled
from tallymark.submissions.tasks import Names


def warn(report: Report, submission: Entries, names: Names, labelled: Labelled | None, *, challenge: bool) -> list[str]:
    """All warnings. Those of a challenge are of the submission alone, or follow from its scores."""
    found = []
    if labelled is not None:
        predicted = labelled.distinct(labelled.said)
        known = [] if challenge else labelled.distinct(labelled.truth, labelled.unanswered)
        pairs = alike_among(predicted) if challenge else alike(predicted, known)
        found += [
            f"{_short(one)} and {_short(other)} are two labels; they differ only by {what}"
            for one, other, what in islice(pairs, MOST_PAIRS)
        ]
    constant = _constant(submission, names, labelled)
    if constant is not None:
        found.append(f"every prediction is {constant}")
    if _perfect(report):
        found.append("every score is perfect: make sure that no answer was among what the predictions were made from")
    return found


def _constant(submission: Entries, names: Names, labelled: Labelled | None) -> str | None:
    """What all rows predict, where it is the same."""
    if submission.rows < 2:
        return None
    if labelled is not None:
        same = bool((labelled.said == labelled.said[0]).all())
        return _short(labelled.labels(labelled.said[:1])[0]) if same else None
    held = [column for name, column in submission.columns.items() if name != names.id]
    same = all((column == column[0]).all() for column in held)
    return ", ".join(f"{column[0]:g}" for column in held) if same else None


def _perfect(report: Report) -> bool:
    cells = [report.cell(key) for key in report]
    scored = [(cell.metric, cell.value) for cell in cells if cell.error is None and cell.metric.better is not None]
    return bool(scored) and all(_at_best(item, value) for item, value in scored)


def _at_best(item: Metric, value: object) -> bool:
    if item.at_perfect is not None or not isinstance(value, float):
        return value == item.at_perfect
    best = item.range[item.better == "higher"]
    return math.isclose(value, best, abs_tol=1e-9)  # a log loss of clipped probabilities is never 0


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:37]}...")
