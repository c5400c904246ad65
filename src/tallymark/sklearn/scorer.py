"""What scikit-learn takes: scorers, for GridSearchCV, cross_validate and all others that take `scoring`."""

from __future__ import annotations

from typing import Any

from tallymark.data.target import Target, target_of
from tallymark.errors import ParameterError
from tallymark.evaluation.model_predictions import known_classes, predict, prediction_method
from tallymark.metrics.base import Metric
from tallymark.metrics.clustering.separation import ShapeMetric
from tallymark.metrics.naming import metric as named_metric
from tallymark.optional_packages import needed
from tallymark.training.frameworks.base import distance_to_best, require_direction, require_number

__all__ = ["scorer"]


class _Scorer:
    """A function of a fitted estimator, its rows and their truth, of which higher values are better."""

    def __init__(self, wanted: str | Metric, target: Target) -> None:
        self.metric = require_direction(wanted)
        self.target = target
        self._requests: dict[str, Any] = {}

    def __call__(
        self,
        estimator: Any,
        X: Any,  # noqa: N803 - as theirs
        y: Any = None,
        sample_weight: Any = None,
        query: Any = None,
    ) -> float:
        value = require_number(self.metric, self._value(estimator, X, y, sample_weight, query))
        value = distance_to_best(self.metric, value)
        return value if self.metric.better == "higher" else -value

    def _value(self, estimator: Any, X: Any, y: Any, sample_weight: Any, query: Any) -> object:  # noqa: N803 - as theirs
        method = prediction_method(self.metric, estimator)
        if isinstance(self.metric, ShapeMetric):  # which reads the points themselves
            return self.metric(X, predict(estimator, X, method).y_pred, weights=sample_weight)
        if y is None:
            raise ParameterError(argument="y", expected=f"be given: {self.metric} compares predictions with it")
        facts = self.target.keywords()
        if method != "predict" and facts["classes"] is None:
            facts["classes"] = known_classes(estimator, y, sample_weight)
        predictions = predict(estimator, X, method, facts["classes"])
        # Decisions of several classes may be any scores, which only a metric on margins takes for more.
        facts["kind"] = self.metric.kind if method == "predict" or self.metric.kind == "margin" else predictions.kind
        return self.metric(y, predictions.y_pred, weights=sample_weight, query=query, target=Target(**facts))

    def set_score_request(self, **requests: Any) -> _Scorer:
        """Which metadata it asks for where routing is on: `sample_weight` and `query`, each True, False or a name."""
        self._requests.update(requests)
        return self

    def get_metadata_routing(self) -> Any:
        """What scikit-learn asks when it passes metadata on."""
        with needed("metadata routing", "scikit-learn", extra="sklearn"):
            from sklearn.utils.metadata_routing import MetadataRequest
        request = MetadataRequest(owner=self)
        for name in ("sample_weight", "query"):
            request.score.add_request(param=name, alias=self._requests.get(name))
        return request

    def __repr__(self) -> str:
        given = {key: value for key, value in self.target.keywords().items() if value not in (None, False)}
        return f"scorer({self.metric!r}{''.join(f', {key}={value!r}' for key, value in given.items())})"


def scorer(
    metric: str | Metric,
    *,
    target: Target | None = None,
    classes: object = None,
    positive: object = None,
    **parameters: Any,
) -> Any:
    """Return a scorer for `scoring=`: a function of an estimator, rows and truth, whose highest value is best.

    The metric asks the estimator for what it reads: labels and values from `predict`, probabilities from
    `predict_proba`, scores from that or `decision_function`. A metric that is better when lower is negated; one that is
    best at a value becomes the negative distance from it. Labels may be of any type. `sample_weight` and `query` go to
    the metric if they are passed; with metadata routing, request them by `set_score_request`.

    Args:
        metric: A name or a metric.
        classes: All classes, if neither the estimator nor the rows have seen all.
        parameters: Parameters of the metric, such as `average` or `threshold`.

    >>> from sklearn.dummy import DummyRegressor
    >>> scorer("mae")(DummyRegressor().fit([[0], [0]], [1.0, 2.0]), [[0], [0]], [1.0, 2.0])
    -0.5
    """
    about = target_of(target, None, classes, positive)
    if about.kind is not None:
        raise ParameterError(
            argument="target", expected="have no kind: it is that of the method which is asked", got=repr(about.kind)
        )
    return _Scorer(named_metric(metric, **parameters), about)
