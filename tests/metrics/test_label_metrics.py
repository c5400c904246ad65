"""What label and cluster metrics do beyond their numbers: tables, names, notes, weights, one pass."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.states.labels import encoding

TRUTH, SAID = ["cat", "dog", "dog", "fox"], ["cat", "cat", "dog", "dog"]


def test_the_confusion_matrix_reads_and_exports():
    """Cells by name, the matrix, frames in the order of the classes, JSON, shares, mistakes."""
    table = tm.confusion_matrix(TRUTH, SAID)
    assert table["dog", "cat"] == 1
    assert table["fox", "fox"] == 0
    assert np.asarray(table).tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert np.asarray(table, dtype=float).dtype == np.float64
    frame = table.to_pandas()
    assert frame.loc["dog", "cat"] == 1
    assert list(frame.columns) == ["cat", "dog", "fox"]
    assert table.to_polars().columns == ["truth", "cat", "dog", "fox"]
    assert table.to_arrow().column("dog").to_pylist() == [0, 1, 1]
    assert json.loads(table.to_json())["classes"] == ["cat", "dog", "fox"]
    assert table.normalized("prediction")["dog", "cat"] == 0.5
    assert table.normalized("all")["cat", "cat"] == 0.25
    assert table.mistakes() == [("dog", "cat", 1), ("fox", "dog", 1)]
    assert table == tm.confusion_matrix(TRUTH, SAID)
    assert hash(table) == hash(tm.confusion_matrix(TRUTH, SAID))
    assert '<th scope="row">dog</th>' in table._repr_html_()
    with pytest.raises(TypeError):
        list(table)


def test_attributes_of_other_matrices_say_what_to_use():
    """An array for what arrays have, classes for labels; others are absent without a hint."""
    table = tm.confusion_matrix(["a", "b", "b"], ["a", "a", "b"])
    tn, fp, fn, tp = np.asarray(table).ravel()
    assert (tn, fp, fn, tp) == (1, 0, 1, 1)
    for name in ("matrix", "values", "ravel", "shape", "T"):
        with pytest.raises(AttributeError, match=rf"no '{name}'; use numpy\.asarray"):
            getattr(table, name)
    with pytest.raises(AttributeError, match=r"no 'labels'; use table\.classes"):
        table.labels  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no 'nothing'$"):
        table.nothing  # noqa: B018


def test_weights_of_one_give_the_matrix_without_weights():
    """Whole numbers stay whole, fractions do not become so."""
    assert np.asarray(tm.confusion_matrix(TRUTH, SAID, weights=np.ones(4))).dtype == np.int64
    assert tm.confusion_matrix(TRUTH, SAID, weights=np.ones(4)) == tm.confusion_matrix(TRUTH, SAID)
    assert tm.confusion_matrix(TRUTH, SAID, weights=[0.5, 1, 1, 1])["cat", "cat"] == 0.5


def test_tables_of_many_classes_are_short():
    """The worst are shown, and how many there are besides."""
    y = np.arange(3000)
    p = np.roll(y, 1)
    assert len(str(tm.confusion_matrix(y, p)).splitlines()) < 40
    assert "2,980 other pairs" in str(tm.confusion_matrix(y, p))
    assert len(str(tm.classification_report(y, p)).splitlines()) < 80
    report = tm.evaluate(y, p, ["recall(average=None)"])
    assert len(str(report).splitlines()) < 80
    assert "2,950 more" in str(report)
    assert len(report["recall(average=None)"]) == 3000
    with pytest.raises(tm.ShapeError, match="too large"):
        np.asarray(tm.confusion_matrix(np.arange(6000), np.arange(6000)))


def test_a_name_cannot_move_the_cursor():
    """Control characters in classes do not reach the terminal, in cells or headings; an empty name is shown."""
    assert "\x1b" not in str(tm.confusion_matrix(["a\x1b[2J", "b"], ["b", "b"]))
    assert "''" in str(tm.confusion_matrix(["", "b"], ["b", "b"]))
    assert "truth ↓  prediction → " in str(tm.confusion_matrix(["truth ↓  prediction →", "b"], ["b", "b"]))


def test_the_classification_report_reads_and_exports():
    """Scores by class and average, what is undefined and why, as data without NaN in JSON."""
    report = tm.classification_report(TRUTH, SAID)
    assert report["cat"].recall == 1.0
    assert report["macro"].fscore == pytest.approx(tm.fscore(TRUTH, SAID, average="macro"))
    assert report.accuracy == 0.5
    assert math.isnan(report["fox"].precision)
    assert report.notes == ("never predicted: 'fox'",)
    assert json.loads(report.to_json())["classes"][2]["precision"] is None
    assert json.loads(report.to_json())["notes"] == ["never predicted: 'fox'"]
    assert report.to_pandas()["name"].tolist() == ["cat", "dog", "fox", "macro", "weighted"]
    assert report.to_polars().height == report.to_arrow().num_rows == 5
    assert report == tm.classification_report(TRUTH, SAID)
    assert hash(report) == hash(tm.classification_report(TRUTH, SAID))
    assert "<td" in report._repr_html_()
    assert tm.classification_report(TRUTH, SAID, undefined=0)["fox"].precision == 0.0
    with pytest.raises(tm.UndefinedError):
        tm.classification_report(TRUTH, SAID, undefined="raise")
    whole = tm.evaluate(TRUTH, SAID, ["classification_report", "confusion_matrix"])
    assert whole.reasons == {"classification_report": "never predicted: 'fox'"}
    assert json.loads(whole.to_json())["metrics"]["classification_report"]["reason"]
    both = tm.classification_report([0, 1], [0, 1], classes=[0, 1, 2])
    assert both.notes == ("never predicted: 2", "never true: 2")


def test_averages_say_which_classes_had_no_value():
    """As a note of the cell."""
    report = tm.evaluate(TRUTH, SAID, ["precision(average=macro)", "precision(average=macro, absent=skip)"])
    assert report.cell("precision(average=macro)").notes == ("'fox' counted as 0: no row was predicted positive",)
    assert "left out" in report.cell("precision(average=macro, absent=skip)").notes[0]
    kappa = tm.evaluate(TRUTH, SAID, ["cohen_kappa(weighting=linear)"])
    assert "order of the alphabet: 'cat', 'dog', 'fox'" in kappa.cell("cohen_kappa(weighting=linear)").notes[0]
    assert tm.evaluate([1, 2], [1, 2], ["cohen_kappa(weighting=linear)"]).cell("kappa(weighting=linear)").notes == ()


def test_an_absent_class_earns_the_worst_value_of_a_rate():
    """0 where higher is better, and 1 where lower is, also for a rate of one's own; the note says which."""
    report = tm.evaluate(TRUTH, SAID, ["precision(average=macro)", "fdr(average=macro)", "fdr(average=weighted)"])
    assert dict(report) == {
        "precision(average=macro)": 1 / 3,
        "fdr(average=macro)": 2 / 3,
        "fdr(average=weighted)": 0.625,
    }
    assert report.cell("fdr(average=macro)").notes == ("'fox' counted as 1: no row was predicted positive",)
    assert tm.fnr([0, 0], [0, 1], average="macro") == 0.75
    assert tm.fdr([[1, 1], [1, 0]], [[1, 0], [1, 0]], average="macro") == 0.5
    assert str(tm.Fdr(average="macro", absent=0)) == "fdr(average=macro, absent=0)"
    assert tm.fdr(TRUTH, SAID, average="macro", absent=0) == pytest.approx(1 / 3)

    class Miss(tm.extend.AveragedMetric, abstract=True):
        better = "lower"

    assert [metric().absent for metric in (Miss, tm.Fdr, tm.Fallout, tm.Fnr)] == [1.0] * 4
    assert [metric().absent for metric in (tm.Precision, tm.Npv, tm.Informedness, tm.Jaccard)] == [0.0] * 4


