"""Metrics of the user's own: a plain function becomes a metric."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

from tallymark.data.arguments import check_choice
from tallymark.data.target import KINDS, Target
from tallymark.errors import ParameterError, brief
from tallymark.metrics import registry
from tallymark.metrics.answer import Answer, Undefined
from tallymark.metrics.base import Better, Metric, restore_metric
from tallymark.metrics.parameters import Parameter
from tallymark.states.labels.label_rows import LabelRows, LabelRowsOf
from tallymark.states.rows import Rows, RowsOf

__all__ = ["custom"]


Function = Callable[[Any, Any, Any], float]


def _keep(name: str, value: Any) -> Any:
    return value


class FunctionMetric(Metric, abstract=True):
    """A function of truth, predictions and weights. It keeps the rows, so its state grows."""

    function: Function = Parameter(None, _keep)  # type: ignore[assignment]
    own_name: str = Parameter("", _keep)  # type: ignore[assignment]
    own_better: Better = Parameter("lower", _keep)  # type: ignore[assignment]
    own_kind: str = Parameter("value", _keep)  # type: ignore[assignment]

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        vars(self)["name"] = vars(self)["__qualname__"] = self.own_name
        vars(self)["kind"] = self.own_kind
        vars(self)["__doc__"] = self.function.__doc__

    @property
    def better(self) -> Better:
        return self.own_better

    def reads_of(self, target: Target) -> RowsOf | LabelRowsOf:
        return LabelRowsOf(target.classes) if self.own_kind == "label" else RowsOf()

    @property
    def description(self) -> str:
        return (self.function.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")

    def formula_value(self, state: Rows | LabelRows) -> float:
        truth, prediction, weights = state.arrays()
        value = self.function(_narrow(truth), _narrow(prediction), weights)
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"the function of {self.name} must return a number; it returned {value!r}") from error

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


def custom(function: Function, *, name: str | None = None, better: Better = "lower", kind: str = "value") -> Metric:
    """Make a metric of a function ``f(y_true, y_pred, weights) -> float``; weights are an array or None.

    It works wherever a built-in metric does, and its name works in strings. It keeps the rows.

    Args:
        function: The function.
        name: The name of the metric; by default that of the function.
        better: "higher", "lower" or the best value.
        kind: "value" passes float64 arrays; "label" passes the labels, numbers or strings.

    >>> def worst_relative(y_true, y_pred, weights):
    ...     return max(abs(y_pred - y_true) / abs(y_true))
    >>> custom(worst_relative)([1.0, 2.0], [1.5, 2.0])
    0.5
    """
    if not callable(function):
        raise ParameterError(argument="function", expected="be callable", got=brief(function))
    name = getattr(function, "__name__", "") if name is None else name
    if not isinstance(name, str) or not name.isidentifier():
        raise ParameterError(
            argument="name", expected="be a Python identifier, since strings name metrics", got=brief(name)
        )
    if not (isinstance(better, (int, float)) or (isinstance(better, str) and better in ("higher", "lower"))):
        raise ParameterError(argument="better", expected='be "higher", "lower" or the best value', got=brief(better))
    check_choice("kind", kind, KINDS)
    metric = FunctionMetric(function=function, own_name=name, own_better=better, own_kind=kind)
    registry.register_function(metric, name)
    return metric
