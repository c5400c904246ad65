"""Parameters of metrics: a default, a check, and one normal form, so that equal metrics have equal keys."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from tallymark.errors import ParameterError, brief
from tallymark.states.probabilities.bins import MOST_BINS


class Parameter:
    """A field of a metric. `normal` turns what was given into its normal form, or raises with what it must be."""

    __slots__ = ("default", "normal", "options")

    def __init__(self, default: Any, normal: Callable[[str, Any], Any], options: tuple[Any, ...] = ()) -> None:
        self.default = default
        self.normal = normal
        self.options = options  # all values, where there are only a few


def number(default: float | None, *, above: float | None = None, below: float | None = None) -> Any:
    """A float, strictly above and below the given bounds. A default of None means that it must be given."""
    bounds = [f"greater than {above:g}"] if above is not None else []
    bounds += [f"less than {below:g}"] if below is not None else []
    wanted = "a finite number" + (" " + " and ".join(bounds) if bounds else "")

    def normal(name: str, value: Any) -> float | None:
        if value is None and default is None:
            return None
        found = _as_float(value)
        fits = found is not None and (above is None or found > above) and (below is None or found < below)
        if not fits:
            raise ParameterError(argument=name, expected=f"be {wanted}", got=brief(value))
        return found

    return Parameter(default, normal)


def choice(default: str | None, *others: str | None) -> Any:
    """One of a few words, or None where that is one of them."""
    options = (default, *others)

    def normal(name: str, value: Any) -> str | None:
        if (value is not None and not isinstance(value, str)) or value not in options:
            listed = ", ".join("None" if option is None else f'"{option}"' for option in options)
            raise ParameterError(argument=name, expected=f"be one of {listed}", got=brief(value))
        return value

    return Parameter(default, normal, options)


def switch(default: bool) -> Any:
    """True or False."""

    def normal(name: str, value: Any) -> bool:
        if not isinstance(value, (bool, np.bool_)):
            raise ParameterError(argument=name, expected="be True or False", got=brief(value))
        return bool(value)

    return Parameter(default, normal, (True, False))


def count(default: int | None) -> Any:
    """A positive integer. A default of None means no limit."""
    wanted = "a positive integer" + (", or None for no limit" if default is None else "")

    def normal(name: str, value: Any) -> int | None:
        if value is None and default is None:
            return None
        found = _as_float(value)
        if found is None or found < 1 or not found.is_integer():
            raise ParameterError(argument=name, expected=f"be {wanted}", got=brief(value))
        return int(found)

    return Parameter(default, normal)


def bin_count() -> Any:
    """A whole number from 2 on, or None."""

    def normal(name: str, value: Any) -> int | None:
        found = None if value is None else _as_float(value)
        if value is not None and (found is None or found < 2 or not found.is_integer()):
            raise ParameterError(argument=name, expected="be a number of bins, at least 2, or None", got=brief(value))
        return None if found is None else int(found)

    return Parameter(None, normal)


def cost() -> Any:
    """A non-negative float, or None."""

    def normal(name: str, value: Any) -> float | None:
        found = None if value is None else _as_float(value)
        if value is not None and (found is None or found < 0):
            raise ParameterError(argument=name, expected="be a finite number of at least 0, or None", got=brief(value))
        return found

    return Parameter(None, normal)


def share_or_none() -> Any:
    """A float in (0, 1], or None."""

    def normal(name: str, value: Any) -> float | None:
        found = None if value is None else _as_float(value)
        if value is not None and (found is None or not 0 < found <= 1):
            raise ParameterError(
                argument=name, expected="be a number greater than 0 and at most 1, or None", got=brief(value)
            )
        return found

    return Parameter(None, normal)


def probability(default: float) -> Any:
    """A float in [0, 1]."""

    def normal(name: str, value: Any) -> float:
        found = _as_float(value)
        if found is None or not 0 <= found <= 1:
            raise ParameterError(argument=name, expected="be a probability, a number in [0, 1]", got=brief(value))
        return found

    return Parameter(default, normal)


def clip_choice(default: float) -> Any:
    """A float in [0, 0.5)."""

    def normal(name: str, value: Any) -> float:
        found = _as_float(value)
        if found is None or not 0 <= found < 0.5:
            raise ParameterError(argument=name, expected="be a number from 0 to less than 0.5", got=brief(value))
        return found

    return Parameter(default, normal)


def number_of_bins(default: int) -> Any:
    """A whole number of bins."""

    def normal(name: str, value: Any) -> int:
        found = _as_float(value)
        if found is None or not 1 <= found <= MOST_BINS or not found.is_integer():
            raise ParameterError(argument=name, expected=f"be an integer from 1 to {MOST_BINS:,}", got=brief(value))
        return int(found)

    return Parameter(default, normal)


def positive_beta(default: float) -> Any:
    """A float above 0."""

    def normal(name: str, value: Any) -> float:
        found = _as_float(value)
        if found is not None and found <= 0:
            raise ParameterError(f"Non-positive beta: {found:g}")
        if found is None:
            raise ParameterError(argument=name, expected="be a finite number greater than 0", got=brief(value))
        return found

    return Parameter(default, normal)


def absent_choice(default: float | str = 0.0, who: str = "classes") -> Any:
    """What a class or a query without a value earns inside an average: a number, or "skip"."""

    def normal(name: str, value: Any) -> float | str:
        if isinstance(value, str) and value == "skip":
            return value
        found = _as_float(value)
        if found is None:
            raise ParameterError(
                argument=name, expected=f'be a finite number, or "skip" to leave such {who} out', got=brief(value)
            )
        return found

    return Parameter(default, normal)


def fractions(default: tuple[float, ...]) -> Any:
    """An increasing tuple of floats strictly inside (0, 1)."""

    def normal(name: str, value: Any) -> tuple[float, ...]:
        items = _items(value)
        found = [_as_float(item) for item in ([value] if items is None else items)]
        inside = [item for item in found if item is not None and 0 < item < 1]
        if not inside or len(inside) != len(found):
            raise ParameterError(argument=name, expected="be numbers strictly between 0 and 1", got=brief(value))
        if any(a >= b for a, b in pairwise(inside)):
            raise ParameterError(argument=name, expected="be increasing", got=brief(value))
        return tuple(inside)

    return Parameter(default, normal)


def tweedie_power(default: float) -> Any:
    """A float outside (0, 1), where the Tweedie family has no member."""

    def normal(name: str, value: Any) -> float:
        found = _as_float(value)
        if found is None or 0 < found < 1:
            raise ParameterError(argument=name, expected="be a finite number outside (0, 1)", got=brief(value))
        return found

    return Parameter(default, normal)


def output_choice() -> Any:
    """How several outputs become one value: "mean", "each", or one weight per output."""

    def normal(name: str, value: Any) -> str | tuple[float, ...]:
        if isinstance(value, str) and value in ("mean", "each"):
            return value
        items = _items(value)
        if items is not None:
            found = [_as_float(item) for item in items]
            weights = [item for item in found if item is not None and item >= 0]
            if weights and len(weights) == len(found) and sum(weights) > 0:
                return tuple(weights)
        raise ParameterError(
            argument=name,
            expected='be "mean", "each", or one non-negative weight per output, not all zero',
            got=brief(value),
        )

    return Parameter("mean", normal)


def undefined_choice() -> Any:
    """The replacement of undefined values: None for NaN, a number, or "raise"."""

    def normal(name: str, value: Any) -> float | str | None:
        if value is None or (isinstance(value, str) and value == "raise"):
            return value
        found = _as_float(value)
        if found is None:
            raise ParameterError(
                argument=name, expected='be a finite number, "raise", or None for NaN', got=brief(value)
            )
        return found

    return Parameter(None, normal)


def _as_float(value: Any) -> float | None:
    """A finite real number as a float, or None. Strings and bools are no numbers here."""
    if isinstance(value, (str, bytes, bool, np.bool_)) or value is None:
        return None
    try:
        found = float(value)
    except Exception:  # no number, too large, or code of the value's own that fails
        return None
    return found if math.isfinite(found) else None


def _items(value: Any) -> list[Any] | None:
    """The items of a sequence; None where it is none. An array of no dimensions looks like one."""
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes, dict)):
        return None
    try:
        return list(value)
    except Exception:  # code of the value's own
        return None


_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def show(value: Any) -> str:
    """A parameter value as it stands in the string form of a metric."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, tuple):
        return f"({', '.join(show(item) for item in value)}{',' if len(value) == 1 else ''})"
    if isinstance(value, str) and _BARE.fullmatch(value) and not keyword.iskeyword(value):
        return value
    return repr(value)
