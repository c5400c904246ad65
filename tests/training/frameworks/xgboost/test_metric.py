"""A metric as XGBoost calls it: the same numbers, the right direction, and a name that XGBoost can read."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tallymark as tm
from tests.training.frameworks import boosted_rows as rows
from tests.training.frameworks.xgboost.training import FALLBACK_IS_FINE, halves, train

pytestmark = FALLBACK_IS_FINE


@pytest.mark.slow
class TestTraining:
    """Against the real library."""

    def test_the_early_stopping_of_xgboost_follows_our_metric(self, xgb, ours):
        """Its own early stopping follows our metric the right way, also one that it does not know; weighted."""
        x, y, w = rows.two_classes()
        xv, yv, wv = rows.two_classes(9)
        for name, shown in (("auc", "auc"), ("accuracy", "neg_accuracy"), ("brier", "brier"), ("recall", "neg_recall")):
            model = xgb.XGBClassifier(
                n_estimators=40, early_stopping_rounds=5, eval_metric=ours.as_metric(name), learning_rate=0.5, n_jobs=1
            )
            model.fit(x, y, sample_weight=w, eval_set=[(xv, yv)], sample_weight_eval_set=[wv], verbose=False)
            log = model.evals_result()["validation_0"][shown]
            each = [model.get_booster().predict(xgb.DMatrix(xv), iteration_range=(0, k + 1)) for k in range(len(log))]
            values = [tm.metric(name)(yv, p, weights=wv.astype(np.float32)) for p in each]
            sign = -1 if shown.startswith("neg") else 1
            assert log == [round(sign * value, 6) for value in values]
            rounded = [round(value, 6) for value in values]
            assert rows.stopped_at(rounded, 5, tm.metric(name).better)[1] == model.best_iteration

    def test_metrics_that_are_best_at_a_value(self, xgb, ours):
        """What XGBoost minimises is how far they are from it."""
        dtrain, dvalid = halves(xgb, rows.numbers())
        item, log = ours.as_metric("mean_bias"), {}
        booster = train(xgb, {}, dtrain, 2, evals=[(dvalid, "v")], custom_metric=item, evals_result=log)
        bias = tm.mean_bias(dvalid.get_label(), booster.predict(dvalid), weights=dvalid.get_weight())
        assert log["v"]["distance_of_mean_bias"][-1] == round(abs(bias), 6)

    def test_several_outputs_are_read_as_tables(self, xgb, ours):
        """Tables of truth are read as tables."""
        x, y, _ = rows.numbers()
        data = xgb.DMatrix(x, np.column_stack([y, -2 * y]))
        log = {}
        booster = train(xgb, {}, data, 2, evals=[(data, "v")], custom_metric=ours.as_metric("mae"), evals_result=log)
        assert log["v"]["mae"][-1] == round(tm.mae(data.get_label(), booster.predict(data)), 6)

    def test_metric_names_are_written_as_xgboost_reads_them(self, xgb, ours):
        """Without what it puts between values; with `maximize` the plain value."""
        dtrain, dvalid = halves(xgb, rows.two_classes())
        item, log = ours.as_metric("fscore(beta=2, average=macro)", maximize=True), {}
        train(
            xgb,
            {"objective": "binary:logistic"},
            dtrain,
            2,
            evals=[(dvalid, "v")],
            custom_metric=item,
            evals_result=log,
        )
        assert list(log["v"])[-1] == item.__name__ == "fscore(beta=2,average=macro)"
        assert log["v"][item.__name__][-1] > 0
        assert ours.as_metric("rmse", maximize=True).__name__ == "neg_rmse"
        assert ours.as_metric("mape").__name__ == "mape"

    def test_a_metric_of_margins_needs_kind_margin(self, ours):
        """XGBoost gives probabilities or labels with most objectives: read as margins, every row would be positive."""
        assert ours.as_metric("margin_accuracy", kind="margin")([0, 1], [-1.0, 2.0]) == -1.0
        with pytest.raises(tm.KindError, match=r'`kind` must be "margin" for margin_accuracy.*XGBoost gives margins'):
            ours.as_metric("margin_accuracy")

    def test_the_cross_validation_of_xgboost_takes_the_metric(self, xgb, ours):
        """Takes the metric, in every fold."""
        x, y, w = rows.two_classes()
        params = {"objective": "binary:logistic", "nthread": 1, "eval_metric": "auc"}
        found = xgb.cv(
            params,
            xgb.DMatrix(x, y, weight=w),
            3,
            nfold=2,
            custom_metric=ours.as_metric("gini", maximize=True),
            as_pandas=False,
        )
        assert found["test-gini-mean"] == pytest.approx(2 * np.array(found["test-auc-mean"]) - 1, abs=1e-5)

    def test_estimators_that_hold_it_are_cloned(self, xgb, ours):
        """As by a search."""
        from sklearn.base import clone

        item = clone(xgb.XGBClassifier(eval_metric=ours.as_metric("auc"))).eval_metric
        assert (item.metric, item.__name__) == (tm.auc, "auc")

    def test_it_can_be_pickled(self, ours):
        """As estimators that hold it are, by clones and processes."""
        item = pickle.loads(pickle.dumps(ours.as_metric("logloss", kind="margin")))
        assert (item.metric, item.target, item.__name__) == (tm.logloss, tm.Target("margin"), "logloss")
