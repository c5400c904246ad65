"""What a metric asks of a model, and how columns of classes are put in order."""

from __future__ import annotations

import numpy as np
import pytest

import tallymark as tm
from tallymark.evaluation.model_predictions import predict, prediction_method, take_rows


class Model:
    """Answers with what it was made with."""

    def __init__(self, classes=None, **answers):
        if classes is not None:
            self.classes_ = classes
        for name, answer in answers.items():
            setattr(self, name, lambda rows, answer=answer: answer)


def test_the_kind_of_a_metric_decides_the_method_of_the_model():
    """Labels and values from predict, probabilities from predict_proba, scores from the best there is."""
    full = Model(predict=[1], predict_proba=[[1.0]], decision_function=[1.0])
    asked = {
        name: prediction_method(tm.metric(name), full)
        for name in ("mae", "accuracy", "logloss", "auc", "margin_accuracy", "ndcg")
    }
    assert asked == {
        "mae": "predict",
        "accuracy": "predict",
        "logloss": "predict_proba",
        "auc": "predict_proba",
        "margin_accuracy": "decision_function",
        "ndcg": "predict",
    }
    assert prediction_method(tm.auc, Model(predict=[1], decision_function=[1.0])) == "decision_function"
    assert prediction_method(tm.auc, Model(predict=[1])) == "predict"
    assert prediction_method(tm.logloss, lambda rows: rows) == "call"
    with pytest.raises(tm.KindError, match="predict_proba"):
        prediction_method(tm.logloss, Model(predict=[1]))


def test_columns_in_the_order_of_the_classes():
    """Those of the model may stand otherwise, or lack some; labels compare as numbers or strings."""
    table = np.array([[0.2, 0.8], [0.6, 0.4]])
    model = Model(np.array(["c", "a"]), predict_proba=table)
    found = predict(model, None, "predict_proba", ["a", "b", "c"])
    assert found.kind == "probability"
    assert found.y_pred.tolist() == [[0.8, 0.0, 0.2], [0.4, 0.0, 0.6]]
    assert predict(Model(np.array([False, True]), predict_proba=table), None, "predict_proba", [0, 1]).y_pred is table
    assert predict(model, None, "predict_proba").y_pred is table


def test_margins_say_whose_they_are():
    """One column of margins belongs to the second class of the model; without classes it is a score."""
    model = Model(np.array(["b", "a"]), decision_function=np.array([1.5, -2.0]))
    found = predict(model, None, "decision_function", ["a", "b"])
    assert (found.kind, found.y_pred.tolist()) == ("margin", [[1.5, 0.0], [-2.0, 0.0]])
    assert tm.auc(["a", "b"], found.y_pred, kind="margin", classes=["a", "b"], positive="a") == 1.0
    plain = predict(Model(decision_function=np.array([1.5])), None, "decision_function")
    assert (plain.kind, plain.y_pred.tolist()) == ("score", [1.5])
    three = Model(np.array(["a", "b"]), decision_function=np.array([[1.0, 2.0]]))
    found = predict(three, None, "decision_function", ["a", "b", "c"])
    assert found.kind == "score"
    assert found.y_pred[0, 2] < found.y_pred[0, :2].min()


def test_answers_that_do_not_fit():
    """Several tables, another number of columns, classes that nobody knows."""
    for model, error in (
        (Model(predict_proba=[np.ones((2, 2)), np.ones((2, 2))]), tm.ShapeError),
        (Model(np.array([0, 1, 2]), predict_proba=np.ones((2, 2)) / 2), tm.ShapeError),
        (Model(np.array([0, 7]), predict_proba=np.ones((2, 2)) / 2), tm.ParameterError),
    ):
        with pytest.raises(error):
            predict(model, None, "predict_proba", [0, 1])


def test_rows_that_cannot_be_taken():
    """Are named."""
    with pytest.raises(tm.ParameterError, match="could not be taken"):
        take_rows(object(), np.array([0]))
