"""Stopping rules: EarlyStopping counts evaluations without improvement, GainStopping tests whether the gain is real.

A rule sees one value of every evaluation (`Observation`), with the rows and the predictions behind it, so that it can
compare rounds row by row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from numbers import Real
from typing import Any, NamedTuple, Never, ParamSpec

from tallymark.comparison.compare import SAME, compare
from tallymark.comparison.difference import Difference
from tallymark.data.arguments import check_choice
from tallymark.data.arrays import Array
from tallymark.errors import ParameterError, Text, brief
from tallymark.intervals.settings import Intervals, check_least, comparison_settings
from tallymark.metrics.base import Metric, check_better, refuse_arguments
from tallymark.metrics.naming import metric
from tallymark.training.eval_set import EvalSet

Monitor = str | Metric | tuple[str, str | Metric]


class Observation(NamedTuple):
    """What an evaluation shows to a rule: the value that it follows, and where it comes from."""

    round: int
    value: float
    metric: Metric | None = None
    eval_set: EvalSet | None = None
    y_pred: Any = None


class StoppingRule:
    """Follows one value of every evaluation, keeps the best, and says when to stop.

    `monitor` is what it follows: an eval set, a metric or the pair of both. Without a metric it is the first; without a
    set the only one that is not called "train", or the only one. `better` is "higher", "lower" or the value to be
    close to; None for what the metric says. A subclass writes `judge`.
    """

    def __init__(self, *, better: str | float | None = None, monitor: Monitor | None = None) -> None:
        self.better = None if better is None else check_better(better)
        self.monitor = None if monitor is None else _check_monitor(monitor)
        self.best_value: float | None = None
        self.best_round: int | None = None
        self.improved = False
        self.stopped = False
        self._evaluations = 0

    def judge(self, observation: Observation) -> bool:
        """Whether to stop after this evaluation."""
        raise NotImplementedError(f"{type(self).__name__} must define `judge`")

    def observe(self, observation: Observation) -> bool:
        """Take one evaluation into account; whether to stop after it."""
        self._evaluations += 1
        self.improved = self.is_better(observation.value, self.best_value)
        self.stopped = self.judge(observation)  # which may ask for the best round before this one
        if self.improved:
            self.best_value, self.best_round = observation.value, observation.round
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

    def require_better(self) -> str | float:
        """Which way is better; an error where neither the caller nor a metric has said it."""
        if self.better is None:
            raise ParameterError(
                argument="better", expected='be given if no metric defines it: "higher", "lower" or the best value'
            )
        return self.better

    def take_direction(self, item: Metric) -> None:
        """Take the direction of the metric that is followed, unless one was given."""
        if self.better is None:
            if item.better is None:
                raise ParameterError(
                    argument="better",
                    expected=f"be given: {item} does not define which values are better, so nothing can stop by it",
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

    def replay(self, observation: Observation) -> bool:
        """Take an evaluation of an earlier run into account, of which only the value is left."""
        return self.observe(observation)


class StoppingRules(StoppingRule):
    """Several rules: stops when any of them would, or with ``combine="all"`` when all of them would at once.

    The best round is that of the first rule.

    >>> from tallymark.training import EarlyStopping
    >>> both = StoppingRules([EarlyStopping(5), EarlyStopping(20, monitor=("valid", "auc"))], combine="all")
    """

    def __init__(self, rules: Any, combine: str = "any") -> None:
        check_choice("combine", combine, ("any", "all"))
        rule_list = list(rules) if hasattr(rules, "__iter__") else [rules]
        for rule in rule_list:
            if not isinstance(rule, StoppingRule):
                raise ParameterError(
                    argument="rules", expected="be stopping rules, such as EarlyStopping(5)", got=brief(rule)
                )
        if not rule_list:
            raise ParameterError(argument="rules", expected="contain at least one rule", got="none")
        if len(set(map(id, rule_list))) < len(rule_list):
            raise ParameterError(argument="rules", expected="not contain the same rule twice: each keeps its own count")
        self.combine = combine
        self._rules: list[StoppingRule] = rule_list
        super().__init__()

    def rules(self) -> list[StoppingRule]:
        """All single rules."""
        return [single for rule in self._rules for single in rule.rules()]

    def decide(self) -> bool:
        """Whether to stop, by what the rules said of the last evaluation."""
        votes = [rule.decide() if isinstance(rule, StoppingRules) else rule.stopped for rule in self._rules]
        self.stopped = any(votes) if self.combine == "any" else all(votes)
        first = self.rules()[0]
        self.best_value, self.best_round, self.improved = first.best_value, first.best_round, first.improved
        return self.stopped

    def reset(self) -> None:
        for rule in self._rules:
            rule.reset()
        super().reset()

    def __repr__(self) -> str:
        return f"StoppingRules({self._rules!r}, combine={self.combine!r})"


class KeepBest(StoppingRule):
    """Keeps the best round and never stops."""

    def judge(self, observation: Observation) -> bool:
        return False


def _check_monitor(monitor: object) -> Monitor:
    if isinstance(monitor, (str, Metric)):
        return monitor
    if isinstance(monitor, (tuple, list)) and len(monitor) == 2:
        name, item = monitor
        if isinstance(name, str) and isinstance(item, (str, Metric)):
            return name, item
    raise ParameterError(
        argument="monitor",
        expected='name an eval set, a metric or both, such as "valid" or ("valid", "auc")',
        got=brief(monitor),
    )


def check_amount(name: str, value: object) -> float:
    """Require a finite number of at least 0."""
    if isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value) and float(value) >= 0:
        return float(value)
    raise ParameterError(argument=name, expected="be a finite number, 0 or more", got=brief(value))


def same_metric(key: str, item: Metric, name: str | Metric) -> bool:
    """Whether a metric under a key is the one that is wanted, by the key, any of its names or itself."""
    if isinstance(name, str) and key == name:
        return True
    try:
        return item == metric(name)
    except ParameterError:
        return False


P = ParamSpec("P")


def _patience_first(init: Callable[P, None]) -> Callable[P, None]:
    """Refuse a metric in the place of the patience, in words."""

    @wraps(init)
    def checked(*given: P.args, **named: P.kwargs) -> None:
        if len(given) > 1 and isinstance(given[1], str):
            monitor = f"monitor={given[1]!r}"
            raise ParameterError(
                argument="patience",
                expected="be the number of evaluations to wait",
                got=brief(given[1]),
                hint=f"Name the metric as {monitor}",
            )
        init(*given, **named)

    return checked


class EarlyStopping(StoppingRule):
    """Stop after `patience` evaluations in a row without an improvement.

    A tie is not an improvement, and neither is NaN. `best_value` and `best_round` follow the value itself, so that
    `min_delta` never hides a better round.

    Args:
        patience: How many evaluations in a row may pass without an improvement.
        min_delta: An improvement is better than the last one that counted by more than this.
        better: "higher", "lower" or a value to be near to; by default the direction of the metric.
        monitor: The eval set and the metric to follow, such as ("valid", "auc"); by default the first metric on the
            first set.

    >>> stopping = EarlyStopping(3, better="lower")
    >>> [stopping.should_stop(value) for value in (0.5, 0.6, 0.7, 0.8)]
    [False, False, False, True]
    >>> stopping.best_round, stopping.best_value
    (0, 0.5)
    """

    @_patience_first
    def __init__(
        self,
        patience: int,
        *,
        min_delta: float = 0.0,
        better: str | float | None = None,
        monitor: Monitor | None = None,
        **unknown: Never,
    ) -> None:
        refuse_arguments(type(self).__name__, unknown)
        super().__init__(better=better, monitor=monitor)
        self.patience = check_least("patience", patience, 1)
        self.min_delta = check_amount("min_delta", min_delta)
        self.waited = 0
        self._counted: float | None = None

    def should_stop(self, value: float) -> bool:
        """Whether to stop after an evaluation with this value; rounds are counted from 0."""
        self.require_better()
        return self.observe(Observation(self._evaluations, float(value)))

    def judge(self, observation: Observation) -> bool:
        if self.is_better(observation.value, self._counted, self.min_delta):
            self._counted, self.waited = observation.value, 0
        else:
            self.waited += 1
        return self.waited >= self.patience

    def reset(self) -> None:
        """Forget all evaluations."""
        super().reset()
        self.waited, self._counted = 0, None

    def __repr__(self) -> str:
        given = {"min_delta": self.min_delta or None, "better": self.better, "monitor": self.monitor}
        shown = "".join(f", {key}={value!r}" for key, value in given.items() if value is not None)
        return f"EarlyStopping({self.patience}{shown})"


class RoundPredictions(NamedTuple):
    """A round, its value and its predictions."""

    round: int
    value: float
    y_pred: Array


class GainEstimate(NamedTuple):
    """By how much a round is better than an earlier one, with its interval; NaN is what cannot be said."""

    over: int
    value: float
    lo: float
    hi: float
    method: str
    reason: str | None = None


class GainStopping(StoppingRule):
    """Stop when the confidence interval of the gain over the best round excludes every gain above `worth`.

    Every evaluation is compared with the best round, row by row, by the interval of `compare` (Tango's, DeLong's or a
    bootstrap). After `patience` evaluations in a row whose interval ends at or below `worth`, training stops; until one
    ends above it, all are compared with the same round, so that small gains add up. A wide interval excludes nothing:
    training continues while the rows cannot tell. `last` is the gain of the last evaluation.

    Args:
        worth: The smallest gain worth training for.
        patience: How many evaluations in a row must exclude it.
        ci: The confidence level of the gain, or `Intervals(...)`.
        better: "higher" or "lower"; by default the direction of the metric.
        monitor: The eval set and the metric to follow, such as ("valid", "auc"); by default the first metric on the
            first set.

    >>> from tallymark import Intervals
    >>> from tallymark.training import EvalSet, Evaluator
    >>> valid = EvalSet("valid", [0.0, 1.0, 2.0, 3.0] * 25)
    >>> evaluator = Evaluator(["mae"], [valid], early_stopping=GainStopping(0.05, ci=Intervals(resamples=99)))
    >>> [evaluator.step(k, {"valid": [e, 1.0 - e, 2.0, 3.0] * 25}).action for k, e in enumerate((0.9, 0.5, 0.49))]
    ['improved', 'improved', 'stop']
    """

    def __init__(
        self,
        worth: float = 0.0,
        *,
        patience: int = 1,
        ci: float | Intervals = 0.95,
        better: str | float | None = None,
        monitor: Monitor | None = None,
        **unknown: Never,
    ) -> None:
        refuse_arguments(type(self).__name__, unknown)
        super().__init__(better=better, monitor=monitor)
        self.worth = check_amount("worth", worth)
        self.patience = check_least("patience", patience, 1)
        self.settings = comparison_settings(ci)
        self.waited = 0
        self.last: GainEstimate | None = None
        self._best: RoundPredictions | None = None  # of this run; an earlier one left no predictions
        self._reference: RoundPredictions | None = None

    def take_direction(self, item: Metric) -> None:
        reason = item.no_interval or item.no_bootstrap
        if reason:
            raise ParameterError(
                Text("{monitor} must be a metric that has intervals; {} has none: {}", item, reason), argument="monitor"
            )
        if self.better is not None and self.better != item.better:
            raise ParameterError(
                argument="better",
                expected=f"match the direction of {item}, {item.better!r}, where rounds are compared",
                got=repr(self.better),
            )
        super().take_direction(item)

    def judge(self, observation: Observation) -> bool:
        if observation.eval_set is None or observation.metric is None:
            raise ParameterError(
                "GainStopping compares rows: it works in an Evaluator, which gives it their predictions"
            )
        if self.is_better(observation.value, None if self._best is None else self._best.value):
            self._best = RoundPredictions(
                observation.round, observation.value, observation.eval_set.copy_predictions(observation.y_pred)
            )
        if self._has_gain(observation, observation.eval_set, observation.metric):
            self.waited, self._reference = 0, self._best
        else:
            self.waited += 1
        return self.waited >= self.patience

    def _has_gain(self, observation: Observation, rows: EvalSet, item: Metric) -> bool:
        """Whether a gain worth having is not ruled out."""
        if not math.isfinite(observation.value):
            self.last = None
            return False
        if self._reference is None:
            return True
        over, _, earlier = self._reference
        difference = compare(
            rows.y_true,
            {"best": earlier, "round": observation.y_pred},
            {"metric": item},
            weights=rows.weights,
            query=rows.query,
            cluster=rows.cluster,
            missing=rows.missing,
            ci=self.settings,
            target=rows.target,
        )[("best", "round"), "metric"]
        self.last = self._as_gain(over, difference)
        return math.isnan(self.last.hi) or self.last.hi > self.worth

    def _as_gain(self, over: int, difference: Difference) -> GainEstimate:
        """A difference, such that more is better."""
        value, lo, hi = difference.value, difference.lo, difference.hi
        if difference.reason == SAME:
            lo = hi = 0.0
        if self.better != "higher":
            value, lo, hi = 0.0 - value, 0.0 - hi, 0.0 - lo
        return GainEstimate(over, value, lo, hi, difference.method, difference.reason)

    def replay(self, observation: Observation) -> bool:
        """The best value of an earlier run; rounds are compared from the next evaluation on."""
        self._evaluations += 1
        if self.is_better(observation.value, self.best_value):
            self.best_value, self.best_round = observation.value, observation.round
        return False

    def reset(self) -> None:
        """Forget all evaluations."""
        super().reset()
        self.waited, self.last, self._best, self._reference = 0, None, None, None

    def __repr__(self) -> str:
        return f"GainStopping({self.worth}, patience={self.patience}, ci={self.settings.level})"