@pytest.mark.parametrize("name", ["specificity", "fallout", "npv", "informedness", "markedness"])
def test_a_single_class_has_no_average(name):
    """Its rates are undefined in macro and weighted means, as they are for the class alone."""
    for average in ("binary", "macro", "weighted"):
        cell = tm.evaluate([1, 1], [1, 1], [f"{name}(average={average})"]).cell(f"{name}(average={average})")
        assert math.isnan(cell.value)
        assert cell.reason
        assert cell.notes == ()


def test_columns_have_the_names_that_frames_give_them():
    """Tables of several labels report by the names of their columns, and keep them through bytes and merging."""
    y = pd.DataFrame({"news": [1, 0, 1], "art": [0, 1, 1]})
    p = pl.DataFrame({"news": [0.9, 0.2, 0.4], "art": [0.1, 0.7, 0.8]})
    assert tm.recall(y, p, average=None) == {"news": 0.5, "art": 1.0}
    tally = tm.Tally(["recall(average=None)"]).update(y[:2], p[:2]).update(y[2:], p[2:])
    assert tm.Tally.from_bytes(tally.to_bytes()).report()["recall(average=None)"] == {"news": 0.5, "art": 1.0}
    assert tm.recall(y, p, average=None, classes=["n", "a"]) == {"n": 0.5, "a": 1.0}
    with pytest.raises(tm.StateError, match="same columns"):
        tm.Tally(["hamming_loss"]).update(y, p).update(y.to_numpy(), p)
    arrow = pa.table({"a": [0.9, 0.2], "b": [0.1, 0.8]})
    assert tm.accuracy(["a", "b"], arrow) == 1.0
    assert tm.accuracy([7, 8], arrow) == 1.0  # names that are no classes say nothing


