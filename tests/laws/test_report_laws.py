"""Every metric can be shown in every form, whatever its value is."""

from __future__ import annotations

import csv
import io
import re
from html import escape as html_text

import pytest

import tallymark as tm
from tallymark.metrics import registry
from tallymark.metrics.base import Metric
from tests.laws.cases import random_rows

METRICS = [cls() for cls in registry.classes.values()]


def report_of(metric: Metric) -> tm.Report:
    rows = random_rows(metric, 60)
    return tm.evaluate(rows.y, rows.p, [metric], weights=rows.w, query=rows.q, errors="report", **rows.facts)


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_every_metric_is_named_in_every_text_format(metric):
    """Markdown, CSV and terminal name it, and CSV has one line per part of its value."""
    report = report_of(metric)
    name = report.display_name(metric)
    assert name.replace("_", r"\_") in report.to_markdown()
    assert name in report.to_terminal(colour=False)
    lines = list(csv.DictReader(io.StringIO(report.to_csv())))
    assert len(lines) == len(report.cell(metric).parts())


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_every_metric_makes_a_complete_page(metric):
    """Whole, with whatever plots suit it, and the same each time."""
    report = report_of(metric)
    html = report.to_html()
    assert html.endswith("</html>\n")
    assert re.search(rf"<h3 [^>]*>{re.escape(html_text(report.display_name(metric)))}</h3>", html)
    assert report_of(metric).to_html() == html
