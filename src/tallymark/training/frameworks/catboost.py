"""CatBoost: metrics for `eval_metric`, and a callback that drives an Evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tallymark.data.arguments import describe
from tallymark.data.arrays import Array, as_array, count_columns
from tallymark.data.target import Target, target_of
from tallymark.errors import KindError, ParameterError, Text
from tallymark.metrics.base import Metric
from tallymark.optional_packages import needed
from tallymark.training.eval_set import EvalSet
from tallymark.training.evaluator import Evaluator
from tallymark.training.frameworks.base import NativeMetric, check_evaluator, check_kinds, check_positive, rewind_to

__all__ = ["EvaluatorCallback", "as_eval_set", "as_metric"]


with needed("tallymark.training.frameworks.catboost", "catboost", extra="catboost"):
    from catboost import MultiTargetCustomMetric, Pool


_LOGARITHMS = ("Poisson", "Tweedie", "LogLinQuantile")
"""Losses whose raw values are logarithms of the predictions."""


class _Metric(NativeMetric):
    no_jit = True  # CatBoost would try to compile it where numba is installed, and warn that it cannot

    def __init__(self, wanted: str | Metric, target: Target, multi_target: bool) -> None:
        super().__init__(wanted, target)
        self.multi_target = multi_target
        if self.metric.by_query:
            raise ParameterError(
                Text("{metric} must need no queries, which CatBoost does not show; {} does", self.metric),
                argument="metric",
                hint="Metrics of an EvaluatorCallback that are not followed may",
            )
        if target.kind is None and self.metric.kind != "value" and "margin" in self.metric.kinds:
            self.target = Target(**{**target.keywords(), "kind": "margin"})
        # CatBoost calls a metric by the name of its class, and asks for a base class with several targets only.
        bases = (type(self), MultiTargetCustomMetric) if multi_target else (type(self),)
        self.__class__ = type(self.__name__, bases, {})

    def is_max_optimal(self) -> bool:
        return self.maximize

    def evaluate(self, approxes: Sequence[Array], target: Array, weight: Array | None) -> tuple[float, float]:
        return self.value(_target_array(target), _raw_values(approxes), weight), 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.metric, self.target, self.multi_target)

    def __deepcopy__(self, memo: object) -> _Metric:
        return self  # CatBoost copies its parameters, and scikit-learn clones what then are the same ones


def _rebuild(metric: Metric, target: Target, multi_target: bool) -> _Metric:
    return _Metric(metric, target, multi_target)


def as_metric(
    metric: str | Metric, *, target: Target | None = None, kind: str | None = None, multi_target: bool = False
) -> Any:
    """Return a metric for `eval_metric` of CatBoost models, with its direction and the weights of the Pool.

    Args:
        metric: A name or a metric.
        target: A `Target`, which combines `kind`, `classes`, `positive` and `normalize`.
        kind: What the predictions are. CatBoost passes raw values: margins to metrics on classes, which is the default,
            and values to others; pass "margin" for a loss such as Poisson, whose raw values are logarithms.
        multi_target: True for a loss of several targets, such as MultiRMSE or MultiLogloss.

    >>> item = as_metric("auc")
    >>> item.evaluate([[-2.2, -0.4, -0.6, 1.4]], [0, 0, 1, 1], None), item.is_max_optimal()
    ((0.75, 1.0), True)
    """
    return _Metric(metric, target_of(target, kind, None, None), multi_target)


def as_eval_set(name: str, data: Any, **facts: Any) -> EvalSet:
    """Return the labels, weights and groups of a Pool as an EvalSet; its other keywords are `facts`."""
    if not isinstance(data, Pool):
        raise ParameterError(argument="data", expected="be a Pool", got=describe(data))
    arguments = {"weights": data.get_weight(), "query": data.get_group_id_hash()}
    return EvalSet(name, data.get_label(), **{**arguments, **facts})


class _Recorder(_Metric):
    """The metric that is followed, which keeps the predictions that it is shown."""

    def __init__(self, wanted: Metric, target: Target, multi_target: bool) -> None:
        super().__init__(wanted, target, multi_target)
        self.seen: list[tuple[Array, Array]] = []

    def evaluate(self, approxes: Sequence[Array], target: Array, weight: Array | None) -> tuple[float, float]:
        self.seen.append((_raw_values(approxes), _target_array(target)))
        return super().evaluate(approxes, target, weight)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Recorder, (self.metric, self.target, self.multi_target)


class EvaluatorCallback:
    """Drives an Evaluator in every round of training, and stops training when the Evaluator says so.

    Pass it to `fit` as one of the `callbacks`, and its `metric`, which shows it the predictions, to the model as
    `eval_metric`. Each eval set has the name of one of CatBoost's: "learn", "validation", or "validation_0",
    "validation_1", … if there are several. Metrics on classes get margins: declare them by ``EvalSet(...,
    kind="margin")``. If the truth has several columns, the loss must have several targets, such as MultiRMSE.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = check_evaluator(evaluator)
        check_kinds(evaluator, "margin", "CatBoost")
        if evaluator.metrics is None or evaluator.monitor is None:
            raise ParameterError(argument="evaluator", expected="have metrics, the first of which says what is better")
        name, key = evaluator.monitor
        eval_set = evaluator.eval_sets[name]
        several = count_columns(as_array(eval_set.y_true, "y_true")) > 1
        self.metric: Any = _Recorder(evaluator.metrics[key], Target(eval_set.target.kind), several)

    def after_iteration(self, info: Any) -> bool:
        """Evaluate the round; whether to go on, as CatBoost asks."""
        recorded, self.metric.seen = self.metric.seen, []
        if not any(self.metric.__name__ in by_name for by_name in info.metrics.values()):
            raise ParameterError(
                Text("{eval_metric} of the model must be the {metric} of the EvaluatorCallback"),
                argument="eval_metric",
            )
        if not recorded:  # CatBoost computes metrics by a period of its own
            return True
        number = info.iteration - 1
        names = sorted((name for name in info.metrics if self.metric.__name__ in info.metrics[name]), key=_place)
        by_name = dict(zip(names, recorded[-len(names) :], strict=True))
        if self.evaluator.last_round is None or self.evaluator.last_round >= number:
            rewind_to(self.evaluator, number)
            self._check(by_name)
            self._check_loss(sorted({key for name in names for key in info.metrics[name]}))
        result = self.evaluator.step(number, {name: by_name[name][0] for name in self.evaluator.eval_sets})
        return result.action != "stop"

    def _check(self, recorded: dict[str, tuple[Array, Array]]) -> None:
        for name, eval_set in self.evaluator.eval_sets.items():
            if name not in recorded:
                raise ParameterError(
                    argument="evaluator",
                    expected=f"have eval sets with the names that CatBoost gives ({', '.join(recorded)})",
                    got=repr(name),
                )
            if not _same_rows(as_array(eval_set.y_true, "y_true"), recorded[name][1]):
                raise ParameterError(
                    f"eval set {name!r} must have the rows of CatBoost's in their order; they differ",
                    hint="CatBoost may shuffle the rows it learns from, unless it is given has_time=True",
                )
            if recorded[name][0].ndim == 1:
                check_positive(eval_set, recorded[name][1], "CatBoost")

    def _check_loss(self, losses: list[str]) -> None:
        if "MultiClassOneVsAll" in losses:
            for item in (self.evaluator.metrics or {}).values():
                if item.kind in ("probability", "score"):
                    raise KindError(
                        f"{item} reads probabilities of all classes together, and a margin of MultiClassOneVsAll is of "
                        "one class by itself: train by MultiClass, or follow metrics on labels"
                    )
        loss = next((loss for loss in losses if loss.startswith(_LOGARITHMS)), None)
        for item in () if loss is None else (self.evaluator.metrics or {}).values():
            for name, eval_set in self.evaluator.eval_sets.items():
                if item.kind == "value" and eval_set.target.kind is None:
                    raise KindError(
                        Text(
                            'eval set {} must be declared by EvalSet(..., {kind="margin"}): with the loss '
                            "{} CatBoost gives logarithms, which {} would read as values",
                            repr(name),
                            loss,
                            item,
                        )
                    )


def _raw_values(approxes: Sequence[Array]) -> Array:
    """A copy of the raw values, one column per class, since CatBoost writes over them."""
    return np.array(approxes[0]) if len(approxes) == 1 else np.array(approxes).T


def _target_array(target: Any) -> Array:
    """A copy of the target, one column for each of several."""
    return np.array(target).T if np.ndim(target) == 2 else np.array(target)


def _place(name: str) -> tuple[bool, int]:
    """Where a set of CatBoost comes, from the rows it learns from to the last it is validated on."""
    return name != "learn", int(name.rpartition("_")[2]) if name[-1:].isdigit() else 0


def _same_rows(truth: Array, target: Array) -> bool:
    """Whether a target is the truth, or another name for each of its classes."""
    if truth.size != target.size:
        return False
    truth = truth.reshape(target.shape)
    if truth.dtype.kind in "biuf" and np.array_equal(truth.astype(np.float32), target):
        return True
    if truth.dtype.kind == "f" or truth.ndim == 2:
        return False
    classes, codes = np.unique(truth, return_inverse=True)
    return len(np.unique(np.column_stack([codes, target]), axis=0)) == len(classes)
