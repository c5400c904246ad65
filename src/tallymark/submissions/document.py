"""A scored submission as a document, from which its page and Markdown are made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tallymark.evaluation.baselines import Baseline, show_beside
from tallymark.evaluation.document import landmarks_in_range
from tallymark.evaluation.report import Cell
from tallymark.metrics.base import Metric
from tallymark.metrics.classification.precision_recall import fscore
from tallymark.rendering.document import Card, Code, Document, Notes, Scale, Section
from tallymark.rendering.html_page import SIGNS
from tallymark.rendering.table import Name, Percent, Table
from tallymark.submissions.result import class_percent, interval_text, shown_in_percent

if TYPE_CHECKING:
    from tallymark.submissions.result import SubmissionResult


MAX_CARDS = 8
AVERAGES = {
    "macro": "mean over the classes",
    "macro_pr": "F1 of two means over the classes",
    "micro": "over all rows; equals accuracy",
    "weighted": "mean over the classes, weighted by their rows",
}
WHY_MACRO = (
    "Macro averages weight every class equally, however few rows it has. Micro averages weight every row equally, so "
    "they equal accuracy; weighted averages weight each class by its rows. Both can hide a rare class that is always "
    "predicted wrong."
)


def submission_document(result: SubmissionResult, title: str | None, command: str | None) -> Document:
    """Scores as headline numbers, then counts, classes, the preview, and how to reproduce them."""
    metrics = [result.report.cell(key).metric for key in result.report]
    sections = [Section("scores", "Scores", band_key(metrics), [result.scores_table()])]
    if result.warnings:
        sections.append(Section("warnings", "Warnings", "", [Notes(result.warnings)]))
    sections.append(Section("rows", "Rows", "", [result.rows_table()]))
    if result.per_class is not None and result.confusion is not None:
        matrix = result.confusion.table()
        sections.append(Section("classes", "Classes", "", [result.classes_table()]))
        sections.append(Section("confusion", "Confusion matrix", "", [matrix._replace(title="")]))
        sections.append(Section("averages", "Why macro averages", WHY_MACRO, [_averages(result)]))
    preview = result.preview_table()
    if preview is not None:
        sections.append(Section("preview", "Preview", "", [preview]))
    if command is not None:
        sections.append(Section("reproduce", "How to reproduce", "", [Code("On the command line", command)]))
    return Document(title or "Score of a submission", result.title(), _cards(result), sections)


def _cards(result: SubmissionResult) -> list[Card]:
    cards = []
    for key in result.report:
        cell = result.report.cell(key)
        if cell.error is not None or not isinstance(cell.value, float):
            continue
        value, percent = cell.value, shown_in_percent(cell.metric)
        band = cell.metric.band(value) or ""
        shown = str(Percent(value, band) if percent else cell.shown(value, cell.lo, cell.hi)[0])
        marks = [] if percent else _marks(result, key, cell)
        hint = " · ".join(f"{words}: {show_beside(mark, value, cell.lo, cell.hi)}" for mark, words in marks)
        settings = result.report.interval
        ends = "" if settings is None or cell.lo is None else interval_text(cell.metric, value, cell.lo, cell.hi)
        interval = f"{settings.heading()}: {ends}" if settings is not None and ends else ""
        scale = score_scale(cell.metric, value, cell.lo, cell.hi, marks)
        cards.append(Card(result.report.name_of_part(key), shown, interval, cell.reason or hint, band, scale))
    return cards[:MAX_CARDS]


def _marks(result: SubmissionResult, key: str, cell: Cell) -> Sequence[Baseline]:
    """What to compare a value with. Baselines are computed from the answers, so a challenge does not show them."""
    return landmarks_in_range(cell.metric) or ([] if result.mode == "challenge" else result.report.baselines(key))


def score_scale(
    metric: Metric, value: float, lo: float | None, hi: float | None, marks: Sequence[Baseline]
) -> Scale | None:
    """The place of a score in the range of its metric. Where values can be arbitrarily bad, it is the range from the
    best value to the worst mark, and further if the score is worse; without a mark there is no scale.

    >>> import tallymark as tm
    >>> score_scale(tm.rmse, 3.0, None, None, [Baseline(5.0, "always predicting the mean")])[:3]
    (0.0, 5.0, 3.0)
    >>> score_scale(tm.rmse, 3.0, None, None, []) is None
    True
    """
    low, high = metric.range
    if type(metric).range_of is not Metric.range_of:
        high = math.inf  # it depends on the number of classes, which is not known here
    known = [end for end in (value, lo, hi, *(mark for mark, _ in marks)) if end is not None]
    if not all(map(math.isfinite, known)):
        return None
    if marks and metric.better == "lower":
        high = max(known) if math.isinf(high) else high
    elif marks and metric.better == "higher":
        low = min(known) if math.isinf(low) else low
    if math.isinf(low) or math.isinf(high) or not low <= value <= high or low == high:
        return None
    return Scale(low, high, value, lo, hi, marks)


def band_key(metrics: Iterable[Metric]) -> str:
    """What the bands of scores mean; empty if none of these metrics has bands.

    >>> import tallymark as tm
    >>> band_key([tm.rmse, tm.accuracy])
    '● good: 80 % or more · ◐ fair: 60 % or more · ○ poor: below 60 %'
    """
    bands = next((each.bands for each in metrics if each.bands is not None), None)
    if bands is None:
        return ""
    fair, good = (f"{100 * each:g} %" for each in bands)
    meanings = {"good": f"{good} or more", "fair": f"{fair} or more", "poor": f"below {fair}"}
    return " · ".join(f"{SIGNS[band]} {band}: {meaning}" for band, meaning in meanings.items())


def _averages(result: SubmissionResult) -> Table:
    """F1 by each kind of average."""
    metrics = {fscore.replace(average=average): words for average, words in AVERAGES.items()}
    rows = [
        (Name(each.display_name, str(each)), words, class_percent(result.read(each))) for each, words in metrics.items()
    ]
    return Table("", ("average", "meaning", "value"), rows, numbers=("value",))
