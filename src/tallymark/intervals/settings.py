"""Intervals: how intervals are made, as `ci=` asks for it: level, method, resamples and seed."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from tallymark.data.arguments import check_choice
from tallymark.errors import Argument, ParameterError, Text, brief

METHODS = ("auto", "analytic", "bootstrap")
USUAL = 1000  # resamples, unless the level needs more
_MOST_RESAMPLES = 1 << 20


class Intervals:
    """How intervals are made, if a confidence level alone does not say enough: pass it as `ci=`.

    Args:
        level: The confidence level, such as 0.95.
        method: "auto" (by formula if the metric has one, else by bootstrap), "analytic" (by formula or not at all) or
            "bootstrap".
        resamples: The number of bootstrap replicates; None for 1,000, or more if the level needs them.
        seed: The seed of the replicates: the same seed gives the same intervals.

    >>> Intervals(0.9, seed=3)
    Intervals(0.9, seed=3)
    >>> Intervals(method="bootstrap") == Intervals(0.95, "bootstrap", resamples=None, seed=0)
    True
    """

    __slots__ = ("level", "method", "resamples", "seed")

    level: float
    method: str
    resamples: int | None
    seed: int

    def __init__(self, level: float = 0.95, method: str = "auto", resamples: int | None = None, seed: int = 0) -> None:
        number = check_level(level, "level")
        check_choice("method", method, METHODS)
        if resamples is not None:
            _check_resamples(number, method, resamples)
            resamples = int(resamples)
        check_whole("seed", seed, 0, (1 << 64) - 1)
        self._set(number, method, resamples, int(seed))

    def _set(self, *values: object) -> Intervals:
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)
        return self

    def _key(self) -> tuple[float, str, int | None, int]:
        return (self.level, self.method, self.resamples, self.seed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Intervals) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        default = {"method": "auto", "resamples": None, "seed": 0}
        changed = {name: value for name in default if (value := getattr(self, name)) != default[name]}
        return f"Intervals({', '.join([repr(self.level), *(f'{name}={value!r}' for name, value in changed.items())])})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Intervals are frozen; make others")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("Intervals are frozen")

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_intervals, self._key()

    @property
    def number_of_resamples(self) -> int:
        """How many resamples a bootstrap makes: as many as were asked for, or as are usual for the level."""
        return usual_resamples(self.level) if self.resamples is None else self.resamples

    def in_full(self, method: str) -> str:
        """A method with what else is needed to get the same interval again."""
        resampled = method.startswith("bootstrap")
        return f"{method} ({self.number_of_resamples:,} resamples, seed {self.seed})" if resampled else method

    def heading(self) -> str:
        """The heading of the intervals in a table."""
        return f"{show_level(self.level)} interval"

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain data."""
        return {
            "level": self.level,
            "method": self.method,
            "resamples": self.number_of_resamples,
            "seed": self.seed,
        }


def restore_intervals(level: float, method: str, resamples: int | None, seed: int) -> Intervals:
    """Settings whose fields have been checked; a tally may keep fewer resamples than the level needs."""
    return Intervals.__new__(Intervals)._set(level, method, resamples, seed)


def resolve(asked: Intervals, pairs: int = 1, most: int = _MOST_RESAMPLES) -> Intervals:
    """The settings with the number of resamples that are made: where it is the usual one, `most` at most. With several
    `pairs` of models, of which p-values are corrected for each other, there must be more."""
    if asked.resamples is None:
        resamples = min(usual_resamples(asked.level, pairs), most)
    else:
        resamples = asked.resamples
        if pairs > 1:
            _check_resamples(asked.level, asked.method, resamples, pairs)
    return restore_intervals(asked.level, asked.method, resamples, asked.seed)


def with_method(settings: Intervals, method: str) -> Intervals:
    """The same settings with another method."""
    return restore_intervals(settings.level, method, settings.resamples, settings.seed)


