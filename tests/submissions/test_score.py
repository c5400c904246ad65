"""Submissions that can be scored: what is matched, counted, scored and shown."""

from __future__ import annotations

import gzip
import json
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallymark as tm
from tests.submissions.files import ANSWERS, file, score


def rows(pairs):
    """A file of ids and labels."""
    return "row_id,label\n" + "".join(f"{name},{label}\n" for name, label in pairs)


def test_rows_are_matched_by_id_in_any_order():
    """The order of rows and columns, and further columns, change nothing."""
    result = score("note,label,row_id\nx,cat,d\ny,cat,b\nz,dog,c\nw,cat,a\n")
    assert (result.compared, result.correct, result.incorrect) == (4, 3, 1)
    assert result.scores["accuracy"] == 0.75


@pytest.mark.parametrize("name", ["prediction", "pred", "y_pred", "Score", "probability"])
def test_predictions_are_found_by_a_usual_name(name):
    """Where there is one, and none called as the labels; a warning says where they were found."""
    content = f"row_id,{name},note\na,cat,x\nb,dog,y\nc,dog,z\nd,cat,x\n"
    result, named = score(content), score(content, prediction=name)
    expected = score(content.replace(name, "label"))
    assert result.scores == named.scores == expected.scores
    assert result.warnings[0] == f"there is no column 'label': the predictions are those of {name!r}"
    assert named.warnings == expected.warnings
    assert score(content.replace("note", "label"), prediction=name).scores == expected.scores
    found = tm.submissions.check_submission(file(content))
    assert (found.rows, found.warnings[0]) == (4, result.warnings[0])


def test_predictions_are_not_guessed():
    """Of several usual names none is taken, and a column that is named must be there."""
    two = "row_id,pred,score\na,cat,1\nb,dog,2\n"
    for content, given, lacking in ((two, {}, "label"), (two, {"prediction": "y"}, "y")):
        with pytest.raises(tm.Rejection, match=f"missing column '{lacking}'; found: 'row_id', 'pred', 'score'"):
            score(content, **given)
    assert score("row_id,label,pred\na,cat,dog\n").warnings == score("row_id,label\na,cat\n").warnings
    with pytest.raises(tm.ParameterError, match="`id` and `prediction` must be two columns; both were 'row_id'"):
        score(two, prediction="row_id")


def test_probabilities_under_a_usual_name():
    """In one column; where each class has one, those are taken."""
    answers = "row_id,label\na,no\nb,yes\nc,yes\n"
    one, named = "row_id,{}\na,0.1\nb,0.6\nc,0.8\n", {"task": "probabilities", "positive": "yes"}
    expected = score(one.format("label"), answers, **named).scores
    assert score(one.format("probability"), answers, **named).scores == expected
    assert score(one.format("p"), answers, prediction="p", **named).scores == expected
    table = "row_id,no,yes,score\na,0.9,0.1,0\nb,0.4,0.6,0\nc,0.2,0.8,0\n"
    assert score(table, answers, task="probabilities").scores["brier"] == pytest.approx(expected["brier"])
    numbers = {"task": "numbers", "metrics": ["mae"]}
    assert score("row_id,y_pred\na,1\nb,3\n", "row_id,label\na,1\nb,2\n", **numbers).scores == {"mae": 0.5}


def test_a_target_says_what_the_keywords_say():
    """The task by its kind, the classes and the positive class."""
    one, table = "row_id,label\na,0.9\nb,0.4\nc,0.8\n", "row_id,no,yes\na,0.9,0.1\nb,0.4,0.6\nc,0.8,0.2\n"
    answers = "row_id,label\na,no\nb,yes\nc,yes\n"
    for content, target, keywords in (
        (one, tm.Target("probability", positive="no"), {"task": "probabilities", "positive": "no"}),
        (table, tm.Target("probability", classes=["no", "yes"]), {"task": "probabilities", "classes": ["no", "yes"]}),
        (answers, tm.Target("label", positive="yes"), {"task": "labels", "positive": "yes", "metrics": "precision"}),
        (answers, tm.Target(positive="no"), {"positive": "no", "metrics": "recall"}),
    ):
        metrics = keywords.get("metrics")
        found = score(content, answers, target=target, metrics=metrics)
        assert found.to_json() == score(content, answers, **keywords).to_json()
    numbers = "row_id,label\na,1\nb,2.5\n"
    assert score(numbers, numbers, target=tm.Target("value")).task == "numbers"
    queries = "row_id,label,query\na,1,x\nb,0,x\n"
    assert score(numbers, queries, target=tm.Target("score")).task == "ranking"


