"""What is printed, copied and pickled: every object that a user may hold."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import tallymark as tm
from tallymark import errors
from tallymark.metrics import registry

LONG = "x" * 100_000
ROWS = 2_000


def _rounds() -> tm.training.History:
    held = tm.training.Evaluator(["rmse"], [tm.training.EvalSet("valid", [1.0, 2.0])])
    for k in range(2 * ROWS):
        held.step(k, {"valid": [1.0, 2.5]})
    return held.history


def _tally(metrics: list[str]) -> tm.Tally:
    held = tm.Tally(metrics)
    held.update(Y, P)
    return held


def _groups() -> tm.Report:
    return tm.evaluate(Y, P, ["accuracy", "confusion_matrix", "roc_curve"], by=[f"{LONG}{k}" for k in range(ROWS)])


RNG = np.random.default_rng(0)
Y, P, MANY = RNG.integers(0, 2, ROWS), RNG.random(ROWS), RNG.integers(0, 900, ROWS)
X = RNG.normal(size=(ROWS, 2))
OBJECTS = {
    "a report with intervals": lambda: tm.evaluate(Y, P, ["auc", "accuracy"], ci=0.9),
    "a cell": lambda: tm.evaluate(Y, P, ["auc"]).cell("auc"),
    "a report with an undefined value": lambda: tm.evaluate([1, 1], [0.2, 0.3], ["auc"]),
    "a report with a failed cell": lambda: tm.evaluate([0.5, 2.5], [1.0, 2.0], ["rmse", "auc"], errors="report"),
    "a report of many classes": lambda: tm.evaluate(MANY, MANY, ["recall(average=None)", "classification_report"]),
    "a report of many groups": _groups,
    "slices": lambda: _groups().slices,
    "a confusion matrix of many classes": lambda: tm.confusion_matrix(MANY, MANY[::-1]),
    "a confusion matrix of long labels": lambda: tm.confusion_matrix([LONG, "b"], ["b", "b"]),
    "a curve": lambda: tm.roc_curve(Y, P),
    "thresholds": lambda: tm.threshold_table(Y, P),
    "a comparison": lambda: tm.compare(Y, {"a": P, LONG: P[::-1]}, ["auc"]),
    "a difference": lambda: next(iter(tm.compare(Y, {"a": P, "b": P[::-1]}, ["auc"]))),
    "a condition": lambda: tm.accept(tm.evaluate(Y, P, ["auc"]), "auc > 0.9"),
    "a tally": lambda: _tally(["auc", "accuracy"]),
    "a tally of rows": lambda: _tally(["spearman", "median_absolute_error"]),
    "an evaluation set": lambda: tm.training.EvalSet("valid", P),
    "an evaluator": lambda: tm.training.Evaluator(
        ["rmse"], [tm.training.EvalSet("valid", P)], early_stopping=tm.training.EarlyStopping(3)
    ),
    "a history": _rounds,
    "a round": lambda: next(iter(_rounds())),
    "a cross-validation": lambda: tm.model_selection.cross_validate(
        LinearRegression(), X[:20], P[:20], splitter=tm.model_selection.LeaveOneOut(), metrics=["mae"]
    ),
    "a splitter": lambda: tm.model_selection.StratifiedKFold(3),
    "a score of a submission": lambda: tm.submissions.score_submission(
        {"row_id": ["a", "b"], "label": [LONG, "y"]}, {"row_id": ["a", "b"], "label": [LONG, "z"]}
    ),
    "a metric with parameters": lambda: tm.FScore(beta=2.0, average="macro"),
    "a metric of groups": lambda: tm.gap("recall"),
    "an explanation": lambda: tm.explain("r2"),
    "a choice": lambda: tm.choose(task="regression"),
    "the listing": tm.list_metrics,
    **{f"a {name}": lambda name=name: getattr(errors, name)("what is wrong") for name in errors.__all__},
    "a file that is too large": lambda: tm.errors.BoundError("it is too large", "too_large", size="3"),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_what_is_printed_has_an_end_and_copies_are_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither raises, however many rows, groups and classes there are and however long their names."""
    monkeypatch.setattr(registry, "functions", {})  # those of other tests are listed too
    held = OBJECTS[name]()
    shown = repr(held)
    most = 1_000 * 240 if name == "slices" else 60_000  # all groups, up to 1,000 rows of 200 characters per cell
    assert 0 < len(shown) < most
    assert 0 < len(str(held)) < most
    for again in (pickle.loads(pickle.dumps(held)), copy.copy(held), copy.deepcopy(held)):
        assert type(again) is type(held)
        assert repr(again) == shown
        assert getattr(again, "facts", None) == getattr(held, "facts", None)


def test_a_plot_says_how_to_keep_it() -> None:
    with pytest.raises(tm.TallymarkError, match=r"a plot cannot be pickled; keep its drawing with plot\.save"):
        pickle.dumps(tm.evaluate(Y, P, ["auc"]).plot.roc())
