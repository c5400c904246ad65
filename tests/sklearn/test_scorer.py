"""scikit-learn: scorers ask the right method, have the right sign, and give the numbers of the metric."""

from __future__ import annotations

import copy
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.cluster import KMeans
from sklearn.ensemble import IsolationForest
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import tallymark as tm
from tallymark.metrics import registry
from tallymark.metrics.clustering.separation import ShapeMetric
from tests.training.frameworks import boosted_rows as rows

HALF = rows.N // 2


@pytest.fixture(scope="module")
def fitted():
    """Rows, and models with their truth: two and three classes, names, numbers."""
    x, y, _ = rows.two_classes()
    models = {
        "two": (LogisticRegression(), y),
        "three": (LogisticRegression(), rows.three_classes()[1]),
        "names": (LinearSVC(), y.astype(str)),
        "numbers": (LinearRegression(), rows.numbers()[1]),
    }
    return x, {name: (model.fit(x, truth), truth) for name, (model, truth) in models.items()}


def named(made, *names):
    x, y, w = made
    return x, np.array(names)[y], w


def test_without_the_package_it_says_what_to_install(monkeypatch):
    """The extra is named."""
    monkeypatch.setitem(sys.modules, "sklearn.utils.metadata_routing", None)
    with pytest.raises(tm.errors.MissingPackageError, match=r"tallymark\[sklearn\]"):
        tm.sklearn.scorer("auc").get_metadata_routing()


@pytest.mark.parametrize(
    ("name", "peer", "facts"),
    [
        ("auc", "roc_auc", {}),
        ("logloss", "neg_log_loss", {}),
        ("brier", "neg_brier_score", {"positive": "yes"}),
        ("accuracy", "accuracy", {}),
        ("balanced_accuracy", "balanced_accuracy", {}),
        ("average_precision", "average_precision", {"positive": "yes"}),
        ("fscore(average=macro)", "f1_macro", {}),
        ("d2_logloss", "d2_log_loss_score", {}),
        ("d2_brier", "d2_brier_score", {"positive": "yes"}),
    ],
)
def test_two_named_classes_score_as_in_scikit_learn(name, peer, facts):
    """Values, signs and methods are those of scikit-learn's scorers, fold by fold, also in a pipeline."""
    x, y, _ = named(rows.two_classes(), "no", "yes")
    model = make_pipeline(StandardScaler(), LogisticRegression())
    theirs = get_scorer(peer)
    if facts and peer != "roc_auc":
        theirs = sklearn.metrics.make_scorer(
            theirs._score_func,
            greater_is_better=theirs._sign > 0,
            response_method=theirs._response_method,
            pos_label="yes",
        )
    ours = cross_val_score(model, x, y, cv=3, scoring=tm.sklearn.scorer(name, **facts))
    assert ours == pytest.approx(cross_val_score(model, x, y, cv=3, scoring=theirs), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "peer"),
    [("auc", "roc_auc_ovr"), ("logloss", "neg_log_loss"), ("recall(average=macro)", "recall_macro"), ("mcc", None)],
)
def test_three_named_classes_follow_the_order_of_the_estimator(name, peer):
    """Columns belong to the classes that the estimator knows, in its order."""
    x, y, _ = named(rows.three_classes(), "b", "c", "a")
    scoring = get_scorer(peer or "matthews_corrcoef")
    ours = cross_val_score(LogisticRegression(), x, y, cv=3, scoring=tm.sklearn.scorer(name))
    assert ours == pytest.approx(cross_val_score(LogisticRegression(), x, y, cv=3, scoring=scoring), rel=1e-12)


def test_it_is_the_metric_itself():
    """To the last bit, with weights."""
    x, y, w = named(rows.two_classes(), "no", "yes")
    model = LogisticRegression().fit(x[:HALF], y[:HALF])
    x, y, w = x[HALF:], y[HALF:], w[HALF:]
    p, classes = model.predict_proba(x), ["no", "yes"]
    assert tm.sklearn.scorer(tm.auc)(model, x, y) == tm.auc(y, p, classes=classes)
    assert tm.sklearn.scorer(tm.auc, positive="yes")(model, x, y, sample_weight=w) == tm.auc(
        y, p[:, 1], positive="yes", weights=w
    )
    assert tm.sklearn.scorer("logloss")(model, x, y, sample_weight=w) == -tm.logloss(y, p, classes=classes, weights=w)
    assert tm.sklearn.scorer("recall", positive="no")(model, x, y) == tm.recall(y, model.predict(x), positive="no")


def test_a_target_says_what_its_keywords_say():
    """But not the kind, which is that of the method that is asked."""
    x, y, _ = named(rows.two_classes(), "no", "yes")
    model = LogisticRegression().fit(x, y)
    target = tm.Target(classes=["no", "yes"], positive="no")
    assert tm.sklearn.scorer("recall", target=target)(model, x, y) == tm.sklearn.scorer("recall", positive="no")(
        model, x, y
    )
    with pytest.raises(tm.ParameterError, match="`target` and `positive`"):
        tm.sklearn.scorer("recall", target=target, positive="no")
    with pytest.raises(tm.ParameterError, match="`target` must have no kind"):
        tm.sklearn.scorer("recall", target=tm.Target("label"))


