"""LightGBM: metrics for `feval` and `eval_metric`, and a callback that drives an Evaluator."""

from __future__ import annotations

from typing import Any

from tallymark.data.arguments import describe
from tallymark.data.arrays import Array
from tallymark.data.target import Target, target_of
from tallymark.errors import KindError, ParameterError, Text
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
    has_stopping_rule,
    repeat_per_row,
    rewind_to,
)
from tallymark.training.history import EvalResult as Result

__all__ = ["EvaluatorCallback", "as_eval_set", "as_metric"]


with needed("tallymark.training.frameworks.lightgbm", "lightgbm", extra="lightgbm"):
    from lightgbm import Booster, Dataset, EvalResult
    from lightgbm.callback import CallbackEnv, EarlyStopException

_KINDS = {
    **dict.fromkeys(("binary", "cross_entropy", "xentropy", "multiclass", "softmax"), "probability"),
    **dict.fromkeys(("multiclassova", "multiclass_ova", "ova", "ovr"), "probability"),
    **dict.fromkeys(("lambdarank", "rank_xendcg", "xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart"), "score"),
    **dict.fromkeys(("none", "null", "custom", "na"), "margin"),
}
_BOOSTING = ("boosting", "boosting_type", "boost")
_OBJECTIVE = ("objective", "objective_type", "app", "application", "loss")


class _Metric(NativeMetric):
    def __init__(self, wanted: str | Metric, target: Target) -> None:
        super().__init__(wanted, target)
        check_margins(self.metric, target.kind, "LightGBM")

    def __call__(
        self, y_true: Array, y_pred: Any, weight: Array | None = None, group: Array | None = None
    ) -> tuple[str, float, bool]:
        """The value in either order of arguments: predictions and a Dataset, or truth and predictions."""
        if isinstance(y_pred, Dataset):
            y_true, y_pred, weight, group = y_pred.get_label(), y_true, y_pred.get_weight(), y_pred.get_group()
        query = None if group is None else repeat_per_row(group)
        return self.__name__, self.value(y_true, y_pred, weight, query), self.maximize


def as_metric(metric: str | Metric, *, target: Target | None = None, kind: str | None = None) -> Any:
    """Return a metric for ``lightgbm.train(feval=...)`` and for ``eval_metric=`` of the scikit-learn interface.

    The direction, weights and groups of the Dataset are passed on. `kind`, or the `target` that has it, is what the
    predictions are: LightGBM passes those after the transformation of the objective, but margins (``kind="margin"``) if
    the objective is a function.

    >>> as_metric("auc")([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    ('auc', 0.75, True)
    """
    return _Metric(metric, target_of(target, kind, None, None))


def as_eval_set(name: str, data: Any, **facts: Any) -> EvalSet:
    """Return the labels, weights and queries of a Dataset as an EvalSet; its other keywords are `facts`."""
    if not isinstance(data, Dataset):
        raise ParameterError(argument="data", expected="be a Dataset", got=describe(data))
    if data.label is None:
        data.construct()  # from a file
    # What is not constructed yet has what the caller gave, and nothing else to be asked for.
    fresh = data._handle is None
    truth, weights, group = (
        (data.label, data.weight, data.group) if fresh else (data.get_label(), data.get_weight(), data.get_group())
    )
    arguments = {"weights": weights, "query": None if group is None else repeat_per_row(group)}
    return EvalSet(name, truth, **{**arguments, **facts})


class EvaluatorCallback:
    """Drives an Evaluator in every round of training, and stops training when the Evaluator says so.

    Each eval set has the name of one of the valid sets: one of `valid_names`, or "training" and "valid_0", "valid_1", …
    by default. LightGBM already has their predictions. If the Evaluator has a stopping rule, the best round becomes the
    `best_iteration` of the booster, with which it predicts, and its values the `best_score`.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = check_evaluator(evaluator)
        self.before_iteration = False
        self.order = 25  # after what prints and records, before LightGBM's own early stopping

    def __call__(self, env: CallbackEnv) -> None:
        """Evaluate the round; LightGBM is stopped by an exception."""
        if env.iteration == env.begin_iteration:
            self._begin(env)
        found = self.evaluator.step(env.iteration, lambda: self._predict(env.model))
        if found.action == "stop" or env.iteration == env.end_iteration - 1:
            self.evaluator.close()
            best = self.evaluator.best_round
            if has_stopping_rule(self.evaluator) and (best is not None or found.action == "stop"):
                best_results = [
                    result for each in self.evaluator.history if each.round == best for result in each.results
                ]
                raise EarlyStopException(env.iteration if best is None else best, list(map(_as_theirs, best_results)))

    def _begin(self, env: CallbackEnv) -> None:
        if not isinstance(env.model, Booster):
            raise ParameterError("EvaluatorCallback follows one model, and cv trains several: pass it as_metric(...)")
        objective = next((env.params[key] for key in _OBJECTIVE if env.params.get(key) is not None), "regression")
        given = "margin" if callable(objective) else _KINDS.get(str(objective).lower(), "value")
        check_kinds(self.evaluator, given, f"the objective {objective!r}")
        for eval_set in self.evaluator.eval_sets.values():
            if eval_set.target.kind == "margin" and given != "margin":
                raise KindError(
                    Text(
                        'eval set {} must not have {kind="margin"}: LightGBM gives predictions of kind '
                        "{} with the objective {}, and margins only with one of your own",
                        repr(eval_set.name),
                        repr(given),
                        repr(objective),
                    )
                )
        if "dart" in (env.params.get(key) for key in _BOOSTING):
            check_dart(self.evaluator)
        sets = self._sets(env.model)
        lacking = [name for name in self.evaluator.eval_sets if name not in sets]
        if lacking:
            raise ParameterError(
                argument="evaluator",
                expected=f"have eval sets with the names of valid sets ({', '.join(sets)})",
                got=repr(lacking[0]),
            )
        for eval_set in self.evaluator.eval_sets.values() if env.model.num_model_per_iteration() == 1 else ():
            check_positive(eval_set, sets[eval_set.name].get_label(), "LightGBM")
        rewind_to(self.evaluator, env.begin_iteration)

    @staticmethod
    def _sets(model: Booster) -> dict[str, Any]:
        return {
            model._train_data_name: model.train_set,
            **dict(zip(model.name_valid_sets, model.valid_sets, strict=True)),
        }

    def _predict(self, model: Booster) -> dict[str, Array]:
        """The predictions that LightGBM keeps of its sets, which it shows to functions of the caller only."""
        sets, predictions = self._sets(model), {}
        for name in self.evaluator.eval_sets:

            def keep(y_pred: Array, data: Any, name: str = name) -> list[Any]:
                predictions[name] = y_pred.copy(order="K")  # LightGBM writes over it in the next round
                return []

            model.eval(sets[name], name, feval=keep)
        return predictions


def _as_theirs(result: Result) -> Any:
    return EvalResult(result.set, result.metric, result.value, result.better == "higher")
