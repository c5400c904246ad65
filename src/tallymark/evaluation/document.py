"""A report as a document: its cards, tables, plots and reasons, from which its HTML page and its Markdown are made."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tallymark.errors import TallymarkError
from tallymark.evaluation.baselines import WORDS, Baseline, compare_with_baselines, show_beside
from tallymark.evaluation.group_slices import MOST_LISTED_GROUPS
from tallymark.evaluation.report import MOST_GROUPS, Cell, reason_text
from tallymark.evaluation.reproduction import reproduce_report
from tallymark.intervals.settings import show_level
from tallymark.metrics.base import Metric
from tallymark.metrics.fairness.base import GroupMetric
from tallymark.metrics.listing import show_better
from tallymark.rendering.document import Card, Document, Folded, Notes, Part, Scale, Section
from tallymark.rendering.fact_sheet import FactSheet
from tallymark.rendering.table import Name, Table, group_by_first, note_lines, show_estimate, show_number

if TYPE_CHECKING:
    from tallymark.acceptance.accept import Acceptance
    from tallymark.evaluation.report import Report


MOST_CARDS = 8
MOST_DRAWN = 4  # metrics whose groups or differences are drawn
_MOST_PLOTS = 7  # of all rows
MOST_PARTS = 50  # of a metric with one value per class
_TWO_CLASSES = "two classes"  # in the words of a landmark that holds for no more than two
_KINDS = {
    "value": "values",
    "label": "labels",
    "probability": "probabilities",
    "margin": "margins",
    "score": "scores",
}
_SLICES = "slices"  # of which there is a plot for each metric
_OF_GROUPS = (_SLICES, "residuals_by_group")  # plots that stand with the groups


def report_document(report: Report, title: str | None, command: str | None, *, pictures: bool) -> Document:
    """The report with its headline numbers, tables, pictures if wanted, reasons, and how to make it again."""
    cells = {key: report.cell(key) for key in report}
    lead = [] if report.acceptance is None else [_acceptance_section(report.acceptance)]
    sections = [_values_section(report, cells)]
    without = _undefined_section(report, cells)
    if without is not None:
        sections.append(without)
    if pictures:
        sections += _plots_section(report)
    tables = [cell.value.table() for cell in cells.values() if cell.is_table]
    if tables:
        sections.append(Section("tables", "Tables", "", tables))
    if report.slices is not None:
        sections += _groups_sections(report, pictures=pictures)
    sections += [about_metrics([cell.metric for cell in cells.values()]), reproduce_report(report, command)]
    cards = [_metric_card(report, key, cell) for key, cell in cells.items() if _is_one_number(cell)][:MOST_CARDS]
    return Document(title or "Evaluation report", report_line(report), cards, sections, lead)


def _acceptance_section(acceptance: Acceptance) -> Section:
    """Whether the report is accepted, and by how much every condition passes or fails."""
    verdict, table = acceptance.verdict, acceptance.table()._replace(title="")
    return Section("acceptance", verdict.capitalize(), acceptance.summary, [table], band=verdict.band)


def report_line(report: Report) -> str:
    """The line below the title: the rows, and the kind of the predictions."""
    kind = f" · predictions are {_KINDS[report.kind]}" if report.kind else ""
    return report.title() + kind


def _is_one_number(cell: Cell) -> bool:
    return not cell.is_table and cell.parts()[0][0] is None


def _metric_card(report: Report, key: str, cell: Cell) -> Card:
    value = cell.parts()[0][1]
    lo, hi = cell.bounds()[0]
    interval = ""
    if lo is not None and hi is not None:
        what = "for certain" if cell.bounded or report.interval is None else show_level(report.interval.level)
        interval = f"{what}: {show_estimate(value, lo, hi)[1]}"
    text = str(cell.shown(value, lo, hi)[0])
    marks = _marks(report, key, cell)
    verdict, others = _compare_with_marks(cell, value, marks)
    return Card(
        report.name_of_part(key),
        text,
        interval,
        _card_hint(cell, others),
        scale=_metric_scale(_range_on_these_rows(report, cell), value, lo, hi, marks),
        verdict=verdict[:1].upper() + verdict[1:],
        exact="" if not math.isfinite(value) else f"{value!r}; {lo!r} to {hi!r}" if interval else repr(value),
    )


def _marks(report: Report, key: str, cell: Cell) -> list[Baseline]:
    """What to compare a value with: its baselines on these rows, or else what is known of any rows."""
    return report.baselines(key) or landmarks_in_range(cell.metric)


def _compare_with_marks(cell: Cell, value: float, marks: list[Baseline]) -> tuple[str, list[str]]:
    """Which mark a value is worse than, or no better than, and the other marks, in words."""
    if reason_text(cell) is not None or not math.isfinite(value):
        return "", []
    lo, hi = cell.bounds()[0]
    verdict = compare_with_baselines(cell.metric, value, marks, lo, hi)
    others = [(words, show_beside(mark, value, lo, hi)) for mark, words in marks if words not in verdict]
    baselines = WORDS.values()  # which are names; other marks are sentences
    return verdict, [f"{words}: {mark}" if words in baselines else f"{mark}: {words}" for words, mark in others]


def landmarks_in_range(metric: Metric) -> list[Baseline]:
    """What values in the middle of the range mean on any rows."""
    low, high = metric.range
    return [Baseline(*mark) for mark in metric.landmarks if low < mark[0] < high and _TWO_CLASSES not in mark[1]]


def _card_hint(cell: Cell, marks: list[str]) -> str:
    """Why there is no value; or which way is better, the unit, and the values to compare it with."""
    reason = reason_text(cell)
    if reason is not None:
        return reason
    return " · ".join(part for part in (direction_text(cell.metric), cell.metric.unit, *marks) if part)


def direction_text(metric: Metric) -> str:
    """Which values are better, in words."""
    better = show_better(metric.better)
    return f"{better} is better" if isinstance(metric.better, str) else f"best {better}" if better else ""


def _range_on_these_rows(report: Report, cell: Cell) -> tuple[float, float]:
    """The range of a metric, which may be narrower for two classes."""
    if report._source is None or cell.error is not None or isinstance(cell.metric, GroupMetric):
        return cell.metric.range
    try:
        return cell.metric.range_of(report._source.state(cell.metric))
    except TallymarkError:  # of other predictions of a model
        return cell.metric.range


def _metric_scale(ends: tuple[float, float], value: float, lo: Any, hi: Any, marks: list[Baseline]) -> Scale | None:
    low, high = ends
    if not math.isfinite(value) or math.isinf(low) or math.isinf(high) or not low <= value <= high or low == high:
        return None
    return Scale(low, high, value, lo, hi, marks)


def _values_section(report: Report, cells: dict[str, Cell]) -> Section:
    """All values, and what to know about them."""
    settings = report.interval
    rows: list[tuple[object, ...]] = []
    for key, cell in cells.items():
        parts = list(zip(cell.parts(), cell.bounds(), strict=True))
        for (part, value), (lo, hi) in parts[:MOST_PARTS]:
            marks = "; ".join(filter(None, _baseline_words(report, key, cell))) if part is None else ""
            facts = (marks, show_better(cell.metric.better), cell.metric.unit, cell.metric.reading)
            shown = cell.shown(value, lo, hi)[: 1 if settings is None else 2]
            rows.append((report.name_of_part(key, part), *shown, *facts))
        if len(parts) > MOST_PARTS:
            more = report.name_of_part(key, f"and {len(parts) - MOST_PARTS:,} more")
            rows.append((more, *[""] * (5 if settings is None else 6)))
    headings = ["metric", "value", "baselines", "better", "unit", "how to read it"]
    if settings is not None:
        headings.insert(2, settings.heading())
    notes = note_lines(
        (note, report.display_name(key, positive=False)) for key, cell in cells.items() for note in cell.notes
    )
    notes = [*report.kind_notes(), *notes, *([] if settings is None else report.interval_methods(settings))]
    table = Table("", headings, rows, notes, numbers=("value",), optional=("how to read it",))
    return Section("numbers", "All metrics", "", [table.without_empty("baselines", "unit")])


def _baseline_words(report: Report, key: str, cell: Cell) -> Iterator[str]:
    """How a value compares with its baselines, then the other baselines."""
    if _is_one_number(cell):
        verdict, others = _compare_with_marks(cell, cell.parts()[0][1], _marks(report, key, cell))
        yield from (verdict, *others)


def _undefined_section(report: Report, cells: dict[str, Cell]) -> Section | None:
    """Which metrics have no plain value, and why, those with the same reason in one row; None if all have a value."""
    names_by_reason = group_by_first(
        ((_kind_of_missing_value(cell), reason, _when_undefined(cell, reason)), report.name_of_part(key))
        for key, cell in cells.items()
        if (reason := reason_text(cell))
    )
    if not names_by_reason:
        return None
    rows = [
        (Name(", ".join(names), ", ".join(name.code for name in names)), *facts)
        for facts, names in names_by_reason.items()
    ]
    table = Table("", ("metric", "status", "reason", "when this happens"), rows).without_empty("when this happens")
    return Section("undefined", "Metrics without a value", "", [table])


def _when_undefined(cell: Cell, reason: str) -> str:
    """When the metric has no value, if the reason does not already say so."""
    words = cell.metric.when_undefined
    return "" if cell.error is not None or words.rstrip(".").lower() == reason.lower() else words


def _kind_of_missing_value(cell: Cell) -> str:
    if cell.error is not None:
        return "failed"
    numbers = [value for _, value in cell.parts()]
    if any(map(math.isnan, numbers)):
        return "undefined"
    return "infinite" if any(map(math.isinf, numbers)) else "replaced"


def _plots_section(report: Report) -> list[Section]:
    """The first plots but those of groups, and why some that would suit cannot be drawn."""
    names = [name for name in report.plot.available() if name not in _OF_GROUPS][:_MOST_PLOTS]
    plots: list[Part] = [getattr(report.plot, name)() for name in names]
    reasons = [f"{name.replace('_', ' ')}: {reason}" for name, reason in report.plot.reasons().items()]
    return [Section("plots", "Plots", "", [*plots, *([Notes(reasons)] if reasons else [])])] if plots or reasons else []


def _groups_sections(report: Report, *, pictures: bool) -> Iterator[Section]:
    """For each column of groups the values, and drawings of the first metrics; the crossing of columns is folded."""
    by_column = report.slices_by_column()
    for place, slices in enumerate(by_column):
        folded = pictures and len(slices) > MOST_GROUPS
        table = slices.table(report, stacked=pictures, hint="" if folded else f"; all: {report.code_of(slices)}")
        drawn: list[Part] = []
        if pictures and _SLICES in report.plot.available():
            plots = report.sliced_by(slices).plot
            keys = [heading.code for heading in table.headings if isinstance(heading, Name)]
            drawn = [plots.slices(key) for key in keys[: max(MOST_DRAWN // len(by_column), 1)]]
            if "residuals_by_group" in report.plot.available():
                drawn.append(plots.residuals_by_group())
        parts = [*drawn, table._replace(title="", notes=[])]
        if folded:
            every = slices.table(report, stacked=True, most=MOST_LISTED_GROUPS)
            count = f"{'all ' * (len(slices) <= MOST_LISTED_GROUPS)}{min(len(slices), MOST_LISTED_GROUPS):,}"
            parts.append(Folded(f"Show {count} groups", every._replace(title="", notes=[])))
        parts += [Notes(table.notes)] if table.notes else []
        title = f"Groups by {', '.join(slices.names)}"
        name = "groups" if place == 0 else f"groups-{place + 1}"
        yield Section(name, title, f"{len(slices):,} group{'s' * (len(slices) != 1)}", parts)
    if report.slices is not None and len(by_column) > 1:
        crossing = report.slices.table(report, stacked=pictures, hint="; all: report.slices")
        title = f"Groups by {' and '.join(report.slices.names)} together"
        yield Section("groups-together", title, "", [crossing._replace(title="")], folded=True)


def about_metrics(metrics: list[Metric]) -> Section:
    """What the metrics are, from their definitions."""
    sheets = list(_metric_sheets(metrics))
    return Section("metrics", "About the metrics", "", sheets, folded=True)


def _metric_sheets(metrics: list[Metric]) -> Iterator[FactSheet]:
    for metric in dict.fromkeys(metrics):
        low, high = metric.range
        facts = {
            "in code": [str(metric)],
            "formula": [metric.formula_text],
            "range": [f"{show_number(low)} to {show_number(high)}"] if metric.better is not None else [],
            "how to read": [metric.reading, *(f"{show_number(mark)}: {words}" for mark, words in metric.landmarks)],
            "undefined": [metric.when_undefined],
            "pitfalls": list(metric.pitfalls),
        }
        filled = {name: [line for line in lines if line] for name, lines in facts.items()}
        yield FactSheet(
            metric.display_name, metric.description, [(name, lines) for name, lines in filled.items() if lines]
        )
