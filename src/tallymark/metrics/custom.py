"""Metrics of the user's own: a plain function becomes a metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Never, Self

import numpy as np

from tallymark.data.arguments import check_choice
from tallymark.data.arrays import Array
from tallymark.data.labels import Label
from tallymark.data.target import KINDS, Target
from tallymark.errors import Argument, ParameterError, Text, WeightError, brief
from tallymark.metrics import registry
from tallymark.metrics.answer import Answer, Undefined
from tallymark.metrics.base import Better, Metric, refuse_arguments, restore_metric
from tallymark.metrics.naming import known_metric
from tallymark.metrics.parameters import Parameter
from tallymark.states.labels.counts import find_positive
from tallymark.states.labels.label_rows import LabelRows, LabelRowsOf

__all__ = ["custom"]


Function = Callable[..., float]
_MOST_REPEATED = 100_000_000  # rows, of whole-number weights


def _keep(name: str, value: Any) -> Any:
    return value


class FunctionMetric(Metric, abstract=True):
    """A function of truth and predictions, and of weights if it takes them. It keeps the rows, so its state grows."""

    function: Function = Parameter(None, _keep)  # type: ignore[assignment]
    own_name: str = Parameter("", _keep)  # type: ignore[assignment]
    own_better: Better = Parameter("lower", _keep)  # type: ignore[assignment]
    own_kind: str = Parameter("value", _keep)  # type: ignore[assignment]

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        vars(self)["name"] = vars(self)["__qualname__"] = self.own_name
        vars(self)["kind"] = self.own_kind
        vars(self)["kinds"] = ("score", "probability", "margin") if self.own_kind == "score" else ()
        vars(self)["takes_weights"] = _weights_argument(self.function)
        vars(self)["takes_positive"] = _takes_positive(self.function)
        vars(self)["__doc__"] = self.function.__doc__

    @property
    def better(self) -> Better:
        return self.own_better

    def reads_of(self, target: Target) -> LabelRowsOf:
        if self.own_kind in ("value", "label"):
            positive = target.positive if self.own_kind == "label" and vars(self)["takes_positive"] else None
            return LabelRowsOf(target.classes, numbers=self.own_kind == "value", positive=positive)
        return LabelRowsOf(target.classes, numbers=True, positive=target.positive)

    @property
    def description(self) -> str:
        return (self.function.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")

    def formula_value(self, state: LabelRows) -> float:
        truth, prediction, weights = state.arrays()
        classes = state.reads.classes
        if classes is not None and prediction.ndim == 2 and prediction.shape[1] == len(classes):
            prediction = prediction[:, sorted(range(len(classes)), key=lambda place: classes[place])]
        taken = vars(self)["takes_weights"]
        if taken is None and weights is not None and (weights % 1 == 0).all() and weights.sum() <= _MOST_REPEATED:
            times = weights.astype(int)  # how often each row counts, as in a resample
            truth, prediction, weights = np.repeat(truth, times, 0), np.repeat(prediction, times, 0), None
        if taken is None and weights is not None:
            raise WeightError(
                Text("{} is a function of truth and predictions and takes no fractional {weights}", self.name),
                argument="weights",
                hint="Give the function a third parameter, weights or sample_weight",
            )
        more: tuple[Any, ...] = (weights,) if taken == "" else ()
        named: dict[str, Any] = {taken: weights} if taken else {}
        positive = state.reads.positive
        if positive is not None and self.own_kind == "label":
            named["pos_label"] = positive
        try:
            value = self.function(_narrow(truth), _narrow(prediction), *more, **named)
        except ValueError:
            if vars(self)["takes_positive"]:
                self._check_positive(truth, prediction, positive)
            raise
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"the function of {self.name} must return a number; it returned {value!r}") from error

    def _check_positive(self, truth: Array, prediction: Array, positive: Label | None) -> None:
        """Refuse labels among which the function cannot know the positive class, in our words."""
        sides = (truth, prediction) if self.own_kind == "label" else (truth,)
        labels = sorted({label for side in sides for label in side.ravel().tolist()})
        if len(labels) > 2 and self.own_kind == "label":
            example = f'tm.custom(functools.partial({_name_of(self.function)}, average="macro"), name="my_metric")'
            raise ParameterError(
                f"{self.name} is for two classes; these rows have {len(labels)}",
                hint=f"Set its average, as in {example}",
            )
        find_positive(labels, Target(positive=positive))

    def parameters(self) -> dict[str, Any]:
        return {"undefined": self.undefined}  # the rest is what the metric is, not how it is set

    def replace(self, **changes: Any) -> Self:
        unknown = {key: value for key, value in changes.items() if key != "undefined"}
        if unknown:
            raise self.unknown_parameter(unknown, ["undefined"])
        return type(self)(**{**dict(zip(self._parameters, self._values, strict=True)), **changes})

    def __reduce__(self) -> tuple[Any, ...]:
        return (restore_metric, (type(self), dict(zip(self._parameters, self._values, strict=True))))

    def __repr__(self) -> str:
        return f"custom({getattr(self.function, '__name__', self.function)!s}, name={self.name!r})"

    def to_answer(self, value: Any, notes: tuple[str, ...] = ()) -> Answer:
        if isinstance(value, float) and math.isnan(value):
            value = Undefined("the function returned NaN")
        return super().to_answer(value, notes)


def _narrow(table: Any) -> Any:
    return table[:, 0] if table.ndim == 2 and table.shape[1] == 1 else table


def _parameters_of(function: Function) -> Mapping[str, Any]:
    from inspect import signature  # slow to load, and few need it

    try:
        return signature(function).parameters
    except (TypeError, ValueError):  # of one that is not written in Python
        return {}


def _takes_positive(function: Function) -> bool:
    """Whether a function reads its parameter `pos_label`, as those of scikit-learn do without another average."""
    parameters = _parameters_of(function)
    return "pos_label" in parameters and ("average" not in parameters or parameters["average"].default == "binary")


def _name_of(function: Function) -> str:
    return str(getattr(getattr(function, "func", function), "__name__", "function"))


def _weights_argument(function: Function) -> str | None:
    """How a function takes weights: the keyword, "" for a third argument without a name that says so, or None."""
    from inspect import Parameter, signature  # slow to load, and few need it

    try:
        found = signature(function)
    except (TypeError, ValueError):  # of one that is not written in Python
        return None
    taken = [each for each in found.parameters.values() if each.kind is not Parameter.POSITIONAL_ONLY]
    named = {each.name for each in taken if each.kind is not Parameter.VAR_KEYWORD}
    keyword = next((name for name in ("sample_weight", "weights") if name in named), None)
    for more, names in ((0, [keyword] if keyword else []), (1, [])):
        try:
            found.bind(*range(2 + more), **dict.fromkeys(names))
        except TypeError:
            continue
        return "" if more else keyword
    name = getattr(function, "__name__", "function")
    raise ParameterError(
        argument="function",
        expected="take the truth, the predictions and, if it is weighted, weights or sample_weight",
        got=f"{name}{found}",
        hint="Give what else it needs by functools.partial, or wrap it in a function of two arguments",
    )


def _refuse_parameters_of(function: Function, unknown: Mapping[str, object]) -> None:
    """Refuse parameters of the function, and say how to set them."""
    for name, value in unknown.items():
        if name in _parameters_of(function):
            example = f'tm.custom(functools.partial({_name_of(function)}, {name}={value!r}), name="my_metric")'
            problem = Text("tm.custom has no argument {}", Argument(name))
            raise ParameterError(problem, argument=name, hint=f"Set parameters of a function as in {example}")


def custom(
    function: Function, *, name: str | None = None, better: Better = None, kind: str | None = None, **unknown: Never
) -> Metric:
    """Make a metric of a function ``f(y_true, y_pred) -> float``.

    It works wherever a built-in metric does, and its name works in strings. It keeps the rows. A scikit-learn function
    is taken as it is, under its name after `sklearn_`, with the direction and the kind that its metric has here.
    Columns of probabilities are passed in the order of the sorted classes, as it expects them; with `positive=` in a
    call, a truth beside scores or probabilities is 1 for that class and 0 for others; a function of labels is given it
    as `pos_label`, where it has this parameter.

    Args:
        function: The function. Weights, an array or None, go to its parameter `sample_weight` or `weights`, or to a
            third parameter without a default; for a function without one, weights are an error.
        name: The name of the metric; by default that of the function.
        better: "higher", "lower" or the best value; by default "lower".
        kind: What the predictions are; by default "value", which passes float64 arrays, or labels if they are not
            numbers. "label" always passes labels.

    >>> def worst_relative(y_true, y_pred):
    ...     return max(abs(y_pred - y_true) / abs(y_true))
    >>> custom(worst_relative)([1.0, 2.0], [1.5, 2.0])
    0.5
    """
    if not callable(function):
        raise ParameterError(argument="function", expected="be callable", got=brief(function))
    _refuse_parameters_of(function, unknown)
    refuse_arguments("tm.custom", unknown)
    own_name = getattr(function, "__name__", "") if name is None else name
    inner, known = getattr(function, "func", function), None  # of a functools.partial
    if str(getattr(inner, "__module__", "")).startswith("sklearn."):
        known = known_metric(getattr(inner, "__name__", ""))
        own_name = f"sklearn_{own_name}" if name is None and own_name else own_name
    if not isinstance(own_name, str) or not own_name.isidentifier():
        raise ParameterError(
            argument="name",
            expected="be a Python identifier, since strings name metrics",
            got=brief(own_name),
            hint='Pass one, such as name="my_metric"' if name is None else None,
        )
    if better is None and known is not None:
        better = known.better
    if better is None:  # scikit-learn names scores, of which the highest is best, by their ending
        better = "higher" if own_name.startswith("sklearn_") and own_name.endswith("_score") else "lower"
    if not (isinstance(better, (int, float)) or (isinstance(better, str) and better in ("higher", "lower"))):
        raise ParameterError(argument="better", expected='be "higher", "lower" or the best value', got=brief(better))
    if kind is None:
        kind = "value" if known is None else known.kind
    check_choice("kind", kind, KINDS)
    metric = FunctionMetric(function=function, own_name=own_name, own_better=better, own_kind=kind)
    registry.register_function(metric, own_name)
    return metric
