"""Compares a function of `tallymark.sklearn.metrics` with the original: value, types, warnings and errors."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

import numpy as np
import sklearn.metrics
import sklearn.metrics.cluster

from tallymark.sklearn import metrics, status


def outcome(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[tuple[str, str]]]:
    """The value, or the type and text of the error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = function(*args, **kwargs)
        except Exception as error:
            value = (type(error).__name__, str(error))
    return value, [(each.category.__name__, str(each.message)) for each in caught]


def alike(ours: Any, theirs: Any, tolerance: float = 1e-12, near: float = 1e-14) -> bool:
    """Whether two results have the same types, shapes and, up to rounding, values; `near` is what 0 may be off by."""
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, (tuple, list)):
        return len(ours) == len(theirs) and all(alike(a, b, tolerance, near) for a, b in zip(ours, theirs, strict=True))
    if isinstance(ours, dict):
        return list(ours) == list(theirs) and all(alike(ours[key], theirs[key], tolerance, near) for key in ours)
    if isinstance(ours, np.ndarray):
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            return False
        if ours.dtype.kind != "f":
            return bool((ours == theirs).all())
        return np.allclose(ours, theirs, rtol=tolerance, atol=near, equal_nan=True)
    if isinstance(ours, (float, np.floating)):
        if math.isnan(ours) or math.isinf(ours):
            return ours == theirs or (math.isnan(ours) and math.isnan(theirs))
        return bool(abs(ours - theirs) <= tolerance * max(abs(ours), abs(theirs)) + near)
    return bool(ours == theirs)


def check(name: str, *args: Any, tolerance: float = 1e-12, near: float = 1e-14, **kwargs: Any) -> bool:
    """Assert that a call does what it does in scikit-learn, as a caller sees it; return whether tallymark served it."""
    home = sklearn.metrics if hasattr(sklearn.metrics, name) else sklearn.metrics.cluster
    before, known = status().served, _unexpected(name)
    ours, ours_warned = outcome(getattr(metrics, name), args, kwargs)
    served = status().served > before
    theirs, theirs_warned = outcome(getattr(home, name), args, kwargs)
    assert alike(ours, theirs, tolerance, near), f"{name}{args}{kwargs}: {ours!r} is not {theirs!r}"
    assert ours_warned == theirs_warned, f"{name}{args}{kwargs}"
    failed = isinstance(theirs, tuple) and len(theirs) == 2 and isinstance(theirs[1], str)
    assert failed or _unexpected(name) == known, f"{name}{args}{kwargs}: {status().calls[name].reasons}"
    return served


def _unexpected(name: str) -> dict[str, int]:
    """Errors of an adapter other than its refusals: a mistake of ours, where scikit-learn has a value."""
    counts = status().calls.get(name)
    return (
        {}
        if counts is None
        else {why: n for why, n in counts.reasons.items() if re.match(r"\w+(Error|Warning): ", why)}
    )
