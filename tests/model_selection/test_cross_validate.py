"""cross_validate: fold values, means, corrected intervals and out-of-fold reports, of functions and estimators."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse, stats
from sklearn import model_selection as sk
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import hinge_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from tests.training.trainers import Mean, ends_its_process, fails_on_big, mean_of, weighted_mean_of

import tallymark as tm

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = X @ [1.0, 2.0, 0.0] + RNG.normal(size=120)
LABELS = np.where(Y > 0, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(Y, [-1.0, 1.0])]
FIVE = sk.KFold(5)


def test_each_fold_has_the_value_of_its_test_rows():
    """Fold by fold what the metric gives on its test rows, with timings and sizes."""
    splitter = tm.model_selection.KFold(4, seed=2)
    found = tm.model_selection.cross_validate(mean_of, X, Y, splitter=splitter, metrics=["rmse", "mae"])
    expected = [tm.rmse(Y[test], np.full(len(test), Y[train].mean())) for train, test in splitter.split(X)]
    assert list(found["rmse"].values) == expected
    for fold, (train, test) in zip(found.folds, splitter.split(X), strict=True):
        assert (fold.train_rows, fold.test_rows, fold.test.tolist()) == (len(train), len(test), test.tolist())
        assert min(fold.fit_time, fold.score_time) >= 0
    assert found.fit_time == math.fsum(fold.fit_time for fold in found.folds)
    assert found.score_time > 0


def test_values_of_an_estimator_are_those_of_scikit_learn():
    """With the metric of the same meaning, on the same splits."""
    ours = tm.model_selection.cross_validate(LinearRegression(), X, Y, splitter=FIVE, metrics=["r2", "mae"])
    for name, theirs in (("r2", "r2"), ("mae", "neg_mean_absolute_error")):
        expected = np.abs(sk.cross_val_score(LinearRegression(), X, Y, cv=FIVE, scoring=theirs))
        np.testing.assert_allclose(np.abs(ours[name].values), expected, rtol=1e-10)
    stratified = tm.model_selection.StratifiedKFold(4)
    ours = tm.model_selection.cross_validate(
        LogisticRegression(), X, LABELS, splitter=stratified, metrics=["auc", "logloss", "accuracy"]
    )
    for name, theirs in (("auc", "roc_auc"), ("logloss", "neg_log_loss"), ("accuracy", "accuracy")):
        expected = np.abs(sk.cross_val_score(LogisticRegression(), X, LABELS, cv=stratified, scoring=theirs))
        np.testing.assert_allclose(np.abs(ours[name].values), expected, rtol=1e-10)


def test_the_interval_is_that_of_nadeau_and_bengio():
    """By the formula of Nadeau and Bengio: the variance of the mean is (1/J + n_test/n_train) times the sample's."""
    found = tm.model_selection.cross_validate(
        mean_of, X, Y, splitter=tm.model_selection.Repeated(tm.model_selection.KFold(5), 3), metrics=["mae"], ci=0.9
    )
    values = np.array(found["mae"].values)
    assert len(values) == 15
    assert found["mae"].mean == pytest.approx(values.mean(), rel=1e-14)
    assert found["mae"].sd == pytest.approx(values.std(ddof=1), rel=1e-12)
    reach = stats.t.ppf(0.95, 14) * values.std(ddof=1) * math.sqrt(1 / 15 + 24 / 96)
    assert found["mae"].lo == pytest.approx(values.mean() - reach, rel=1e-10)
    assert found["mae"].hi == pytest.approx(values.mean() + reach, rel=1e-10)


def test_the_interval_stays_in_the_range():
    """An accuracy is at most 1; one split has no interval."""
    y = np.repeat(["a", "b"], 20)
    x = np.repeat([0.0, 1.0], 20)[:, None] + np.where(np.arange(40) == 3, 0.9, 0)[:, None]
    found = tm.model_selection.cross_validate(
        LogisticRegression(), x, y, splitter=tm.model_selection.StratifiedKFold(4), metrics="accuracy"
    )
    assert found["accuracy"].sd > 0
    assert found["accuracy"].hi == 1.0
    one = tm.model_selection.cross_validate(mean_of, X, Y, splitter=tm.model_selection.Holdout(), metrics="mae")["mae"]
    assert math.isnan(one.sd)
    assert math.isnan(one.lo)


