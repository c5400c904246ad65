"""Metrics by name: classes register as they are defined, functions as they are wrapped."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tallymark.errors import ParameterError

if TYPE_CHECKING:
    from tallymark.metrics.base import Metric


classes: dict[str, type[Metric]] = {}
functions: dict[str, Metric] = {}
makers: dict[str, Callable[..., Metric]] = {}
"""What makes metrics of other metrics, by the name that strings use."""
compositions: list[Metric] = []
"""Metrics made of others that have a name of their own."""
aliases: dict[str, tuple[str, dict[str, Any]]] = {}
_listeners: list[Callable[[], None]] = []


def register(cls: type[Metric]) -> None:
    """Make a metric class known by its name and aliases. Defining the same class again replaces it."""
    for name in (cls.name, *cls.aliases):
        if not name.isidentifier():
            raise ParameterError(f"the name of a metric must be a Python identifier; got {name!r}")
        taken = _owner(name)
        if taken is not None and (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ParameterError(f"the metric name {name!r} is already used by {taken.__module__}.{taken.__qualname__}")
    classes[cls.name] = cls
    for alias, parameters in cls.aliases.items():
        aliases[alias] = (cls.name, parameters)
    _changed()


def register_function(instance: Metric, name: str) -> None:
    """Make a function metric known by its name. Wrapping a function under the same name again replaces it."""
    taken = _owner(name)
    if taken is not None:
        raise ParameterError(
            f"the metric name {name!r} is already used by {taken.__module__}.{taken.__qualname__}",
            hint=f'Pass another, such as name="own_{name}"',
        )
    functions[name] = instance
    _changed()


def make_known(instance: Metric) -> None:
    """Make a metric that came from another process known by its name."""
    if type(instance).name == instance.name:
        if classes.get(instance.name) is not type(instance):
            register(type(instance))
    elif instance.name not in functions:
        register_function(instance.replace(undefined=None), instance.name)


def on_change(call: Callable[[], None]) -> None:
    """Call this whenever a name gets a new meaning."""
    _listeners.append(call)


def _changed() -> None:
    for call in _listeners:
        call()


def _owner(name: str) -> type[Metric] | None:
    return classes.get(aliases[name][0] if name in aliases else name)


def instances() -> list[Metric]:
    """The default instance of every metric, in the order of their definition."""
    return [cls() for cls in classes.values()] + list(functions.values())