def test_one_count_serves_classes_and_clusters(monkeypatch):
    """The rows are read once for metrics of both families."""
    calls = []
    count = encoding.count_pairs
    monkeypatch.setattr(encoding, "count_pairs", lambda *given: calls.append(1) or count(*given))
    names = ["accuracy", "fscore(average=macro)", "adjusted_rand", "normalized_mutual_information", "confusion_matrix"]
    report = tm.evaluate(TRUTH, SAID, names)
    assert len(calls) == 1
    assert report["adjusted_rand"] == tm.adjusted_rand(TRUTH, SAID)


def test_points_come_in_any_memory_layout():
    """Data frames and Fortran order included."""
    rng = np.random.default_rng(0)
    points, clusters = rng.normal(size=(20, 2)), np.arange(20) % 2
    frame = pd.DataFrame({"a": points[:, 0], "b": points[:, 1]})
    for metric in (tm.silhouette, tm.davies_bouldin, tm.calinski_harabasz):
        expected = metric(points, clusters)
        assert metric(frame, clusters) == metric(np.asfortranarray(points), clusters) == expected
        assert metric(pl.from_pandas(frame), clusters.astype(str)) == expected


@pytest.mark.parametrize("make", [lambda x: pl.DataFrame({"a": x}), lambda x: pa.table({"a": x})])
def test_large_ids_in_a_table_of_one_column_survive_a_gap(make):
    """Dropping a row does not make floats of whole numbers."""
    ids = [10**17 + 1, 10**17 + 2, 10**17 + 1, 10**17 + 2, None]
    assert tm.adjusted_rand(make(ids), [1, 2, 1, 2, 0], missing="drop") == 1.0
    assert tm.accuracy([1, 2, 3], make([1, 2, None]), missing="drop") == 1.0


def test_structures_are_no_labels():
    """A column of structs is refused, not read as its first field."""
    with pytest.raises(tm.TallymarkError):
        tm.accuracy(pa.array([{"a": 1}, None, {"a": 0}]), [1, 0, 0])


def test_two_columns_without_a_positive_class_go_by_the_largest():
    """The first of equals wins, as with more columns; with a positive class its threshold decides."""
    rows = [[0.5, 0.5], [0.5, 0.5]]
    assert tm.accuracy(["a", "b"], rows) == tm.recall(["a", "b"], rows, average=None)["a"] * 0.5
    assert tm.recall(["a", "b"], rows, average=None) == {"a": 1.0, "b": 0.0}
    assert tm.recall(["a", "b"], rows, average=None, positive="b") == {"a": 0.0, "b": 1.0}
    assert tm.recall([0, 1], rows, average=None) == {0: 0.0, 1: 1.0}


def test_rows_without_weight_have_no_class():
    """Also where classes are the columns of predictions."""
    rows = [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]
    assert tm.accuracy([0, 1, 2], rows, weights=[1, 1, 0]) == 1.0
    assert tm.top_k_accuracy([0, 1, 2], rows, k=1, weights=[1, 1, 0]) == 1.0
    with pytest.raises(tm.ParameterError, match="`classes` must be given"):
        tm.accuracy([0, 1, 2], np.eye(3), weights=[1, 1, 0])