def test_out_of_fold_rows_are_predicted_by_models_that_did_not_see_them():
    """The report over all tested rows, each by the model that did not see it."""
    found = tm.model_selection.cross_validate(
        LogisticRegression(), X, LABELS, splitter=FIVE, metrics=["auc", "accuracy"]
    )
    p = sk.cross_val_predict(LogisticRegression(), X, LABELS, cv=FIVE, method="predict_proba")
    assert found["auc"].out_of_fold == tm.auc(LABELS, p[:, 1], positive="yes")
    assert found.out_of_fold["accuracy"] == tm.accuracy(
        LABELS, sk.cross_val_predict(LogisticRegression(), X, LABELS, cv=FIVE)
    )
    assert found.out_of_fold.n == 120


def test_predictions_by_what_a_metric_reads():
    """Probabilities where there are some, margins where not, and a clear error where neither will do."""
    for model in (LinearSVC(), RidgeClassifier()):
        found = tm.model_selection.cross_validate(
            model, X, LABELS, splitter=FIVE, metrics=["auc", "fscore"], positive="yes"
        )
        expected = sk.cross_val_score(model, X, LABELS, cv=FIVE, scoring="roc_auc")
        np.testing.assert_allclose(found["auc"].values, expected, rtol=1e-12)
        other = tm.model_selection.cross_validate(model, X, LABELS, splitter=FIVE, metrics=["auc"], positive="no")
        np.testing.assert_allclose(other["auc"].values, expected, rtol=1e-12)
    with pytest.raises(tm.KindError, match="predict_proba"):
        tm.model_selection.cross_validate(LinearSVC(), X, LABELS, metrics=["logloss"])
    several = tm.model_selection.cross_validate(
        LinearSVC(), X, THREE, splitter=FIVE, metrics=["auc", "fscore(average=macro)"]
    )
    assert 0.5 < several["auc"].mean < 1
    several = tm.model_selection.cross_validate(
        LogisticRegression(), X, THREE, splitter=FIVE, metrics=["auc", "logloss"]
    )
    expected = sk.cross_val_score(LogisticRegression(), X, THREE, cv=FIVE, scoring="roc_auc_ovr")
    np.testing.assert_allclose(several["auc"].values, expected, rtol=1e-12)


def test_a_test_fold_without_a_class_still_scores():
    """Accuracy and log loss have values, auc is undefined with its reason, and the mean is over the others."""
    y = np.array(["a"] * 8 + ["b"] * 4)
    x = np.arange(12.0)[:, None]
    found = tm.model_selection.cross_validate(
        DummyClassifier(),
        x,
        y,
        splitter=tm.model_selection.KFold(3, shuffle=False),
        metrics=["auc", "logloss", "accuracy"],
    )
    assert all(map(math.isfinite, found["logloss"].values))
    assert [math.isnan(value) for value in found["auc"].values] == [True, True, True]
    assert len(found["auc"].notes) == 3
    assert "fold 1: " in found["auc"].notes[0]
    assert math.isnan(found["auc"].mean)
    assert math.isfinite(found["auc"].out_of_fold)
    mixed = tm.model_selection.KFold(2, shuffle=False)
    y = np.array(["a", "b", "a", "b", "a", "a"])
    found = tm.model_selection.cross_validate(DummyClassifier(), x[:6], y, splitter=mixed, metrics=["auc", "accuracy"])
    assert found["auc"].mean == 0.5
    y = np.array(["a", "b", "a", "a", "a", "a"])
    found = tm.model_selection.cross_validate(
        DummyClassifier(), x[:6], y, splitter=mixed, metrics=["auc", "logloss"], errors="report"
    )
    assert found["auc"].values[0] == 0.5
    assert math.isnan(found["auc"].values[1])
    assert found["auc"].mean == 0.5
    assert "ROC AUC, fold 2: " in str(found)


