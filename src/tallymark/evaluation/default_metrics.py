"""Which metrics are evaluated: those that are named, or the defaults for what the columns contain.

Only the choice of the defaults looks at values; a metric that is named reads its inputs by their type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import Argument, ParameterError, TallymarkError, Text, brief, did_you_mean
from tallymark.metrics import registry
from tallymark.metrics.base import FACTS, HINTS, Metric
from tallymark.metrics.classification.accuracy import accuracy
from tallymark.metrics.naming import describe_other, metric
from tallymark.states.labels.counts import Counts

REGRESSION_METRICS = ["rmse", "mae", "r2"]
BINARY_METRICS = ["accuracy", "precision", "recall", "fscore"]
LABEL_METRICS = ["accuracy", "precision(average=macro)", "recall(average=macro)", "fscore(average=macro)"]
PROBABILITY_METRICS = ["auc", "logloss", "brier", "accuracy"]
SCORE_METRICS = ["auc", "average_precision"]
RANKING_METRICS = ["ndcg", "map", "mrr"]
DEFAULTS_BY_KIND = {
    "value": REGRESSION_METRICS,
    "label": LABEL_METRICS,
    "probability": PROBABILITY_METRICS,
    "margin": PROBABILITY_METRICS,
    "score": SCORE_METRICS,
    "ranking": RANKING_METRICS,
}
MOST_CLASSES = 20  # of whole numbers that differ between truth and predictions; more are probably counts

CALL_ARGUMENTS = ("metrics", "errors", "by", "min_rows", "ci", "cluster", "keys", "truth", "prediction", "progress")

_CALL_HINTS = {
    **dict.fromkeys(("group", "groups", "sensitive_features"), "Pass the groups of rows as by="),
    **dict.fromkeys(("confidence", "confidence_level", "intervals", "level", "alpha"), "Pass ci=0.95 for intervals"),
    **dict.fromkeys(("n_bootstraps", "n_resamples", "seed", "random_state"), "Pass ci=tm.Intervals(resamples=, seed=)"),
    **dict.fromkeys(("data", "df", "frame"), 'Pass the table first: evaluate(frame, "y", "p")'),
    "metric": "Pass metrics=",
}
"""What keywords of other libraries may be called in a call with several metrics."""

MetricsLike = str | Metric | Mapping[str, Any] | Iterable[Any] | None


def select_metrics(
    metrics: MetricsLike,
    batch: Batch | None = None,
    target: Target | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, Metric]:
    """The metrics under their keys, with shared parameters; without any, the defaults for these rows."""
    if metrics is None and batch is not None and target is not None:
        return default_metrics(batch, target, default_kind(batch, target), parameters)
    selected = _named_metrics(metrics)
    return with_shared_parameters(selected, parameters) if parameters else selected


def _named_metrics(metrics: MetricsLike) -> dict[str, Metric]:
    if isinstance(metrics, Mapping):
        return {_check_key(key): metric(value) for key, value in metrics.items()} or _refuse_no_metrics()
    if isinstance(metrics, (str, Metric)):
        metrics = [metrics]
    if not isinstance(metrics, Iterable):
        raise ParameterError(
            argument="metrics", expected="be a metric, a name, or a list of them", got=f"{describe_other(metrics)}"
        )
    try:
        items = list(metrics)
    except Exception as error:  # an array of no dimensions, say
        raise ParameterError(
            argument="metrics", expected="be a list of metrics or names", got=f"{describe_other(metrics)}"
        ) from error
    selected: dict[str, Metric] = {}
    for item in map(metric, items):
        if selected.setdefault(str(item), item) != item:
            raise ParameterError(
                f"two metrics are called {str(item)!r}; give them names: {{'first': ..., 'second': ...}}"
            )
    return selected or _refuse_no_metrics()


def _check_key(key: object) -> str:
    if not isinstance(key, str) or not key:
        raise ParameterError(Text("the keys of {metrics} must be names; got {}", brief(key)))
    return key


def _refuse_no_metrics() -> dict[str, Metric]:
    raise ParameterError(argument="metrics", expected="name at least one metric", got="none")


def default_metrics(
    batch: Batch, target: Target, kind: str, parameters: Mapping[str, Any] | None = None
) -> dict[str, Metric]:
    """The default metrics of a kind for these rows, with shared parameters."""
    return metrics_of_kind(kind, target, accuracy.needs(target).fold(batch) if kind == "label" else None, parameters)


def metrics_of_kind(
    kind: str, target: Target, state: Any = None, parameters: Mapping[str, Any] | None = None
) -> dict[str, Metric]:
    """The default metrics of a kind, with shared parameters. Those of labels are binary if the state has two classes
    and one is positive, or if the call sets the average."""
    names = DEFAULTS_BY_KIND[kind]
    if kind == "label" and state is not None:
        counts = state.counts()
        if target.kind is None and target.classes is None:
            _require_classes(counts)
        names = BINARY_METRICS if _is_binary(counts) else LABEL_METRICS
    if kind == "label" and parameters and "average" in parameters:
        names = BINARY_METRICS  # which set no average
    return select_metrics(names, parameters=parameters)


def check_default_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Shared parameters of default metrics that follow from rows to come, in their normal form."""
    metrics = {str(item): item for names in DEFAULTS_BY_KIND.values() for item in map(metric, names)}
    _require_taken(metrics, parameters)
    return {name: _normal_value(metrics.values(), name, value) for name, value in parameters.items()}


