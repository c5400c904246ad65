"""Signatures for help, notebooks and editors: a metric's parameters by name, instead of ``**parameters``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect import Signature

    from tallymark.metrics.base import Metric


class ShownSignature:
    """Answers ``inspect.signature``: of a metric class, its parameters; of a metric, how it is called."""

    def __get__(self, instance: Metric | None, owner: type[Metric]) -> Signature:
        from inspect import Parameter, Signature  # slow to load, and only help asks

        def keyword(name: str, default: Any) -> Parameter:
            return Parameter(name, Parameter.KEYWORD_ONLY, default=default)

        if instance is None:
            return Signature([keyword(name, parameter.default) for name, parameter in owner._parameters.items()])
        rows = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("y_true", "y_pred")]
        known = {"weights": None, "query": None, "kind": None, "classes": None, "positive": None, "normalize": False}
        facts = [keyword(name, default) for name, default in {**known, "missing": "error"}.items()]
        return Signature([*rows, *facts, *(keyword(name, value) for name, value in instance.parameters().items())])
