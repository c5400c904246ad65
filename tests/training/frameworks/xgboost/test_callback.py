"""The callback of XGBoost: the same numbers for every objective, and early stopping where a hand computation stops."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV

import tallymark as tm
from tests.training.frameworks import boosted_rows as rows
from tests.training.frameworks.xgboost.training import FALLBACK_IS_FINE, HALF, halves, train

pytestmark = FALLBACK_IS_FINE


def by_round(booster, data, rounds, **given):
    """What the trees of the first rounds say, by round."""
    return [booster.predict(data, iteration_range=(0, k + 1), **given) for k in range(rounds)]


@pytest.mark.slow
class TestTraining:
    """Against the real library."""

    @pytest.mark.parametrize(("name", "kind"), [("auc", None), ("logloss", None), ("logloss", "margin")])
    def test_stops_where_a_loop_by_hand_stops(self, xgb, ours, name, kind):
        """Rounds, best round and values to the last bit, weighted, in both directions, of probabilities and margins."""
        dtrain, dvalid = halves(xgb, rows.two_classes())
        evaluator = tm.training.Evaluator(
            [name, "brier"], ours.as_eval_set("valid", dvalid, kind=kind), early_stopping=tm.training.EarlyStopping(4)
        )
        booster = train(
            xgb,
            {"objective": "binary:logistic"},
            dtrain,
            evals=[(dvalid, "valid")],
            callbacks=[ours.EvaluatorCallback(evaluator, {"valid": dvalid})],
        )
        full = train(xgb, {"objective": "binary:logistic"}, dtrain)
        y, w = dvalid.get_label(), dvalid.get_weight()
        peer = {"auc": roc_auc_score, "logloss": log_loss}[name]
        hand = [peer(y, p.astype(float), sample_weight=w) for p in by_round(full, dvalid, 60)]
        last, best = rows.stopped_at(hand, 4, tm.metric(name).better)
        assert booster.num_boosted_rounds() == last + 1
        assert (booster.best_iteration, evaluator.best_round) == (best, best)
        assert booster.best_score == evaluator.best_value
        outputs = by_round(full, dvalid, last + 1, output_margin=kind == "margin")
        for k, value in evaluator.history.values("valid", name).items():
            assert value == tm.metric(name)(y, outputs[k], weights=w, kind=kind)
            assert value == pytest.approx(hand[k], rel=1e-6)

    def test_it_is_not_rounded(self, xgb, ours):
        """XGBoost keeps six decimals of a custom metric; gains of less than that count in our callback."""
        dtrain, dvalid = halves(xgb, rows.two_classes())
        evaluator = tm.training.Evaluator(
            "logloss", ours.as_eval_set("valid", dvalid), early_stopping=tm.training.EarlyStopping(2)
        )
        log = {}
        booster = train(
            xgb,
            {"objective": "binary:logistic", "eta": 1e-7, "disable_default_eval_metric": True},
            dtrain,
            20,
            evals=[(dvalid, "valid")],
            custom_metric=ours.as_metric("logloss"),
            evals_result=log,
            callbacks=[ours.EvaluatorCallback(evaluator, dvalid)],
        )
        values = evaluator.history.values("valid", "logloss")
        assert [round(value, 6) for value in values.values()] == log["valid"]["logloss"]
        assert len(set(log["valid"]["logloss"])) < len(set(values.values()))
        assert booster.num_boosted_rounds() == 20

    def test_rules_that_read_rows_stop_where_a_loop_stops(self, xgb, ours):
        """Stop where a loop over the same predictions stops."""
        dtrain, dvalid = halves(xgb, rows.two_classes())

        def rule():
            return tm.training.GainStopping(0.01, patience=2)

        evaluator = tm.training.Evaluator(
            "auc", tm.training.EvalSet("valid", dvalid.get_label()), early_stopping=rule()
        )
        booster = train(
            xgb, {"objective": "binary:logistic"}, dtrain, callbacks=[ours.EvaluatorCallback(evaluator, dvalid)]
        )
        assert booster.num_boosted_rounds() < 60
        hand = tm.training.Evaluator("auc", tm.training.EvalSet("valid", dvalid.get_label()), early_stopping=rule())
        actions = [
            hand.step(k, p).action for k, p in enumerate(by_round(booster, dvalid, booster.num_boosted_rounds()))
        ]
        assert actions.index("stop") == len(actions) - 1
        assert hand.history.to_dict() == evaluator.history.to_dict()

    def test_the_best_trees_are_kept_if_asked(self, xgb, ours):
        """As many as up to the best round; the attributes stay."""
        dtrain, dvalid = halves(xgb, rows.two_classes())
        evaluator = tm.training.Evaluator(
            "auc", ours.as_eval_set("valid", dvalid), early_stopping=tm.training.EarlyStopping(3)
        )
        callback = ours.EvaluatorCallback(evaluator, dvalid, save_best=True)
        booster = train(xgb, {"objective": "binary:logistic"}, dtrain, callbacks=[callback])
        assert booster.num_boosted_rounds() == evaluator.best_round + 1 == booster.best_iteration + 1
        assert tm.auc(dvalid.get_label(), booster.predict(dvalid), weights=dvalid.get_weight()) == evaluator.best_value

    def test_a_second_training_starts_anew_and_one_that_goes_on_keeps_its_rounds(self, xgb, ours):
        """The same callback twice gives the same history; with `xgb_model` the rounds are counted on."""
        dtrain, dvalid = halves(xgb, rows.two_classes())
        evaluator = tm.training.Evaluator("auc", ours.as_eval_set("valid", dvalid), period=2)
        callback = ours.EvaluatorCallback(evaluator, dvalid)
        params = {"objective": "binary:logistic"}
        first = train(xgb, params, dtrain, 4, callbacks=[callback])
        before = evaluator.history.to_dict()
        train(xgb, params, dtrain, 4, callbacks=[callback])
        assert evaluator.history.to_dict() == before
        train(xgb, params, dtrain, 3, xgb_model=first, callbacks=[callback])
        assert [each.round for each in evaluator.history] == [0, 2, 4, 6]

    def test_going_on_from_the_best_round(self, xgb, ours):
        """A model that was cut keeps its best rounds, and the evaluator what it knows of them."""
        dtrain, dvalid = halves(xgb, rows.two_classes())
        evaluator = tm.training.Evaluator(
            "auc", ours.as_eval_set("valid", dvalid), early_stopping=tm.training.EarlyStopping(3)
        )
        params = {"objective": "binary:logistic"}
        first = train(xgb, params, dtrain, callbacks=[ours.EvaluatorCallback(evaluator, dvalid, save_best=True)])
        before, best = evaluator.history.values("valid", "auc"), evaluator.best_round
        assert first.num_boosted_rounds() == best + 1 < len(before)
        later = train(xgb, params, dtrain, xgb_model=first, callbacks=[ours.EvaluatorCallback(evaluator, dvalid)])
        assert evaluator.history.values("valid", "auc") == before
        assert (evaluator.best_round, later.best_iteration) == (best, best)

    def test_an_eval_set_of_the_other_class_is_refused(self, xgb, ours):
        """XGBoost predicts the class 1: an eval set whose positive one is another turns it around."""
        dtrain, dvalid = halves(xgb, rows.two_classes())
        truth = np.array(["no", "yes"])[rows.two_classes()[1][HALF:]]
        evaluator = tm.training.Evaluator("auc", tm.training.EvalSet("valid", truth, positive="no"))
        with pytest.raises(tm.ParameterError, match="eval set 'valid' must have 'yes' as `positive`, of which XGBoost"):
            train(
                xgb,
                {"objective": "binary:logistic"},
                dtrain,
                2,
                callbacks=[ours.EvaluatorCallback(evaluator, dvalid)],
            )

    def test_a_search_copies_the_callback(self, xgb, ours):
        """With the rows that it was given; of a DMatrix there are no copies."""
        x, y, _ = rows.two_classes()
        evaluator = tm.training.Evaluator(
            "auc", tm.training.EvalSet("valid", y), early_stopping=tm.training.EarlyStopping(2)
        )
        model = xgb.XGBClassifier(n_estimators=5, n_jobs=1, callbacks=[ours.EvaluatorCallback(evaluator, x)])
        found = GridSearchCV(model, {"max_depth": [2, 3]}, cv=2).fit(x, y)
        held = found.best_estimator_.callbacks[0].evaluator
        assert held.best_value == tm.auc(y, found.predict_proba(x)[:, 1])
        with pytest.raises(tm.ParameterError, match="`data` must be arrays or frames where an EvaluatorCallback is"):
            copy.deepcopy(ours.EvaluatorCallback(evaluator, xgb.DMatrix(x)))

    def test_rows_are_read_as_the_model_reads_them(self, xgb, ours):
        """With the number that stands for missing values, and with categories."""
        x, y, _ = rows.two_classes()
        x = np.where(x > 0.5, -999.0, x)
        evaluator = tm.training.Evaluator("auc", tm.training.EvalSet("valid", y))
        callback = ours.EvaluatorCallback(evaluator, x, missing=-999.0)
        model = xgb.XGBClassifier(n_estimators=3, n_jobs=1, missing=-999.0, callbacks=[callback]).fit(x, y)
        assert evaluator.history[-1].value("valid", "auc") == tm.auc(y, model.predict_proba(x)[:, 1])
        frame = pd.DataFrame({"a": x[:, 0], "b": pd.Categorical(np.where(x[:, 1] > 0, "up", "down"))})
        callback = ours.EvaluatorCallback(evaluator, frame)
        given = {"enable_categorical": True, "callbacks": [callback]}
        model = xgb.XGBClassifier(n_estimators=3, n_jobs=1, **given).fit(frame, y)
        assert evaluator.history[-1].value("valid", "auc") == tm.auc(y, model.predict_proba(frame)[:, 1])

    def test_probabilities_and_margins_of_many_classes_are_tables(self, xgb, ours):
        """Tables of K columns, with names for the classes, and the same metric as a custom one."""
        dtrain, dvalid = halves(xgb, rows.three_classes())
        names = np.array(["a", "b", "c"])[dvalid.get_label().astype(int)]
        w = dvalid.get_weight()
        sets = [
            tm.training.EvalSet("p", names, classes=["a", "b", "c"], weights=w),
            tm.training.EvalSet("m", names, classes=["a", "b", "c"], weights=w, kind="margin"),
        ]
        evaluator = tm.training.Evaluator(["logloss", "auc", "accuracy"], sets)
        log = {}
        params = {"objective": "multi:softprob", "num_class": 3}
        booster = train(
            xgb,
            params,
            dtrain,
            3,
            evals=[(dvalid, "valid")],
            custom_metric=ours.as_metric("logloss"),
            evals_result=log,
            callbacks=[ours.EvaluatorCallback(evaluator, {"p": dvalid, "m": dvalid})],
        )
        p = booster.predict(dvalid)
        found = evaluator.history[-1]
        assert found.value("p", "logloss") == tm.logloss(names, p, classes=["a", "b", "c"], weights=w)
        assert found.value("m", "logloss") == pytest.approx(found.value("p", "logloss"), rel=1e-6)
        assert found.value("m", "accuracy") == found.value("p", "accuracy")
        assert log["valid"]["logloss"][-1] == round(found.value("p", "logloss"), 6)

    @pytest.mark.parametrize(("objective", "kind"), [("multi:softmax", "label"), ("binary:hinge", "label")])
    def test_label_objectives_must_be_declared(self, xgb, ours, objective, kind):
        """Which must be declared, and are then compared as they are."""
        many = objective.startswith("multi")
        dtrain, dvalid = halves(xgb, rows.three_classes() if many else rows.two_classes())
        params = {"objective": objective, **({"num_class": 3} if many else {})}
        evaluator = tm.training.Evaluator("accuracy", ours.as_eval_set("valid", dvalid, kind=kind))
        log = {}
        booster = train(
            xgb,
            params,
            dtrain,
            3,
            evals=[(dvalid, "valid")],
            custom_metric=ours.as_metric("accuracy", kind=kind, maximize=True),
            evals_result=log,
            callbacks=[ours.EvaluatorCallback(evaluator, dvalid)],
        )
        expected = tm.accuracy(
            dvalid.get_label().astype(int), booster.predict(dvalid).astype(int), weights=dvalid.get_weight()
        )
        assert evaluator.history[-1].value("valid", "accuracy") == expected
        assert log["valid"]["accuracy"][-1] == round(expected, 6)
        callback = ours.EvaluatorCallback(tm.training.Evaluator("accuracy", ours.as_eval_set("valid", dvalid)), dvalid)
        with pytest.raises(tm.KindError, match=f"'{objective}' gives predictions of kind 'label': declare that with"):
            train(xgb, params, dtrain, 3, callbacks=[callback])

    def test_the_groups_of_a_dmatrix_reach_the_evaluator(self, xgb, ours):
        """Groups of the DMatrix and their weights, which XGBoost has one for each; query by query for XGBRanker."""
        x, y, sizes = rows.queries()
        weights = np.arange(len(sizes)) % 3 + 1.0
        data = xgb.DMatrix(x, y, group=sizes, weight=weights)
        query = np.repeat(np.arange(len(sizes)), sizes)
        evaluator = tm.training.Evaluator("ndcg", ours.as_eval_set("train", data))
        log = {}
        booster = train(
            xgb,
            {"objective": "rank:ndcg", "eval_metric": "ndcg@3"},
            data,
            3,
            evals=[(data, "train")],
            evals_result=log,
            custom_metric=ours.as_metric("ndcg"),
            callbacks=[ours.EvaluatorCallback(evaluator, data)],
        )
        expected = tm.ndcg(y, booster.predict(data), query=query, weights=np.repeat(weights, sizes))
        assert evaluator.history[-1].value("train", "ndcg") == expected
        assert log["train"]["ndcg"][-1] == round(expected, 6)
        ranker = xgb.XGBRanker(n_estimators=2, eval_metric=ours.as_metric("ndcg"), n_jobs=1)
        ranker.fit(x, y, qid=query, eval_set=[(x, y)], eval_qid=[query], verbose=False)
        alone = [tm.ndcg(y[query == q], ranker.predict(x)[query == q], query=np.zeros(10)) for q in range(len(sizes))]
        logged = ranker.evals_result()["validation_0"]["ndcg"][-1]
        assert logged == pytest.approx(np.mean(alone), abs=1e-6)

    def test_margins_of_a_custom_objective_must_be_declared(self, xgb, ours):
        """Its predictions are margins; undeclared, metrics on classes are refused before anything is trained."""
        dtrain, dvalid = halves(xgb, rows.two_classes())

        def logistic(m, data):
            p = 1 / (1 + np.exp(-m))
            return p - data.get_label(), p * (1 - p)

        log = {}
        evaluator = tm.training.Evaluator("logloss", ours.as_eval_set("valid", dvalid, kind="margin"))
        booster = train(
            xgb,
            {"base_score": 0.0},
            dtrain,
            3,
            obj=logistic,
            evals=[(dvalid, "valid")],
            custom_metric=ours.as_metric("logloss", kind="margin"),
            evals_result=log,
            callbacks=[ours.EvaluatorCallback(evaluator, dvalid)],
        )
        value = tm.logloss(dvalid.get_label(), booster.predict(dvalid), weights=dvalid.get_weight(), kind="margin")
        assert evaluator.history[-1].value("valid", "logloss") == value
        assert log["valid"]["logloss"][-1] == round(value, 6)
        undeclared = ours.EvaluatorCallback(tm.training.Evaluator("logloss", ours.as_eval_set("valid", dvalid)), dvalid)
        with pytest.raises(
            tm.KindError, match=r"'reg:squarederror' gives predictions of kind 'value': an objective of"
        ):
            train(xgb, {}, dtrain, 3, obj=logistic, callbacks=[undeclared])
        with pytest.raises(
            tm.KindError, match=r"'binary:logitraw' gives predictions of kind 'margin': declare that with"
        ):
            train(xgb, {"objective": "binary:logitraw"}, dtrain, 3, callbacks=[undeclared])

    def test_the_scikit_learn_interface_with_the_callback(self, xgb, ours):
        """The model predicts by the best round, without more to do."""
        x, y, w = rows.two_classes()
        evaluator = tm.training.Evaluator(
            "auc", tm.training.EvalSet("valid", y[HALF:], weights=w[HALF:]), early_stopping=tm.training.EarlyStopping(3)
        )
        model = xgb.XGBClassifier(
            n_estimators=60,
            learning_rate=0.5,
            n_jobs=1,
            callbacks=[ours.EvaluatorCallback(evaluator, {"valid": x[HALF:]})],
        )
        model.fit(x[:HALF], y[:HALF])
        p = model.predict_proba(x[HALF:])[:, 1]
        assert tm.auc(y[HALF:], p, weights=w[HALF:]) == evaluator.best_value