def test_missing_and_extra_rows_are_counted_with_their_first_ids():
    """Ten ids of each at most; missing rows are left out of an analysis."""
    answers = rows((f"a{k}", "x") for k in range(30))
    result = score(rows([("a0", "x"), *((f"e{k}", "x") for k in range(12))]), answers)
    assert (result.compared, result.missing, result.extra) == (1, 29, 12)
    assert result.missing_ids == [f"a{k}" for k in range(1, 11)]
    assert result.extra_ids == [f"e{k}" for k in range(10)]
    assert result.scores["accuracy"] == 1.0


def test_the_worked_table_has_its_values():
    """40, 10, 15 and 35 rows of two classes."""
    pairs = [("A", "A")] * 40 + [("A", "B")] * 10 + [("B", "A")] * 15 + [("B", "B")] * 35
    answers = rows((k, y) for k, (y, _) in enumerate(pairs))
    found = score(rows((k, p) for k, (_, p) in enumerate(pairs)), answers).scores
    expected = {
        "accuracy": 0.75,
        "precision(average=macro)": 0.7525252525252526,
        "recall(average=macro)": 0.75,
        "fscore(average=macro_pr)": 0.7512605042016807,
        "fscore(average=macro)": 0.7493734335839599,
    }
    assert found == pytest.approx(expected, rel=1e-12)


def test_scores_have_the_names_that_reports_have():
    """Canonical strings, display names, aliases, and plain names; of two F1 a plain name is the first."""
    scores = score("row_id,label\na,cat\nb,dog\nc,cat\nd,cat\n").scores
    assert scores["precision"] == scores["macro precision"] == scores["precision(average=macro)"]
    assert scores["f1"] == scores["fscore"] == scores["F1 of macro precision and recall"]
    assert scores["macro F1"] == scores["f1(average=macro)"]
    assert "macro F1" in scores
    assert "f1" in scores
    assert "rmse" not in scores
    assert json.loads(json.dumps(scores)) == scores
    for unknown in ("rmse", "no metric", "f2"):
        with pytest.raises(KeyError, match="not in the report"):
            scores[unknown]


def test_a_class_that_is_always_predicted_scores_half():
    """All A where half is B: a third for both F1, and a warning."""
    result = score(rows([("1", "A"), ("2", "A"), ("3", "A"), ("4", "A")]), rows(zip("1234", "AABB", strict=True)))
    assert result.scores == pytest.approx(
        {
            "accuracy": 0.5,
            "precision(average=macro)": 0.25,
            "recall(average=macro)": 0.5,
            "fscore(average=macro_pr)": 1 / 3,
            "fscore(average=macro)": 1 / 3,
        },
        rel=1e-12,
    )
    assert result.warnings == ["every prediction is 'A'"]


def test_one_class_on_both_sides_is_perfect():
    """And a perfect score is worth a second look."""
    result = score(rows([("a", "x"), ("b", "x")]), rows([("a", "x"), ("b", "x")]))
    assert set(result.scores.values()) == {1.0}
    assert any("perfect" in warning for warning in result.warnings)


