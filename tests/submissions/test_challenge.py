"""Challenges: no row is left out, and nothing tells more about the answers than the scores do."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

import tallymark as tm
from tallymark.metrics.naming import metric
from tallymark.submissions.disclosure import disclosed
from tallymark.submissions.settings import COUNTS_MISSING_ROWS
from tests.submissions.files import ANSWERS, file, problems, rejected, score

SECRET = "row_id,label\na,quokka\nb,numbat\nc,numbat\nd,quokka\n"


def challenge(submission, answers=SECRET, **more):
    return score(submission, answers, mode="challenge", **more)


def test_a_missing_row_counts_against_recall_and_is_no_class():
    """One right row of four: its class has found half, the other nothing; nothing was wrongly called anything."""
    result = score("row_id,label\na,cat\n", mode="challenge")
    assert result.scores["accuracy"] == 0.25
    assert result.scores["macro recall"] == 0.25
    assert result.scores["macro precision"] == 0.5  # one of one, and a class that was never predicted
    assert (result.missing, result.compared) == (3, 1)
    assert score("row_id,label\na,cat\n").scores["accuracy"] == 1.0


def test_missing_rows_score_as_computed_by_hand():
    """Two classes: A found in two of four rows, one row wrong, two missing."""
    answers = "row_id,label\n1,A\n2,A\n3,A\n4,A\n5,B\n6,B\n"
    result = score("row_id,label\n1,A\n2,A\n3,B\n5,B\n", answers, mode="challenge")
    assert result.scores["accuracy"] == 0.5
    assert result.scores["macro recall"] == pytest.approx((2 / 4 + 1 / 2) / 2)
    assert result.scores["macro precision"] == pytest.approx((2 / 2 + 1 / 2) / 2)
    assert result.scores["macro F1"] == round((2 * 2 / (2 + 4) + 2 * 1 / (2 + 2)) / 2, 3)


def test_missing_rows_can_have_an_interval():
    """By resampling, since a formula knows rows with predictions only."""
    answers = "row_id,label\n" + "".join(f"{k},{'AB'[k % 2]}\n" for k in range(60))
    submission = "row_id,label\n" + "".join(f"{k},{'AB'[k % 3 == 0]}\n" for k in range(50))
    result = score(submission, answers, mode="challenge", ci=0.9)
    cell = result.report.cell("accuracy")
    assert cell.method.startswith("bootstrap")
    assert cell.lo <= cell.value <= cell.hi


def test_the_organiser_may_reject_missing_rows():
    """With their ids."""
    error = rejected("row_id,label\na,cat\n", mode="challenge", missing="reject")
    assert [each.code for each in error.problems] == ["missing_rows"]
    assert "no row for 3 of the ids, such as 'b', 'c', 'd'" in str(error)


@pytest.mark.parametrize("task", ["numbers", "probabilities", "ranking"])
def test_missing_numbers_are_always_rejected(task):
    """Whatever was asked for; an analysis leaves them out."""
    answers = "row_id,label,query\na,0,q\nb,1,q\n"
    assert problems("row_id,label\na,0.5\n", answers, task=task, mode="challenge", missing="count")[0][0] == (
        "missing_rows"
    )
    assert score("row_id,label\na,0.5\n", answers, task=task).missing == 1


OTHERS = [str(each) for each in tm.list_metrics() if each.kind == "label" and each.name not in COUNTS_MISSING_ROWS]


def average(name, way):
    """A metric by name, over all classes where it can be."""
    found = metric(name)
    return found.replace(average=way) if hasattr(found, "average") else found


@pytest.mark.slow
@pytest.mark.parametrize("way", ["macro", "micro", "weighted", "binary"])
@pytest.mark.parametrize("name", sorted(COUNTS_MISSING_ROWS))
def test_no_prediction_is_never_better_than_the_right_one(name, way):
    """In any metric that counts missing rows; and two right rows of many are worse than all of them."""
    chance, asked = random.Random(11), average(name, way)
    sign = 1 if asked.better == "higher" else -1
    for _ in range(20):
        answers = {str(row): chance.choice("01") for row in range(9)} | {"a": "0", "b": "1"}
        said = {row: label if chance.random() < 0.7 else chance.choice("01") for row, label in answers.items()}
        gone = chance.choice(list(said))
        right = by_ids(answers, said | {gone: answers[gone]}, asked)
        without = by_ids(answers, {row: label for row, label in said.items() if row != gone}, asked)
        assert not sign * (without - right) > 1e-12
    if way != "binary" and name not in ("precision", "fdr"):  # which are of those that were predicted
        assert sign * (by_ids(answers, answers, asked) - by_ids(answers, {"a": "0", "b": "1"}, asked)) > 0.1


def by_ids(answers, said, asked):
    frames = ({"row_id": list(held), "label": list(held.values())} for held in (answers, said))
    (value,) = tm.submissions.score_submission(*frames, mode="challenge", metrics=[asked]).scores.values()
    return value


@pytest.mark.parametrize("name", OTHERS)
def test_a_metric_without_a_place_for_missing_rows_rejects_them(name):
    """To specificity they would be right, to clusters one of their own."""
    answers = "row_id,label\na,0\nb,1\nc,0\nd,1\n"
    submission = "row_id,label\na,0\nb,1\nc,1\n"
    error = rejected(submission, answers, mode="challenge", task="labels", metrics=["accuracy", name])
    assert [each.code for each in error.problems] == ["missing_rows"]


def test_an_analysis_leaves_missing_rows_out_of_any_metric():
    """They are counted beside the scores."""
    answers = "row_id,label\na,0\nb,1\nc,0\nd,1\n"
    result = score("row_id,label\na,0\nb,1\nc,1\n", answers, metrics=["specificity", "adjusted_rand"])
    assert (result.scores["specificity"], result.missing) == (0.5, 1)


def told(result):
    """Everything that a result says or holds."""
    parts = [str(result), repr(result), result.to_json(), result.to_html(), result.to_markdown(), result.to_csv()]
    return "".join([*parts, result._repr_html_(), repr(pickle.dumps(result)), repr(vars(result))])


SUBMISSIONS = {
    "all wrong": "row_id,label\na,x\nb,x\nc,x\nd,x\n",
    "by case": "row_id,label\na,Quokk\nb,NUMBA\nc,x\nd,x\n",
    "some missing": "row_id,label\na,x\n",
    "some extra": "row_id,label\na,x\nz,y\n",
}


@pytest.mark.parametrize("submission", SUBMISSIONS.values(), ids=SUBMISSIONS)
@pytest.mark.parametrize("more", [{}, {"ci": 0.9}, {"metrics": ["fscore(average=macro)"]}, {"metrics": "mcc"}], ids=str)
def test_no_answer_is_told(submission, more):
    """Not in any form of the result, nor in what it holds."""
    result = challenge(submission, **more)
    assert "quokka" not in told(result)
    assert "numbat" not in told(result)
    assert result.per_class is None
    assert result.preview is None


def test_a_label_that_is_nearly_right_gives_nothing_away():
    """The same warnings whatever the answers are."""
    submission = "row_id,label\na,QUOKKA\nb,Numbat\nc,numbat \nd,x\n"
    one = challenge(submission)
    other = challenge(submission, SECRET.replace("quokka", "wombat"))
    assert one.warnings == other.warnings == ["'numbat' and 'Numbat' are different labels: they differ only in case"]


def test_the_number_of_correct_rows_is_hidden():
    """It would be the accuracy with all of its digits."""
    result = challenge("row_id,label\na,quokka\nb,quokka\nc,x\nd,x\n")
    assert (result.correct, result.incorrect, result.per_class, result.confusion) == (None, None, None, None)
    assert {"per_class", "confusion", "preview"}.isdisjoint(result.to_dict())


DIGITS = {
    "labels": (["accuracy", "mcc", "f1(average=macro)"], lambda rng, n: rng.choice(["cat", "dog"], n)),
    "numbers": (["rmse", "r2", "mape"], lambda rng, n: rng.lognormal(3, 2, n)),
}


@pytest.mark.parametrize("task", DIGITS)
def test_no_surface_has_more_digits_than_are_disclosed(task):
    """Text, page, Markdown, JSON and pickle have no digit of the exact score beyond the shown ones."""
    metrics, draw = DIGITS[task]
    rng = np.random.default_rng(8)
    ids = [f"r{k}" for k in range(997)]
    truth = draw(rng, 997)
    said = np.where(rng.random(997) < 0.7, truth, draw(rng, 997))
    answers, submission = {"row_id": ids, "label": truth}, {"row_id": ids, "label": said}
    exact = tm.submissions.score_submission(answers, submission, task=task, metrics=metrics, ci=0.95)
    result = tm.submissions.score_submission(
        answers, submission, task=task, metrics=metrics, ci=0.95, mode="challenge", outcomes=metrics[:1]
    )
    for key in exact.report:
        cell, shown = exact.report.cell(key), result.report.cell(key)
        for name in ("value", "lo", "hi"):
            assert getattr(shown, name) == disclosed(cell.metric, getattr(cell, name))
            assert len(repr(getattr(shown, name)).strip("-0.").replace(".", "")) <= 4
            digits = repr(getattr(cell, name))[:9]
            surfaces = [str(result), result.to_json(), result.to_markdown(), result.to_html(), repr(result.scores)]
            assert [text for text in surfaces if digits in text] == []
    again = pickle.loads(pickle.dumps(result))
    assert again.scores == result.scores
    assert exact.scores[metrics[0]].hex() not in str(vars(again))


def test_scores_that_differ_beyond_the_shown_digits_look_the_same():
    """One row more or less of 20,000 cannot be seen: probing single rows reveals nothing."""
    n = 20_000
    ids = [f"r{k}" for k in range(n)]
    answers = {"row_id": ids, "label": ["cat", "dog"] * (n // 2)}

    def surface(wrong):
        labels = ["owl" if k < wrong else label for k, label in enumerate(answers["label"])]
        result = tm.submissions.score_submission(answers, {"row_id": ids, "label": labels}, mode="challenge", ci=0.95)
        return result.to_json(), str(result), result.to_html()

    assert surface(6001) == surface(6002)


def test_ids_of_the_answers_are_not_shown_if_none_match():
    """They are in analysis mode, beside those of the submission."""
    with pytest.raises(tm.Rejection) as caught:
        challenge("row_id,label\nz1,x\nz2,y\n")
    assert [each.text for each in caught.value.problems] == ["No matching rows found"]
    assert "'a'" not in chain(caught.value)
    error = rejected("row_id,label\nz1,x\nz2,y\n")
    assert "the ids of the answers are 'a', 'b', 'c', 'd'; those of the submission are 'z1', 'z2'" in str(error)


def chain(error):
    """An error and those that it came from, as a traceback shows them."""
    texts = []
    while error is not None:
        texts.append(str(error))
        error = error.__cause__ or error.__context__
    return "\n".join(texts)


@pytest.mark.parametrize("metrics", ["precision", "auc", "rmse", "fscore(average=binary)"])
def test_a_metric_that_fails_does_not_say_why(metrics):
    """Its words could name the classes."""
    with pytest.raises((tm.Rejection, tm.ParameterError)) as caught:
        challenge("row_id,label\na,x\nb,y\nc,x\nd,y\n", metrics=metrics, task="labels")
    assert "quokka" not in chain(caught.value)


@pytest.mark.parametrize("metrics", ["confusion_matrix", "classification_report", "recall(average=None)"])
def test_only_single_numbers_are_scores_of_a_challenge(metrics):
    """A table would name the classes."""
    with pytest.raises(tm.ParameterError, match="must each be one number in a challenge") as caught:
        challenge("row_id,label\na,x\nb,y\nc,x\nd,y\n", metrics=metrics)
    assert "quokka" not in str(caught.value)


@pytest.mark.parametrize(
    "answers", ["row_id,label\na,quokka\na,numbat\n", 'row_id,label\na,"quokka\n', "row_id,quokka\na,x\n", ""]
)
def test_faults_of_the_answers_are_not_told_to_participants(answers):
    """They are told in an analysis."""
    with pytest.raises(tm.ParameterError, match="score them in analysis mode") as caught:
        challenge("row_id,label\na,x\n", answers)
    assert "quokka" not in chain(caught.value)


def test_a_challenge_of_probabilities_names_its_classes():
    """Without them the one column is asked for, and nothing tells what the classes are."""
    submission = "row_id,quokka\na,0.5\nb,0.5\nc,0.5\nd,0.5\n"
    error = rejected(submission, SECRET, mode="challenge", task="probabilities")
    assert "missing column 'label'; found: 'row_id', 'quokka'" in str(error)
    error = rejected(submission, SECRET, mode="challenge", task="probabilities", classes=["quokka", "numbat"])
    assert "missing column 'numbat'" in str(error)


def test_a_missing_positive_class_is_not_named():
    """The labels are the answers."""
    with pytest.raises(tm.ParameterError) as caught:
        challenge("row_id,label\na,0.5\nb,0.5\nc,0.5\nd,0.5\n", task="probabilities")
    assert "quokka" not in str(caught.value)


def test_rejections_do_not_depend_on_the_answers():
    """The same file is rejected with the same words whatever the answers are."""
    for submission in ("row_id,label\na\nb,x\n", "row_id,label\na,\n", "row_id,label\na,x\na,y\n"):
        one = rejected(submission, SECRET, mode="challenge")
        assert str(one) == str(rejected(submission, ANSWERS, mode="challenge"))
        assert str(one) == str(rejected(submission, SECRET))


def test_answers_in_a_challenge_may_be_scored_by_frames():
    """As anywhere."""
    answers = {"row_id": ["a", "b"], "label": ["x", "y"]}
    assert (
        tm.submissions.score_submission(answers, file("row_id,label\nb,y\na,x\n"), mode="challenge").scores["accuracy"]
        == 1.0
    )


@pytest.mark.parametrize("mode", ["challenge", "analysis"])
def test_an_error_that_names_answers_stays_inside(mode, monkeypatch):
    """Wherever it comes from; an analysis tells it."""

    def fail(*_, **__):
        raise tm.InputError("the labels are quokka and numbat")

    monkeypatch.setattr("tallymark.submissions.score.evaluate_batch", fail)
    with pytest.raises(tm.TallymarkError) as caught:
        score("row_id,label\na,x\n", SECRET, mode=mode)
    assert ("quokka" in chain(caught.value)) == (mode == "analysis")


def test_a_metric_that_fails_in_an_analysis_says_why():
    """On the page and in the table, beside those that do not fail."""
    result = score("row_id,label\na,cat\nb,dog\n", metrics=["accuracy", "fscore", "confusion_matrix"])
    assert "`positive` must name the positive class" in str(result)
    assert "accuracy" in result.to_html()
    assert list(result.scores) == ["accuracy", "confusion_matrix"]
