"""Report.from_json: what to_json writes comes back."""

from __future__ import annotations

import json
import math

import pytest
from tests.formats.samples import LABELS, REPORTS, SCORES, SITE, TRUTH, VALUES

import tallymark as tm
from tallymark.metrics import registry


def numbers(value):
    """A value in which NaN is equal to NaN."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, dict):
        return {key: numbers(each) for key, each in value.items()}
    return [numbers(each) for each in value] if isinstance(value, list) else value


def check_equal(again, report):
    """Keys, values, reasons, intervals, notes and groups."""
    assert list(again) == list(report)
    for name in ("n", "total_weight", "dropped", "kind", "inferred_kind", "interval", "reasons"):
        assert getattr(again, name) == getattr(report, name), name
    assert {key: str(error) for key, error in again.failures.items()} == {
        key: str(error) for key, error in report.failures.items()
    }
    for key in report:
        one, other = again.cell(key), report.cell(key)
        assert one.metric == other.metric
        assert (one.n, one.weight, one.notes, one.method) == (other.n, other.weight, other.notes, other.method)
        assert numbers([one.lo, one.hi]) == numbers([other.lo, other.hi])
        if other.error is None:
            assert type(one.value) is type(other.value)
            assert numbers(one.value) == numbers(other.value)
        assert again.display_name(key) == report.display_name(key)
    assert (again.slices is None) == (report.slices is None)
    if report.slices is not None:
        assert (again.slices.names, again.slices.min_rows) == (report.slices.names, report.slices.min_rows)
        assert list(again.slices) == list(report.slices)
        for group in report.slices:
            check_equal(again.slices[group], report.slices[group])


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_comes_back_from_its_json(name):
    """Equal in all that it has, and written again as it was."""
    report = REPORTS[name]()
    text = report.to_json()
    again = tm.Report.from_json(text)
    assert again.to_json() == text
    assert numbers(again.to_dict()) == numbers(report.to_dict())
    check_equal(again, report)
    if report.acceptance is not None:
        assert (again.acceptance.passed, str(again.acceptance)) == (report.acceptance.passed, str(report.acceptance))
    assert tm.Report.from_json(report.to_json(indent=None)).to_json() == text
    assert str(again) == str(report)


def test_it_can_be_shown_and_accepted_like_any_report():
    """In text, HTML and data frames; plots that need rows say why there are none."""
    report = tm.evaluate(LABELS, 1 - SCORES, ["auc", "accuracy"], by=SITE, ci=0.95)
    again = tm.Report.from_json(report.to_json())
    assert again.to_csv() == report.to_csv()
    assert tm.accept(again, "auc > 0 and accuracy.worst >= 0").passed
    assert again["ROC AUC"] == again["AUC"] == report["auc"]
    assert again.baseline_notes() == report.baseline_notes() != []
    assert "ROC AUC" in again.to_markdown()
    assert "ROC AUC" in again.to_html()
    assert again.plot.available() == ("slices",)
    with pytest.raises(tm.ParameterError, match="neither rows nor states"):
        again.plot.roc()


def test_what_is_not_the_json_of_a_report_is_an_error():
    """Of ours, that says what it must be; a metric that is unknown here is named."""
    for text in ("", "[]", "{}", '{"n": 1}', "null", 3, None, b"\xff", '{"n": "x", "total_weight": 1, "metrics": {}}'):
        with pytest.raises(tm.ParameterError, match="`text` must be what to_json"):
            tm.Report.from_json(text)
    metric = tm.custom(lambda y, p: 0.0, name="only_here")
    text = tm.evaluate(TRUTH, VALUES, [metric]).to_json()
    registry.functions.clear()
    registry._changed()
    with pytest.raises(tm.UnknownMetricError, match="only_here"):
        tm.Report.from_json(text)
    assert json.loads(text)["metrics"]