def test_a_model_that_has_not_seen_a_class():
    """Its probability is 0 in the column of that class: log loss is large, and nothing fails."""
    y = np.array(["a", "b"] * 4 + ["c"] * 4)
    found = tm.model_selection.cross_validate(
        DummyClassifier(),
        np.zeros((12, 1)),
        y,
        splitter=tm.model_selection.KFold(3, shuffle=False),
        metrics=["logloss"],
    )
    assert found["logloss"].values[2] == pytest.approx(-math.log(1e-15))
    assert math.isfinite(found["logloss"].out_of_fold)


def test_weights_go_to_metrics_and_to_trainers_that_take_them():
    """Go to the metrics, and to trainers that take them."""
    w = np.random.default_rng(1).random(120)
    found = tm.model_selection.cross_validate(weighted_mean_of, X, Y, splitter=FIVE, metrics=["mae"], weights=w)
    plain = tm.model_selection.cross_validate(mean_of, X, Y, splitter=FIVE, metrics=["mae"], weights=w)
    for k, (train, test) in enumerate(FIVE.split(X)):
        at = np.full(len(test), np.average(Y[train], weights=w[train]))
        assert found["mae"].values[k] == tm.mae(Y[test], at, weights=w[test])
        assert plain["mae"].values[k] == tm.mae(Y[test], np.full(len(test), np.average(Y[train])), weights=w[test])
    model = tm.model_selection.cross_validate(LinearRegression(), X, Y, splitter=FIVE, metrics=["mae"], weights=w)
    train, test = next(iter(FIVE.split(X)))
    fitted = LinearRegression().fit(X[train], Y[train], sample_weight=w[train])
    assert model["mae"].values[0] == tm.mae(Y[test], fitted.predict(X[test]), weights=w[test])
    pipeline = make_pipeline(StandardScaler(), LinearRegression())
    assert tm.model_selection.cross_validate(pipeline, X, Y, metrics="mae", weights=w)["mae"].mean > 0


@pytest.mark.slow
def test_processes_that_end_are_explained():
    """As those of a script do that starts them again when they load it."""
    with pytest.raises(tm.ParameterError, match=r"`n_jobs` must be 1 here, .* under `if __name__ == .__main__.:`"):
        tm.model_selection.cross_validate(ends_its_process, X, Y, metrics=["mae"], n_jobs=2)


@pytest.mark.parametrize(("n_jobs", "backend"), [(2, "threads"), (2, "processes"), (-1, "threads")])
@pytest.mark.slow
def test_parallel_folds_give_the_same_values(n_jobs, backend):
    """The values do not depend on how the folds are run."""
    one = tm.model_selection.cross_validate(LogisticRegression(), X, LABELS, metrics=["auc", "accuracy"])
    many = tm.model_selection.cross_validate(
        LogisticRegression(), X, LABELS, metrics=["auc", "accuracy"], n_jobs=n_jobs, backend=backend
    )
    assert [one[key].values for key in one] == [many[key].values for key in many]
    assert dict(one.out_of_fold) == dict(many.out_of_fold)


def test_functions_of_modules_run_in_processes():
    """A function of a module travels; a lambda is refused with advice, and runs in threads."""
    found = tm.model_selection.cross_validate(mean_of, X, Y, metrics=["mae"], n_jobs=2)
    assert found["mae"].values == tm.model_selection.cross_validate(mean_of, X, Y, metrics=["mae"])["mae"].values
    with pytest.raises(tm.ParameterError, match="threads"):
        tm.model_selection.cross_validate(lambda x, y: Mean(y), X, Y, metrics=["mae"], n_jobs=2)
    threads = tm.model_selection.cross_validate(
        lambda x, y: Mean(y), X, Y, metrics=["mae"], n_jobs=2, backend="threads"
    )
    assert threads["mae"].values == found["mae"].values


def test_estimators_are_not_changed():
    """Every fold fits a copy, of scikit-learn's kind or any other with fit."""
    model = LinearRegression()
    tm.model_selection.cross_validate(model, X, Y, metrics="mae")
    assert not hasattr(model, "coef_")

    class Own:
        fitted = 0

        def fit(self, x, y):
            self.fitted += 1
            self.value = float(np.mean(y))

        def predict(self, rows):
            assert self.fitted == 1
            return np.full(len(rows), self.value)

    own = Own()
    found = tm.model_selection.cross_validate(own, X, Y, metrics="mae")
    assert own.fitted == 0
    assert found["mae"].values == tm.model_selection.cross_validate(mean_of, X, Y, metrics="mae")["mae"].values