def test_scores_come_from_the_decision_function_without_probabilities():
    """Where there are no probabilities, scores come from there; of three classes too; log loss says what it lacks."""
    for made, names in ((rows.two_classes(), ("no", "yes")), (rows.three_classes(), ("b", "c", "a"))):
        x, y, _ = named(made, *names)
        model = LinearSVC().fit(x, y)
        found = tm.sklearn.scorer("auc")(model, x, y)
        m = model.decision_function(x)
        expected = tm.auc(y == "yes", m) if len(names) == 2 else tm.auc(y, m, classes=["a", "b", "c"], kind="score")
        assert found == expected
        with pytest.raises(tm.KindError, match=r"logloss needs predict_proba, which LinearSVC does not have"):
            tm.sklearn.scorer("logloss")(model, x, y)


def test_scores_of_what_knows_no_classes():
    """A detector of outliers, which never sees labels."""
    x, y, _ = rows.two_classes()
    model = IsolationForest(n_estimators=5, random_state=0).fit(x)
    assert tm.sklearn.scorer("auc")(model, x, y) == tm.auc(y, model.decision_function(x))


def test_losses_are_negated_for_scikit_learn():
    """Losses are made negative; what is best at a value is how far it is from there."""
    x, y, _ = rows.numbers()
    model = LinearRegression().fit(x[:HALF], y[:HALF])
    x, y = x[HALF:], y[HALF:]
    p = model.predict(x)
    assert tm.sklearn.scorer("rmse")(model, x, y) == -tm.rmse(y, p)
    assert tm.sklearn.scorer("r2")(model, x, y) == tm.r2(y, p)
    assert tm.sklearn.scorer("mean_bias")(model, x, y) == -abs(tm.mean_bias(y, p))


@pytest.mark.slow
def test_a_search_finds_the_best():
    """The same as with scikit-learn's own scorer, with several at once, in frames, and in other processes."""
    x, y, _ = named(rows.two_classes(), "no", "yes")
    frame = pd.DataFrame(x, columns=list("abcd"))
    grid = {"C": [0.001, 0.01, 1.0]}
    scoring = {"loss": tm.sklearn.scorer("logloss"), "auc": tm.sklearn.scorer("auc"), "theirs": "neg_log_loss"}
    search = GridSearchCV(LogisticRegression(), grid, scoring=scoring, refit="loss", cv=3, n_jobs=2).fit(frame, y)
    found = search.cv_results_
    assert found["mean_test_loss"] == pytest.approx(found["mean_test_theirs"], rel=1e-12)
    assert (found["rank_test_loss"] == found["rank_test_theirs"]).all()
    assert search.score(frame, y) == tm.sklearn.scorer("logloss")(search.best_estimator_, frame, y)
    assert isinstance(repr(clone(search).get_params()["scoring"]["auc"]), str)


def test_a_fold_without_a_class_is_scored_against_all_classes():
    """Its rows are scored against all classes: a class that was never learned has no probability."""
    x, y, _ = named(rows.three_classes(), "a", "b", "c")
    model = LogisticRegression().fit(x[y != "b"], y[y != "b"])
    p = model.predict_proba(x)
    table = np.column_stack([p[:, 0], np.zeros(len(p)), p[:, 1]])
    assert tm.sklearn.scorer("logloss")(model, x, y) == -tm.logloss(y, table, classes=["a", "b", "c"])
    few = y == "a"
    assert tm.sklearn.scorer("logloss", classes=["a", "b", "c"])(model, x[few], y[few]) == -tm.logloss(
        y[few], table[few], classes=["a", "b", "c"]
    )


def test_permutation_importance_passes_weights():
    """With the weights that it passes on."""
    x, y, w = rows.two_classes()
    model = LogisticRegression().fit(x, y)
    given = {"n_repeats": 2, "random_state": 0, "sample_weight": w}
    ours = permutation_importance(model, x, y, scoring=tm.sklearn.scorer("logloss"), **given)
    theirs = permutation_importance(model, x, y, scoring="neg_log_loss", **given)
    assert ours.importances == pytest.approx(theirs.importances, rel=1e-9)


class Constant(RegressorMixin, BaseEstimator):
    """A ranker that scores by the first feature."""

    def fit(self, X, y):  # noqa: N803
        return self

    def predict(self, X):  # noqa: N803
        return X[:, 0]


def test_routed_weights_and_queries_reach_the_metric():
    """Weights and queries reach the metric where it asks for them, fold by fold."""
    x, y, w = rows.two_classes()
    splits = list(KFold(3).split(x))
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=False)
        scorer = tm.sklearn.scorer("logloss").set_score_request(sample_weight=True)
        found = cross_validate(
            model, x, y, cv=splits, scoring=scorer, params={"sample_weight": w}, return_estimator=True
        )
        for (_, test), fitted, value in zip(splits, found["estimator"], found["test_score"], strict=True):
            assert value == tm.sklearn.scorer("logloss")(fitted, x[test], y[test], sample_weight=w[test])
        x, y, sizes = rows.queries()
        query = np.repeat(np.arange(len(sizes)), sizes)
        scorer = tm.sklearn.scorer("ndcg").set_score_request(query=True)
        found = cross_val_score(Constant(), x, y, cv=splits, scoring=scorer, params={"query": query})
        assert list(found) == [tm.ndcg(y[test], x[test, 0], query=query[test]) for _, test in splits]


