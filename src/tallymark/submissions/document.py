"""A scored submission as a document, from which its page and Markdown are made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

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
        scale = Scale(0.0, 1.0, value, cell.lo, cell.hi) if percent and value == value else None
        settings = result.report.interval
        ends = "" if settings is None or cell.lo is None else interval_text(cell.metric, value, cell.lo, cell.hi)
        interval = f"{settings.heading()}: {ends}" if settings is not None and ends else ""
        cards.append(Card(result.report.name_of_part(key), shown, interval, cell.reason or "", band, scale))
    return cards[:MAX_CARDS]


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