@pytest.mark.parametrize("metrics", [None, ["logloss", "accuracy"], ["accuracy", "auc", "logloss"]])
def test_scores_are_perfect_only_where_all_are(metrics):
    """A log loss above 0 beside an accuracy of 1 is not; one of sure and right probabilities is."""
    answers = rows(zip("abcd", "0110", strict=True))
    for predicted, perfect in ((["0.2", "0.8", "0.9", "0.1"], False), ("0110", True)):
        given = rows(zip("abcd", predicted, strict=True))
        result = score(given, answers, task="probabilities", metrics=metrics)
        assert result.scores["accuracy"] == 1.0
        assert any("every score is perfect" in warning for warning in result.warnings) == perfect


def test_imbalance_shows_in_the_macro_scores():
    """99 of 100 right by predicting the large class."""
    answers = rows((k, "rare" if k == 0 else "usual") for k in range(100))
    found = score(rows((k, "usual") for k in range(100)), answers).scores
    assert found["accuracy"] == 0.99
    assert found["macro recall"] == 0.5


def test_ids_and_labels_are_trimmed_and_in_normal_form():
    """Blanks around them and the Unicode form do not matter; case does."""
    answers = "row_id,label\nA,caf\u00e9\nb,x\n"
    result = score("row_id,label\n A ,cafe\u0301\n\tb, x\n", answers)
    assert (result.compared, result.correct) == (2, 2)
    assert score("row_id,label\na,x\nb,x\n", answers).extra_ids == ["a"]


@pytest.mark.parametrize(
    ("label", "what"),
    [
        ("Cat", "case"),
        ("c at", "spaces"),
        ("ｃａｔ", "Unicode form"),
        ("с\u0430t", "characters that look alike"),
        ("c\u200bat", "characters that look alike"),
    ],
)
def test_labels_that_only_look_like_an_answer_are_pointed_out(label, what):
    """They count as wrong, and a warning says by what they differ."""
    result = score(f"row_id,label\na,{label}\nb,dog\nc,dog\nd,cat\n")
    assert result.incorrect == 1
    assert result.warnings == [f"{label!r} and 'cat' are different labels: they differ only in {what}"]


def test_the_preview_has_incorrect_rows_first_and_no_more_than_twenty_rows():
    """Then rows that are correct."""
    answers = rows((k, "x") for k in range(100))
    result = score(rows((k, "y" if k in (50, 70) else "x") for k in range(100)), answers)
    assert len(result.preview) == 20
    assert [row.id for row in result.preview[:2]] == ["50", "70"]
    assert result.preview[0] == ("50", "x", "y", False)
    assert result.preview[2].correct is True
    assert result.preview_table().notes == ["20 of 100 rows shown, incorrect rows first"]


def test_the_table_of_classes_is_that_of_the_rows_compared():
    """Precision, recall and support by class."""
    result = score("row_id,label\na,cat\nb,dog\nc,cat\nd,cat\n")
    assert result.per_class["cat"].precision == pytest.approx(2 / 3)
    assert result.per_class["dog"].support == 2


def test_classes_have_counts_and_there_is_a_confusion_matrix():
    """True positives, false positives and false negatives by class, in the result, its text, its page and its JSON."""
    result = score("row_id,label\na,cat\nb,dog\nc,cat\nd,cat\n")
    cat = result.per_class["cat"]
    assert (cat.tp, cat.fp, cat.fn) == (2, 1, 0)
    assert result.confusion["dog", "cat"] == 1
    facts = json.loads(result.to_json())
    assert facts["per_class"][0] | {"precision": 0} == {
        "class": "cat", "precision": 0, "recall": 1.0, "fscore": 0.8, "support": 2.0, "tp": 2.0, "fp": 1.0, "fn": 0.0,
    }  # fmt: skip
    assert facts["confusion"] == {
        "classes": ["cat", "dog"],
        "cells": [["cat", "cat", 2], ["dog", "cat", 1], ["dog", "dog", 1]],
    }
    assert "confusion matrix" in str(result)
    assert "Confusion matrix" in result.to_html()


def test_metrics_of_two_classes_are_told_the_positive_one():
    """As everywhere."""
    result = score("row_id,label\na,cat\nb,dog\nc,cat\nd,cat\n", metrics=["recall"], positive="dog")
    assert result.scores == {"recall": 0.5}