def test_the_smallest_weights_count():
    """Counts are whole numbers, so no weight is too small."""
    assert tm.accuracy([1, 0], [1, 1], weights=[1e-100, 1e-100]) == 0.5
    assert tm.mcc([1, 0, 1, 0], [1, 0, 1, 1], weights=[5e-324] * 4) == tm.mcc([1, 0, 1, 0], [1, 0, 1, 1])
    assert tm.normalized_mutual_information([1, 0, 1], [1, 0, 0], weights=[1e-200] * 3) == pytest.approx(
        tm.normalized_mutual_information([1, 0, 1], [1, 0, 0])
    )
    assert math.isnan(tm.rmse([1, 0], [1, 1], weights=[1e-100, 1e-100]))


def test_words_that_python_keeps_for_itself_come_back():
    """A metric whose parameter is such a word can be written and read."""
    metric = tm.Recall(undefined="raise")
    assert (
        tm.metric(str(metric))
        == tm.metric("recall(undefined=raise)")
        == tm.metric("recall(undefined= raise )")
        == metric
    )
    with pytest.raises(tm.ParameterError, match="is written as"):
        tm.metric("recall(undefined=raise raise)")
    tally = tm.Tally([metric]).update([1, 0], [1, 1])
    assert tm.Tally.from_bytes(tally.to_bytes()).report()[metric] == 1.0


def test_frames_of_reports_stack():
    """Columns without a text are columns of text all the same."""
    first = tm.evaluate([1.0, 2.0], [1.0, 2.0], ["mae"])
    second = tm.evaluate(TRUTH, SAID, ["precision(average=None)"])
    assert pl.concat([first.to_polars(), second.to_polars()]).height == 4
    assert pa.concat_tables([first.to_arrow(), second.to_arrow()]).num_rows == 4


def test_a_batch_keeps_what_was_counted():
    """The same object, so that states of one batch share their arrays."""
    batch = Batch(TRUTH, SAID)
    assert tm.accuracy.reads.fold(batch).cells is tm.adjusted_rand.reads.fold(batch).cells


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 2 has them")
def test_strings_of_any_length_are_labels():
    """NumPy's own variable strings, with and without gaps."""
    strings = np.dtypes.StringDType(na_object=None)
    assert tm.accuracy(np.array(["a", "b"], dtype=np.dtypes.StringDType()), ["a", "a"]) == 0.5
    assert tm.accuracy(np.array(["a", "b", None], dtype=strings), ["a", "a", "a"], missing="drop") == 0.5
    with pytest.raises(tm.MissingValueError):
        tm.accuracy(np.array(["a", "b", None], dtype=strings), ["a", "a", "a"])


MARGINS = np.array([-2.0, 0.3, -0.4, 0.1, 0.0])
CALLED = np.array([0, 1, 1, 0, 0])


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.1, -0.4, 5.0, -7.5])
def test_the_threshold_of_margin_accuracy_is_a_margin(threshold):
    """A row is called positive where its margin reaches the threshold; of two columns, where their difference does."""
    expected = float(np.mean((threshold <= MARGINS) == CALLED))
    columns = np.column_stack([-MARGINS / 2, MARGINS / 2])
    metric = tm.MarginAccuracy(threshold=threshold)
    assert metric(CALLED, MARGINS) == expected
    assert metric(CALLED, columns, classes=[0, 1]) == metric(CALLED, columns[:, ::-1], classes=[1, 0]) == expected
    assert tm.metric(str(metric)) == metric
    several = np.column_stack([CALLED, 1 - CALLED])
    said = threshold <= np.column_stack([MARGINS, -MARGINS])
    assert metric(several, np.column_stack([MARGINS, -MARGINS])) == float(np.mean((said == several).all(axis=1)))


def test_margin_accuracy_is_positive_from_0_on_by_default():
    """Also where the sigmoid of a margin below 0 rounds to 0.5; of three columns the largest decides."""
    assert tm.margin_accuracy([0, 1], [-1e-17, 0.0]) == 1.0
    assert tm.margin_accuracy([2, 0], [[-3, -2, -1], [5, 0, 0]], classes=[0, 1, 2]) == 1.0
    with pytest.raises(tm.TallymarkError, match="`threshold` needs two classes"):
        tm.margin_accuracy([2, 0], [[-3, -2, -1], [5, 0, 0]], classes=[0, 1, 2], threshold=0.5)


