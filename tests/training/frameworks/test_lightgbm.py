"""LightGBM: the same numbers, the right direction, weights, and early stopping where a hand computation stops."""

from __future__ import annotations

import importlib
import pickle

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score

import tallymark as tm
from tests.training.frameworks import boosted_rows as rows

HALF = rows.N // 2
QUIET = {"verbose": -1, "num_threads": 1, "learning_rate": 0.1, "deterministic": True}


def test_without_the_package_it_says_what_to_install(monkeypatch):
    """The extra is named; nothing of LightGBM is loaded before."""
    rows.check_missing("lightgbm", "lightgbm", monkeypatch)


@pytest.fixture(scope="module")
def lgb():
    return importlib.import_module("lightgbm")


@pytest.fixture(scope="module")
def ours(lgb):
    from tallymark.training.frameworks import lightgbm

    return lightgbm


def halves(lgb, made):
    """Training and validation rows, with weights, and the features of the latter."""
    x, y, w = made
    first = lgb.Dataset(x[:HALF], y[:HALF], weight=w[:HALF], free_raw_data=False)
    return first, lgb.Dataset(x[HALF:], y[HALF:], weight=w[HALF:], reference=first, free_raw_data=False), x[HALF:]


def train(lgb, params, data, valid, rounds=60, **given):
    return lgb.train({**QUIET, **params}, data, rounds, valid_sets=[valid], valid_names=["valid"], **given)