def test_intervals_are_there_on_request():
    """Around each score."""
    result = score("row_id,label\na,cat\nb,dog\nc,cat\nd,cat\n", ci=0.95)
    cell = result.report.cell("accuracy")
    assert cell.lo < 0.75 < cell.hi
    assert "95 % interval" in str(result)


FORMS = {
    "CRLF": ANSWERS.replace("\n", "\r\n").encode(),
    "CR": ANSWERS.replace("\n", "\r").encode(),
    "BOM": b"\xef\xbb\xbf" + ANSWERS.encode(),
    "quotes": b'"row_id","label"\n"a","cat"\nb,dog\nc,"dog"\n"d",cat',
    "semicolons": ANSWERS.replace(",", ";").encode(),
    "semicolons and quotes": b'"row_id";"label";"note"\n"a";"cat";"x;y"\nb;dog;\nc;"dog";\nd;cat;"""q"""\n',
    "tabs": ANSWERS.replace(",", "\t").encode(),
    "gzip": gzip.compress(ANSWERS.encode()),
    "blank lines": b"\n\nrow_id,label\na,cat\n\nb,dog\nc,dog\n\n\nd,cat\n",
    "blanks in the header": b"row_id , label\na,cat\nb,dog\nc,dog\nd,cat\n",
}


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS)
def test_every_form_of_csv_is_read(content):
    """Byte order mark, ends of lines, quotes, separators and compression."""
    result = score(content)
    assert (result.correct, result.missing, result.extra) == (4, 0, 0)


def test_a_declared_separator_is_taken():
    """Any single character."""
    assert score(ANSWERS.replace(",", "|"), separator="|").correct == 4


def test_parquet_frames_and_paths_are_read(tmp_path):
    """Numbers as ids are the same ids as their digits."""
    table = pa.table({"row_id": [1, 2, 3], "label": ["x", "y", "y"], "more": [1.5, 2.5, None]})
    pq.write_table(table, tmp_path / "answers.parquet")
    (tmp_path / "submission.csv").write_text("row_id,label\n3,y\n1,x\n2,x\n")
    categories = pl.DataFrame(table.to_pydict()).cast({pl.String: pl.Categorical})
    frames = [pd.DataFrame(table.to_pydict()), pl.DataFrame(table.to_pydict()), categories, table, table.to_pydict()]
    for answers in (tmp_path / "answers.parquet", *frames):
        result = tm.submissions.score_submission(answers, tmp_path / "submission.csv")
        assert (result.compared, result.correct) == (3, 2)


def test_numbers_are_scored_as_numbers():
    """RMSE, MAE and R², with the largest errors first in the preview."""
    answers = "row_id,label\na,3\nb,-0.5\nc,2\nd,7\n"
    result = score("row_id,label\nd,8\nc,2\nb,0\na,2.5\n", answers, task="numbers")
    assert result.scores["rmse"] == pytest.approx(0.6123724356957945, rel=1e-12)
    assert result.preview[0] == ("d", 7.0, 8.0, None)
    assert result.correct is None
    assert score("row_id,label\nd,8\nc,2\nb,0\na,2.5\n", answers, metrics="mae").scores == {"mae": 0.5}


def test_one_column_of_probabilities_is_that_of_the_positive_class():
    """1 where the labels are 0 and 1, else what `positive` says."""
    probabilities = "row_id,label\na,0.1\nb,0.4\nc,0.35\nd,0.8\n"
    found = score(probabilities, "row_id,label\na,0\nb,0\nc,1\nd,1\n", task="probabilities", metrics="auc")
    assert found.scores["auc"] == 0.75
    named = score(
        probabilities, "row_id,label\na,n\nb,n\nc,y\nd,y\n", task="probabilities", metrics="auc", positive="y"
    )
    assert named.scores == found.scores
    with pytest.raises(tm.ParameterError, match="positive"):
        score(probabilities, "row_id,label\na,n\nb,n\nc,y\nd,y\n", task="probabilities")


