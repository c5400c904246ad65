"""evaluate(by=...): a report for every group, with sizes, comparisons and exports."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tallymark as tm

Y = [1, 1, 1, 0, 0, 0, 1, 0]
P = [1, 0, 1, 0, 1, 0, 1, 1]
SEX = ["f", "f", "m", "m", "f", "m", "m", "f"]
OLD = [True, False, True, False, True, False, True, False]


def sliced(by, metrics=("accuracy", "recall"), **more):
    return tm.evaluate(Y, P, list(metrics), by=by, **more).slices


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        np.array,
        lambda c: np.array(c, dtype=object),
        pd.Series,
        pd.Categorical,
        pl.Series,
        pa.array,
        lambda c: pa.chunked_array([c[:3], c[3:]]),
        lambda c: np.array(c)[:, None],
    ],
)
def test_groups_may_be_lists_arrays_series_or_categories(form):
    """Lists, arrays, series and categories of labels are groups."""
    slices = sliced(form(SEX))
    assert list(slices) == ["f", "m"]
    assert slices.sizes == {"f": 4, "m": 4}
    assert slices["f"]["accuracy"] == 0.25
    assert slices["m"]["recall"] == 1.0


@pytest.mark.parametrize(
    "table",
    [
        lambda c: c,
        pd.DataFrame,
        pl.DataFrame,
        pa.table,
        lambda c: {key: np.array(column) for key, column in c.items()},
    ],
)
def test_a_group_of_several_columns_is_one_label_of_each(table):
    """A group is then one label of each, of those that have rows."""
    slices = sliced(table({"sex": SEX, "old": OLD}))
    assert slices.names == ("sex", "old")
    assert list(slices) == [("f", False), ("f", True), ("m", False), ("m", True)]
    assert slices["m", True].n == 2


@pytest.mark.parametrize(
    "form", [list, tuple, np.array, pd.Series, pl.Series, pa.array, lambda c: pa.chunked_array([c])]
)
def test_several_columns_without_names_are_refused_with_a_fix(form):
    """In a list, of whatever form, or as rows: the error shows a mapping. Rows of one label each are one column."""
    old = list(map(str, OLD))
    for by in ([form(SEX), form(old)], (form(SEX),), list(zip(SEX, old, strict=True)), np.array([SEX, old])):
        with pytest.raises(tm.ShapeError, match=r'must be a mapping .*, such as {"sex": sex, "region": region}'):
            sliced(by)
    assert sliced([[label] for label in SEX]).sizes == {"f": 4, "m": 4}


def test_a_series_names_its_groups():
    """A series brings its name; a column without one is called group."""
    assert sliced(pd.Series(SEX, name="sex")).names == ("sex",)
    assert sliced(SEX).names == ("group",)
    assert sliced(pd.DataFrame({"sex": SEX})).names == ("sex",)


def test_a_group_that_is_not_there():
    """The error names those that are."""
    with pytest.raises(KeyError, match="'f', 'm'"):
        sliced(SEX)["x"]
    with pytest.raises(KeyError):
        sliced(SEX)[["f"]]


def test_classes_are_those_of_all_rows():
    """A group that lacks a class is read with it, as filter-then-evaluate with `classes` is."""
    y, p = ["a", "b", "c", "a", "a", "b"], ["a", "b", "a", "a", "b", "b"]
    group = [1, 1, 1, 2, 2, 2]
    report = tm.evaluate(y, p, ["recall(average=macro)", "confusion_matrix"], by=group)
    alone = tm.evaluate(y[3:], p[3:], ["recall(average=macro)"], classes=["a", "b", "c"])
    assert report.slices[2]["recall(average=macro)"] == alone["recall(average=macro)"]
    assert report.slices[2]["recall(average=macro)"] != tm.recall(y[3:], p[3:], average="macro")
    assert list(report.slices[2]["confusion_matrix"].classes) == ["a", "b", "c"]


def test_columns_of_probabilities_keep_their_classes():
    """A group without a class still has the column of it."""
    table = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8], [0.5, 0.4, 0.1]])
    report = tm.evaluate(["a", "b", "c", "a"], table, ["logloss", "top_k_accuracy", "auc"], by=[1, 1, 1, 2])
    assert report.slices[2]["logloss"] == tm.logloss(["a"], table[3:], classes=["a", "b", "c"])
    assert report.slices[2]["top_k_accuracy"] == 1.0
    assert "class" in report.slices[2].reasons["auc"]


def test_gap_ratio_and_worst_leave_out_small_groups():
    """gap, ratio and worst of any metric of the report; `min_rows` leaves small groups out."""
    slices = sliced(SEX)
    assert slices.gap("accuracy") == 0.75
    assert slices.ratio("accuracy") == 0.25
    assert slices.worst("accuracy") == 0.25
    assert slices.worst(tm.recall) == 0.5
    assert slices.gap("accuracy").notes == ("accuracy is highest for m (1), lowest for f (0.25)",)
    groups = ["a", "a", "a", "b", "b", "b", "c", "c"]
    assert sliced(groups).gap("accuracy") == pytest.approx(1 / 6)
    assert sliced(groups, min_rows=3).gap("accuracy") == 0.0
    with pytest.raises(tm.ParameterError, match="excludes every group"):
        sliced(SEX, min_rows=5).gap("accuracy")
    with pytest.raises(KeyError):
        slices.gap("mcc")


def test_undefined_groups_are_left_out_and_named():
    """A group without a value does not hide the others."""
    report = tm.evaluate(
        [1, 1, 0, 0], [1, 0, 0, 0], ["recall", "gap(recall)", "gap(precision)"], by=["a", "b", "c", "c"]
    )
    assert report["gap(recall)"] == 1.0
    assert "recall has no value for c: left out" in report.cell("gap(recall)").notes
    assert np.isnan(report["gap(precision)"])
    assert report.reasons["gap(precision)"] == "fewer than two groups have a value"


def test_small_groups_are_pointed_out():
    """Below thirty rows the print says so."""
    assert "vary by chance: f, m" in str(tm.evaluate(Y, P, ["accuracy"], by=SEX))
    many = np.arange(100) % 2
    assert "chance" not in str(tm.evaluate(many, many, ["accuracy"], by=many))


def test_weights_and_missing_groups_go_with_their_rows():
    """Weights go with their rows; a missing group is dropped with its row, or refused."""
    slices = sliced(SEX, weights=[0, 1, 1, 1, 1, 1, 1, 1])
    assert slices["f"].total_weight == 3.0
    assert slices["f"]["accuracy"] == 0.0
    holes = [None, *SEX[1:]]
    with pytest.raises(tm.MissingValueError, match="`by`"):
        sliced(holes)
    report = tm.evaluate(Y, P, ["accuracy"], by=holes, missing="drop")
    assert report.dropped == 1
    assert report.slices.sizes == {"f": 3, "m": 4}


def test_exports_have_one_row_per_group_and_value():
    """Plain data, JSON and frames hold one row per group and value."""
    report = tm.evaluate(Y, P, ["accuracy", "recall"], by={"sex": SEX, "old": OLD})
    plain = json.loads(report.to_json())["slices"]
    assert plain["by"] == ["sex", "old"]
    assert plain["groups"][0]["group"] == {"sex": "f", "old": False}
    assert plain["groups"][0]["metrics"]["accuracy"]["value"] == 0.0
    frame = report.slices.to_pandas()
    assert list(frame.columns[:4]) == ["sex", "old", "metric", "part"]
    assert len(frame) == len(report.slices.to_polars()) == report.slices.to_arrow().num_rows == 8
    assert "slices" not in tm.evaluate(Y, P, ["accuracy"]).to_dict()


def test_groups_are_printed_below_the_values():
    """The groups stand below the values, all rows first and then the worst group; many groups are cut."""
    text = str(tm.evaluate(Y, P, ["accuracy"], by={"sex": SEX}))
    assert text.splitlines()[-5:-1] == ["all     8     0.625", "f       4     0.25", "m       4     1", ""]
    slices = sliced({"<b>": SEX})
    assert "&lt;b&gt;" in slices._repr_html_()
    many = tm.evaluate(np.arange(60) % 2, np.arange(60) % 2, ["accuracy"], by=np.arange(60))
    assert "20 of 60 groups shown; all: report.slices\n" in str(many)
    assert len(str(many.slices).splitlines()) > 60
    page = many.to_html()
    assert '<li dir="auto">20 of 60 groups shown</li>' in page
    assert "<summary>Show all 60 groups</summary>" in page
    crossed = str(tm.evaluate(Y * 10, P * 10, ["accuracy"], by={"k": np.arange(80), "old": OLD * 10}))
    assert '20 of 80 groups shown; all: report.slices.by("k")\n' in crossed


def test_metrics_of_groups_need_groups():
    """Without `by` they are an error, or a cell that says so; a tally cannot have them."""
    with pytest.raises(tm.ParameterError, match="`by` must be given"):
        tm.evaluate(Y, P, ["accuracy", "demographic_parity"])
    report = tm.evaluate(Y, P, ["accuracy", "demographic_parity"], errors="report")
    assert report["accuracy"] == 0.625
    assert "`by` must be given" in str(report.failures["demographic_parity"])
    with pytest.raises(tm.ParameterError, match="groups"):
        tm.Tally(["accuracy", "demographic_parity"])


def test_only_combinations_of_labels_that_have_rows_are_groups():
    """Products of labels beyond 64 bits are no trouble: only groups that have rows are made."""
    rng = np.random.default_rng(0)
    columns = {f"c{k}": rng.integers(0, 10**6, 50) for k in range(12)}
    slices = tm.evaluate(rng.integers(0, 2, 50), rng.integers(0, 2, 50), ["accuracy"], by=columns).slices
    assert len(slices) == 50
    assert list(slices) == sorted(slices)


def test_bins_in_any_container_are_groups():
    """Intervals of pandas as a categorical, as intervals, as objects or in a list, and as a column of a table."""
    pd = pytest.importorskip("pandas")
    bins = pd.Series(pd.cut(np.arange(8), [-1, 3, 7]))
    frame = pd.DataFrame({"y": Y, "p": P, "bins": bins})
    for column in (bins, bins.astype("interval"), bins.astype(object), bins.tolist(), np.array(bins.tolist(), object)):
        assert list(tm.evaluate(Y, P, ["accuracy"], by=column).slices) == ["(-1, 3]", "(3, 7]"]
    for dtype in ("category", "interval", object):
        table = frame.astype({"bins": dtype})
        report = tm.evaluate_table(table, truth="y", prediction="p", metrics=["accuracy"], by=["bins"])
        assert list(report.slices) == ["(-1, 3]", "(3, 7]"]
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(tm.FileError, match="column 'bins' must contain numbers or text"):
        tm.evaluate_table(pa.Table.from_pandas(frame), truth="y", prediction="p", metrics=["accuracy"], by=["bins"])
    with pytest.raises(tm.TypeOfDataError, match="must contain labels"):
        tm.evaluate(Y[:2], P[:2], ["accuracy"], by=[bins[0], 5])


def test_intervals_of_groups_are_printed():
    """Each metric has its interval beside it, and one line says how they were made."""
    text = str(tm.evaluate(Y * 10, P * 10, ["accuracy", "r2"], by=SEX * 10, ci=tm.Intervals(0.9, seed=3)))
    assert "sex" not in text
    assert text.count("90 % interval") == 3
    assert "intervals: Wilson for accuracy; bootstrap (1,000 resamples, seed 3) for R²" in text
    assert "excluded from comparisons: fewer than 41 rows: f, m" in str(
        tm.evaluate(Y * 10, P * 10, ["r2"], by=SEX * 10, min_rows=41)
    )


def test_group_columns_may_have_the_names_of_report_columns():
    """Names that read the same, no columns at all, and names of the columns of the report."""
    with pytest.raises(tm.ParameterError, match="got '1' twice"):
        sliced({1: SEX, "1": OLD})
    with pytest.raises(tm.ParameterError, match="at least one column"):
        sliced(pd.DataFrame(index=range(8)))
    frame = sliced({"value": SEX, "sex": OLD}).to_pandas()
    assert frame["value (group)"].tolist()[:2] == ["f", "f"]
    assert frame["value"].dtype == float


def test_categories_keep_their_order():
    """As pandas.cut gives them, with labels or with intervals."""
    bins = pd.cut(pd.Series([1, 2, 3, 9, 8, 7, 5, 5]), [0, 3, 6, 10], labels=["low", "mid", "high"])
    assert list(sliced(bins)) == ["low", "mid", "high"]
    assert sliced(bins).sizes == {"low": 3, "mid": 2, "high": 3}
    halves = pd.cut(pd.Series(range(8)), [-1, 3, 7])
    assert sliced(halves).sizes == sliced(halves.array).sizes == {"(-1, 3]": 4, "(3, 7]": 4}
    assert sliced(halves.astype(object).astype("interval")).sizes == {"(-1, 3]": 4, "(3, 7]": 4}


def test_groups_that_are_left_out_are_named_everywhere():
    """Also where the report is asked after the fact, as acceptance does."""
    report = tm.evaluate([1] * 15, [1] * 10 + [0] * 5, ["recall"], by=["a"] * 10 + ["tiny"] * 5, min_rows=6)
    assert report.slices.worst("recall") == 1.0
    assert report.slices.worst("recall").notes[-1] == "groups of fewer than 6 rows are left out: tiny"
    with pytest.raises(tm.ParameterError, match="pass `by`"):
        tm.evaluate(Y, P, ["recall"], min_rows=3)


def test_numbers_of_both_kinds_in_a_list():
    """Whole ones among floats are numbers, also where there are groups."""
    report = tm.evaluate([31.5, 12, 45.0], [30.0, 14, 40], ["mae"], by=["a", "b", "a"])
    assert report["mae"] == tm.mae([31.5, 12.0, 45.0], [30.0, 14.0, 40.0])
    assert report.slices["a"]["mae"] == 3.25


def test_a_group_without_weight_hides_no_values_by_class():
    """It has no value that would tell one number from several; the others do."""
    facts = {"weights": [0, 0, 1, 1, 1, 1], "by": {"g": [0, 0, 1, 1, 1, 1]}, "ci": 0.9}
    report = tm.evaluate([0, 1, 0, 1, 1, 0], [0, 1, 1, 1, 0, 0], ["fscore(average=None)", "accuracy"], **facts)
    headings = report.slices.table().headings
    assert "accuracy" in headings
    assert not any("fscore" in heading for heading in headings)


@pytest.mark.parametrize("ci", [None, 0.9, tm.Intervals(0.9, method="bootstrap", resamples=50)])
def test_the_groups_of_one_column_are_those_of_an_evaluation_by_it(ci):
    """To the last bit, from rows and from a tally; a stored report has the crossing only."""
    by = {"sex": SEX * 5, "old": OLD * 5}
    crossed = tm.evaluate(Y * 5, P * 5, ["accuracy", "recall"], by=by, ci=ci)
    tally = tm.Tally(["accuracy", "recall"], by=list(by), ci=ci).update(Y * 5, P * 5, by=by)
    for name, column in by.items():
        alone = tm.evaluate(Y * 5, P * 5, ["accuracy", "recall"], by={name: column}, ci=ci).slices.to_dict()
        assert crossed.slices.by(name).to_dict() == alone
        assert tally.report().slices.by(name).to_dict() == alone
    assert crossed.slices.by("sex").by("sex") is crossed.slices.by("sex")
    assert "by sex · 2 groups" in str(crossed)
    assert "by sex, old" not in str(crossed)
    assert str(pickle.loads(pickle.dumps(crossed))) == str(crossed)
    kept = pickle.loads(pickle.dumps(tally.report()))
    assert "by sex, old · 4 groups" in str(kept)
    with pytest.raises(tm.ParameterError, match="rows and states are gone"):
        kept.slices.by("old")
    with pytest.raises(tm.ParameterError, match="must be one of sex, old"):
        crossed.slices.by("age")


def test_groups_are_ordered_from_the_worst_to_the_best():
    """By the first metric; groups of few rows come last, since chance makes them extreme."""
    group = np.repeat(["a", "b", "c", "tiny"], [40, 40, 40, 3])
    truth = np.ones(123)
    found = truth + np.repeat([0.1, 0.3, 0.2, 9.0], [40, 40, 40, 3])
    report = tm.evaluate(truth, found, ["mae"], by=group)
    assert [row[0] for row in report.group_tables()[0].rows] == ["all", "b", "c", "a", "tiny"]
    assert "ordered by MAE, the worst group first; groups of fewer than 30 rows last" in str(report)
    assert list(report.slices) == ["a", "b", "c", "tiny"]


def test_groups_have_the_values_that_fairness_metrics_compare():
    """Rounded by their intervals in the notes, as in the table."""
    rng = np.random.default_rng(1)
    truth, guess, by = rng.integers(0, 2, 90), rng.integers(0, 2, 90), np.array(list("abc") * 30)
    for ci in (None, 0.95):
        report = tm.evaluate(truth, guess, ["equalized_odds"], by=by, ci=ci)
        assert list(report) == ["equalized_odds"]
        assert list(report.slices["a"]) == ["recall", "fallout"]
        assert report.slices["a"]["recall"] == tm.recall(truth[by == "a"], guess[by == "a"])
        table = report.slices.table(report, stacked=True)
        assert table.headings == ("group", "rows", "recall", "false positive rate")
        shown = {str(row[0]): str(row[2]) for row in table.rows}
        highest = max(report.slices, key=lambda group: report.slices[group]["recall"])
        assert f"recall is highest for {highest} ({shown[highest]})" in report.cell("equalized_odds").notes[0]
        assert report.plot.slices().description.startswith("recall by group: from")
