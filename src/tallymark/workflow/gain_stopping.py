"""GainStopping: stop when the rows of the eval set rule out a gain that is worth having."""

from __future__ import annotations

import math
from typing import NamedTuple

from tallymark.arrays import Array
from tallymark.errors import ParameterError, Text
from tallymark.evaluation.compare import compare
from tallymark.evaluation.difference import Difference
from tallymark.evaluation.evidence import SAME
from tallymark.intervals.settings import check_least, settings_at
from tallymark.metrics import Metric
from tallymark.workflow.eval_set import EvalSet
from tallymark.workflow.stopping import Better, Monitor, Seen, StoppingRule, check_amount


class Kept(NamedTuple):
    """A round, its value and its predictions."""

    round: int
    value: float
    y_pred: Array


class Gain(NamedTuple):
    """By how much a round is better than an earlier one, with its interval; NaN is what cannot be said."""

    over: int
    value: float
    lo: float
    hi: float
    method: str
    reason: str | None = None


class GainStopping(StoppingRule):
    """Stop when the interval of the gain over the best round holds no gain above `worth`.

    Every evaluation is compared with the best round, row by row, by the interval of `compare` (Tango's, DeLong's or a
    bootstrap) at the level `ci`. One whose interval ends at or below `worth` has no gain worth having, and after
    `patience` of these in a row it is time to stop; until one is not, all are compared with the same round, so that
    small gains that add up are seen. A wide interval rules nothing out: training goes on while the rows cannot tell.
    `last` is the gain of the last evaluation.

    >>> from tallymark.workflow import EvalSet, Evaluator
    >>> valid = EvalSet("valid", [0.0, 1.0, 2.0, 3.0] * 25)
    >>> evaluator = Evaluator(["mae"], [valid], early_stopping=GainStopping(0.05, resamples=99))
    >>> [evaluator.step(k, {"valid": [e, 1.0 - e, 2.0, 3.0] * 25}).action for k, e in enumerate((0.9, 0.5, 0.49))]
    ['improved', 'improved', 'stop']
    """

    def __init__(
        self,
        worth: float = 0.0,
        *,
        patience: int = 1,
        ci: float = 0.95,
        resamples: int | None = None,
        seed: int = 0,
        better: Better | None = None,
        monitor: Monitor | None = None,
    ) -> None:
        super().__init__(better=better, monitor=monitor)
        self.worth = check_amount("worth", worth)
        self.patience = check_least("patience", patience, 1)
        self.settings = settings_at(ci, "auto", resamples, seed)
        self.waited = 0
        self.last: Gain | None = None
        self._best: Kept | None = None  # of this run; an earlier one left no predictions
        self._reference: Kept | None = None

    def settle(self, item: Metric) -> None:
        reason = item.no_interval or item.no_bootstrap
        if reason:
            raise ParameterError(
                Text("{monitor} must be a metric that has intervals; {} has none: {}", item, reason), argument="monitor"
            )
        if self.better is not None and self.better != item.better:
            raise ParameterError(
                argument="better",
                expected=f"be that of {item}, {item.better!r}, where rounds are compared",
                got=repr(self.better),
            )
        super().settle(item)

    def judge(self, seen: Seen) -> bool:
        if seen.eval_set is None or seen.metric is None:
            raise ParameterError(
                "GainStopping compares rows: it works in an Evaluator, which gives it their predictions"
            )
        if self.is_better(seen.value, None if self._best is None else self._best.value):
            self._best = Kept(seen.round, seen.value, seen.eval_set.keep(seen.y_pred))
        if self._has_gain(seen, seen.eval_set, seen.metric):
            self.waited, self._reference = 0, self._best
        else:
            self.waited += 1
        return self.waited >= self.patience

    def _has_gain(self, seen: Seen, rows: EvalSet, item: Metric) -> bool:
        """Whether a gain worth having is not ruled out."""
        if not math.isfinite(seen.value):
            self.last = None
            return False
        if self._reference is None:
            return True
        over, _, earlier = self._reference
        found = compare(
            rows.y_true,
            {"best": earlier, "round": seen.y_pred},
            {"metric": item},
            weights=rows.weights,
            query=rows.query,
            cluster=rows.cluster,
            missing=rows.missing,
            ci=self.settings.level,
            resamples=self.settings.resamples,
            seed=self.settings.seed,
            **rows.target.facts(),
        )[("best", "round"), "metric"]
        self.last = self._as_gain(over, found)
        return math.isnan(self.last.hi) or self.last.hi > self.worth

    def _as_gain(self, over: int, found: Difference) -> Gain:
        """A difference, such that more is better."""
        value, lo, hi = found.value, found.lo, found.hi
        if found.reason == SAME:
            lo = hi = 0.0
        if self.better != "higher":
            value, lo, hi = 0.0 - value, 0.0 - hi, 0.0 - lo
        return Gain(over, value, lo, hi, found.method, found.reason)

    def replay(self, seen: Seen) -> bool:
        """The best value of an earlier run; rounds are compared from the next evaluation on."""
        self._evaluations += 1
        if self.is_better(seen.value, self.best_value):
            self.best_value, self.best_round = seen.value, seen.round
        return False

    def reset(self) -> None:
        """Forget all evaluations."""
        super().reset()
        self.waited, self.last, self._best, self._reference = 0, None, None, None

    def __repr__(self) -> str:
        return f"GainStopping({self.worth}, patience={self.patience}, ci={self.settings.level})"
