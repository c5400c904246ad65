"""A scored submission as a document, from which its page and Markdown are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tallymark.metrics.classification.precision_recall import fscore
from tallymark.rendering.document import Card, Code, Document, Notes, Scale, Section
from tallymark.rendering.table import Percent, Table, show_number
from tallymark.submissions.result import interval_text, shown_in_percent

if TYPE_CHECKING:
    from tallymark.submissions.result import SubmissionResult


MAX_CARDS = 8
AVERAGES = {
    "macro": "macro: the mean over classes",
    "macro_pr": "of macro precision and macro recall",
    "micro": "micro: over all rows",
    "weighted": "weighted: the mean by rows of a class",
}
WHY_MACRO = (
    "Macro averages give every class the same say, however few rows it has. Micro averages give it to every row, and "
    "so equal the accuracy; weighted ones give it to a class by its rows. Both hide a small class that is always wrong."
)


def submission_document(result: SubmissionResult, title: str | None, command: str | None) -> Document:
    """Scores as headline numbers, then counts, classes, the preview, and how to make it again."""
    sections = [Section("scores", "Scores", "", [result.scores_table()])]
    if result.warnings:
        sections.append(Section("warnings", "To look at twice", "", [Notes(result.warnings)]))
    sections.append(Section("rows", "Rows", "", [result.rows_table()]))
    if result.per_class is not None:
        sections.append(Section("classes", "Classes", "", [_classes(result.per_class.table())]))
        sections.append(Section("averages", "Why macro averages", WHY_MACRO, [_averages(result)]))
    preview = result.preview_table()
    if preview is not None:
        first = "Rows with a wrong label come first." if result.matches is not None else ""
        sections.append(Section("preview", "Preview", first, [preview]))
    if command is not None:
        sections.append(Section("reproduce", "How to reproduce", "", [Code("At the command line", command)]))
    return Document(title or "Score of a submission", result.title(), _cards(result), sections)


def _cards(result: SubmissionResult) -> list[Card]:
    cards = []
    for key in result.report:
        cell = result.report.cell(key)
        if cell.error is not None or not isinstance(cell.value, float):
            continue
        value, percent = cell.value, shown_in_percent(cell.metric)
        band = cell.metric.band(value) or ""
        shown = str(Percent(value, band)) if percent else show_number(value)
        scale = Scale(0.0, 1.0, value, cell.lo, cell.hi) if percent and value == value else None
        settings = result.report.interval
        ends = "" if settings is None or cell.lo is None else interval_text(cell.metric, cell.lo, cell.hi)
        interval = f"{settings.heading()}: {ends}" if settings is not None and ends else ""
        cards.append(Card(result.report.display_name(key), shown, interval, cell.reason or "", band, scale))
    return cards[:MAX_CARDS]


def _classes(table: Table) -> Table:
    """The scores of classes in percent."""
    rows = [
        (name, *(class_percent(each) if isinstance(each, float) else each for each in scores), support)
        for name, *scores, support in table.rows
    ]
    headings = ["F1" if name == "fscore" else name for name in table.headings]
    return table._replace(title="", headings=headings, rows=rows, numbers=headings[1:], named_rows=False)


def class_percent(value: float) -> Percent:
    """Precision, recall or F1 of a class."""
    return Percent(value, fscore.band(value) or "")


def _averages(result: SubmissionResult) -> Table:
    """F1 by each kind of average."""
    values = {words: result.read(fscore.replace(average=average)) for average, words in AVERAGES.items()}
    rows = [(words, class_percent(value)) for words, value in values.items()]
    return Table("", ("F1", "value"), rows, numbers=("value",))