def test_any_container_of_rows_gives_the_same_folds():
    """Arrays, lists, data frames, Arrow, sparse matrices, columns by name: the same folds, the same values."""

    def least_squares(x, y):
        table = {
            pd.DataFrame: lambda v: v.to_numpy(),
            pl.DataFrame: lambda v: v.to_numpy(),
            pa.Table: lambda v: v.to_pandas().to_numpy(),
            dict: lambda v: np.column_stack(list(v.values())),
            sparse.csr_array: lambda v: v.toarray(),
        }.get(type(x), np.asarray)
        fitted = np.linalg.lstsq(table(x), np.asarray(y), rcond=None)[0]
        return lambda rows: table(rows) @ fitted

    expected = tm.model_selection.cross_validate(least_squares, X, Y, metrics="mae")["mae"].values
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=range(500, 620))
    for rows, truth in (
        (X.tolist(), Y.tolist()),
        (frame, pd.Series(Y, index=frame.index)),
        (pl.DataFrame(X, schema=["a", "b", "c"]), pl.Series(Y)),
        (pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}), pa.array(Y)),
        ({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}, Y),
        (sparse.coo_array(X), Y),
    ):
        n = 120
        given = {"splitter": tm.model_selection.KFold(5)}
        found = tm.model_selection.cross_validate(least_squares, rows, truth, metrics="mae", **given)
        np.testing.assert_allclose(found["mae"].values, expected, rtol=1e-9)
        assert sum(fold.test_rows for fold in found.folds) == n


def test_groups_go_to_the_splitter():
    """Ours and scikit-learn's."""
    groups = np.repeat(np.arange(30), 4)
    for splitter in (tm.model_selection.GroupKFold(3), sk.GroupKFold(3)):
        found = tm.model_selection.cross_validate(mean_of, X, Y, splitter=splitter, groups=groups, metrics="mae")
        for fold in found.folds:
            assert not set(groups[fold.test]) & set(np.delete(groups, fold.test))


def test_cv_takes_what_scikit_learn_takes():
    """A number of folds, splitters, pairs of rows as lists, masks of places and generators: cv is the splitter."""
    expected = tm.model_selection.cross_validate(mean_of, X, Y, splitter=FIVE, metrics="mae")["mae"].values
    for cv in (FIVE, list(FIVE.split(X)), FIVE.split(X)):
        assert tm.model_selection.cross_validate(mean_of, X, Y, cv=cv, metrics="mae")["mae"].values == expected
    three = tm.model_selection.cross_validate(mean_of, X, Y, splitter=3, metrics="mae")
    assert [fold.test_rows for fold in three.folds] == [40, 40, 40]
    for cv in (3, np.int64(3), tm.model_selection.KFold(3)):
        found = tm.model_selection.cross_validate(mean_of, X, Y, cv=cv, metrics="mae")
        assert found["mae"].values == three["mae"].values


def test_folds_of_a_classifier_are_stratified_and_groups_are_never_split():
    """By its type or by labels that are no numbers; a regressor, a function of numbers and a splitter are not."""
    rare = np.where(np.arange(120) < 10, 1, 0)
    texts = np.where(rare, "yes", "no")

    def in_test(trainer, y, **given):
        folds = tm.model_selection.cross_validate(trainer, X, y, metrics="accuracy", **given).folds
        return [int(rare[fold.test].sum()) for fold in folds]

    assert in_test(LogisticRegression(), rare) == [2] * 5
    assert in_test(LinearSVC(), rare, cv=2) == [5, 5]
    assert in_test(make_pipeline(StandardScaler(), LogisticRegression()), texts) == [2] * 5
    assert in_test(lambda x, y: lambda rows: ["no"] * len(rows), texts) == [2] * 5
    plain = [int(rare[test].sum()) for _, test in tm.model_selection.KFold(5).split(X)]
    assert in_test(LogisticRegression(), rare, cv=tm.model_selection.KFold(5)) == plain != [2] * 5
    folds = tm.model_selection.cross_validate(LinearRegression(), X, rare.astype(float), metrics="mae").folds
    assert [int(rare[fold.test].sum()) for fold in folds] == plain
    groups = np.repeat(np.arange(30), 4)
    for fold in tm.model_selection.cross_validate(DummyClassifier(), X, texts, groups=groups, cv=3).folds:
        assert not set(groups[fold.test]) & set(np.delete(groups, fold.test))


