"""How intervals are to be made: level, method, resamples and seed, as they were asked for."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, NamedTuple

from tallymark.data.arguments import check_choice
from tallymark.errors import Argument, ParameterError, Text, brief

METHODS = ("auto", "analytic", "bootstrap")
USUAL = 1000  # resamples, unless the level needs more
_MOST_RESAMPLES = 1 << 20


class Intervals(NamedTuple):
    """How the intervals of a report were asked for."""

    level: float
    method: str = "auto"
    resamples: int = USUAL
    seed: int = 0

    def in_full(self, method: str) -> str:
        """A method with what else is needed to get the same interval again."""
        resampled = method.startswith("bootstrap")
        return f"{method} ({self.resamples:,} resamples, seed {self.seed})" if resampled else method

    def heading(self) -> str:
        """What stands above the intervals in a table."""
        return f"{show_level(self.level)} interval"

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain data."""
        return self._asdict()


def show_level(level: float) -> str:
    """A level in percent.

    >>> show_level(0.95), show_level(0.995)
    ('95 %', '99.5 %')
    """
    return f"{100 * level:.10g} %"


def interval_settings(
    ci: object, method: object, resamples: object, seed: object, *, cluster: bool = False, keys: bool = False
) -> Intervals | None:
    """The settings, checked; None where no intervals are asked for, and then no `cluster` and `keys` of rows either."""
    check_choice("ci_method", method, METHODS)
    check_whole("seed", seed, 0, (1 << 64) - 1)
    if ci is None:
        if cluster or keys:
            raise resampled_by("cluster" if cluster else "keys")
        if resamples is not None:
            check_whole("resamples", resamples, 1, _MOST_RESAMPLES)
        given = {"ci_method": method != "auto", "resamples": resamples is not None, "seed": seed != 0}
        for name in (name for name, changed in given.items() if changed):
            raise ParameterError(
                Text("{} says how intervals are made: pass {ci} too, such as {ci=0.95}", Argument(name))
            )
        return None
    return settings_at(ci, str(method), resamples, seed)


def resampled_by(name: str) -> ParameterError:
    """The error for an argument that only intervals use, without intervals."""
    return ParameterError(
        Text("{} says how rows are resampled for intervals: pass {ci} too, such as {ci=0.95}", Argument(name)),
        argument=name,
    )


def settings_at(ci: object, method: str, resamples: object, seed: object, pairs: int = 1) -> Intervals:
    """The settings of intervals of a level, checked; None stands for as many resamples as are usual. With several
    `pairs` of models, of which p-values are corrected for each other, there must be more."""
    level = check_level(ci)
    check_whole("seed", seed, 0, (1 << 64) - 1)
    if resamples is None:
        resamples = usual_resamples(level, pairs)
    least = least_resamples(level, pairs)
    if method == "analytic" or least > _MOST_RESAMPLES:  # none are made
        least = 1
    why = f" for ci={level}" + (f" and {pairs:,} pairs of models" if pairs > 1 else "")
    check_whole("resamples", resamples, least, _MOST_RESAMPLES, why)
    return Intervals(level, method, int(resamples), int(seed))  # type: ignore[call-overload]


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


def check_level(ci: Any) -> float:
    """Refuse a level that is no share."""
    number = isinstance(ci, Real) and not isinstance(ci, bool)
    if number and 0.0 < ci < 1.0:
        return float(ci)
    hint = f"Did you mean {ci / 100:g}?" if number and 1.0 < ci < 100.0 else None
    raise ParameterError(argument="ci", expected="be a level between 0 and 1, such as 0.95", got=brief(ci), hint=hint)


def check_least(name: str, value: object, least: int) -> int:
    """Refuse what is no whole number from some number on."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ParameterError(argument=name, expected=f"be a whole number, {least} or more", got=brief(value))
    return int(value)


def check_whole(name: str, value: object, least: int, most: int, why: str = "") -> None:
    """Refuse what is no whole number in a range."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        raise ParameterError(
            argument=name, expected=f"be a whole number from {least:,} to {most:,}{why}", got=brief(value)
        )
