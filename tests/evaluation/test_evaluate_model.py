"""evaluate_model: what a model is asked for, and that the values are those of evaluate on its predictions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import tallymark as tm

RNG = np.random.default_rng(3)
X = RNG.normal(size=(160, 3))
SCORE = X @ [1.0, -1.0, 0.0] + RNG.normal(size=160)
Y = np.where(SCORE > 0, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(SCORE, [-1.0, 1.0])]
FITTED = LogisticRegression().fit(X, Y)


class Model:
    """Answers with what it was made with, and keeps count."""

    def __init__(self, classes, **answers):
        self.classes_ = classes
        self.asked = []
        for name, answer in answers.items():
            setattr(self, name, lambda rows, name=name, answer=answer: self.asked.append(name) or answer)


def test_each_metric_reads_what_it_needs_in_one_call():
    """Labels, probabilities and margins, in the order that was asked for."""
    report = tm.evaluate_model(FITTED, X, Y, ["fscore", "logloss", "margin_accuracy", "auc"], positive="yes")
    assert list(report) == ["fscore", "logloss", "margin_accuracy", "auc"]
    p = FITTED.predict_proba(X)
    assert report["fscore"] == tm.fscore(Y, FITTED.predict(X), positive="yes")
    assert report["logloss"] == tm.logloss(Y, p, classes=["no", "yes"])
    assert report["auc"] == tm.auc(Y, p[:, 1], positive="yes")
    assert report["margin_accuracy"] == tm.accuracy(Y, FITTED.predict(X))
    assert "roc" in report.plot.available()
    call = 'tm.evaluate_model(model, X, y, ["fscore", "logloss", "margin_accuracy", "auc"], positive="yes")'
    assert call in report.to_markdown()


def test_a_model_is_asked_once_and_only_for_what_is_read():
    """Not for probabilities where labels do; the labels are its own, not those of its probabilities."""
    p = np.array([[0.9, 0.1], [0.6, 0.4]])
    model = Model(np.array([0, 1]), predict=np.array([0, 1]), predict_proba=p, decision_function=np.array([0.0, 1.0]))
    report = tm.evaluate_model(model, [[0], [1]], [0, 1], ["accuracy", "fscore"])
    assert (report["accuracy"], model.asked) == (1.0, ["predict"])
    model.asked.clear()
    report = tm.evaluate_model(model, [[0], [1]], [0, 1], ["accuracy", "auc", "logloss", "fscore"])
    assert (report["accuracy"], sorted(model.asked)) == (1.0, ["predict", "predict_proba"])


@pytest.mark.parametrize(
    ("model", "y", "keys"),
    [
        (FITTED, Y, ["auc", "logloss", "brier", "accuracy"]),
        (make_pipeline(StandardScaler(), LogisticRegression()).fit(X, THREE), THREE, ["auc", "logloss", "brier"]),
        (LinearSVC().fit(X, Y), Y, ["auc", "average_precision", "accuracy"]),
        (LinearSVC().fit(X, THREE), THREE, ["accuracy", "fscore(average=macro)"]),
        (LinearRegression().fit(X, SCORE), SCORE, ["rmse", "mae", "r2"]),
        (PoissonRegressor().fit(X, np.arange(160) % 5), np.arange(160) % 5, ["rmse", "mae", "r2"]),
        (lambda rows: rows[:, 0], SCORE, ["rmse", "mae", "r2"]),
    ],
    ids=["probabilities", "a pipeline", "scores", "labels", "numbers", "counts", "a function"],
)
def test_without_metrics_the_most_detailed_predictions_decide(model, y, keys):
    """Also where a whole number as truth could be a class."""
    report = tm.evaluate_model(model, X, y, positive="yes" if y is Y else None)
    assert set(keys) <= set(report)
    assert not report.failures


def test_keywords_are_those_of_evaluate():
    """Weights, groups of one column and of several, intervals, and errors that call the truth y."""
    weights, by = RNG.random(160), {"site": np.arange(160) % 2, "sex": np.arange(160) % 3}
    asked = {"weights": weights, "by": by, "positive": "yes"}
    report = tm.evaluate_model(FITTED, pd.DataFrame(X).to_numpy(), pd.Series(Y), ["recall", "brier"], **asked)
    labels = tm.evaluate(Y, FITTED.predict(X), ["recall"], **asked)
    assert report["recall"] == labels["recall"]
    assert list(report.slices[0, 1]) == ["recall", "brier"]
    assert report.slices[0, 1]["recall"] == labels.slices[0, 1]["recall"]
    assert report.slices.by("site")[1]["recall"] == labels.slices.by("site")[1]["recall"]
    assert "site" in str(report)
    with_interval = tm.evaluate_model(FITTED, X, Y, ["accuracy", "brier"], positive="yes", ci=0.9)
    assert with_interval.cell("accuracy").lo < with_interval["accuracy"] < with_interval.cell("accuracy").hi
    with pytest.raises(tm.LengthError, match="`y` and `y_pred` must have the same length; got 159 and 160 rows"):
        tm.evaluate_model(FITTED, X, Y[:-1], ["accuracy"])


def test_classes_that_the_model_has_never_seen_have_no_probability():
    """They count against it, and the columns stay with their classes."""
    model = DummyClassifier().fit([[0]] * 3, ["c", "a", "a"])
    report = tm.evaluate_model(model, [[0]] * 2, ["a", "b"], ["logloss(clip=0)", "accuracy"])
    assert report["logloss(clip=0)"] == np.inf
    assert report["accuracy"] == 0.5


def test_what_cannot_predict_is_refused():
    """Classes of models, data, and models without what a metric reads."""
    for model in (LogisticRegression, X, "model", None):
        with pytest.raises(tm.ParameterError, match="`model` must be a fitted model with `predict`"):
            tm.evaluate_model(model, X, Y)
    with pytest.raises(tm.KindError, match=r"logloss needs predict_proba, which LinearSVC does not have. Calibrated"):
        tm.evaluate_model(LinearSVC().fit(X, Y), X, Y, ["logloss"])
    with pytest.raises(tm.TypeOfDataError, match=r"tm.evaluate_model\(model, X, y\)"):
        tm.evaluate(FITTED, X, Y)


def test_thresholds_and_shared_parameters_reach_every_metric():
    """A threshold is applied to probabilities, and no metric is lost."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(300, 3))
    y = (x[:, 0] + rng.normal(size=300) > 0).astype(int)
    model = LogisticRegression().fit(x, y)
    p = model.predict_proba(x)[:, 1]
    found = tm.evaluate_model(model, x, y, ["f1", "accuracy", "auc"], threshold=0.8)
    assert list(found) == ["fscore(threshold=0.8)", "accuracy(threshold=0.8)", "auc"]
    assert found["accuracy(threshold=0.8)"] == tm.accuracy(y, p, threshold=0.8) != tm.accuracy(y, p)
    assert tm.sklearn.scorer("accuracy(threshold=0.8)")(model, x, y) == tm.accuracy(y, p, threshold=0.8)
    several = np.digitize(x[:, 0], [-0.5, 0.5])
    report = tm.evaluate_model(LogisticRegression().fit(x, several), x, several, ["f1", "auc"], average="macro")
    assert list(report) == ["fscore(average=macro)", "auc"]


