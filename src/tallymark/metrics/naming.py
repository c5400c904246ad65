"""Metrics from strings such as ``huber(delta=2)``, for config files and command lines."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tallymark.data.arguments import describe
from tallymark.errors import Argument, ParameterError, TallymarkError, Text, UnknownMetricError, brief, nearest
from tallymark.metrics import registry
from tallymark.metrics.base import Metric

__all__ = ["metric"]


_LONGEST = 10_000  # characters of a metric string


def metric(name: str | Metric | Mapping[str, Any] = "rmse", /, **parameters: Any) -> Metric:
    """The metric with this name and these parameters; rmse without a name.

    >>> metric("huber(delta=2)")
    Huber(delta=2.0)
    >>> metric("huber", delta=2) == metric("huber(delta=2.0)") == metric({"name": "huber", "delta": 2})
    True
    """
    if isinstance(name, Metric):
        return _with(name, parameters)
    if isinstance(name, Mapping):
        if not isinstance(name.get("name"), str):
            raise ParameterError(f'a metric given as a mapping must have a "name"; got {brief(dict(name))}')
        return metric(name["name"], **{**{k: v for k, v in name.items() if k != "name"}, **parameters})
    if isinstance(name, str):
        if not parameters:
            return _from_text(name)
        word, written = _parse(name)
        return _find(word, {**written, **parameters})
    item: object = name() if isinstance(name, type) and issubclass(name, Metric) else name
    if not isinstance(item, Metric):
        hint = "Wrap a function with tm.custom" if callable(name) else None
        raise ParameterError(f"a metric must be a name or a metric object; got {describe_other(name)}", hint=hint)
    return _with(item, parameters)


def describe_other(value: object) -> str:
    """What was given in the place of a metric; what has metrics itself, as a choice does, is told by its type."""
    if isinstance(getattr(value, "metrics", None), (list, Mapping)):
        return f"a {type(value).__name__}; pass its .metrics"
    return describe(value)


def _with(item: Metric, parameters: dict[str, Any]) -> Metric:
    return item.replace(**parameters) if parameters else item


@lru_cache(maxsize=1024)
def _from_text(text: str) -> Metric:
    """The metric that a string names; the same object each time, so that what it caches lasts."""
    return _find(*_parse(text))


registry.on_change(_from_text.cache_clear)


def known_metric(text: str) -> Metric | None:
    """The metric that a string names; None if it names none. It is fast for those too, of which there may be many."""
    word = text.partition("(")[0].strip()
    if not any(word in names for names in (registry.functions, registry.makers, registry.aliases, registry.classes)):
        return None
    try:
        return metric(text)
    except TallymarkError:
        return None


def _find(word: str, parameters: dict[str, Any]) -> Metric:
    if word in registry.functions:
        return _with(registry.functions[word], parameters)
    if word in registry.makers:
        return registry.makers[word](**parameters)
    name, implied = registry.aliases.get(word, (word, {}))
    if name in registry.classes:
        return registry.classes[name](**{**implied, **parameters})
    known = [*registry.classes, *registry.aliases, *registry.functions, *registry.makers]
    near = nearest(word.lower(), known, 3, cutoff=0.5) or [k for k in known if word.lower() in k][:3]
    hint = f"Did you mean {' or '.join(near)}?" if near else Text("{list_metrics()} lists the names")
    raise UnknownMetricError(f"there is no metric {word!r}", hint=hint)


def _parse(text: str) -> tuple[str, dict[str, Any]]:
    """Read ``name`` or ``name(key=value, ...)`` without evaluating anything."""
    text = text.strip()
    if text.isidentifier():
        return text, {}
    wrong = f'a metric is written as "name" or "name(key=value, ...)"; got {text[:80]!r}'
    word, at, k = text.partition("@")
    if at and word.isidentifier() and k.isdecimal() and len(text) <= 80:
        raise ParameterError(f"{wrong}", hint=f'Write "{word}(k={k})"')
    if len(text) > _LONGEST:
        raise ParameterError(wrong)
    try:
        tree = _tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ParameterError(wrong) from error
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise ParameterError(wrong)
    parameters: dict[str, Any] = {}
    if tree.args:
        if tree.func.id not in registry.makers:
            raise ParameterError(wrong)
        parameters["of"] = tuple(_metric_text(item, wrong) for item in tree.args)
    for given in tree.keywords:
        if given.arg is None:
            raise ParameterError(wrong)
        if given.arg in parameters:
            raise ParameterError(Text("{} is given twice in {}", Argument(given.arg), repr(text[:80])))
        parameters[given.arg] = _literal(given.value, wrong)
    return tree.func.id, parameters


def _metric_text(node: ast.expr, wrong: str) -> str:
    """The text of a metric within another, in quotes or not."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    try:
        return ast.unparse(node)
    except RecursionError as error:
        raise ParameterError(wrong) from error


_KEPT = re.compile(rf"=\s*({'|'.join(word for word in keyword.kwlist if word.islower())})(?=\s*[,)])")


def _tree(text: str) -> ast.expr:
    """The syntax of a metric. A bare word may be one that Python keeps for itself, as in ``undefined=raise``."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return ast.parse(_KEPT.sub(r"='\1'", text), mode="eval").body


def _literal(node: ast.expr, wrong: str) -> Any:
    """A Python literal, or a bare word as a string; ``none`` is None."""
    if isinstance(node, ast.Name):
        return None if node.id == "none" else node.id
    if isinstance(node, (ast.Tuple, ast.List)):
        return tuple(_literal(item, wrong) for item in node.elts)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError) as error:
        raise ParameterError(wrong) from error
