"""Warnings about a submission that was scored: confusable labels, constant predictions, perfect scores."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice

from tallymark.evaluation.report import Report
from tallymark.metrics.base import Metric
from tallymark.submissions.entries import Entries
from tallymark.submissions.look_alikes import skeleton
from tallymark.submissions.match import LabelCodes
from tallymark.submissions.settings import ColumnNames

MAX_PAIRS = 10


def submission_warnings(
    report: Report, submission: Entries, names: ColumnNames, labels: LabelCodes | None, *, challenge: bool
) -> list[str]:
    """All warnings. In a challenge they depend on the submission and its shown scores only."""
    warnings = found_prediction(submission, names)
    if labels is not None:
        submitted = labels.distinct(labels.submitted)
        if challenge:
            pairs = confusable_pairs(submitted)
        else:
            pairs = confused_with_known(submitted, labels.distinct(labels.truth, labels.unanswered))
        warnings += [
            f"{_short(one)} and {_short(other)} are different labels: they differ only in {difference}"
            for one, other, difference in islice(pairs, MAX_PAIRS)
        ]
    constant = _constant_prediction(submission, names, labels)
    if constant is not None:
        warnings.append(f"every prediction is {constant}")
    if _is_perfect(report):
        warnings.append("every score is perfect: check that the answers did not leak into the predictions")
    return warnings


def found_prediction(submission: Entries, names: ColumnNames) -> list[str]:
    """Where the predictions were found, if not where they should be."""
    if submission.found is None:
        return []
    return [f"there is no column {names.label!r}: the predictions are those of {submission.found!r}"]


def confused_with_known(predicted: Iterable[str], known: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Predicted labels that are unknown but look like a known one: both labels, and what differs."""
    known = set(known)
    unknown = [label for label in predicted if label not in known]
    if not unknown:
        return
    by_skeleton: dict[str, str] = {}
    for label in sorted(known):
        by_skeleton.setdefault(skeleton(label), label)
    for label in sorted(unknown):
        other = by_skeleton.get(skeleton(label))
        if other is not None:
            yield label, other, _difference(label, other)


def confusable_pairs(labels: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Pairs of labels that look alike, and what differs."""
    by_skeleton: dict[str, str] = {}
    for label in sorted(labels):
        other = by_skeleton.setdefault(skeleton(label), label)
        if other != label:
            yield label, other, _difference(label, other)


def _difference(one: str, other: str) -> str:
    if _without_blanks(one) == _without_blanks(other):
        return "spaces"
    if one.casefold() == other.casefold():
        return "case"
    if unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", other):
        return "Unicode form"
    if _without_blanks(one.casefold()) == _without_blanks(other.casefold()):
        return "case and spaces"
    return "characters that look alike"


def _without_blanks(label: str) -> str:
    return "".join(label.split())


def _constant_prediction(submission: Entries, names: ColumnNames, labels: LabelCodes | None) -> str | None:
    """The prediction that all rows share, if they do."""
    if submission.rows < 2:
        return None
    if labels is not None:
        same = bool((labels.submitted == labels.submitted[0]).all())
        return _short(labels.texts_of(labels.submitted[:1])[0]) if same else None
    columns = [column for name, column in submission.columns.items() if name != names.id]
    same = all((column == column[0]).all() for column in columns)
    return ", ".join(f"{column[0]:g}" for column in columns) if same else None


def _is_perfect(report: Report) -> bool:
    cells = [report.cell(key) for key in report]
    scored = [(cell.metric, cell.value) for cell in cells if cell.error is None and cell.metric.better is not None]
    return bool(scored) and all(_is_best(metric, value) for metric, value in scored)


def _is_best(metric: Metric, value: object) -> bool:
    if metric.at_perfect is not None or not isinstance(value, float):
        return value == metric.at_perfect
    best = metric.range[metric.better == "higher"]
    return math.isclose(value, best, abs_tol=1e-9)  # a log loss of clipped probabilities is never 0


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:37]}...")
