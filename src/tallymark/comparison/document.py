"""A comparison as a document, which its page and its Markdown are made from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tallymark.evaluation.document import MOST_CARDS, MOST_DRAWN, about_metrics, direction_text, report_line
from tallymark.evaluation.reproduction import (
    NEEDS_ORDER,
    changed_arguments,
    data_arguments,
    interval_argument,
    metrics_argument,
    reproduction_section,
    text_literal,
)
from tallymark.intervals.settings import Intervals
from tallymark.rendering.document import Card, Document, Notes, Section
from tallymark.rendering.table import show_number

if TYPE_CHECKING:
    from tallymark.comparison.result import Comparison


def comparison_document(comparison: Comparison, title: str | None, command: str | None, *, pictures: bool) -> Document:
    """The comparison with a summary, tables, pictures if wanted, and how to reproduce it."""
    values, pairs = comparison._values_table(), comparison._pairs_table()
    sections = [
        Section("summary", "Summary", "", [Notes([comparison.summary(key) for key in comparison.metrics])]),
        Section("values", "Values", "", [values._replace(title="", named_rows=False)]),
    ]
    if pictures:
        plots = [comparison.plot.differences(key) for key in comparison.metrics[:MOST_DRAWN]]
        others = [name for name in comparison.plot.available() if name != "differences"]
        plots += [getattr(comparison.plot, name)() for name in others]
        sections.append(Section("plots", "Plots", "", plots))
    sections += [
        Section("differences", "Differences", "", [pairs]),
        about_metrics([comparison._report.cell(key).metric for key in comparison.metrics]),
        reproduce_comparison(comparison, command),
    ]
    cards = [_best_card(comparison, key) for key in comparison.metrics][:MOST_CARDS]
    models = comparison.models
    names = f"{', '.join(models[:-1])} and {models[-1]}" if len(models) <= 5 else f"{len(models)} models"
    return Document(title or f"Comparison of {names}", report_line(comparison._report), cards, sections)


def _best_card(comparison: Comparison, key: str) -> Card:
    """The best value of a metric, and whether the models differ significantly."""
    name = comparison._report.display_name(key)
    best, value = next(iter(comparison.ranking(key).items()))
    if math.isnan(value):
        return Card(name, "undefined", "", comparison.reports[best].cell(key).reason or "")
    if comparison._best(key) is None:
        return Card(name, show_number(value), comparison.summary(key).removeprefix(f"{name}: "))
    rivals = [d for d in comparison if d.metric == key and best in (d.first, d.second)]
    significant = sum(d.significant for d in rivals)
    words = f"{best} scores best; significantly better than {significant} of {len(rivals)} other models"
    if len(rivals) == 1:
        words = f"{best} scores best; the difference is {'' if significant else 'not '}significant"
    return Card(name, show_number(value), words, direction_text(comparison._report.cell(key).metric))


def reproduce_comparison(comparison: Comparison, command: str | None = None) -> Section:
    """How to reproduce the comparison; the rows have a fingerprint with each model."""
    reports, settings = comparison.reports, comparison.settings
    first = next(iter(reports))
    source = reports[first]._source
    batch = None if source is None else source.batch
    models = ", ".join(f"{text_literal(name)}: …" for name in reports)
    metrics = metrics_argument({key: reports[first].cell(key).metric for key in reports[first]})
    arguments = ["y_true", f"{{{models}}}", metrics, *data_arguments(reports[first], batch, source)]
    tests = settings.tests(len(reports), settings.correction, settings.baseline)
    intervals = interval_argument(Intervals(settings.level, resamples=settings.resamples, seed=settings.seed), tests)
    arguments += [f"ci={intervals}"] if intervals != "0.95" else []
    given = {
        "correction": (settings.correction, "max-t"),
        "baseline": (settings.baseline, None),
    }
    arguments += changed_arguments(given)
    prints = {f"fingerprint with {name}": report for name, report in reports.items()}
    needs_order = f"{NEEDS_ORDER}." if any("bootstrap" in each.method for each in comparison) else ""
    return reproduction_section(reports[first], prints, f"tm.compare({', '.join(arguments)})", command, needs_order)
