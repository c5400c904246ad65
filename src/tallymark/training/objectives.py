"""The metric that goes with an objective, where nobody names one."""

from __future__ import annotations

from tallymark.errors import ParameterError
from tallymark.metrics.base import Metric
from tallymark.metrics.naming import metric

_METRICS = {
    "squared": "rmse",
    "absolute": "mae",
    "pseudo-huber": "huber",
    "poisson": "poisson_deviance",
    "pinball": "pinball",
    "logistic": "logloss",
    "hinge": "margin_accuracy",
    "softmax": "logloss",
    "lambdarank": "ndcg",
}

_OTHER_NAMES = {
    "squared": ("squarederror", "squared_error", "l2", "mse", "rmse", "regression"),
    "absolute": ("absoluteerror", "absolute_error", "l1", "mae", "regression_l1"),
    "pseudo-huber": ("pseudohuber", "pseudohubererror", "huber"),
    "pinball": ("quantile", "quantileerror"),
    "logistic": ("binary", "logloss", "logitraw", "cross_entropy", "crossentropy"),
    "softmax": ("softprob", "multiclass", "multilogloss"),
    "lambdarank": ("ndcg", "pairwise", "rank_xendcg", "yetirank"),
}
_KNOWN = {**{name: name for name in _METRICS}, **{name: own for own, names in _OTHER_NAMES.items() for name in names}}


def default_metric(objective: str) -> Metric:
    """The metric by which a model with this objective is usually judged.

    Objectives have the names that boosting libraries give them, with or without the prefix before a colon.

    >>> default_metric("logistic"), default_metric("reg:squarederror")
    (LogLoss(), Rmse())
    """
    if isinstance(objective, str):
        word = objective.strip().lower()
        family, _, rest = word.rpartition(":")
        if family == "multi" and rest.startswith("soft"):
            return metric(_METRICS["softmax"])
        found = _KNOWN.get(rest.replace("_", "-"), _KNOWN.get(rest))
        if found is not None:
            return metric(_METRICS[found])
    raise ParameterError(argument="objective", expected=f"be one of {', '.join(_METRICS)}", got=repr(objective))