@pytest.mark.parametrize(
    ("truth", "predicted"),
    [
        (["0", "1"], ["0.2", "1.0"]),
        (["0", "1"], ["2e-05", "nan"]),
        (["cat", "dog"], [".2", "7."]),
        (["0.0", "1.0"], "01"),
    ],
)
@pytest.mark.parametrize("metrics", [None, "accuracy"])
def test_decimals_on_one_side_need_a_task(truth, predicted, metrics):
    """Texts that never match would score 0 %; a task that was named is taken."""
    files = [rows(zip("ab", labels, strict=True)) for labels in (predicted, truth)]
    with pytest.raises(tm.ParameterError, match="`task` must say what is predicted"):
        score(*files, metrics=metrics)
    assert score(*files, metrics=metrics, task="labels").scores["accuracy"] == 0.0


def test_many_different_decimals_on_both_sides_need_a_task():
    """They are probably numbers, which would score 0 % as labels."""
    truth = rows((f"r{k}", f"{k}.25") for k in range(30))
    predicted = rows((f"r{k}", f"{k}.5") for k in range(30))
    with pytest.raises(tm.ParameterError, match=r"the answers are decimals such as '0.25', the predictions decimals"):
        score(predicted, truth)
    assert score(predicted, truth, task="numbers").scores["rmse"] == 0.25
    assert score(truth, truth).scores["accuracy"] == 1.0


@pytest.mark.parametrize(("truth", "predicted"), [(["0.5", "2.5"], ["0.5", "3"]), ("ab", "12"), (["1.5", "x"], "12")])
def test_labels_are_the_task_where_no_side_or_both_are_decimals(truth, predicted):
    """Words, whole numbers, and decimals on both sides are compared as texts; so are the floats of a frame."""
    score(rows(zip("ab", predicted, strict=True)), rows(zip("ab", truth, strict=True)))
    frames = [pd.DataFrame({"row_id": [1, 2], "label": labels}) for labels in ([0, 1], [0.0, 1.0])]
    assert tm.submissions.score_submission(*frames).scores["accuracy"] == 1.0


def test_columns_of_probabilities_are_called_as_their_classes():
    """In any order of the columns."""
    answers = "row_id,label\na,x\nb,y\nc,z\n"
    submission = "z,row_id,x,y\n0.1,a,0.7,0.2\n0.2,b,0.2,0.6\n0.5,c,0.25,0.25\n"
    result = score(submission, answers, task="probabilities")
    expected = -(math.log(0.7) + math.log(0.6) + math.log(0.5)) / 3
    assert result.scores["logloss"] == pytest.approx(expected, rel=1e-12)
    assert result.scores["accuracy"] == 1.0


def test_rankings_are_scored_by_query():
    """The relevance and the query stand in the answers, the scores in the submission."""
    answers = "row_id,query,label\na,q1,1\nb,q1,0\nc,q2,0\nd,q2,1\n"
    result = score("row_id,label\na,2\nb,1\nc,5\nd,4\n", answers, task="ranking")
    assert result.scores["mrr"] == 0.75


def test_a_hundred_thousand_labels_are_no_trouble():
    """Each row a label of its own."""
    names = [f"r{k}" for k in range(100_000)]
    labels = [f"label {k}" for k in range(100_000)]
    result = tm.submissions.score_submission(
        {"row_id": names, "label": labels}, {"row_id": names[::-1], "label": labels[::-1]}
    )
    assert result.correct == 100_000


def test_the_result_is_told_in_every_form():
    """Text, JSON, Markdown, CSV and a page; shares in percent with one decimal, bands by the value."""
    answers = rows((k, "x" if k % 2 else "y") for k in range(2000))
    result = score(rows((k, "x" if (k % 2) != (k < 401) else "y") for k in range(2000)), answers)
    assert result.scores["accuracy"] == 0.7995
    page = result.to_html()
    assert "fair" in page.split("accuracy")[1].split("</li>")[0]
    assert "Why macro averages" in page
    assert "rows compared" in str(result)
    told = json.loads(result.to_json())
    assert told["scores"]["accuracy"]["value"] == 0.7995
    assert "| accuracy |" in result.to_markdown()
    assert result.to_csv().startswith("metric,")
    assert pickle.loads(pickle.dumps(result)).scores == result.scores


