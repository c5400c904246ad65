"""What the frameworks have in common: a metric as they call it, and an evaluator that follows their training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallymark.data.arguments import describe
from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.target import ANY_TARGET, Target
from tallymark.errors import InputError, KindError, LengthError, ParameterError, Text
from tallymark.metrics.base import Metric
from tallymark.metrics.naming import metric
from tallymark.states.labels.counts import knows_positive
from tallymark.states.labels.encoding import encode_labels
from tallymark.training.eval_set import EvalSet
from tallymark.training.evaluator import Evaluator
from tallymark.training.stopping import KeepBest


def inputs_by_eval_set(evaluator: Evaluator, data: Any) -> dict[str, Any]:
    """The inputs by the name of their eval set; where there is one eval set only, they may stand alone."""
    names = list(evaluator.eval_sets)
    if isinstance(data, Mapping) and set(data) == set(names):
        return {name: data[name] for name in names}
    if len(names) == 1 and not isinstance(data, Mapping) and data is not None:
        return {names[0]: data}
    keys = ", ".join(map(repr, data)) if isinstance(data, Mapping) else ""
    raise ParameterError(
        argument="data",
        expected=f"map each of the eval sets {', '.join(map(repr, names))} to the inputs of the model",
        got=f"a mapping of {keys or 'nothing'}" if isinstance(data, Mapping) else describe(data),
    )


def check_row_count(evaluator: Evaluator, name: str, rows: int | None) -> None:
    """Reject inputs of other rows than those of the eval set, where it is known how many they are."""
    n = evaluator.eval_sets[name].n
    if rows is not None and rows != n:
        raise LengthError(
            argument="data", expected=f"have the rows of the eval set {name!r}, which are {n:,}", got=f"{rows:,}"
        )


_OF_CLASSES = ("probability", "label")


class NativeMetric:
    """A metric as a library calls it: one number, with truth, predictions and weights as the library holds them.

    Libraries know two directions. Where a metric is best at a value, they are told how far it is from there.
    """

    def __init__(self, wanted: str | Metric, target: Target = ANY_TARGET) -> None:
        self.metric = require_direction(wanted)
        self.metric.needs(target)  # refuses a kind that it cannot read
        self.target = target

    @property
    def maximize(self) -> bool:
        """Whether higher values are better."""
        return self.metric.better == "higher"

    @property
    def __name__(self) -> str:
        """What the library calls it."""
        return str(self.metric) if isinstance(self.metric.better, str) else f"distance_of_{self.metric}"

    def value(self, y_true: Any, y_pred: Any, weights: Array | None = None, query: Array | None = None) -> float:
        """The number; K columns of predictions belong to the classes 0 to K − 1, as libraries number them."""
        y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
        facts: dict[str, Any] = {"query": query} if self.metric.by_query else {}
        target = self.target
        if y_true.ndim == 1 and y_pred.ndim == 2 and self.metric.kind != "value":
            target = target.with_classes(range(y_pred.shape[1]))
        value = self.metric(y_true, y_pred, weights=weights, target=target, **facts)
        return distance_to_best(self.metric, require_number(self.metric, value))

    def __repr__(self) -> str:
        return f"as_metric({self.metric!r}{'' if self.target == ANY_TARGET else f', target={self.target!r}'})"


def require_direction(given: str | Metric) -> Metric:
    """The metric, which must say what is better."""
    item = metric(given)
    if item.better is None:
        raise ParameterError(
            Text("{metric} must define which values are better; {} does not, so it cannot select a model", item),
            argument="metric",
        )
    return item


def require_number(item: Metric, value: object) -> float:
    """The value of a metric, which must be a number."""
    if isinstance(value, float):
        return value
    raise ParameterError(
        Text("{metric} must have one number; {} has several, or a table or curve", item), argument="metric"
    )


def distance_to_best(item: Metric, value: float) -> float:
    """The value, or how far it is from the best one where the metric is best at a value."""
    return value if item.better is None or isinstance(item.better, str) else abs(value - item.better)


def repeat_per_row(sizes: Sequence[int] | Array, values: Array | None = None) -> Array:
    """Values of groups that stand one after the other, for each row; without values, the number of its group."""
    return np.repeat(np.arange(len(sizes)) if values is None else values, sizes)


def check_evaluator(evaluator: object) -> Evaluator:
    """Require an evaluator."""
    if isinstance(evaluator, Evaluator):
        return evaluator
    raise ParameterError(argument="evaluator", expected="be an Evaluator", got=describe(evaluator))


def rewind_to(evaluator: Evaluator, first: int) -> None:
    """Forget the rounds of an earlier training that another one does again; if it goes on from there, none."""
    if evaluator.last_round is not None and evaluator.last_round >= first:
        evaluator.rewind(first)


def has_stopping_rule(evaluator: Evaluator) -> bool:
    """Whether the evaluator has a rule of stopping; without one, its best round is told and the model left as it is."""
    return not isinstance(evaluator.stopping, KeepBest)


def check_dart(evaluator: Evaluator) -> None:
    """Raise if the best round is to be restored and the booster changes the trees of earlier rounds."""
    if has_stopping_rule(evaluator):
        raise ParameterError(
            argument="evaluator",
            expected="not stop early with the dart booster, which changes the trees of earlier rounds: the best round "
            "cannot be restored",
        )


def check_margins(item: Metric, kind: str | None, by: str) -> None:
    """Reject a metric that reads margins only where a library gives it what the objective makes of them."""
    if item.kind == "margin" and kind is None:
        raise KindError(
            argument="kind",
            expected=f'be "margin" for {item}, which would read probabilities as margins: {by} gives '
            "margins only where the objective is a function of your own, or has no transformation",
            hint="Take accuracy with others",
        )


def check_kinds(evaluator: Evaluator, given: str, by: str) -> None:
    """Reject metrics on classes where the predictions given to eval sets are of another kind, undeclared."""
    for item in (evaluator.metrics or {}).values():
        for eval_set in evaluator.eval_sets.values():
            readable = ("margin",) if item.kind == "margin" else ("probability", "score")
            if item.kind not in (*_OF_CLASSES, "margin") or eval_set.target.kind is not None or given in readable:
                continue
            advice = f'declare that with EvalSet(..., kind="{given}")'
            if item.kind == "margin" and given != "value":
                advice = (
                    'take accuracy, or declare margins by EvalSet(..., kind="margin") if the library returns margins'
                )
            elif given == "value":
                advice = 'an objective of your own has margins, declared with EvalSet(..., kind="margin")'
            takes = item.takes or f"predictions of kind {item.kind!r}"
            raise KindError(f"{item} reads {takes}; {by} gives predictions of kind {given!r}: {advice}")


def check_positive(eval_set: EvalSet, target: Array, by: str) -> None:
    """Reject an eval set that takes 1-D predictions for those of the class that its library calls 0."""
    if eval_set.target.kind in ("value", "label") or len(target) != eval_set.n or not np.isin(target, (0, 1)).all():
        return
    try:
        labels, codes = encode_labels(Batch(eval_set.y_true, eval_set.y_true), 0)
    except InputError:  # no labels
        return
    if not knows_positive(labels, eval_set.target):  # metrics that need a positive class ask for it
        return
    positive = 1 if eval_set.target.positive is None else eval_set.target.positive
    if len(labels) <= 2 and positive in labels and np.array_equal(codes == labels.index(positive), target == 0):
        other = next((label for label in labels if label != positive), None)
        right = "the class that is predicted" if other is None else repr(other)
        raise ParameterError(
            Text(
                "eval set {} must have {} as {positive}, of which {} gives predictions; got {}",
                repr(eval_set.name),
                right,
                by,
                repr(positive),
            )
        )