def test_a_metric_whose_predictions_a_model_lacks_is_a_failed_cell_of_a_report():
    """With `errors="report"`, overall and in every group; the other metrics are computed."""
    model, groups = LinearSVC().fit(X, Y), np.arange(len(Y)) % 3
    report = tm.evaluate_model(model, X, Y, ["logloss", "auc", "accuracy"], by=groups, errors="report", positive="yes")
    assert list(report) == ["logloss", "auc", "accuracy"]
    for part in (report, *report.slices.values()):
        assert set(part.failures) == {"logloss"}
        assert "logloss needs predict_proba" in str(part.failures["logloss"])
    assert report["accuracy"] == tm.accuracy(Y, model.predict(X))
    assert "ordered by ROC AUC, the worst group first" in str(report)
    assert str(tm.Report.from_json(report.to_json())) == str(report)
    with pytest.raises(tm.KindError, match="logloss needs predict_proba"):
        tm.evaluate_model(model, X, Y, ["logloss"], errors="report")


def test_an_error_has_all_metrics_that_could_be_computed():
    """Whichever predictions they read; `errors="report"` returns that report."""
    model, metrics = LogisticRegression().fit(X, THREE), ["logloss", "f1", "accuracy", "auc(multiclass=ovo)"]
    with pytest.raises(tm.ParameterError, match="`average` must be given") as raised:
        tm.evaluate_model(model, X, THREE, metrics)
    report = tm.evaluate_model(model, X, THREE, metrics, errors="report")
    assert set(report.failures) == set(raised.value.report.failures) == {"fscore"}
    assert list(report) == list(raised.value.report) == ["logloss", "fscore", "accuracy", "auc(multiclass=ovo)"]
    assert report["accuracy"] == raised.value.report["accuracy"] == tm.accuracy(THREE, model.predict(X))
    with pytest.raises(tm.ParameterError, match="`errors` must be"):
        tm.evaluate_model(model, X, THREE, metrics, errors="cell")
    doubtful = tm.evaluate_model(LinearRegression().fit(X, SCORE), X, SCORE - 9, ["rmse", "msle"], errors="report")
    assert str(doubtful.failures["msle"]).startswith("`y` must be greater than -1")
