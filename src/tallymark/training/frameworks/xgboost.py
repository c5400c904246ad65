"""XGBoost: metrics for `custom_metric` and `eval_metric`, and a callback that drives an Evaluator."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from tallymark.data.arguments import describe
from tallymark.data.arrays import Array
from tallymark.data.target import Target, target_of
from tallymark.errors import ParameterError, Text
from tallymark.metrics.base import Metric
from tallymark.optional_packages import needed
from tallymark.training.eval_set import EvalSet
from tallymark.training.evaluator import Evaluator
from tallymark.training.frameworks.base import (
    NativeMetric,
    check_dart,
    check_evaluator,
    check_kinds,
    check_margins,
    check_positive,
    check_row_count,
    has_stopping_rule,
    inputs_by_eval_set,
    repeat_per_row,
    rewind_to,
)

__all__ = ["EvaluatorCallback", "as_eval_set", "as_metric"]


with needed("tallymark.training.frameworks.xgboost", "xgboost", extra="xgboost"):
    from xgboost import Booster, DMatrix
    from xgboost.callback import TrainingCallback

_MAXIMIZED = ("auc", "pre", "map", "ndcg")
"""How names begin that XGBoost takes for better when higher, unless it is told."""
_KINDS = {
    **dict.fromkeys(("binary:logistic", "reg:logistic", "multi:softprob"), "probability"),
    **dict.fromkeys(("binary:hinge", "multi:softmax"), "label"),
    "binary:logitraw": "margin",
}


class _Metric(NativeMetric):
    def __init__(self, wanted: str | Metric, target: Target, maximize: bool | None) -> None:
        super().__init__(wanted, target)
        check_margins(self.metric, target.kind, "XGBoost")
        plain = re.sub(r"[\s:]", "", super().__name__)  # which XGBoost puts between values
        maximized_by_xgboost = plain != "mape" and plain.startswith(_MAXIMIZED) if maximize is None else maximize
        self._negative = maximized_by_xgboost != self.maximize
        self._shown = f"neg_{plain}" if self._negative else plain

    @property
    def __name__(self) -> str:
        return self._shown

    def __call__(self, y_true: Array, y_pred: Any, sample_weight: Array | None = None) -> Any:
        """The value in either order of arguments: predictions and a DMatrix, or truth and predictions."""
        if isinstance(y_pred, DMatrix):
            truth, weights, query = _rows_of(y_pred)
            return self._shown, self._signed(truth, y_true, weights, query)
        query = None if not self.metric.by_query else repeat_per_row([len(y_true)])  # XGBRanker asks query by query
        return self._signed(y_true, y_pred, sample_weight, query)

    def _signed(self, y_true: Any, y_pred: Array, weights: Any, query: Any) -> float:
        value = self.value(y_true, y_pred, weights, query)
        return -value if self._negative else value


def as_metric(
    metric: str | Metric, *, target: Target | None = None, kind: str | None = None, maximize: bool | None = None
) -> Any:
    """Return a metric for ``xgboost.train(custom_metric=...)`` and for ``eval_metric=`` of the scikit-learn interface.

    The weights of the DMatrix are passed on. XGBoost keeps six decimals of a value; `EvaluatorCallback` keeps all. If
    XGBoost also computes its own metric of the same name, both go into one list: ``disable_default_eval_metric=True``
    leaves that out.

    Args:
        metric: A name or a metric.
        kind: What the predictions are: by default those after the transformation of the objective. If the objective is
            a function, they are margins, and `kind` must be "margin".
        maximize: XGBoost infers from the name whether higher values are better, and minimises metrics that it does not
            know. A metric that it would get wrong is negated and named `neg_…`; True passes it unchanged, for a call of
            XGBoost with ``maximize=True``.

    >>> as_metric("auc")([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> as_metric("accuracy").__name__
    'neg_accuracy'
    """
    return _Metric(metric, target_of(target, kind, None, None), maximize)


def as_eval_set(name: str, data: Any, **facts: Any) -> EvalSet:
    """Return the labels, weights and queries of a DMatrix as an EvalSet; its other keywords are `facts`."""
    if not isinstance(data, DMatrix):
        raise ParameterError(argument="data", expected="be a DMatrix", got=describe(data))
    truth, weights, query = _rows_of(data)
    return EvalSet(name, truth, **{"weights": weights, "query": query, **facts})


def _rows_of(data: Any) -> tuple[Array, Array | None, Array | None]:
    """The truth, weights and queries of a DMatrix, by row."""
    truth, weights, ends = data.get_label(), data.get_weight(), data.get_uint_info("group_ptr")
    sizes = ends[1:] - ends[:-1]
    if not len(sizes):
        return truth, weights if len(weights) else None, None
    # XGBoost has one weight for each query.
    return truth, repeat_per_row(sizes, weights) if len(weights) else None, repeat_per_row(sizes)


class EvaluatorCallback(TrainingCallback):  # type: ignore[misc]  # what is not installed has no type
    """Drives an Evaluator, whose values are not rounded, in every round of training; stops training when it says so.

    If the Evaluator has a stopping rule, the best round becomes the `best_iteration` of the booster.

    Args:
        evaluator: The `Evaluator`.
        data: The rows of each eval set, as a DMatrix or anything that becomes one. An eval set of kind "margin" gets
            margins, others what the objective makes of them.
        save_best: True removes the trees after the best round.
        missing: The number that marks missing values in the rows, as the model has it.
    """

    def __init__(self, evaluator: Evaluator, data: Any, *, save_best: bool = False, missing: float = math.nan) -> None:
        super().__init__()
        self.evaluator = check_evaluator(evaluator)
        self._given = inputs_by_eval_set(evaluator, data)
        self._missing = missing
        self._data = {
            name: rows if isinstance(rows, DMatrix) else DMatrix(rows, missing=missing, enable_categorical=True)
            for name, rows in self._given.items()
        }
        for name, rows in self._data.items():
            check_row_count(evaluator, name, rows.num_row())
        self._save_best = save_best
        self._first = 0

    def __reduce__(self) -> tuple[Any, ...]:
        if any(isinstance(rows, DMatrix) for rows in self._given.values()):
            raise ParameterError(
                Text(
                    "{data} must be arrays or frames where an EvaluatorCallback is copied, as a "
                    "search of scikit-learn does; a DMatrix cannot be"
                ),
                argument="data",
            )
        return _rebuild, (self.evaluator, self._given, self._save_best, self._missing)

    def before_training(self, model: Any) -> Any:
        """Start anew, or go on where an earlier training ended."""
        if not isinstance(model, Booster):
            raise ParameterError(
                "EvaluatorCallback follows one model, and cv trains several: pass as_metric(...) to it"
            )
        learner = json.loads(model.save_config())["learner"]
        booster = learner["gradient_booster"]["name"]
        if booster == "dart":
            check_dart(self.evaluator)
        if self._save_best and booster != "gbtree":
            raise ParameterError(
                argument="save_best", expected=f"be False with the booster {booster!r}, whose rounds cannot be left out"
            )
        objective = learner["objective"]["name"]
        given = "score" if objective.startswith("rank:") else _KINDS.get(objective, "value")
        check_kinds(self.evaluator, given, f"the objective {objective!r}")
        for name, eval_set in self.evaluator.eval_sets.items():
            if not int(learner["learner_model_param"]["num_class"]):
                check_positive(eval_set, self._data[name].get_label(), "XGBoost")
        self._first = model.num_boosted_rounds()
        rewind_to(self.evaluator, self._first)
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Evaluate the round; whether to stop."""
        return self.evaluator.step(self._first + epoch, lambda: self._predict(model)).action == "stop"

    def _predict(self, model: Any) -> dict[str, Array]:
        sets = self.evaluator.eval_sets
        return {
            name: model.predict(rows, output_margin=sets[name].target.kind == "margin")
            for name, rows in self._data.items()
        }

    def after_training(self, model: Any) -> Any:
        """Let callbacks of the evaluator finish, tell the best round, and leave out what follows it if asked to."""
        self.evaluator.close()
        best = self.evaluator.best_round
        if best is None or not (self._save_best or has_stopping_rule(self.evaluator)):
            return model
        booster = model[: best + 1] if self._save_best else model
        booster.set_attr(best_iteration=str(best), best_score=repr(self.evaluator.best_value))
        return booster


def _rebuild(evaluator: Evaluator, data: dict[str, Any], save_best: bool, missing: float) -> EvaluatorCallback:
    return EvaluatorCallback(evaluator, data, save_best=save_best, missing=missing)