def test_the_same_numbers_as_scikit_learn_on_random_files():
    """Accuracy and macro averages of random labels, in random order."""
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support

    random = np.random.default_rng(3)
    for size in (3, 50, 1000):
        truth, said = random.integers(0, 5, size).astype(str), random.integers(0, 6, size).astype(str)
        order = random.permutation(size)
        result = score(rows(zip(order, said[order], strict=True)), rows(enumerate(truth)))
        p, r, f, _ = precision_recall_fscore_support(truth, said, average="macro", zero_division=0)
        found = result.scores
        assert found["accuracy"] == pytest.approx(accuracy_score(truth, said), rel=1e-12)
        assert [found[name] for name in ("macro precision", "macro recall", "macro F1")] == pytest.approx([p, r, f])


def test_what_was_given_is_left_alone():
    """An open file stays open."""
    answers, submission = file(ANSWERS), file(ANSWERS)
    tm.submissions.score_submission(answers, submission)
    assert not answers.closed
    assert not submission.closed


@pytest.mark.parametrize("mark", [";", "\t"])
def test_a_separator_is_found_where_names_stand_in_quotes(mark):
    """As some programs write all texts."""
    result = score(f'"row_id"{mark}"label"\n"a"{mark}"cat"\n"b"{mark}"x, y"\n')
    assert (result.compared, result.correct) == (2, 1)


@pytest.mark.parametrize("other", ["b,owl", "b,\u00e9"])
@pytest.mark.parametrize("blank", [" ", "\x0b", "\x1f"])
def test_which_blanks_are_taken_away_depends_on_no_other_row(blank, other):
    """All that Unicode has, whether other labels are ASCII or not."""
    result = score(f"row_id,label\na,cat{blank}\n{other}\n", "row_id,label\na,cat\n")
    assert result.correct == 1


def test_columns_of_classes_are_called_like_labels_are_read():
    """In normal form C and without blanks."""
    answers = "row_id,label\na,\u00e9\nb,x\n"
    submission = "row_id, e\u0301,x\na,0.5,0.5\nb,0.5,0.5\n"
    for classes in (None, ["e\u0301 ", "x"]):
        result = score(submission, answers, task="probabilities", metrics="brier", classes=classes)
        assert result.compared == 2


@pytest.mark.parametrize("mode", ["analysis", "challenge"])
def test_metrics_of_one_class_take_the_positive_one(mode):
    """That which was named, or 1 where labels are 0 and 1."""
    submission = {"row_id": ["a", "b", "c"], "label": ["cat", "cat", "cat"]}
    result = tm.submissions.score_submission(
        file(ANSWERS), submission, metrics=["precision", "recall"], positive="cat", mode=mode
    )
    assert result.scores == (
        {"precision": 1 / 3, "recall": 1.0} if mode == "analysis" else {"precision": 0.333, "recall": 0.5}
    )
    submission = "row_id,label\na,1\nb,1\n"
    assert score(submission, "row_id,label\na,1\nb,0\n", metrics="precision", mode=mode).scores == {"precision": 0.5}


def test_cards_have_a_scale_where_something_is_known_to_compare_with():
    """An error beside always predicting the median of the answers, which a challenge does not show."""
    answers, submission = rows((k, k) for k in range(40)), rows((k, k + 4) for k in range(40))
    page = score(answers, submission, task="numbers", metrics=["mae"]).to_html()
    assert "always predicting the median: 10" in page
    assert "<span>0</span><span>10</span>" in page
    assert '<circle class="dot" cx="40.00%"' in page
    page = score(answers, submission, task="numbers", metrics=["mae"], mode="challenge").to_html()
    assert "always predicting" not in page
    assert 'class="scale"' not in page