def test_scoring_takes_the_names_of_scikit_learn():
    """A loss is a loss, whatever sign its name has there; lists, mappings and scorers too."""
    names = ["neg_log_loss", "roc_auc", "neg_brier_score", "accuracy"]
    found = tm.model_selection.cross_validate(LogisticRegression(), X, LABELS, cv=FIVE, scoring=names)
    assert list(found) == ["logloss", "auc", "brier", "accuracy"]
    expected = sk.cross_validate(LogisticRegression(), X, LABELS, cv=FIVE, scoring=["neg_log_loss", "roc_auc"])
    np.testing.assert_allclose(found["logloss"].values, -expected["test_neg_log_loss"], rtol=1e-10)
    np.testing.assert_allclose(found["auc"].values, expected["test_roc_auc"], rtol=1e-10)
    scoring = {"loss": "neg_log_loss", "area": tm.sklearn.scorer("auc"), "x": tm.mcc}
    named = tm.model_selection.cross_validate(LogisticRegression(), X, LABELS, cv=FIVE, scoring=scoring)
    assert list(named) == ["loss", "area", "x"]
    assert named["loss"].values == found["logloss"].values
    assert named["area"].values == found["auc"].values
    one = tm.model_selection.cross_validate(LinearRegression(), X, Y, cv=FIVE, scoring="neg_root_mean_squared_error")
    assert list(one) == ["rmse"]


def test_times_are_in_the_print():
    """The mean of a fold, to fit and to score."""
    found = tm.model_selection.cross_validate(mean_of, X, Y, cv=4, metrics="mae")
    found.folds = [fold._replace(fit_time=2.5, score_time=0.0004) for fold in found.folds]
    assert "· mean times of a fold: 2.5 s to fit, 0.4 ms to score" in str(found)


def test_a_failing_trainer_raises_or_leaves_its_fold_out():
    """Raises with the fold named; as a cell, its fold is left out of the mean and named in the notes."""
    y = np.arange(10.0)
    splitter = tm.model_selection.KFold(2, shuffle=False)
    with pytest.raises(RuntimeError, match="nothing big") as caught:
        tm.model_selection.cross_validate(fails_on_big, y[:, None], y, splitter=splitter, metrics=["mae"])
    assert caught.value.__notes__ == ["in fold 2 of cross_validate"]
    found = tm.model_selection.cross_validate(
        fails_on_big, y[:, None], y, splitter=splitter, metrics=["mae"], errors="report"
    )
    assert found["mae"].notes == ("fold 2: RuntimeError: nothing big to learn from",)
    assert found["mae"].mean == found["mae"].values[0]
    assert math.isnan(found["mae"].values[1])
    with pytest.raises(tm.ParameterError, match="every fold failed"):
        tm.model_selection.cross_validate(
            fails_on_big, y[:9, None], y[:9], splitter=splitter, metrics=["mae"], errors="report"
        )


def test_a_metric_that_fails_in_every_fold_is_shown_as_failed():
    """Not as undefined, and its standard deviation is empty."""
    from sklearn.dummy import DummyClassifier

    y = np.arange(30) % 3
    found = tm.model_selection.cross_validate(
        DummyClassifier(), y[:, None], y, metrics=["f1", "accuracy"], splitter=3, errors="report"
    )
    row = next(line for line in str(found).splitlines() if line.startswith("F1 "))
    assert row.split() == ["F1", "failed", "failed", "higher"]