def test_margin_accuracy_and_accuracy_do_not_share_a_state():
    """In a report, a merged tally from bytes, groups and comparisons each has the value that it has alone."""
    names = ["accuracy", "margin_accuracy", "margin_accuracy(threshold=0.2)", "accuracy(threshold=0.2)"]
    alone = {name: tm.metric(name)(CALLED, MARGINS, kind="margin") for name in names}
    assert list(alone.values()) == [0.4, 0.4, 0.8, 0.6]
    assert dict(tm.evaluate(CALLED, MARGINS, names, kind="margin")) == alone
    tally = tm.Tally(names, kind="margin")
    for rows in ([0, 1], [2, 3, 4]):
        tally.update(CALLED[rows], MARGINS[rows])
    again = tm.Tally.from_bytes(tally.to_bytes())
    assert dict(again.report()) == dict((tally + again).report()) == alone
    groups = tm.evaluate(CALLED, MARGINS, names, kind="margin", by={"g": ["a", "a", "b", "b", "b"]})
    assert groups.slices["b"]["margin_accuracy(threshold=0.2)"] == 2 / 3
    assert groups.slices["b"]["accuracy"] == 0.0
    compared = tm.compare(CALLED, {"a": MARGINS, "b": -MARGINS}, names, kind="margin")
    assert {name: compared.ranking(name)["a"] for name in names} == alone


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("f1", "2 TP / (2 TP + FN + FP)"),
        ("f2", "(1 + beta²) TP / ((1 + beta²) TP + beta² FN + FP), beta = 2"),
        ("fscore(average=macro)", "mean over the classes of 2 TP / (2 TP + FN + FP)"),
        (
            "fscore(average=macro_pr)",
            "2 P R / (P + R), where P and R are the means of precision and recall over the classes",
        ),
        ("precision(average=micro)", "with the counts of all classes added up, TP / (TP + FP)"),
        ("recall(average=none)", "for each class, TP / (TP + FN)"),
        ("v_measure", "2 h c / (h + c), where h is the homogeneity and c the completeness"),
        (
            "cohen_kappa(weighting=quadratic)",
            "1 − Σ d_ij o_ij / Σ d_ij e_ij, where d_ij = (i − j)², o is observed, and e expected by chance",
        ),
        (
            "auc(max_fpr=0.3)",
            "½ (1 + (A − a²/2) / (a − a²/2)), where A is the area under the ROC curve up to a "
            "false positive rate of a = 0.3",
        ),
        (
            "auc(multiclass=ovo, average=weighted)",
            "Σ w₊ w₋ ([s₊ > s₋] + ½ [s₊ = s₋]) / Σ w₊ w₋; of three classes or more, the mean over the pairs of "
            "classes, weighted by their rows",
        ),
        ("gap(recall)", "max − min over the groups"),
    ],
)
def test_the_formula_is_that_of_the_parameters(name, formula):
    """As reports, explanations and pages of challenges print it."""
    assert tm.metric(name).formula_text == formula


@pytest.mark.parametrize(
    ("y_true", "y_pred", "given"),
    [
        ([0, 1, 1], [0.2, 0.7, 1.5], {}),
        ([0, 1, 1], [0, 1, 1.5], {"kind": "label"}),
        (["a", "b", "a"], [[0.8, 0.2], [0.1, 0.9], [3.0, 0.4]], {"classes": ["a", "b"]}),
        ([[True, False], [True, False], [False, True]], [[0.8, 0.1], [0.1, 0.8], [3.0, 0.4]], {}),
    ],
)
def test_rows_of_weight_zero_may_have_any_predictions(y_true, y_pred, given):
    """They are as if they were not there; where they weigh something, they are refused."""
    weights = [1.0, 2.0, 0.0]
    assert tm.accuracy(y_true, y_pred, weights=weights, **given) == tm.accuracy(
        y_true[:2], y_pred[:2], weights=weights[:2], **given
    )
    tally = tm.Tally(["accuracy"], **given).update(y_true, y_pred, weights=weights)
    assert (tally.n, tm.Tally.from_bytes(tally.to_bytes()).report()["accuracy"]) == (
        3,
        tm.accuracy(y_true, y_pred, weights=weights, **given),
    )
    if len(np.shape(y_true)) == 1 and "kind" not in given:
        for item in (tm.logloss, tm.brier):
            assert item(y_true, y_pred, weights=weights, **given) == item(
                y_true[:2], y_pred[:2], weights=weights[:2], **given
            )
    for refused in ([1.0, 2.0, 1.0], [0.0, 0.0, 0.0]):
        with pytest.raises(tm.DomainError, match="row 2"):
            tm.accuracy(y_true, y_pred, weights=refused, **given)
