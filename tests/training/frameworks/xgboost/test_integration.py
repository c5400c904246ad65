"""XGBoost as a whole: the package that it needs, its examples, and what it refuses."""

from __future__ import annotations

import pytest

import tallymark as tm
from tests.training.frameworks import boosted_rows as rows
from tests.training.frameworks.xgboost.training import halves, train


def test_without_the_package_it_says_what_to_install(monkeypatch):
    """The extra is named; nothing of XGBoost is loaded before."""
    rows.check_missing("xgboost", "xgboost", monkeypatch)


@pytest.mark.slow
class TestTraining:
    """Against the real library."""

    def test_the_examples_in_the_docstrings_run(self, ours):
        """The examples run."""
        rows.check_documented("xgboost")

    def test_what_does_not_fit_is_refused(self, xgb, ours):
        """Metrics without a direction or with several numbers, data of other sets, cv, and what is no evaluator."""
        dtrain, dvalid = halves(xgb, rows.two_classes())
        evaluator = tm.training.Evaluator("auc", ours.as_eval_set("valid", dvalid))
        with pytest.raises(tm.ParameterError, match="confusion_matrix does not, so it cannot select a model"):
            ours.as_metric("confusion_matrix")
        with pytest.raises(tm.ParameterError, match="must have one number"):
            ours.as_metric("recall(average=none)")([0, 1], [0.2, 0.8])
        with pytest.raises(tm.KindError, match="rmse reads"):
            ours.as_metric("rmse", kind="label")
        with pytest.raises(
            tm.ParameterError, match="`data` must map each of the eval sets 'valid' to the inputs of the model"
        ):
            ours.EvaluatorCallback(evaluator, {"test": dvalid})
        with pytest.raises(
            tm.LengthError, match="`data` must have the rows of the eval set 'valid', which are 200; got 1"
        ):
            ours.EvaluatorCallback(evaluator, [[1.0, 2.0]])
        with pytest.raises(tm.ParameterError, match="`evaluator` must be an Evaluator"):
            ours.EvaluatorCallback("auc", dvalid)
        with pytest.raises(tm.ParameterError, match="`data` must be a DMatrix"):
            ours.as_eval_set("valid", [[1.0]])
        dart = tm.training.Evaluator(
            "auc", ours.as_eval_set("valid", dvalid), early_stopping=tm.training.EarlyStopping(2)
        )
        with pytest.raises(tm.ParameterError, match="the dart booster, which changes the trees of earlier"):
            train(xgb, {"booster": "dart"}, dtrain, 2, callbacks=[ours.EvaluatorCallback(dart, dvalid)])
        callback = ours.EvaluatorCallback(evaluator, dvalid, save_best=True)
        with pytest.raises(tm.ParameterError, match="`save_best` must be False with the booster 'gblinear'"):
            train(xgb, {"booster": "gblinear"}, dtrain, 2, callbacks=[callback])
        with pytest.raises(tm.ParameterError, match="cv trains several"):
            xgb.cv({}, dtrain, 2, callbacks=[ours.EvaluatorCallback(evaluator, dvalid)])