def _normal_value(metrics: Iterable[Metric], name: str, value: Any) -> Any:
    """The normal form of a parameter in the first of the metrics that accepts it."""
    refusals = []
    for item in metrics:
        if _takes(item, name):
            try:
                return item.replace(**{name: value}).parameters()[name]
            except ParameterError as error:
                refusals.append(error)
    raise refusals[0]


def _is_binary(counts: Counts) -> bool:
    if not counts.single or len(counts.classes) > 2:
        return False
    try:
        counts.positive()
    except TallymarkError:
        return False
    return True


def _require_classes(counts: Counts) -> None:
    """Reject whole numbers of which there are many, and not the same on both sides: they may be counts or amounts."""
    if len(counts.classes) <= MOST_CLASSES or isinstance(counts.classes[0], str):
        return
    if any(bool(truth) != bool(predicted) for truth, predicted in zip(counts.truth, counts.predicted, strict=True)):
        raise ParameterError(
            Text(
                "{kind} must be given for integers with {} distinct values that differ between {y_true} and "
                '{y_pred}: {kind="value"} for numbers such as counts, {kind="label"} for classes',
                f"{len(counts.classes):,}",
            ),
            argument="kind",
        )


def default_kind(batch: Batch, target: Target) -> str:
    """What the default metrics read: the kind that was declared, or what these rows look like."""
    if batch.has_query and target.kind in (None, "score"):
        return "ranking"
    return target.kind or _infer_kind(batch)


def _infer_kind(batch: Batch) -> str:
    truth, prediction = _type_of(batch, 0), _type_of(batch, 1)
    table = batch.truth_columns == 1 and batch.prediction_columns > 1
    if prediction != "real":
        return "value" if truth == "real" else "label"
    if truth in ("boolean", "text") or table:
        if not _in_unit_interval(batch):
            _refuse_to_guess("some predictions are outside [0, 1]")
        return "probability"
    if batch.truth_columns == 1 and (low := _lowest_of_two_classes(batch)) is not None:
        if low == -1:
            _refuse_to_guess("the truth has only -1 and 1, and the predictions are decimals")
        if not _in_unit_interval(batch):
            _refuse_to_guess("the truth has only 0 and 1, and some predictions are outside [0, 1]")
        return "probability"
    if truth == "integer" and batch.truth_columns > 1:
        raise ParameterError(
            Text(
                "{kind} must be given if the truth has several columns of integers and the predictions are decimals: "
                '{kind="value"} for numbers, {kind="probability"} for probabilities of several labels per row'
            ),
            argument="kind",
        )
    return "value"


