"""Target: what predictions are, said once for several calls."""

from __future__ import annotations

import numpy as np
import pytest

import tallymark as tm

Y, P = ["no", "yes", "no", "yes"] * 5, np.array([0.1, 0.4, 0.35, 0.8] * 5)
CLASSES = {"classes": ["no", "yes"], "positive": "yes"}
KEYWORDS = {"kind": "probability", **CLASSES}
TARGET = tm.Target(**KEYWORDS)
TABLE = {"y": Y, "p": P}
COLUMNS = {"truth": "y", "prediction": "p", "metrics": ["auc", "logloss"]}
CALLS = {
    "a metric": lambda **target: tm.auc(Y, P, **target),
    "a metric with parameters": lambda **target: tm.auc(Y, P, max_fpr=0.5, **target),
    "a metric of groups": lambda **target: tm.equal_opportunity(Y, P, by=list("aabb") * 5, **target),
    "evaluate": lambda **target: tm.evaluate(Y, P, ["auc", "logloss"], **target).to_json(),
    "evaluate_table": lambda **target: tm.evaluate_table(TABLE, **COLUMNS, **target).to_json(),
    "evaluate_table of pieces": lambda **target: tm.evaluate_table([TABLE], **COLUMNS, **target).to_json(),
    "tally_table": lambda **target: tm.evaluation.tally_table(TABLE, **COLUMNS, **target).to_bytes(),
    "Tally": lambda **target: tm.Tally(["auc"], **target).update(Y, P).to_bytes(),
    "compare": lambda **target: tm.compare(Y, {"a": P, "b": 1 - P}, ["auc"], **target).to_json(),
    "EvalSet": lambda **target: tm.training.EvalSet("valid", Y, **target).evaluate(P, ["auc", "logloss"]).to_json(),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_target_is_the_keywords_that_make_it(name):
    """In every call that has them."""
    assert CALLS[name](target=TARGET) == CALLS[name](**KEYWORDS)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("keyword", [*KEYWORDS, "normalize"])
def test_a_target_and_one_of_its_keywords_are_refused(name, keyword):
    """The error names both."""
    with pytest.raises(tm.ParameterError, match=f"`target` and `{keyword}` must not both be given") as caught:
        CALLS[name](target=TARGET, **{keyword: {**KEYWORDS, "normalize": True}[keyword]})
    assert caught.value.argument == "target"


@pytest.mark.parametrize("name", CALLS)
def test_a_target_is_a_target(name):
    """And no mapping or word that could make one."""
    for wrong in ("probability", KEYWORDS, 1):
        with pytest.raises(tm.ParameterError, match="`target` must be a Target, such as"):
            CALLS[name](target=wrong)


def test_cross_validation_takes_a_target():
    """The classes of which are those of every fold."""
    X = np.arange(20.0)[:, None]  # noqa: N806

    def trainer(X, y):  # noqa: N803
        return lambda rows: np.clip(np.asarray(rows)[:, 0] / 40 + 0.1, 0, 1)

    def cross_validate(**target):
        return tm.model_selection.cross_validate(trainer, X, Y, metrics=["logloss"], splitter=4, **target)

    found, expected = cross_validate(target=TARGET), cross_validate(**KEYWORDS)
    assert found["logloss"].values == expected["logloss"].values
    with pytest.raises(tm.ParameterError, match="`target` and `kind`"):
        cross_validate(target=TARGET, kind="score")


def test_a_bundle_takes_a_target_without_a_kind():
    """Labels and probabilities are of two kinds."""
    bundle, labels = tm.model_selection.classification_metrics, np.where(P > 0.3, "yes", "no")
    found = bundle(Y, labels, probabilities=P, target=tm.Target(**CLASSES))
    assert found.to_dict() == bundle(Y, labels, probabilities=P, **CLASSES).to_dict()
    with pytest.raises(tm.ParameterError, match="`target` must have no kind"):
        bundle(Y, labels, target=TARGET)
