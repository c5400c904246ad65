"""evaluate and its report: a mapping that prints, renders and exports."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import tallymark as tm

Y, P = [3.0, -0.5, 2.0, 7.0], [2.5, 0.0, 2.0, 8.0]


def test_a_report_is_a_mapping():
    """Keys are canonical strings; any name of a metric finds it."""
    report = tm.evaluate(Y, P, ["rmse", tm.mae, "huber(delta=2.0)", "rsquared"])
    assert list(report) == ["rmse", "mae", "huber(delta=2)", "r2"]
    assert len(report) == 4
    assert dict(report)["mae"] == 0.5
    assert report["mad"] == report[tm.mae] == report["mae"] == 0.5
    assert "mad" in report
    assert tm.rmse in report
    assert "mape" not in report
    assert "no such metric" not in report
    assert report.n == 4
    assert report.total_weight == 4.0


def test_a_mapping_of_metrics_renames_their_cells():
    """A mapping renames; the metric still finds its cell."""
    report = tm.evaluate(Y, P, {"typical error": "rmse", "squared": tm.mse})
    assert list(report) == ["typical error", "squared"]
    assert report["rmse"] == report["typical error"]


def test_without_metrics_the_truth_decides():
    """Floats are values; whole numbers could be labels, and are asked about."""
    assert list(tm.evaluate(Y, P)) == ["rmse", "mae", "r2"]
    assert list(tm.evaluate([1, 2, 3], [1, 2, 4], kind="value")) == ["rmse", "mae", "r2"]
    assert list(tm.evaluate(np.float32(Y), P)) == ["rmse", "mae", "r2"]
    assert list(tm.evaluate(Y, P, "rmse")) == ["rmse"]


def test_a_named_metric_that_cannot_be_computed_raises():
    """The error carries the report with the others, where rows were read."""
    with pytest.raises(tm.ShapeError, match="two columns") as caught:
        tm.evaluate(Y, P, ["rmse", "coverage"])
    assert caught.value.report is None  # the types decide, before any row is read
    ten = np.arange(20) % 10
    with pytest.raises(tm.ParameterError, match="`average` must be given") as caught:
        tm.evaluate(ten, ten, ["accuracy", "f1"])
    assert caught.value.report["accuracy"] == 1.0
    with pytest.raises(tm.DomainError, match="row 0") as caught:
        tm.evaluate([-2.0, 1.0], [1.0, 1.0], ["rmse", "msle"], by=["a", "b"])
    assert caught.value.report["rmse"] == pytest.approx(math.sqrt(4.5))
    with pytest.raises(tm.ParameterError, match="report"):
        tm.evaluate(Y, P, ["rmse"], errors="cell")


def test_one_metric_that_fails_does_not_stop_the_others_on_request():
    """With errors="report" it is a failed cell, whose value raises its error."""
    report = tm.evaluate(Y, P, ["rmse", "msle", "coverage"], errors="report")
    assert report["rmse"] > 0
    assert set(report.failures) == {"coverage"}
    with pytest.raises(tm.ShapeError):
        report["coverage"]
    assert "failed" in str(report)
    report = tm.evaluate([-2.0, 1.0], [1.0, 1.0], ["rmse", "msle"], errors="report")
    with pytest.raises(tm.DomainError, match="row 0"):
        report["msle"]
    assert report.cell("msle").error is report.failures["msle"]
    with pytest.raises(tm.DomainError):
        tm.evaluate([-2.0, 1.0], [1.0, 1.0], ["rmse", "msle"], errors="raise")
    assert "failed" in repr(report.cell("msle"))
    with pytest.raises(tm.ParameterError):
        tm.evaluate(Y, P, ["mase"])["mase"]


def test_faults_of_the_data_always_raise():
    """Even in a column that no metric could read."""
    with pytest.raises(tm.MissingValueError):
        tm.evaluate([1.0, 2.0], [[1.0, 2.0, 3.0], [1.0, math.nan, 3.0]], ["rmse"], errors="report")
    with pytest.raises(tm.WeightError):
        tm.evaluate([1.0, 2.0], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], ["rmse"], weights=[1.0, -1.0], errors="report")


def test_a_metric_that_cannot_read_the_kind_fails_alone():
    """Each metric reads the kind that it needs; one that cannot fails alone."""
    report = tm.evaluate([1.0, 2.0], [0.0, 0.5], ["poisson", "rmse"], kind="margin", errors="report")
    assert report["poisson_deviance"] == tm.poisson_deviance([1.0, 2.0], [0.0, 0.5], kind="margin")
    assert isinstance(report.failures["rmse"], tm.KindError)
    with pytest.raises(tm.MissingValueError, match="y_pred"):
        tm.poisson_deviance([1.0, 2.0], [0.0, math.inf], kind="margin")


def test_decimal_points_are_aligned_in_print():
    """A clean table: decimal points one below the other, notes below."""
    y, p = [0.0, 1000.0, -2.0], [1.0, 1234567.0, -2.0]
    text = str(tm.evaluate(y, p, ["rmse", "mape", "r2", "coverage", "msle"], weights=[1, 2, 1], errors="report"))
    assert text == (
        "3 rows · total weight 4\n"
        "\n"
        "metric               value  better    unit\n"
        "────────  ────────────────  ────────  ─────────────────\n"
        "RMSE         872,264        lower     same as y\n"
        "MAPE               2.5e+16  lower     percent\n"
        "R²        -3,037,290        higher\n"
        "coverage            failed  near 0.9\n"
        "MSLE                failed  lower     log units squared\n"
        "\n"
        "· RMSE: worse than always predicting the mean (500.5)\n"
        "· R²: worse than always predicting the mean (0)\n"
        "· MAPE: 1 row has a truth closer to 0 than 1e-15\n"
        "· coverage: `y_pred` must have two columns, lower and upper bound; got 1\n"
        "· MSLE: `y_true` must be greater than -1 for msle; got -2.0 (row 2)"
    )
    assert repr(tm.evaluate(Y, P, ["rmse"])).startswith("4 rows\n")
    assert str(tm.evaluate([1.0], [2.0], ["mae"])).startswith("1 row\n")
    assert "undefined" in str(tm.evaluate([1.0], [2.0], ["r2"]))
    assert "∞" in str(tm.evaluate([0.0], [1e200], ["rss"]))


def test_several_outputs_are_printed_a_line_each():
    """One line per output."""
    report = tm.evaluate(np.array([Y, P]).T, np.array([P, Y]).T, ["mae(outputs=each)"])
    assert "MAE (outputs each) · output 1" in str(report)


def test_html_is_escaped_and_self_contained():
    """A name cannot inject anything."""
    html = tm.evaluate(Y, P, {"<script>alert(1)</script>": "rmse"})._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "http" not in html
    assert 'scope="col"' in html


def test_control_characters_do_not_reach_the_terminal():
    """A name cannot move the cursor."""
    assert "\x1b" not in str(tm.evaluate(Y, P, {"\x1b[2Jevil": "rmse"}))


def test_wide_names_line_up():
    """Characters that take two cells of a terminal are counted as two."""
    lines = str(tm.evaluate(Y, P, {"誤差": "rmse", "mae": "mae"})).splitlines()
    assert lines[4].index("0.61") + 2 == lines[5].index("0.5")


def test_json_has_no_nan():
    """NaN and infinity are null, with the reason beside them."""
    report = tm.evaluate([1.0, 1.0], [1.0, 1e200], ["r2", "rss", "mae(outputs=each)", "coverage"], errors="report")
    data = json.loads(report.to_json())
    assert data["n"] == 2
    assert data["metrics"]["r2"]["value"] is None
    assert data["metrics"]["r2"]["reason"] == "the truth is constant"
    assert data["metrics"]["rss"]["value"] is None
    assert data["metrics"]["mae(outputs=each)"]["value"] == [5e199]
    assert "two columns" in data["metrics"]["coverage"]["error"]
    assert math.isnan(report.to_dict()["metrics"]["r2"]["value"])


def test_frames_have_one_row_per_value():
    """One row per value in pandas, Polars and Arrow."""
    report = tm.evaluate(
        np.array([Y, P]).T, np.array([P, Y]).T, ["rmse", "mae(outputs=each)", "coverage"], errors="report"
    )
    pandas = report.to_pandas()
    assert list(pandas["metric"]) == ["rmse", "mae(outputs=each)", "mae(outputs=each)", "coverage"]
    assert list(pandas["part"])[1:3] == ["output 0", "output 1"]
    assert report.to_polars()["value"].to_list()[:3] == list(pandas["value"])[:3]
    assert report.to_arrow().column_names == list(pandas.columns)
    assert "one column" in report.to_arrow()["reason"][3].as_py()


def test_a_data_frame_without_its_package_says_what_to_install(monkeypatch):
    """The error says what to install."""
    import sys

    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(tm.MissingPackageError, match="pip install polars"):
        tm.evaluate(Y, P).to_polars()


def test_a_cell_has_value_reason_n_and_weight():
    """Value, reason, n and weight of one metric."""
    cell = tm.evaluate([1.0, 1.0], [1.0, 2.0], ["r2"], weights=[1, 3]).cell("r2")
    assert math.isnan(cell.value)
    assert (cell.reason, cell.n, cell.weight, cell.error, cell.lo) == ("the truth is constant", 2, 4.0, None, None)
    assert repr(cell) == "Cell(r2: nan, the truth is constant)"


def test_function_metrics_that_cannot_be_hashed():
    """Plans are remembered where they can be, and made anew where not."""

    class Unhashable:
        __hash__ = None

        def __call__(self, y, p, w):
            return 1.0

    metric = tm.custom(Unhashable(), name="unhashable_for_a_test")
    try:
        assert tm.evaluate(Y, P, [metric, "rmse"])["unhashable_for_a_test"] == 1.0
    finally:
        from tallymark.metrics import registry

        del registry.functions["unhashable_for_a_test"]


def test_the_default_set_goes_by_the_types():
    """Strings with columns of probabilities, one column, labels, rankings by query."""
    names, table = ["a", "b", "c", "a"], [[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8], [0.4, 0.3, 0.3]]
    probabilities = ["auc", "logloss", "brier", "accuracy"]
    assert list(tm.evaluate(names, table)) == probabilities
    assert list(tm.evaluate([True, False, True, False], [0.9, 0.1, 0.8, 0.3])) == probabilities
    assert list(tm.evaluate([1, 0, 1, 0], [3.0, 1.0, 2.0, 0.5], query=[1, 1, 2, 2])) == ["ndcg", "map", "mrr"]


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda report: report.auc, r'the value of a metric is report\["auc"\]'),
        (lambda report: report.logloss, r'report\["logloss"\]'),
        (lambda report: report.roc(), r"the plot is report\.plot\.roc\(\)"),
        (lambda report: report.accept("auc > 0.5"), r'call tm\.accept\(report, "auc > 0\.8"\)'),
        (lambda report: report.nothing, r"a report has no attribute 'nothing'$"),
        (lambda report: report._nothing, r"a report has no attribute '_nothing'$"),
        (lambda report: report.plot(), r"each plot of a report has a name: report\.plot\.roc\(\), "),
        (lambda report: report.plot.roc_curve(), r"has no plot 'roc_curve'; call report\.plot\.roc\(\)"),
        (lambda report: report.plot.threshold(), r"call report\.plot\.thresholds\(\)"),
        (lambda report: report.plot.nothing, r"a report has no plot 'nothing'$"),
        (lambda report: report.to_csv("a.csv"), r"returned, not written to 'a\.csv'\. Call save\('a\.csv'\)"),
        (lambda report: report.to_html("a.html"), r"Call save\('a\.html'\)"),
        (lambda report: report.plot.roc().savefig("roc.png"), r'call plot\.save\("plot\.svg"\)'),
        (lambda report: report.plot.roc().show(), r"plot\.figure\(\) is a figure of matplotlib"),
        (lambda report: report.plot.roc().nothing, r"a plot has no attribute 'nothing'$"),
    ],
)
def test_what_is_looked_for_in_the_wrong_place_says_where_it_is(use, words):
    """Values, plots and conditions."""
    with pytest.raises((AttributeError, tm.ParameterError), match=words):
        use(tm.evaluate([0, 1, 1], [0.2, 0.8, 0.4]))


def test_predictions_of_several_models_are_compared():
    """A mapping in the place of predictions says so."""
    with pytest.raises(tm.TypeOfDataError, match=r"`y_pred` must be the predictions of one model.*call tm\.compare"):
        tm.evaluate([0, 1], {"old": [0, 1], "new": [1, 1]})