def _type_of(batch: Batch, side: int) -> str:
    """boolean, integer, real or text, from the type of an input."""
    columns = (batch.truth_columns, batch.prediction_columns)[side]
    if columns == 1:
        return batch.labels(side).type
    kind = (batch.truth if side == 0 else batch.prediction).dtype.kind
    return "real" if kind == "f" else "boolean" if kind == "b" else "integer"


def _lowest_of_two_classes(batch: Batch) -> int | None:
    """0 where the truth has only 0 and 1, −1 where it has only −1 and 1; None for any other truth."""
    truth = _values(batch, batch.truth)
    if ((truth == 0) | (truth == 1)).all():
        return 0
    return -1 if ((truth == -1) | (truth == 1)).all() else None


def _in_unit_interval(batch: Batch) -> bool:
    prediction = _values(batch, batch.prediction)
    return not bool(((prediction < 0) | (prediction > 1)).any())  # a missing value is an error of its own


def _values(batch: Batch, column: Array) -> Array:
    """The values of the rows that weigh something, or of all rows where none does."""
    counted = None if batch.weights is None else batch.weights != 0
    return column[counted] if counted is not None and counted.any() else column


def _refuse_to_guess(found: str) -> None:
    raise ParameterError(
        Text(
            '{kind} must be given, since {}: {kind="margin"} for log-odds, {kind="score"} for scores of any scale, '
            '{kind="value"} for numbers',
            found,
        ),
        argument="kind",
    )


def with_shared_parameters(metrics: Mapping[str, Metric], parameters: Mapping[str, Any]) -> dict[str, Metric]:
    """The metrics with these parameters, each in every metric that has it; one that sets another value is an error."""
    _require_taken(metrics, parameters)
    shared = {key: _with_shared(item, parameters) for key, item in metrics.items()}
    out: dict[str, Metric] = {}
    for key, item in shared.items():
        name = str(item) if key == str(metrics[key]) else key
        if out.setdefault(name, item) != item:
            raise ParameterError(f"two metrics are called {name!r}; give them other names")
    return out


def _require_taken(metrics: Mapping[str, Metric], parameters: Mapping[str, Any]) -> None:
    """Refuse a parameter that no metric has."""
    for name in parameters:
        if not any(_takes(each, name) for item in metrics.values() for each in _parts(item)):
            known = [*FACTS, *CALL_ARGUMENTS, *(each for item in metrics.values() for each in item.parameters())]
            mistyped = not any(name in each.parameters() for each in registry.instances())
            raise ParameterError(
                Text("{} is not an argument of the call and not a parameter of {}", Argument(name), ", ".join(metrics)),
                argument=name,
                hint=_CALL_HINTS.get(name)
                or HINTS.get(name)
                or (did_you_mean(name, known) if mistyped and name not in known else None),
            )


def _parts(item: Metric) -> tuple[Metric, ...]:
    """The metrics that a metric of groups compares, or the metric itself."""
    return getattr(item, "of", (item,))


def _with_shared(item: Metric, parameters: Mapping[str, Any]) -> Metric:
    if hasattr(item, "of"):
        return item.replace(of=tuple(_with_shared(each, parameters) for each in item.of))
    changed = item.replace(**{name: value for name, value in parameters.items() if _takes(item, name)})
    after = changed.parameters()
    for name, before in item.parameters().items():
        if name in item.explicit_parameters and before != after[name]:
            values = brief(before), str(item), brief(after[name])
            raise ParameterError(
                Text("{} is {} in {} and {} in the call; set it once", Argument(name), *values), argument=name
            )
    return changed


def _takes(item: Metric, name: str) -> bool:
    """Whether a metric takes a shared parameter. The threshold of margin_accuracy is a margin, all others are
    probabilities."""
    return name in item.parameters() and not (item.name == "margin_accuracy" and name == "threshold")
