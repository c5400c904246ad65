"""Errors of evaluation during training, of splits, cross-validation and selection, each by a call that raises it."""

from __future__ import annotations

import tallymark as tm
from tallymark.training.frameworks import base
from tallymark.training.frameworks.base import inputs_by_eval_set

Y, P = [1.0, 2.0, 3.0], [1.0, 2.0, 4.0]
NAN = float("nan")

CASES = {
    # training
    "an eval set without a name": lambda: tm.training.EvalSet("", Y),
    "an eval set without rows": lambda: tm.training.EvalSet("valid", []),
    "eval sets of one name": lambda: tm.training.Evaluator(
        "mae", [tm.training.EvalSet("valid", Y), tm.training.EvalSet("valid", Y)]
    ),
    "no eval sets": lambda: tm.training.Evaluator("mae", []),
    "an array as an eval set": lambda: tm.training.Evaluator("mae", [Y]),
    "a callback that is none": lambda: tm.training.Evaluator(
        "mae", tm.training.EvalSet("valid", Y), callbacks=["print"]
    ),
    "predictions of another set": lambda: _evaluator().step(0, {"test": P}),
    "predictions of too few sets": lambda: _evaluator().step(0, {}),
    "predictions of no rounds": lambda: _evaluator().step(0, None),
    "predictions of another length": lambda: _evaluator().step(0, {"valid": P[:2]}),
    "NaN in a round": lambda: _evaluator().step(0, {"valid": [1.0, NAN, 2.0]}),
    "inputs of another set": lambda: inputs_by_eval_set(_evaluator(), {"test": P}),
    "inputs of no set": lambda: inputs_by_eval_set(_evaluator(), None),
    "a round twice": lambda: [_evaluator_at(3).step(3, {"valid": P})],
    "half a round": lambda: _evaluator().step(0.5, {"valid": P}),
    "a period of nothing": lambda: tm.training.Evaluator("mae", tm.training.EvalSet("valid", Y), period=0),
    "no patience": lambda: tm.training.EarlyStopping(0),
    "a negative delta": lambda: tm.training.EarlyStopping(1, min_delta=-1),
    "a direction that is none": lambda: tm.training.EarlyStopping(1, better="up"),
    "no direction": lambda: tm.training.EarlyStopping(1).should_stop(0.5),
    "a monitor that is none": lambda: tm.training.EarlyStopping(1, monitor=("auc",)),
    "a monitor of another set": lambda: _evaluator(
        early_stopping=tm.training.EarlyStopping(1, monitor=("test", "mae"))
    ),
    "a monitor that is neither a set nor a metric": lambda: _evaluator(
        early_stopping=tm.training.EarlyStopping(1, monitor="test")
    ),
    "several sets to follow": lambda: tm.training.Evaluator(
        "mae", [tm.training.EvalSet(name, Y) for name in ("train", "valid", "test")], early_stopping=5
    ),
    "a monitor of another metric": lambda: _evaluator(
        early_stopping=tm.training.EarlyStopping(1, monitor=("valid", "auc"))
    ),
    "a metric without a direction": lambda: tm.training.Evaluator(
        "confusion_matrix", tm.training.EvalSet("valid", [0, 1]), early_stopping=tm.training.EarlyStopping(1)
    ),
    "rules that are none": lambda: _evaluator(early_stopping=[3]),
    "no rules": lambda: tm.training.StoppingRules([]),
    "one rule twice": lambda: tm.training.StoppingRules([RULE, RULE]),
    "rules by majority": lambda: tm.training.StoppingRules([RULE], "most"),
    "gains of a metric without intervals": lambda: tm.training.Evaluator(
        "max_error", tm.training.EvalSet("valid", Y), early_stopping=tm.training.GainStopping()
    ),
    "gains the other way round": lambda: _evaluator(early_stopping=tm.training.GainStopping(better="higher")),
    "a history of another metric": lambda: _evaluator(history=_history()),
    "a history that is no JSON": lambda: tm.training.History.from_json("rounds"),
    "a history without results": lambda: tm.training.History.from_json('[{"round": 0}]'),
    "a checkpoint without a function": lambda: tm.training.Checkpoint("model.bin"),
    "an objective that nobody knows": lambda: tm.training.default_metric("cox"),
    "a time that is none": lambda: tm.model_selection.regression_metrics(Y, P, fit_time=-1),
    "a likelihood that is none": lambda: tm.model_selection.aic(NAN, 3),
    "what is not in a bundle": lambda: tm.model_selection.regression_metrics([1.0, 1.0], [1.0, 2.0])["r2"],
    # frameworks
    "a framework's metric without a direction": lambda: base.NativeMetric("confusion_matrix"),
    "a framework's metric of several numbers": lambda: base.NativeMetric("recall(average=none)").value(
        [0, 1], [0.2, 0.8]
    ),
    "a framework's metric of another kind": lambda: base.NativeMetric("rmse", tm.Target("label")),
    "an evaluator that is none": lambda: base.check_evaluator("auc"),
    "rules of stopping and dart": lambda: base.check_dart(_evaluator(early_stopping=tm.training.EarlyStopping(1))),
    "margins that are not declared": lambda: base.check_kinds(_of_classes(), "margin", "the objective 'logitraw'"),
    "probabilities for a metric on margins": lambda: base.check_kinds(
        tm.training.Evaluator("margin_accuracy", tm.training.EvalSet("valid", [0, 1])),
        "probability",
        "the objective 'binary:logistic'",
    ),
    "a metric on margins for a library": lambda: base.check_margins(tm.margin_accuracy, None, "XGBoost"),
    "values for metrics on classes": lambda: base.check_kinds(_of_classes(), "value", "the objective 'squared'"),
    # splits and selection
    "one fold": lambda: tm.model_selection.KFold(1),
    "more folds than rows": lambda: list(tm.model_selection.KFold(5).split(4)),
    "a single row to split": lambda: list(tm.model_selection.KFold(2).split(1)),
    "rows that are none": lambda: list(tm.model_selection.KFold(2).split("abc")),
    "strata without labels": lambda: list(tm.model_selection.StratifiedKFold(2).split(4)),
    "strata of another length": lambda: list(tm.model_selection.StratifiedKFold(2).split(4, ["a", "b"])),
    "strata with a missing label": lambda: list(tm.model_selection.StratifiedKFold(2).split(2, ["a", None])),
    "more folds than groups": lambda: list(tm.model_selection.GroupKFold(3).split(4, groups=[1, 1, 2, 2])),
    "one group": lambda: list(tm.model_selection.GroupHoldout().split(2, groups=[1, 1])),
    "a test of everything": lambda: list(tm.model_selection.Holdout(4).split(4)),
    "a share above one": lambda: tm.model_selection.Holdout(1.5),
    "a bootstrap of single rows": lambda: list(tm.model_selection.StratifiedBootstrap(2).split(2, ["a", "b"])),
    "too short a time series": lambda: list(tm.model_selection.TimeSeries(5).split(5)),
    "repeats of the same": lambda: tm.model_selection.Repeated(tm.model_selection.LeaveOneOut()),
    "a trainer that is none": lambda: tm.model_selection.cross_validate("linear", Y, Y),
    "rows and truth of two lengths": lambda: tm.model_selection.cross_validate(_mean, Y, Y[:2]),
    "a splitter that is none": lambda: tm.model_selection.cross_validate(_mean, Y, Y, splitter="five"),
    "a splitter twice": lambda: tm.model_selection.cross_validate(_mean, Y, Y, splitter=2, cv=2),
    "a scorer that is none": lambda: tm.model_selection.cross_validate(_mean, Y, Y, scoring=len),
    "groups in cross-validation": lambda: tm.model_selection.cross_validate(_mean, Y, Y, metrics="gap(mae)"),
    "no workers": lambda: tm.model_selection.cross_validate(_mean, Y, Y, splitter=2, n_jobs=0),
    "workers elsewhere": lambda: tm.model_selection.cross_validate(_mean, Y, Y, splitter=2, backend="cloud"),
    "a model without probabilities": lambda: tm.model_selection.cross_validate(
        _Constant(), Y, [0, 1, 1], metrics="logloss", splitter=2
    ),
    "candidates in a list": lambda: tm.model_selection.select([0.1, 0.2], "auc"),
    "a candidate without the metric": lambda: tm.model_selection.select({"a": tm.evaluate(Y, P, ["mae"])}, "rmse"),
    "candidates without a value": lambda: tm.model_selection.select({"a": NAN}, "auc"),
    "candidates without a direction": lambda: tm.model_selection.select({"a": 1.0}, "confusion_matrix"),
}

RULE = tm.training.EarlyStopping(1)


def _evaluator(**given):
    return tm.training.Evaluator("mae", tm.training.EvalSet("valid", Y), **given)


def _of_classes():
    return tm.training.Evaluator("logloss", tm.training.EvalSet("valid", [0, 1]))


def _evaluator_at(round_):
    evaluator = _evaluator()
    evaluator.step(round_, {"valid": P})
    return evaluator


def _history():
    evaluator = tm.training.Evaluator("rmse", tm.training.EvalSet("valid", Y))
    evaluator.step(0, {"valid": P})
    return evaluator.history


def _mean(x, y):
    return lambda rows: [sum(y) / len(y)] * len(rows)


class _Constant:
    def fit(self, x, y):
        return self

    def predict(self, rows):
        return [1] * len(rows)