@pytest.mark.parametrize("name", registry.classes)
def test_every_metric_scores_or_says_why(name, fitted):
    """A number, which is the metric's own where it reads labels or values, or an error of ours."""
    item, (x, models) = tm.metric(name), fitted
    for model, y in models.values():
        try:
            found = tm.sklearn.scorer(name)(model, x, y)
        except tm.TallymarkError:
            continue
        assert isinstance(found, float)
        if item.kind in ("value", "label") and isinstance(item.better, str):
            value = item(x if isinstance(item, ShapeMetric) else y, model.predict(x), kind=item.kind)
            assert abs(found) == abs(value) or np.isnan([found, value]).all()


@pytest.mark.parametrize("name", ["silhouette", "davies_bouldin"])
def test_clusters_are_judged_by_their_points(name):
    """With a truth or without, which is not read."""
    x, y, _ = rows.three_classes()
    model = KMeans(3, n_init=1, random_state=0).fit(x[:HALF])
    sign = 1 if tm.metric(name).better == "higher" else -1
    expected = sign * tm.metric(name)(x[HALF:], model.predict(x[HALF:]))
    scorer = tm.sklearn.scorer(name)
    assert scorer(model, x[HALF:]) == scorer(model, pd.DataFrame(x[HALF:]), y[HALF:]) == expected
    assert len(cross_val_score(KMeans(3, n_init=1, random_state=0), x, scoring=scorer, cv=2)) == 2


def test_margins_of_many_classes_are_read_by_metrics_of_margins(fitted):
    """Are read by what reads margins only."""
    x, (model, y) = fitted[0], fitted[1]["three"]
    assert tm.sklearn.scorer("margin_accuracy")(model, x, y) == tm.accuracy(y, model.predict(x))


def test_a_scorer_can_be_pickled_and_cloned():
    """It travels to processes and is cloned with what holds it."""
    scorer = tm.sklearn.scorer("recall", positive="yes")
    for other in (copy.deepcopy(scorer), pickle.loads(pickle.dumps(scorer))):
        assert repr(other) == repr(scorer) == "scorer(Recall(), positive='yes')"


def test_what_does_not_fit_is_refused():
    """No direction, several numbers, a name that nobody knows."""
    with pytest.raises(tm.ParameterError, match="confusion_matrix does not, so it cannot select a model"):
        tm.sklearn.scorer("confusion_matrix")
    with pytest.raises(tm.UnknownMetricError):
        tm.sklearn.scorer("area")
    x, y, _ = rows.two_classes()
    with pytest.raises(tm.ParameterError, match="must have one number"):
        tm.sklearn.scorer("recall(average=none)")(LogisticRegression().fit(x, y), x, y)
    with pytest.raises(tm.ParameterError, match="`y` must be given: accuracy compares predictions with it"):
        tm.sklearn.scorer("accuracy")(LogisticRegression().fit([[0], [1]], [0, 1]), [[0]])


@pytest.mark.parametrize(
    ("metric", "peer", "more"),
    [
        (tm.fscore, sklearn.metrics.fbeta_score, {"beta": 2}),
        (tm.accuracy, sklearn.metrics.accuracy_score, {}),
        (tm.brier, sklearn.metrics.brier_score_loss, {"greater_is_better": False, "response_method": "predict_proba"}),
    ],
)
def test_make_scorer_takes_a_metric_as_a_function(metric, peer, more):
    """With its parameters, in a search, and in what is printed of it."""
    x, y, _ = rows.two_classes()
    ours, theirs = (sklearn.metrics.make_scorer(each, **more) for each in (metric, peer))
    found = cross_val_score(LogisticRegression(), x, y, cv=3, scoring=ours, error_score="raise")
    assert found == pytest.approx(cross_val_score(LogisticRegression(), x, y, cv=3, scoring=theirs), rel=1e-12)
    assert repr(ours).startswith(f"make_scorer({metric.name}, ")
    assert pickle.loads(pickle.dumps(ours))._score_func == metric


def test_a_metric_itself_is_not_a_scorer():
    """The sentence says what is; scikit-learn passes three arguments, and so may one who passes weights."""
    x, y, _ = rows.two_classes()
    with pytest.raises(tm.errors.ParameterError, match=r"takes two arrays; .* pass tm\.sklearn\.scorer\('fscore'\)"):
        tm.fscore(LogisticRegression().fit(x, y), x, y)


def test_parameters_of_the_metric_may_be_keywords(fitted):
    """As in evaluate; one that the metric does not have is refused."""
    assert repr(tm.sklearn.scorer("f1", threshold=0.3)) == repr(tm.sklearn.scorer("f1(threshold=0.3)"))
    with pytest.raises(tm.ParameterError, match="Did you mean threshold"):
        tm.sklearn.scorer("f1", treshold=0.3)
