"""The metric that goes with an objective."""

from __future__ import annotations

import pytest

import tallymark as tm


def test_every_objective_has_a_default_metric():
    """One per objective, under the names that libraries use."""
    expected = {
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
    assert {name: str(tm.training.default_metric(name)) for name in expected} == expected
    others = {
        "reg:squarederror": "rmse",
        "binary:logistic": "logloss",
        "multi:softprob": "logloss",
        "count:poisson": "poisson_deviance",
        "rank:ndcg": "ndcg",
        "reg:pseudohubererror": "huber",
        "regression_l1": "mae",
        "Logloss": "logloss",
        "pseudo_huber": "huber",
    }
    assert {name: str(tm.training.default_metric(name)) for name in others} == others
    for bad in ("", "cox", None, 3):
        with pytest.raises(tm.ParameterError, match="objective"):
            tm.training.default_metric(bad)