def show_level(level: float) -> str:
    """A level in percent.

    >>> show_level(0.95), show_level(0.995)
    ('95 %', '99.5 %')
    """
    return f"{100 * level:.10g} %"


def interval_settings(ci: object, *, cluster: bool = False, keys: bool = False) -> Intervals | None:
    """What `ci` asks for; None where no intervals are asked for, and then no `cluster` and `keys` of rows either."""
    if ci is not None:
        return resolve(as_intervals(ci))
    if cluster or keys:
        raise resampled_by("cluster" if cluster else "keys")
    return None


def as_intervals(ci: object) -> Intervals:
    """A level, or what says more than that, as the settings of intervals."""
    if isinstance(ci, Intervals):
        return ci
    if not isinstance(ci, Real) or isinstance(ci, bool):
        raise ParameterError(argument="ci", expected="be a level such as 0.95, or tm.Intervals(...)", got=brief(ci))
    return Intervals(check_level(ci))


def comparison_settings(ci: object, pairs: int = 1) -> Intervals:
    """What `ci` asks for where models are compared, which is tested in one way for each metric."""
    asked = as_intervals(ci)
    if asked.method != "auto":
        raise ParameterError(
            argument="ci",
            expected='have method="auto": the metric and the rows say how models are compared',
            got=f'method="{asked.method}"',
        )
    return resolve(asked, pairs)


def resampled_by(name: str) -> ParameterError:
    """The error for an argument that only intervals use, without intervals."""
    return ParameterError(
        Text("{} only affects the resampling for intervals: pass {ci} too, such as {ci=0.95}", Argument(name)),
        argument=name,
    )


def _check_resamples(level: float, method: str, resamples: object, pairs: int = 1) -> None:
    """Reject too few resamples for a level, and for so many pairs of models."""
    least = least_resamples(level, pairs)
    if method == "analytic" or least > _MOST_RESAMPLES:  # none are made
        least = 1
    why = Text(f" for {{level={level}}}{{}}", f" and {pairs:,} pairs of models" if pairs > 1 else "")
    check_whole("resamples", resamples, least, _MOST_RESAMPLES, why)


def least_resamples(level: float, pairs: int = 1) -> int:
    """How many resamples there must be for one of them to lie beyond either end, corrected for so many pairs."""
    return math.ceil(round(2.0 * pairs / (1.0 - level), 6)) - 1


def lacks_resamples(level: float, resamples: int) -> str:
    """Why so many resamples are too few for an interval at a level, if they are."""
    least = least_resamples(level)
    if least <= resamples:
        return ""
    return f"an interval at a level of {show_level(level)} needs {least:,} resamples; there are {resamples:,}"


def usual_resamples(level: float, pairs: int = 1) -> int:
    """How many resamples are made where nobody says how many: some must lie beyond either end."""
    return max(USUAL, min(2 * least_resamples(level, pairs), _MOST_RESAMPLES))


def check_level(level: Any, name: str = "ci") -> float:
    """Require 0 < level < 1."""
    number = isinstance(level, Real) and not isinstance(level, bool)
    if number and 0.0 < level < 1.0:
        return float(level)
    hint = f"Did you mean {level / 100:g}?" if number and 1.0 < level < 100.0 else None
    raise ParameterError(
        argument=name, expected="be a level between 0 and 1, such as 0.95", got=brief(level), hint=hint
    )


def check_least(name: str, value: object, least: int) -> int:
    """Require an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        wanted = "a positive integer" if least == 1 else f"an integer of at least {least}"
        raise ParameterError(argument=name, expected=f"be {wanted}", got=brief(value))
    return int(value)


def check_whole(name: str, value: object, least: int, most: int, why: str | Text = "") -> None:
    """Require an integer in a range."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        raise ParameterError(
            argument=name,
            expected=Text("be an integer from {} to {}{}", f"{least:,}", f"{most:,}", why),
            got=brief(value),
        )
