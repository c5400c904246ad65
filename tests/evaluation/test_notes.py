"""Notes below the tables of reports and comparisons: equal ones once, with all that they belong to."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

import tallymark as tm

FEW = "only 5 rows: coverage may be below the nominal level"
TRUTH, FOUND = [1.0, 2.0, 4.0, 7.0, 5.0], [1.5, 2.0, 3.0, 7.5, 5.5]


def few(metrics=("rmse", "mae", "mean_bias")):
    """Five rows, too few for any interval."""
    return tm.evaluate(TRUTH, FOUND, metrics, ci=0.95)


FORMS = {
    "text": str,
    "notebook": lambda report: unescape(report._repr_html_()),
    "terminal": lambda report: " ".join(report.to_terminal(width=300, colour=False).split()),
    "markdown": lambda report: re.sub(r"\\(.)", r"\1", report.to_markdown()),
    "page": lambda report: unescape(report.to_html()),
}


@pytest.mark.parametrize("form", FORMS)
def test_equal_notes_are_told_once(form):
    """Behind the names of all metrics that have them, wherever the table is shown."""
    shown = FORMS[form](few())
    assert shown.count(FEW) == 1
    assert f"RMSE, MAE, mean bias: {FEW}" in shown


def test_no_metric_is_left_out():
    """However many have a note."""
    report = few([f"huber(delta=0.{k})" for k in range(1, 9)])
    assert f"{', '.join(map(report.display_name, report))}: {FEW}" in str(report)


def test_reasons_are_told_once_too():
    """Metrics that are undefined for one reason."""
    report = tm.evaluate([2.0, 2.0], [1.0, 2.0], ["r2", "mae", "explained_variance"])
    assert str(report).endswith("· R², explained variance: the truth is constant")


def test_data_keep_the_notes_of_each_metric():
    """A program finds them where the value is."""
    report = few()
    held = json.loads(report.to_json())["metrics"]
    for key in report:
        assert report.cell(key).notes == (FEW,)
        assert held[key]["interval_notes"] == [FEW]
    assert list(report.to_pandas()["notes"]) == [FEW] * 3
    assert report.to_csv().count(FEW) == 3


def test_comparisons_note_values_and_differences():
    """Values of several models, and their differences."""
    compared = tm.compare([2.0] * 12, {"a": [1.0, 2.0] * 6, "b": [2.0, 3.0] * 6}, ["r2"])
    assert "· R² of a, R² of b: the truth is constant" in str(compared)
