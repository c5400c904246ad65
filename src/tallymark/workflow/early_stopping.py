"""EarlyStopping: stop when no evaluation has been better for a while."""

from __future__ import annotations

from tallymark.intervals.settings import check_least
from tallymark.workflow.stopping import Better, Monitor, Seen, StoppingRule, check_amount


class EarlyStopping(StoppingRule):
    """Stop on the `patience`-th evaluation in a row without an improvement.

    An improvement is better than the last one that counted by more than `min_delta`; a tie is none, and neither is NaN.
    `best_value` and `best_round` follow the value itself, so that `min_delta` never hides a better round.

    >>> stopping = EarlyStopping(3, better="lower")
    >>> [stopping.should_stop(value) for value in (0.5, 0.6, 0.7, 0.8)]
    [False, False, False, True]
    >>> stopping.best_round, stopping.best_value
    (0, 0.5)
    """

    def __init__(
        self, patience: int, *, min_delta: float = 0.0, better: Better | None = None, monitor: Monitor | None = None
    ) -> None:
        super().__init__(better=better, monitor=monitor)
        self.patience = check_least("patience", patience, 1)
        self.min_delta = check_amount("min_delta", min_delta)
        self.waited = 0
        self._counted: float | None = None

    def should_stop(self, value: float) -> bool:
        """Whether to stop after an evaluation with this value; rounds are counted from 0."""
        self.require_better()
        return self.observe(Seen(self._evaluations, float(value)))

    def judge(self, seen: Seen) -> bool:
        if self.is_better(seen.value, self._counted, self.min_delta):
            self._counted, self.waited = seen.value, 0
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
