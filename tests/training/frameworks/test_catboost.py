"""CatBoost: the same numbers, the right direction, weights, and early stopping where a hand computation stops."""

from __future__ import annotations

import copy
import importlib
import pickle

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV

import tallymark as tm
from tests.training.frameworks import boosted_rows as rows

HALF = rows.N // 2


def test_without_the_package_it_says_what_to_install(monkeypatch):
    """The extra is named; nothing of CatBoost is loaded before."""
    rows.check_missing("catboost", "catboost", monkeypatch)


@pytest.fixture(scope="module")
def cb():
    return importlib.import_module("catboost")


@pytest.fixture(scope="module")
def ours(cb):
    from tallymark.training.frameworks import catboost

    return catboost


def halves(cb, made, names=None):
    """Training and validation rows, with weights."""
    x, y, w = made
    y = y if names is None else np.array(names)[y]
    return [cb.Pool(x[part], y[part], weight=w[part]) for part in (slice(0, HALF), slice(HALF, None))]


def train(cb, data, valid, rounds=60, callbacks=None, **given):
    settings = {
        "iterations": rounds,
        "learning_rate": 0.5,
        "verbose": 0,
        "thread_count": 1,
        "allow_writing_files": False,
        "use_best_model": False,
    }
    model = cb.CatBoost({**settings, **given})
    model.fit(data, eval_set=valid, callbacks=callbacks)
    return model


def raw(model, data, trees=0):
    return model.predict(data, prediction_type="RawFormulaVal", ntree_end=trees)