def test_progress_is_called_with_every_fold(capsys):
    """A function gets every fold; True prints a line for each."""
    seen = []
    tm.model_selection.cross_validate(mean_of, X, Y, metrics=["mae"], progress=seen.append, splitter=3)
    assert [fold.number for fold in seen] == [1, 2, 3]
    tm.model_selection.cross_validate(mean_of, X, Y, metrics=["mae"], progress=True, splitter=2)
    lines = capsys.readouterr().out.splitlines()
    assert [line[:18] for line in lines] == ["fold 1 of 2  mae: ", "fold 2 of 2  mae: "]


def test_text_html_json_and_frames_hold_the_scores():
    """Text, HTML, plain data, JSON, data frames."""
    found = tm.model_selection.cross_validate(mean_of, X, Y, metrics={"error": "mae", "r2": "r2"}, splitter=3)
    assert list(found) == ["error", "r2"]
    assert found["mae"] is found["error"]
    assert "3 folds · 120 rows tested" in str(found)
    assert "95 % interval" in str(found)
    assert "<table>" in found._repr_html_()
    data = json.loads(found.to_json())
    assert data["metrics"]["error"]["values"] == list(found["error"].values)
    assert [fold["train_rows"] for fold in data["folds"]] == [80, 80, 80]
    for frame in (found.to_pandas(), found.to_polars(), found.to_arrow().to_pandas()):
        assert list(frame["value"])[::2] == list(found["error"].values)
    with pytest.raises(KeyError, match="it has error, r2"):
        found["auc"]


def test_metrics_by_the_type_of_the_truth():
    """As in evaluate, where none are named."""
    assert list(tm.model_selection.cross_validate(mean_of, X, Y)) == ["rmse", "mae", "r2"]
    assert "accuracy" in tm.model_selection.cross_validate(DummyClassifier(), X, LABELS)
    assert "logloss" in tm.model_selection.cross_validate(DummyClassifier(), X, (Y > 0).astype(int))
    assert "r2" in tm.model_selection.cross_validate(LinearRegression(), X, (Y > 0).astype(int))
    assert "fscore(average=macro)" in tm.model_selection.cross_validate(LinearSVC(), X, THREE)


def test_the_query_goes_with_its_rows():
    """The query of each test row goes with it."""
    query = np.repeat(np.arange(30), 4)
    relevance = (Y > 0).astype(int)
    found = tm.model_selection.cross_validate(
        LinearRegression(),
        X,
        relevance,
        splitter=tm.model_selection.GroupKFold(3),
        groups=query,
        query=query,
        metrics="ndcg",
    )
    assert 0.5 < found["ndcg"].mean <= 1


def test_arguments_that_cannot_be_used_are_refused():
    """Trainers that are none, lengths that differ, odd splitters, metrics of groups, odd numbers."""
    for bad, words in (
        (lambda: tm.model_selection.cross_validate(3, X, Y), "trainer"),
        (lambda: tm.model_selection.cross_validate(LinearRegression, X, Y), "trainer"),
        (lambda: tm.model_selection.cross_validate(mean_of, X, Y[:-1]), "same length"),
        (lambda: tm.model_selection.cross_validate(mean_of, X, Y, splitter="five"), "splitter"),
        (lambda: tm.model_selection.cross_validate(mean_of, X, Y, cv=[1, 2, 3]), "`cv` must be a number of folds"),
        (lambda: tm.model_selection.cross_validate(mean_of, X, Y, cv=[]), "cv"),
        (lambda: tm.model_selection.cross_validate(mean_of, X, Y, folds=5), "Pass cv=5"),
        (lambda: tm.model_selection.cross_validate(mean_of, X, Y, cv=5, splitter=5), "`cv` are the same"),
        (lambda: tm.model_selection.cross_validate(mean_of, X, Y, metrics="mae", scoring="mae"), "are the same"),
        (lambda: tm.model_selection.cross_validate(mean_of, X, Y, scoring=sk.cross_val_score), "scoring"),
        (lambda: tm.model_selection.cross_validate(mean_of, X, Y, splitter=1), "folds"),
        (lambda: tm.model_selection.cross_validate(mean_of, X, LABELS, metrics="gap(recall)"), "groups"),
        (lambda: tm.model_selection.cross_validate(mean_of, X, Y, ci=95), "ci"),
        (lambda: tm.model_selection.cross_validate(mean_of, X, Y, n_jobs=0), "n_jobs"),
        (lambda: tm.model_selection.cross_validate(mean_of, X, Y, backend="cloud"), "backend"),
        (lambda: tm.model_selection.cross_validate(mean_of, X, Y, errors="ignore"), "errors"),
        (lambda: tm.model_selection.cross_validate(mean_of, X, Y, weights=[-1.0] * 120), "weights"),
    ):
        with pytest.raises(tm.TallymarkError, match=words):
            bad()