@pytest.mark.slow
class TestTraining:
    """Against the real library."""

    def test_the_examples_in_the_docstrings_run(self, ours):
        """The examples run."""
        rows.check_documented("lightgbm")

    @pytest.mark.parametrize("name", ["auc", "logloss"])
    def test_stops_where_a_loop_by_hand_stops(self, lgb, ours, name):
        """Rounds, best round and values, weighted, in both directions; the booster predicts by the best round."""
        first, valid, x = halves(lgb, rows.two_classes())
        full = train(lgb, {"objective": "binary"}, first, valid)
        y, w = valid.get_label(), valid.get_weight()
        outputs = [full.predict(x, num_iteration=k + 1) for k in range(60)]
        peer = {"auc": roc_auc_score, "logloss": log_loss}[name]
        last, best = rows.stopped_at([peer(y, p, sample_weight=w) for p in outputs], 4, tm.metric(name).better)

        first, valid, x = halves(lgb, rows.two_classes())
        sets = ours.as_eval_set("valid", valid.construct())
        evaluator = tm.training.Evaluator([name, "brier"], sets, early_stopping=tm.training.EarlyStopping(4))
        log, saved = {}, []
        booster = train(
            lgb,
            {"objective": "binary", "metric": "None"},
            first,
            valid,
            feval=[ours.as_metric(name), lambda p, data: saved.append(p.copy()) or []],
            callbacks=[ours.EvaluatorCallback(evaluator), lgb.record_evaluation(log)],
        )
        assert len(evaluator.history) == last + 1
        assert (booster.best_iteration, evaluator.best_round) == (best + 1, best)
        assert booster.best_score["valid"][name] == evaluator.best_value
        values = list(evaluator.history.values("valid", name).values())
        assert log["valid"][name] == values
        assert values == [tm.metric(name)(y, p, weights=w) for p in saved]
        assert values == pytest.approx([tm.metric(name)(y, p, weights=w) for p in outputs[: last + 1]], rel=1e-14)
        assert booster.predict(x) == pytest.approx(outputs[best], rel=1e-14)

    def test_its_own_early_stopping_follows_our_metric(self, lgb, ours):
        """The right way, since the metric says which way is better."""
        first, valid, _ = halves(lgb, rows.two_classes())
        log = {}
        stop = [lgb.early_stopping(5, verbose=False), lgb.record_evaluation(log)]
        feval = ours.as_metric("accuracy")
        booster = train(lgb, {"objective": "binary", "metric": "None"}, first, valid, feval=feval, callbacks=stop)
        last, best = rows.stopped_at(log["valid"]["accuracy"], 5, "higher")
        assert (len(log["valid"]["accuracy"]), booster.best_iteration) == (last + 1, best + 1)

    def test_several_sets_the_training_rows_among_them(self, lgb, ours):
        """By their names, with a period; without a rule the model is left as it is."""
        first, valid, _ = halves(lgb, rows.numbers())
        evaluator = tm.training.Evaluator(
            ["rmse", "mae"],
            [ours.as_eval_set("valid", valid.construct()), ours.as_eval_set("train", first)],
            period=2,
        )
        booster = lgb.train(
            {**QUIET, "objective": "l2", "metric": ["l2", "l1"]},
            first,
            5,
            valid_sets=[first, valid],
            valid_names=["train", "valid"],
            callbacks=[ours.EvaluatorCallback(evaluator)],
        )
        assert [each.round for each in evaluator.history] == [0, 2, 4]
        assert booster.best_iteration == 0
        for name in ("train", "valid"):
            theirs = booster.best_score[name]
            assert evaluator.history[-1].value(name, "mae") == pytest.approx(theirs["l1"], rel=1e-6)
            assert evaluator.history[-1].value(name, "rmse") ** 2 == pytest.approx(theirs["l2"], rel=1e-6)

    def test_predictions_of_several_classes_are_tables(self, lgb, ours):
        """Tables of K columns, row by row, with names for the classes."""
        first, valid, x = halves(lgb, rows.three_classes())
        w = valid.construct().get_weight()
        names = np.array(["a", "b", "c"])[valid.get_label().astype(int)]
        evaluator = tm.training.Evaluator(
            ["logloss", "auc"], tm.training.EvalSet("valid", names, classes=["a", "b", "c"], weights=w)
        )
        log = {}
        booster = train(
            lgb,
            {"objective": "multiclass", "num_class": 3, "metric": "None"},
            first,
            valid,
            3,
            feval=[ours.as_metric("logloss"), ours.as_metric("recall(average=macro)")],
            callbacks=[ours.EvaluatorCallback(evaluator), lgb.record_evaluation(log)],
        )
        p = booster.predict(x)
        expected = tm.evaluate(
            names, p, ["logloss", "auc", "recall(average=macro)"], classes=["a", "b", "c"], weights=w
        )
        found = evaluator.history[-1]
        for name in ("logloss", "auc"):
            assert found.value("valid", name) == pytest.approx(expected[name], rel=1e-14)
        assert log["valid"]["logloss"][-1] == found.value("valid", "logloss")
        assert log["valid"]["recall(average=macro)"][-1] == expected["recall(average=macro)"]

    def test_one_against_the_rest_probabilities_are_normalized_on_request(self, lgb, ours):
        """Whose probabilities need not sum to 1, and are divided by their sum where that is asked for."""
        first, valid, x = halves(lgb, rows.three_classes())
        sets = ours.as_eval_set("valid", valid, classes=[0, 1, 2], normalize=True)
        callback = ours.EvaluatorCallback(tm.training.Evaluator("logloss", sets))
        params = {"objective": "multiclassova", "num_class": 3}
        booster = train(lgb, params, first, valid, 3, callbacks=[callback])
        y, w = valid.get_label(), valid.get_weight()
        expected = tm.logloss(y, booster.predict(x), classes=[0, 1, 2], normalize=True, weights=w)
        assert callback.evaluator.history[-1].value("valid", "logloss") == pytest.approx(expected, rel=1e-6)

    def test_the_groups_of_a_dataset_reach_metric_and_evaluator(self, lgb, ours):
        """Groups of the Dataset are passed on to both."""
        x, y, sizes = rows.queries()
        data = lgb.Dataset(x, y, group=sizes, free_raw_data=False)
        evaluator = tm.training.Evaluator(["ndcg(gain=exp, k=3)"], ours.as_eval_set("valid", data.construct()))
        log = {}
        params = {"objective": "lambdarank", "metric": "ndcg", "ndcg_eval_at": [3]}
        booster = train(
            lgb,
            params,
            data,
            data,
            3,
            feval=ours.as_metric("ndcg(gain=exp, k=3)"),
            callbacks=[ours.EvaluatorCallback(evaluator), lgb.record_evaluation(log)],
        )
        query = np.repeat(np.arange(len(sizes)), sizes)
        expected = tm.ndcg(y, booster.predict(x, num_iteration=3), query=query, k=3, gain="exp")
        assert evaluator.history[-1].value("valid", "ndcg(gain=exp, k=3)") == pytest.approx(expected, rel=1e-14)
        assert log["valid"]["ndcg(gain=exp, k=3)"][-1] == pytest.approx(expected, rel=1e-14)

    def test_margins_of_a_custom_objective_must_be_declared(self, lgb, ours):
        """Its predictions are margins, which must be declared; those of others never are margins."""

        def logistic(m, data):
            p = 1 / (1 + np.exp(-m))
            return p - data.get_label(), p * (1 - p)

        def run(kind, objective):
            first, valid, x = halves(lgb, rows.two_classes())
            evaluator = tm.training.Evaluator("logloss", ours.as_eval_set("valid", valid.construct(), kind=kind))
            log = {}
            booster = train(
                lgb,
                {"objective": objective, "metric": "None"},
                first,
                valid,
                3,
                feval=ours.as_metric("logloss", kind=kind),
                callbacks=[ours.EvaluatorCallback(evaluator), lgb.record_evaluation(log)],
            )
            y, w = valid.get_label(), valid.get_weight()
            assert log["valid"]["logloss"] == list(evaluator.history.values("valid", "logloss").values())
            return tm.logloss(y, booster.predict(x), weights=w, kind=kind), log["valid"]["logloss"][-1]

        for value, logged in (run("margin", logistic), run("probability", "binary")):
            assert logged == pytest.approx(value, rel=1e-14)
        assert ours.as_metric("margin_accuracy", kind="margin")([0, 1], [-1.0, 2.0])[1] == 1.0
        with pytest.raises(tm.KindError, match=r'`kind` must be "margin" for margin_accuracy.*LightGBM gives margins'):
            ours.as_metric("margin_accuracy")
        for objective in ("binary", "poisson"):
            with pytest.raises(tm.KindError, match='must not have kind="margin": LightGBM gives predictions of kind'):
                run("margin", objective)
        callback = ours.EvaluatorCallback(
            tm.training.Evaluator("logloss", tm.training.EvalSet("valid", rows.two_classes()[1][HALF:]))
        )
        for params, said in (
            ({"objective": logistic}, "the objective 'none' gives predictions of kind 'margin': declare that with"),
            ({}, "the objective 'regression' gives predictions of kind 'value': an objective of your own has margins"),
        ):
            with pytest.raises(tm.KindError, match=said):
                train(lgb, params, *halves(lgb, rows.two_classes())[:2], 3, callbacks=[callback])

    # Labels in `eval_y`, which is to take the place of `eval_set`, must be numbers in 4.7.
    @pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
    def test_the_scikit_learn_interface_stops_at_the_best_round(self, lgb, ours):
        """Labels of any type, weights of the eval set, and the best round for predictions."""
        x, y, w = rows.two_classes()
        names = np.array(["no", "yes"])[y]
        evaluator = tm.training.Evaluator(
            ["auc"],
            tm.training.EvalSet("valid_0", names[HALF:], positive="yes", weights=w[HALF:]),
            early_stopping=tm.training.EarlyStopping(4),
        )
        model = lgb.LGBMClassifier(n_estimators=60, learning_rate=0.1, verbose=-1, n_jobs=1, metric="None")
        model.fit(
            x[:HALF],
            names[:HALF],
            eval_set=[(x[HALF:], names[HALF:])],
            eval_sample_weight=[w[HALF:]],
            eval_metric=[ours.as_metric("auc"), ours.as_metric("mcc")],
            callbacks=[ours.EvaluatorCallback(evaluator)],
        )
        values = list(evaluator.history.values("valid_0", "auc").values())
        last, best = rows.stopped_at(values, 4, "higher")
        assert (model.n_estimators_, model.best_iteration_) == (best + 1, best + 1)
        assert len(values) == last + 1
        p = model.predict_proba(x[HALF:])[:, 1]
        assert tm.auc(names[HALF:], p, positive="yes", weights=w[HALF:]) == pytest.approx(values[best], rel=1e-14)
        logged = model.evals_result_["valid_0"]
        light = [tm.auc(y[HALF:], p, weights=w[HALF:].astype(np.float32))]
        assert logged["auc"][best] == pytest.approx(light[0], rel=1e-14)
        assert logged["mcc"][best] == pytest.approx(tm.mcc(y[HALF:], p, weights=w[HALF:].astype(np.float32)), rel=1e-14)

    def test_a_second_training_starts_anew_and_one_that_goes_on_keeps_its_rounds(self, lgb, ours):
        """The same callback twice gives the same history; with `init_model` the rounds are counted on."""

        def run(**given):
            first, valid, _ = halves(lgb, rows.two_classes())
            return train(lgb, {"objective": "binary"}, first, valid, 4, callbacks=[callback], **given)

        valid = halves(lgb, rows.two_classes())[1].construct()
        evaluator = tm.training.Evaluator("auc", ours.as_eval_set("valid", valid))
        callback = ours.EvaluatorCallback(evaluator)
        booster = run()
        before = evaluator.history.to_dict()
        run()
        assert evaluator.history.to_dict() == before
        run(init_model=booster)
        assert [each.round for each in evaluator.history] == list(range(8))

    def test_going_on_from_the_best_round(self, lgb, ours):
        """A model that was stopped keeps its best rounds, and the evaluator what it knows of them."""
        valid = halves(lgb, rows.two_classes())[1].construct()
        stopping = tm.training.EarlyStopping(3)
        evaluator = tm.training.Evaluator("auc", ours.as_eval_set("valid", valid), early_stopping=stopping)

        def run(**given):
            first, valid, _ = halves(lgb, rows.two_classes())
            callback = ours.EvaluatorCallback(evaluator)
            return train(lgb, {"objective": "binary"}, first, valid, callbacks=[callback], **given)

        booster = run()
        before, best = evaluator.history.values("valid", "auc"), evaluator.best_round
        assert booster.current_iteration() == best + 1 < len(before)
        later = run(init_model=booster)
        values = evaluator.history.values("valid", "auc")
        assert {k: values[k] for k in range(best + 1)} == {k: before[k] for k in range(best + 1)}
        assert evaluator.best_value == max(values.values()) == later.best_score["valid"]["auc"]

    @pytest.mark.parametrize(
        ("names", "facts", "right"), [([1, 2], {"positive": 1}, "2"), (["no", "yes"], {"positive": "no"}, "'yes'")]
    )
    def test_an_eval_set_of_the_other_class_is_refused(self, lgb, ours, names, facts, right):
        """LightGBM predicts the second class in order: an eval set whose positive one is the first turns it around."""
        first, valid, _ = halves(lgb, rows.two_classes())
        truth = np.array(names)[rows.two_classes()[1][HALF:]]
        callback = ours.EvaluatorCallback(tm.training.Evaluator("auc", tm.training.EvalSet("valid", truth, **facts)))
        with pytest.raises(tm.ParameterError, match=f"eval set 'valid' must have {right} as `positive`"):
            train(lgb, {"objective": "binary"}, first, valid, 2, callbacks=[callback])

    def test_reports_stay_as_they_were(self, lgb, ours):
        """LightGBM writes over the predictions of the last round; reports that callbacks keep have their own."""
        first, valid, _ = halves(lgb, rows.numbers())
        kept = []
        sets = ours.as_eval_set("valid", valid)
        evaluator = tm.training.Evaluator("rmse", sets, callbacks=lambda found: kept.append(found.reports["valid"]))
        train(lgb, {"objective": "l2"}, first, valid, 3, callbacks=[ours.EvaluatorCallback(evaluator)])
        assert len({report.plot.residuals().description for report in kept}) == 3

    def test_the_cross_validation_of_lightgbm_takes_the_metric(self, lgb, ours):
        """Takes the metric, in every fold."""
        x, y, w = rows.two_classes()
        found = lgb.cv(
            {**QUIET, "objective": "binary", "metric": ["auc"]},
            lgb.Dataset(x, y, weight=w),
            3,
            nfold=2,
            feval=ours.as_metric("gini"),
        )
        assert found["valid gini-mean"] == pytest.approx(2 * np.array(found["valid auc-mean"]) - 1, rel=1e-6)

    def test_values_that_never_exist_stop_all_the_same(self, lgb, ours):
        """With all rounds kept, since none is the best."""
        x, y, _ = rows.two_classes()
        first = lgb.Dataset(x, y)
        ones = lgb.Dataset(x[y == 1], y[y == 1], reference=first)
        evaluator = tm.training.Evaluator(
            "auc", tm.training.EvalSet("valid", y[y == 1]), early_stopping=tm.training.EarlyStopping(3)
        )
        booster = train(lgb, {"objective": "binary"}, first, ones, callbacks=[ours.EvaluatorCallback(evaluator)])
        assert (booster.current_iteration(), booster.best_iteration) == (3, 3)

    def test_rows_before_and_after_they_are_constructed(self, lgb, ours, tmp_path):
        """The same truth and weights, from memory and from a file."""
        x, y, w = rows.two_classes()
        held = ours.as_eval_set("valid", lgb.Dataset(x, y, weight=w, params=QUIET))
        assert (held.y_true == y).all()
        assert (held.weights == w).all()  # as they were given, and not as LightGBM keeps them
        data = lgb.Dataset(x, y, weight=w, params=QUIET).construct()
        data.save_binary(tmp_path / "rows.bin")
        for made in (data, lgb.Dataset(tmp_path / "rows.bin", params=QUIET)):
            held = ours.as_eval_set("valid", made)
            assert (held.y_true == y).all()
            assert (held.weights == w.astype(np.float32)).all()

    def test_it_can_be_pickled(self, ours):
        """As estimators that hold it are, by clones and processes."""
        item = pickle.loads(pickle.dumps(ours.as_metric("logloss", kind="margin")))
        assert (item.metric, item.target) == (tm.logloss, tm.Target("margin"))
        assert repr(item) == "as_metric(LogLoss(), target=Target(kind='margin'))"

    def test_what_does_not_fit_is_refused(self, lgb, ours):
        """Sets of other names, cv, and what is no Dataset."""
        first, valid, _ = halves(lgb, rows.two_classes())
        other = ours.EvaluatorCallback(tm.training.Evaluator("auc", ours.as_eval_set("test", valid.construct())))
        with pytest.raises(tm.ParameterError, match=r"names of valid sets \(training, valid\); got 'test'"):
            train(lgb, {"objective": "binary"}, first, valid, 3, callbacks=[other])
        dart = tm.training.Evaluator(
            "auc", ours.as_eval_set("valid", valid), early_stopping=tm.training.EarlyStopping(2)
        )
        with pytest.raises(tm.ParameterError, match="the dart booster, which changes the trees of earlier"):
            train(
                lgb, {"objective": "binary", "boosting": "dart"}, first, valid, callbacks=[ours.EvaluatorCallback(dart)]
            )
        with pytest.raises(tm.ParameterError, match="cv trains several"):
            lgb.cv({**QUIET, "objective": "binary"}, first, 2, nfold=2, callbacks=[other])
        with pytest.raises(tm.ParameterError, match="`data` must be a Dataset"):
            ours.as_eval_set("valid", [[1.0]])
