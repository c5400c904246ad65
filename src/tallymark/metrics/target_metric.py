"""What metrics share whose state depends on what the target says of the predictions."""

from __future__ import annotations

from tallymark.metrics.base import Metric
from tallymark.states import Reads
from tallymark.target import ANY_TARGET, Target


class TargetMetric(Metric, abstract=True):
    """A metric that reads predictions of several kinds, as the target says what they are.

    A subclass names the `kinds` and writes `reads_of(target)`.
    """

    def reads_of(self, target: Target) -> Reads:
        """The state for predictions as the target says."""
        raise NotImplementedError(f"{type(self).__name__} must define `reads_of`")

    @property
    def reads(self) -> Reads:
        return self.needs(ANY_TARGET)

    def needs(self, target: Target) -> Reads:
        # The last one is remembered: a loop asks for the same again and again.
        known: tuple[Target, Reads] | None = vars(self).get("_needs")
        if known is not None and known[0] is target:
            return known[1]
        self.check_kind(target.kind)
        found = self.reads_of(target)
        vars(self)["_needs"] = (target, found)
        return found