def test_figures_of_the_whole_say_that_metrics_have_them():
    """As looked for by those who know the array of `cross_val_score`; a typo is a plain AttributeError."""
    found = tm.model_selection.cross_validate(mean_of, X, Y, cv=2, metrics=["mae"])
    for name, words in (
        ("mean", r'result\["mae"\]\.mean'),
        ("std", r'result\["mae"\]\.sd'),
        ("typo", "attribute 'typo'$"),
    ):
        with pytest.raises(AttributeError, match=words):
            getattr(found, name)
    assert found["mae"].sd >= 0


def test_parameters_are_shared_by_all_metrics():
    """As in `evaluate`, named or not; what a splitter decides says so."""
    rows, y = np.arange(12.0)[:, None], [0, 1, 2] * 4

    def trainer(_, truth):
        return lambda some: [0, 1, 1, 0, 1, 2][: len(some)]

    found = tm.model_selection.cross_validate(trainer, rows, y, cv=2, metrics=["f1", "accuracy"], average="macro")
    assert list(found) == ["fscore(average=macro)", "accuracy"]
    with pytest.raises(tm.ParameterError, match="not a parameter of accuracy"):
        tm.model_selection.cross_validate(trainer, rows, y, cv=2, metrics=["accuracy"], average="macro")
    with pytest.raises(tm.ParameterError, match=r"no argument `random_state`\. Pass cv=5, or a splitter"):
        tm.model_selection.cross_validate(trainer, rows, y, cv=2, random_state=0)


def test_an_error_has_all_metrics_of_its_fold():
    """Whichever predictions they read."""
    rows, y = np.arange(30.0)[:, None], list("abc") * 10
    with pytest.raises(tm.ParameterError, match="`average` must be given") as raised:
        tm.model_selection.cross_validate(LogisticRegression(), rows, y, cv=2, metrics=["f1", "logloss", "accuracy"])
    assert set(raised.value.report.failures) == {"fscore"}
    assert set(raised.value.report) == {"fscore", "logloss", "accuracy"}


def test_metrics_of_margins_read_the_decisions_of_several_classes():
    """As they do in evaluate_model and in a scorer."""
    rows, y = np.arange(30.0)[:, None], np.array(list("abc") * 10)
    model, names = LogisticRegression(), ["margin_accuracy", "hinge_loss", "auc"]
    found = tm.model_selection.cross_validate(model, rows, y, cv=sk.KFold(2), metrics=names)
    for fold, (train, test) in zip(found.folds, sk.KFold(2).split(rows), strict=True):
        model.fit(rows[train], y[train])
        assert fold.report["margin_accuracy"] == tm.accuracy(y[test], model.predict(rows[test]))
        expected = hinge_loss(y[test], model.decision_function(rows[test]))
        assert fold.report["hinge_loss"] == pytest.approx(expected, rel=1e-12)


def test_names_in_scoring_mean_what_they_mean_in_scikit_learn():
    """Also where a metric of that name has another default here, or there is none."""
    rows, y = np.arange(30.0)[:, None], list("abc") * 10
    for scoring, ours in (
        ("top_k_accuracy", "top_k_accuracy(k=2)"),
        ("neg_log_loss", "logloss"),
        ("roc_auc_ovr", "auc"),
        ("d2_log_loss_score", "d2_logloss"),
    ):
        found = tm.model_selection.cross_validate(LogisticRegression(), rows, y, cv=2, scoring=scoring)
        assert list(found) == [ours]
    with pytest.raises(tm.UnknownMetricError, match="use f1_micro or f1_macro"):
        tm.model_selection.cross_validate(LogisticRegression(), rows, y, scoring="f1_samples")
