"""EvalSet: rows under a name, evaluated again and again with new predictions.

What was read of the truth is kept from round to round: a round is `Batch.predicted` and then what `evaluate` does.
States keep what depends on the truth alone, such as Σy, Σy² and the range of y, in `Batch.truth_memo`. A total is a
function of its term and the rows, so a state with totals from an earlier round is the same as one from a single pass.
"""

from __future__ import annotations

import operator
from typing import Any

from tallymark.data.arrays import Array, as_array
from tallymark.data.batch import Batch, check_missing
from tallymark.data.target import Target, target_of
from tallymark.errors import InputError, ParameterError, brief
from tallymark.evaluation.default_metrics import MetricsLike
from tallymark.evaluation.evaluate import MetricPlan, evaluate_planned, plan_batch
from tallymark.evaluation.report import Report
from tallymark.metrics.base import Metric
from tallymark.states.groups import group_columns


class EvalSet:
    """The truth, weights and other columns of some rows, under a name.

    Args:
        name: The name of the set, such as "valid".
        cluster: A label per row; rows with the same label are resampled together when chance is judged.

    >>> valid = EvalSet("valid", [3, -0.5, 2, 7])
    >>> valid.evaluate([2.5, 0, 2, 8], ["mae"])["mae"]
    0.5
    """

    def __init__(
        self,
        name: str,
        y_true: object,
        *,
        weights: object = None,
        by: object = None,
        query: object = None,
        cluster: object = None,
        target: Target | None = None,
        kind: str | None = None,
        classes: object = None,
        positive: object = None,
        normalize: bool = False,
        missing: str = "error",
    ) -> None:
        if not isinstance(name, str) or not name:
            raise ParameterError(argument="name", expected="be the name of the eval set", got=brief(name))
        check_missing(missing)
        y_true, weights = _copy_array(y_true), _copy_array(weights)
        self.name = name
        self.y_true = y_true
        self.weights = weights
        self.by = by
        self.query = query
        self.cluster = cluster
        self.target = target_of(target, kind, classes, positive, normalize)
        self.missing = missing
        # The truth is its own prediction here: what is wrong with it is said before anything is trained.
        self._rows = Batch(y_true, y_true, weights, query=query, by=None if by is None else group_columns(by))
        self._rows.require_rows()
        self._rows.require_weights()
        self._planned: tuple[tuple[list[str], int, str], list[Metric], MetricPlan] | None = None

    @property
    def n(self) -> int:
        """How many rows there are."""
        return self._rows.n

    def evaluate(self, y_pred: object, metrics: MetricsLike = None, *, errors: str = "raise") -> Report:
        """The report of these predictions; what is known of the truth is not read again."""
        try:
            if self.missing == "error":
                batch = self._rows.with_predictions(y_pred)
            else:
                by = None if self.by is None else group_columns(self.by)
                batch = Batch(self.y_true, y_pred, self.weights, missing=self.missing, query=self.query, by=by)
            batch.require_rows()
            return evaluate_planned(batch, self._plan(batch, metrics, errors), errors=errors)
        except InputError as error:
            error.add_place(f"eval set {self.name!r}")
            raise

    def _plan(self, batch: Batch, metrics: MetricsLike, errors: str) -> MetricPlan:
        """The metrics and their plan: those of the round before, as long as nothing but predictions changes."""
        if not isinstance(metrics, dict):
            return plan_batch(batch, metrics, self.target, errors=errors)
        these_facts = (list(metrics), batch.prediction_columns, errors)
        if self._planned is not None:
            known_facts, values, metric_plan = self._planned
            if these_facts == known_facts and all(map(operator.is_, metrics.values(), values)):
                return metric_plan
        metric_plan = plan_batch(batch, metrics, self.target, errors=errors)
        if all(isinstance(value, Metric) for value in metrics.values()):  # a name may come to mean another metric
            self._planned = these_facts, list(metrics.values()), metric_plan
        return metric_plan

    def copy_predictions(self, y_pred: object) -> Array:
        """A copy of predictions, since trainers write over them."""
        return as_array(y_pred, "y_pred").copy()

    def __repr__(self) -> str:
        return f"EvalSet({self.name!r}, {self.n:,} rows)"


def _copy_array(column: Any) -> Any:
    """A copy of an array: what is found in it once must hold for all rounds, whatever becomes of the caller's."""
    if not hasattr(column, "__array__"):
        return column
    copied = getattr(column, "copy", None) or getattr(column, "clone", None)  # a tensor is cloned
    return column if copied is None else copied()
