"""What all rules of stopping share: which value they follow, which way is better, and the best round so far."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

from tallymark.arrays import check_choice
from tallymark.errors import ParameterError, brief
from tallymark.metrics import Metric, metric
from tallymark.workflow.eval_set import EvalSet

Better = str | float
Monitor = tuple[str, str | Metric]


class Seen(NamedTuple):
    """What an evaluation shows to a rule: the value that it follows, and where it comes from."""

    round: int
    value: float
    metric: Metric | None = None
    eval_set: EvalSet | None = None
    y_pred: Any = None


class StoppingRule:
    """Follows one value of every evaluation, keeps the best, and says when to stop.

    `monitor` is the (eval set, metric) that it follows; None for the first of both. `better` is "higher", "lower" or
    the value to be close to; None for what the metric says. A subclass writes `judge`.
    """

    def __init__(self, *, better: Better | None = None, monitor: Monitor | None = None) -> None:
        self.better = None if better is None else check_better(better)
        self.monitor = None if monitor is None else _check_monitor(monitor)
        self.best_value: float | None = None
        self.best_round: int | None = None
        self.improved = False
        self.stopped = False
        self._evaluations = 0

    def judge(self, seen: Seen) -> bool:
        """Whether to stop after this evaluation."""
        raise NotImplementedError(f"{type(self).__name__} must define `judge`")

    def observe(self, seen: Seen) -> bool:
        """Take one evaluation into account; whether to stop after it."""
        self._evaluations += 1
        self.improved = self.is_better(seen.value, self.best_value)
        self.stopped = self.judge(seen)  # which may ask for the best round before this one
        if self.improved:
            self.best_value, self.best_round = seen.value, seen.round
        return self.stopped

    def is_better(self, value: float, than: float | None, by: float = 0.0) -> bool:
        """Whether a value is better by more than so much; what is not finite never is."""
        if not math.isfinite(value):
            return False
        return than is None or self.gain(than, value) > by

    def gain(self, first: float, second: float) -> float:
        """By how much the second value is better than the first."""
        better = self.require_better()
        if isinstance(better, str):
            return second - first if better == "higher" else first - second
        return abs(first - better) - abs(second - better)

    def require_better(self) -> Better:
        """Which way is better; an error where neither the caller nor a metric has said it."""
        if self.better is None:
            raise ParameterError(
                argument="better", expected='be given where no metric says it: "higher", "lower" or the best value'
            )
        return self.better

    def settle(self, item: Metric) -> None:
        """Take the direction of the metric that is followed, unless one was given."""
        if self.better is None:
            if item.better is None:
                raise ParameterError(
                    argument="better",
                    expected=f"be given: {item} does not say which values are better, so nothing stops by it",
                )
            self.better = item.better

    def reset(self) -> None:
        """Forget all evaluations."""
        self.best_value = self.best_round = None
        self.improved = self.stopped = False
        self._evaluations = 0

    def rules(self) -> list[StoppingRule]:
        """The rules that this one is made of: itself."""
        return [self]

    def replay(self, seen: Seen) -> bool:
        """Take an evaluation of an earlier run into account, of which only the value is left."""
        return self.observe(seen)


class StoppingRules(StoppingRule):
    """Several rules: stops when any of them would, or with ``combine="all"`` when all of them would at once.

    The best round is that of the first rule.

    >>> from tallymark.workflow import EarlyStopping
    >>> both = StoppingRules([EarlyStopping(5), EarlyStopping(20, monitor=("valid", "auc"))], combine="all")
    """

    def __init__(self, rules: Any, combine: str = "any") -> None:
        check_choice("combine", combine, ("any", "all"))
        held = list(rules) if hasattr(rules, "__iter__") else [rules]
        for rule in held:
            if not isinstance(rule, StoppingRule):
                raise ParameterError(
                    argument="rules", expected="be rules of stopping, such as EarlyStopping(5)", got=brief(rule)
                )
        if not held:
            raise ParameterError(argument="rules", expected="be at least one", got="none")
        if len(set(map(id, held))) < len(held):
            raise ParameterError(argument="rules", expected="differ from each other: each keeps its own count")
        self.combine = combine
        self._rules: list[StoppingRule] = held
        super().__init__()

    def rules(self) -> list[StoppingRule]:
        """All single rules."""
        return [single for rule in self._rules for single in rule.rules()]

    def decide(self) -> bool:
        """Whether to stop, by what the rules said of the last evaluation."""
        said = [rule.decide() if isinstance(rule, StoppingRules) else rule.stopped for rule in self._rules]
        self.stopped = any(said) if self.combine == "any" else all(said)
        first = self.rules()[0]
        self.best_value, self.best_round, self.improved = first.best_value, first.best_round, first.improved
        return self.stopped

    def reset(self) -> None:
        for rule in self._rules:
            rule.reset()
        super().reset()

    def __repr__(self) -> str:
        return f"StoppingRules({self._rules!r}, combine={self.combine!r})"


class Best(StoppingRule):
    """Keeps the best round and never stops."""

    def judge(self, seen: Seen) -> bool:
        return False


def check_better(better: object) -> Better:
    """Refuse what is no direction."""
    if isinstance(better, str) and better in ("higher", "lower"):
        return better
    if isinstance(better, Real) and not isinstance(better, bool) and math.isfinite(better):
        return float(better)
    raise ParameterError(argument="better", expected='be "higher", "lower" or the best value', got=brief(better))


def _check_monitor(monitor: object) -> Monitor:
    pair = isinstance(monitor, tuple) and len(monitor) == 2
    if pair and isinstance(monitor[0], str) and isinstance(monitor[1], (str, Metric)):  # type: ignore[index]
        return monitor  # type: ignore[return-value]
    raise ParameterError(
        argument="monitor",
        expected='be the names of an eval set and of a metric, such as ("valid", "auc")',
        got=brief(monitor),
    )


def check_amount(name: str, value: object) -> float:
    """Refuse what is no finite number from 0 on."""
    if isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value) and float(value) >= 0:
        return float(value)
    raise ParameterError(argument=name, expected="be a finite number, 0 or more", got=brief(value))


def same_metric(key: str, item: Metric, wanted: str | Metric) -> bool:
    """Whether a metric under a key is the one that is wanted, by the key, any of its names or itself."""
    if isinstance(wanted, str) and key == wanted:
        return True
    try:
        return item == metric(wanted)
    except ParameterError:
        return False
