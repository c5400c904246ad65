"""Report.from_json: what to_json writes comes back."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import tallymark as tm
from tallymark.metrics import registry

RNG = np.random.default_rng(1)
N = 80
LABELS, GUESSES = RNG.integers(0, 2, (2, N))
SCORES = RNG.random(N)
CLASSES = RNG.integers(0, 3, N)
SPECIES = np.array(["cat", "dog", "owl"])[CLASSES]
TABLE = RNG.dirichlet(np.ones(3), N)
TRUTH, VALUES = RNG.gamma(2.0, 1.0, (2, N))
SITE = RNG.choice(["a", "b", "c"], N)

REPORTS = {
    "values": lambda: tm.evaluate(TRUTH, VALUES, ["rmse", "r2", "mape", "d2_pinball"], ci=0.95),
    "labels": lambda: tm.evaluate(
        SPECIES, SPECIES[::-1], ["accuracy", "fscore(average=macro)", "recall(average=none)"]
    ),
    "whole labels": lambda: tm.evaluate(CLASSES, CLASSES[::-1], ["recall(average=none)", "precision(average=none)"]),
    "tables": lambda: tm.evaluate(SPECIES, SPECIES[::-1], ["confusion_matrix", "classification_report"]),
    "weighted tables": lambda: tm.evaluate(CLASSES, CLASSES[::-1], ["confusion_matrix", "mcc"], weights=SCORES),
    "curves": lambda: tm.evaluate(
        LABELS, SCORES, ["roc_curve", "pr_curve", "det_curve", "lift_curve", "threshold_table", "reliability_curve"]
    ),
    "scores": lambda: tm.evaluate(
        LABELS, SCORES, ["auc", "brier", "ece"], ci=tm.Intervals(0.9, seed=4), weights=SCORES
    ),
    "classes": lambda: tm.evaluate(SPECIES, TABLE, ["auc", "logloss", "accuracy"], classes=["cat", "dog", "owl"]),
    "outputs": lambda: tm.evaluate(np.c_[TRUTH, VALUES], np.c_[VALUES, VALUES], ["rmse(outputs=each)", "r2"], ci=0.9),
    "undefined": lambda: tm.evaluate([1, 1], [1, 0], ["mcc", "auc", "specificity", "confusion_matrix"]),
    "constant": lambda: tm.evaluate([2.0, 2.0], [1.0, 2.0], ["r2", "r2(undefined=0)", "mape"]),
    "failed": lambda: tm.evaluate(TRUTH, -VALUES, ["rmse", "gamma_deviance"], errors="report"),
    "too large": lambda: tm.evaluate([1e300, 1.0], [-1e300, 2.0], ["mse", "mae"]),
    "dropped": lambda: tm.evaluate([1.0, math.nan, 3.0], [1.0, 2.0, 4.0], ["mae"], missing="drop"),
    "positive": lambda: tm.evaluate(SPECIES, SPECIES[::-1], ["f1", "recall"], positive="owl", average="binary"),
    "queries": lambda: tm.evaluate(LABELS, SCORES, ["ndcg", "auc"], query=np.arange(N) // 10),
    "infinite": lambda: tm.evaluate([1, 0], [0.0, 0.2], ["logloss(clip=0)", "brier"]),
    "defaults": lambda: tm.evaluate([0, 1, 1], [0.2, 0.7, 0.4]),
    "names": lambda: tm.evaluate(TRUTH, VALUES, {"error in euros": "mae", "R2": "r2"}, kind="value"),
    "groups": lambda: tm.evaluate(LABELS, SCORES, ["auc", "gap(recall)", "accuracy"], by={"site": SITE}, ci=0.95),
    "groups of two columns": lambda: tm.evaluate(
        TRUTH, VALUES, ["mae"], by={"site": SITE, "class": CLASSES}, min_rows=7
    ),
    "accepted": lambda: tm.evaluate(TRUTH, VALUES, ["mae", "r2"]).with_acceptance(["mae < 9", "r2 > 0.5 or mae < 3"]),
    "not decided": lambda: tm.evaluate([2.0, 2.0], [1.0, 2.0], ["r2"]).with_acceptance("r2 > 0.5"),
}


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


def test_it_can_be_shown_and_accepted_like_any_report():
    """In text, HTML and data frames; plots that need rows say why there are none."""
    report = tm.evaluate(LABELS, SCORES, ["auc", "accuracy"], by=SITE, ci=0.95)
    again = tm.Report.from_json(report.to_json())
    assert again.columns() == report.columns()
    assert tm.accept(again, "auc > 0 and accuracy.worst >= 0").passed
    assert again["ROC AUC"] == again["AUC"] == report["auc"]
    assert again.baseline_notes() == []
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