@pytest.mark.slow
class TestTraining:
    """Against the real library."""

    def test_the_examples_in_the_docstrings_run(self, ours):
        """The examples run."""
        rows.check_documented("catboost")

    @pytest.mark.parametrize("name", ["auc", "logloss"])
    def test_stops_where_a_loop_by_hand_stops(self, cb, ours, name):
        """Rounds, best round and values to the last bit, weighted, in both directions, with labels of any name."""
        first, valid = halves(cb, rows.two_classes(), ["no", "yes"])
        full = train(cb, first, valid, loss_function="Logloss")
        y, w = np.array(valid.get_label()), np.array(valid.get_weight())
        outputs = [raw(full, valid, k + 1) for k in range(60)]
        hand = {
            "auc": [roc_auc_score(y, m, sample_weight=w) for m in outputs],
            "logloss": [log_loss(y, 1 / (1 + np.exp(-m)), sample_weight=w) for m in outputs],
        }[name]
        last, best = rows.stopped_at(hand, 4, tm.metric(name).better)
        evaluator = tm.training.Evaluator(
            [name, "accuracy"],
            ours.as_eval_set("validation", valid, kind="margin", positive="yes"),
            early_stopping=tm.training.EarlyStopping(4),
        )
        callback = ours.EvaluatorCallback(evaluator)
        model = train(cb, first, valid, loss_function="Logloss", eval_metric=callback.metric, callbacks=[callback])
        assert model.tree_count_ == last + 1
        assert (evaluator.best_round, model.best_iteration_) == (best, best)
        values = list(evaluator.history.values("validation", name).values())
        facts = {"weights": w, "kind": "margin", "positive": "yes"}
        assert values == [tm.metric(name)(y, m, **facts) for m in outputs[: last + 1]]
        assert values == pytest.approx(hand[: last + 1], rel=1e-12)
        assert model.get_evals_result()["validation"][name] == values
        model.shrink(evaluator.best_round + 1)
        assert tm.metric(name)(y, raw(model, valid), **facts) == evaluator.best_value

    def test_its_own_early_stopping_follows_our_metric(self, cb, ours):
        """The right way, on margins, with the weights; also metrics whose names have parameters."""
        first, valid = halves(cb, rows.two_classes())
        item = ours.as_metric("fscore(beta=2, average=macro)")
        model = train(
            cb, first, valid, loss_function="Logloss", eval_metric=item, early_stopping_rounds=5, use_best_model=True
        )
        values = model.get_evals_result()["validation"]["fscore(beta=2, average=macro)"]
        last, best = rows.stopped_at(values, 5, "higher")
        assert (len(values), model.best_iteration_, model.tree_count_) == (last + 1, best, best + 1)
        found = item.metric(valid.get_label(), raw(model, valid), weights=valid.get_weight(), kind="margin")
        assert found == values[best]

    def test_predictions_of_several_classes_have_a_column_per_class(self, cb, ours):
        """A column per class, for the metric and for an evaluator with names of classes; several eval sets."""
        first, valid = halves(cb, rows.three_classes(), ["a", "b", "c"])
        evaluator = tm.training.Evaluator(
            ["auc", "logloss"],
            [
                ours.as_eval_set("validation_1", first, kind="margin"),
                ours.as_eval_set("validation_0", valid, kind="margin"),
            ],
            period=2,
        )
        callback = ours.EvaluatorCallback(evaluator)
        model = train(
            cb, first, [valid, first], 5, loss_function="MultiClass", eval_metric=callback.metric, callbacks=[callback]
        )
        assert [each.round for each in evaluator.history] == [0, 2, 4]
        for name, pool in (("validation_0", valid), ("validation_1", first)):
            expected = tm.evaluate(
                pool.get_label(), raw(model, pool), ["auc", "logloss"], weights=pool.get_weight(), kind="margin"
            )
            for key in expected:
                assert evaluator.history[-1].value(name, key) == pytest.approx(expected[key], rel=1e-12)
            assert model.get_evals_result()[name]["auc"][-1] == pytest.approx(expected["auc"], rel=1e-6)

    def test_raw_values_are_exponentiated_for_count_losses(self, cb, ours):
        """Raw values are values, but logarithms for a loss such as Poisson."""
        x, y, w = rows.numbers()
        data = cb.Pool(x, y, weight=w)
        model = train(cb, data, None, 4, loss_function="RMSE", eval_metric=ours.as_metric("mae"), has_time=True)
        assert model.get_evals_result()["learn"]["mae"][-1] == pytest.approx(
            tm.mae(y, model.predict(data), weights=w), rel=1e-6
        )
        data = cb.Pool(x, np.round(np.abs(y)))
        item = ours.as_metric("poisson_deviance", kind="margin")
        model = train(cb, data, None, 4, loss_function="Poisson", eval_metric=item, has_time=True)
        found = tm.poisson_deviance(data.get_label(), model.predict(data, prediction_type="Exponent"))
        assert model.get_evals_result()["learn"]["poisson_deviance"][-1] == pytest.approx(found, rel=1e-9)
        for kind in ("margin", None):
            evaluator = tm.training.Evaluator("poisson_deviance", ours.as_eval_set("validation", data, kind=kind))
            callback = ours.EvaluatorCallback(evaluator)
            given = {"loss_function": "Poisson", "eval_metric": callback.metric, "callbacks": [callback]}
            if kind is None:
                with pytest.raises(cb.CatBoostError, match="with the loss Poisson CatBoost gives logarithms"):
                    train(cb, data, data, 4, has_time=True, **given)
            else:
                train(cb, data, data, 4, has_time=True, **given)
                value = evaluator.history[-1].value("validation", "poisson_deviance")
                assert value == pytest.approx(found, rel=1e-9)

    @pytest.mark.parametrize(("loss", "name"), [("MultiRMSE", "rmse"), ("MultiLogloss", "hamming_loss")])
    def test_several_targets_have_the_values_of_the_raw_predictions(self, cb, ours, loss, name):
        """A metric that says so, and an evaluator by itself; both have the values of the raw predictions, weighted."""
        x, _, w = rows.two_classes()
        y = np.column_stack([x[:, 0] + x[:, 1], 2 * x[:, 2]]).round(1)
        kind = None
        if loss == "MultiLogloss":
            y, kind = (y > 0).astype(int), "margin"
        first, valid = (cb.Pool(x[part], y[part], weight=w[part]) for part in (slice(0, 200), slice(200, None)))
        evaluator = tm.training.Evaluator(name, ours.as_eval_set("validation", valid, kind=kind))
        callback = ours.EvaluatorCallback(evaluator)
        given = {"rounds": 5, "loss_function": loss}
        model = train(cb, first, valid, eval_metric=callback.metric, callbacks=[callback], **given)
        truth, weights = valid.get_label(), valid.get_weight()
        expected = [tm.metric(name)(truth, raw(model, valid, k + 1), weights=weights, kind=kind) for k in range(5)]
        assert list(evaluator.history.values("validation", name).values()) == expected
        item = pickle.loads(pickle.dumps(ours.as_metric(name, multi_target=True)))
        model = train(cb, first, valid, eval_metric=item, **given)
        # CatBoost keeps targets as float32.
        assert model.get_evals_result()["validation"][name] == pytest.approx(expected, rel=1e-6)

    def test_training_rows_are_followed_in_order_and_refused_if_shuffled(self, cb, ours):
        """In their order they can be followed; shuffled ones are refused, not read against the wrong truth."""
        first, valid = halves(cb, rows.two_classes())
        evaluator = tm.training.Evaluator("auc", ours.as_eval_set("learn", first, kind="margin"))
        callback = ours.EvaluatorCallback(evaluator)
        given = {"loss_function": "Logloss", "eval_metric": callback.metric, "callbacks": [callback]}
        model = train(cb, first, valid, 3, boosting_type="Plain", has_time=True, **given)
        assert evaluator.history[-1].value("learn", "auc") == pytest.approx(
            tm.auc(first.get_label(), raw(model, first), weights=first.get_weight()), rel=1e-12
        )
        with pytest.raises(cb.CatBoostError, match="eval set 'learn' must have the rows of CatBoost's in their order"):
            train(cb, first, valid, 3, boosting_type="Ordered", **given)

    def test_rows_of_another_set_are_refused(self, cb, ours):
        """Also numbers, and as many or fewer of them."""
        first, valid = halves(cb, rows.numbers())
        for other in (first, cb.Pool(rows.numbers()[0][:9], rows.numbers()[1][:9])):
            callback = ours.EvaluatorCallback(tm.training.Evaluator("mae", ours.as_eval_set("validation", other)))
            with pytest.raises(cb.CatBoostError, match="eval set 'validation' must have the rows of CatBoost's"):
                train(cb, first, valid, 2, eval_metric=callback.metric, callbacks=[callback])

    def test_a_period_of_its_own_and_a_second_training(self, cb, ours):
        """Rounds without metrics are left out; the same callback starts anew."""
        first, valid = halves(cb, rows.two_classes())
        evaluator = tm.training.Evaluator("auc", ours.as_eval_set("validation", valid, kind="margin"))
        callback = ours.EvaluatorCallback(evaluator)
        given = {"loss_function": "Logloss", "eval_metric": callback.metric, "callbacks": [callback]}
        train(cb, first, valid, 7, metric_period=3, **given)
        assert [each.round for each in evaluator.history] == [0, 3, 6]
        before = evaluator.history.to_dict()
        train(cb, first, valid, 7, metric_period=3, **given)
        assert evaluator.history.to_dict() == before

    def test_the_groups_of_a_pool_reach_the_evaluator(self, cb, ours):
        """Groups of the Pool are there for the evaluator, beside the metric that is followed."""
        x, y, sizes = rows.queries()
        query = np.repeat(np.arange(len(sizes)), sizes)
        data = cb.Pool(x, y, group_id=query)
        evaluator = tm.training.Evaluator(["rmse", "ndcg"], ours.as_eval_set("validation", data))
        callback = ours.EvaluatorCallback(evaluator)
        model = train(cb, data, data, 3, loss_function="QueryRMSE", eval_metric=callback.metric, callbacks=[callback])
        expected = tm.ndcg(y, raw(model, data), query=query)
        assert evaluator.history[-1].value("validation", "ndcg") == pytest.approx(expected, rel=1e-12)
        with pytest.raises(tm.ParameterError, match="`metric` must need no queries"):
            ours.as_metric("ndcg")

    def test_the_scikit_learn_interface_takes_metric_and_evaluator(self, cb, ours):
        """Models of classes take both."""
        x, y, _ = rows.two_classes()
        evaluator = tm.training.Evaluator(
            "auc",
            tm.training.EvalSet("validation", y[HALF:], kind="margin"),
            early_stopping=tm.training.EarlyStopping(4),
        )
        callback = ours.EvaluatorCallback(evaluator)
        model = cb.CatBoostClassifier(
            iterations=60,
            learning_rate=0.5,
            verbose=0,
            thread_count=1,
            allow_writing_files=False,
            eval_metric=callback.metric,
        )
        model.fit(x[:HALF], y[:HALF], eval_set=(x[HALF:], y[HALF:]), callbacks=[callback])
        last, best = rows.stopped_at(list(evaluator.history.values("validation", "auc").values()), 4, "higher")
        assert (evaluator.last_round, model.best_iteration_, model.tree_count_) == (last, best, best + 1)
        assert tm.auc(y[HALF:], model.predict_proba(x[HALF:])[:, 1]) == pytest.approx(evaluator.best_value, rel=1e-12)

    def test_it_can_be_copied_and_pickled(self, ours):
        """Clones and processes do; what records must stay one."""
        item = ours.as_metric("logloss")
        for other in (pickle.loads(pickle.dumps(item)), copy.deepcopy(item)):
            assert (other.metric, other.target, type(other).__name__) == (tm.logloss, tm.Target("margin"), "logloss")
        callback = ours.EvaluatorCallback(tm.training.Evaluator("mae", tm.training.EvalSet("validation", [1.0])))
        assert copy.deepcopy(callback.metric) is callback.metric
        sent, shown = pickle.loads(pickle.dumps((callback, callback.metric)))
        assert sent.metric is shown
        shown.evaluate([[1.0]], [1.0], None)
        assert len(sent.metric.seen) == 1

    def test_it_can_be_searched_with(self, cb, ours):
        """Scikit-learn clones a model only if its parameters stay what they are."""
        x, y, _ = rows.two_classes()
        quiet = {"iterations": 3, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
        model = cb.CatBoostClassifier(eval_metric=ours.as_metric("auc"), **quiet)
        assert GridSearchCV(model, {"depth": [2, 3]}, cv=2).fit(x, y).best_params_["depth"] in (2, 3)

    @pytest.mark.parametrize(
        ("names", "facts", "right"), [([1, 2], {"positive": 1}, "2"), (["no", "yes"], {"positive": "no"}, "'yes'")]
    )
    def test_an_eval_set_of_the_other_class_is_refused(self, cb, ours, names, facts, right):
        """CatBoost predicts the second class in order: an eval set whose positive one is the first turns it around."""
        first, valid = halves(cb, rows.two_classes(), names)
        evaluator = tm.training.Evaluator("auc", ours.as_eval_set("validation", valid, kind="margin", **facts))
        callback = ours.EvaluatorCallback(evaluator)
        with pytest.raises(cb.CatBoostError, match=f"eval set 'validation' must have {right} as `positive`"):
            train(cb, first, valid, 3, loss_function="Logloss", eval_metric=callback.metric, callbacks=[callback])

    def test_classes_each_by_itself(self, cb, ours):
        """Their margins have labels, which are those of the model, but no probabilities of all of them."""
        _, y, _ = rows.three_classes()
        first, valid = halves(cb, rows.three_classes())

        def run(name):
            evaluator = tm.training.Evaluator(name, ours.as_eval_set("validation", valid, kind="margin"))
            callback = ours.EvaluatorCallback(evaluator)
            given = {"eval_metric": callback.metric, "callbacks": [callback], "loss_function": "MultiClassOneVsAll"}
            model = train(cb, first, valid, 3, **given)
            return model, evaluator.history[-1].value("validation", name)

        model, value = run("mcc")
        labels = model.predict(valid, prediction_type="Class").ravel().astype(int)
        assert value == tm.mcc(y[HALF:], labels, weights=np.array(valid.get_weight()))
        for name in ("logloss", "auc"):
            with pytest.raises(cb.CatBoostError, match=f"{name} reads probabilities of all classes together"):
                run(name)

    def test_a_model_without_the_metric_is_refused(self, cb, ours):
        """Which would be trained without being followed."""
        first, valid = halves(cb, rows.two_classes())
        callback = ours.EvaluatorCallback(
            tm.training.Evaluator("auc", ours.as_eval_set("validation", valid, kind="margin"))
        )
        with pytest.raises(cb.CatBoostError, match="`eval_metric` of the model must be the `metric` of the Evaluator"):
            train(cb, first, valid, 3, loss_function="Logloss", callbacks=[callback])

    def test_what_does_not_fit_is_refused(self, cb, ours):
        """Margins that are not declared, sets of other names, metrics that are not resolved, what is no Pool."""
        first, valid = halves(cb, rows.two_classes())
        with pytest.raises(tm.KindError, match="CatBoost gives predictions of kind 'margin': declare that with"):
            ours.EvaluatorCallback(tm.training.Evaluator("logloss", ours.as_eval_set("validation", valid)))
        callback = ours.EvaluatorCallback(tm.training.Evaluator("auc", ours.as_eval_set("valid", valid)))
        with pytest.raises(cb.CatBoostError, match=r"names that CatBoost gives \(learn, validation\); got 'valid'"):
            train(cb, first, valid, 3, loss_function="Logloss", eval_metric=callback.metric, callbacks=[callback])
        with pytest.raises(tm.ParameterError, match="`evaluator` must have metrics"):
            ours.EvaluatorCallback(tm.training.Evaluator(None, tm.training.EvalSet("validation", [1.0])))
        with pytest.raises(tm.ParameterError, match="`data` must be a Pool"):
            ours.as_eval_set("validation", [[1.0]])
