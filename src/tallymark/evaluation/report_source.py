"""Source: what a report was made of, from which more can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tallymark.data.batch import Batch
from tallymark.errors import ParameterError
from tallymark.metrics.answer import Answer
from tallymark.metrics.base import Metric
from tallymark.states.base import Plan, Reads, State, States
from tallymark.states.rows import Rows

if TYPE_CHECKING:
    from tallymark.data.target import Target
    from tallymark.evaluation.selection import MetricPlan


class ReportSource:
    """The states of a report, and its rows where they are in memory: a reference to them, never a copy."""

    __slots__ = ("_batch", "_chosen", "_folded", "_states", "plots")

    def __init__(self, chosen: MetricPlan, states: States, batch: Batch | None) -> None:
        self._chosen = chosen
        self._states = states
        self._batch = batch
        self._folded: dict[Any, State] = {}
        self.plots: dict[Any, Any] = {}
        """Plots that were asked for before; what is drawn is small, what it is drawn from is not."""

    @property
    def batch(self) -> Batch | None:
        """The rows; None where only the states of them are known."""
        return self._batch

    @property
    def target(self) -> Target:
        """What is known of the data: kind, classes, positive."""
        return self._chosen.target

    def answer(self, item: Metric) -> Answer:
        """The answer of any metric that can read these rows."""
        if self._batch is not None:
            item.check_columns(self._batch.truth_columns, self._batch.prediction_columns)
        return item.answer(self.state(item), self._batch)

    def value(self, item: Metric) -> Any:
        """The value of any metric that can read these rows."""
        return self.answer(item).value

    def state(self, item: Metric) -> State:
        """The state that a metric reads: one that is there, or else of the rows."""
        wanted = item.needs(self._chosen.target)
        held = self._held(wanted)
        if held is None and self._batch is not None:
            held = self._folded[wanted.group] = Plan([wanted]).fold(self._batch)[0]
        if held is None:
            raise ParameterError(
                f"{item.name} cannot be read from this report: its rows are gone, and none of its "
                "metrics keeps what that takes",
                hint=f"Add {item.name!r} to the metrics of the Tally",
            )
        return held

    def _held(self, wanted: Reads) -> State | None:
        for reads, state in zip(self._chosen.plan.reads, self._states, strict=True):
            if reads.group == wanted.group and reads.join(wanted) == reads:
                return state
        return self._folded.get(wanted.group)

    def rows(self) -> tuple[Any, Any, Any]:
        """Truth and predictions as numbers, one column each or more, and the weights or None."""
        if self._batch is not None:
            self._batch.require_finite()
            return self._batch.truth, self._batch.prediction, self._batch.weights
        for state in self._states:
            if isinstance(state, Rows):
                return state.arrays()
        raise ParameterError(
            "the rows of this report are gone, and none of its metrics keeps them",
            hint="Evaluate all rows at once, or add 'median_absolute_error', which keeps them, to the "
            "metrics of the Tally",
        )
