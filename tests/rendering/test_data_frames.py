"""The types of exported columns do not depend on the values, so that one day's table can be appended to another's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression

import tallymark as tm
from tallymark.rendering.exports import DataFrameExport

RNG = np.random.default_rng(0)
N = 60
Y, P, GROUP, X = RNG.integers(0, 2, N), RNG.random(N), np.array(["a", "b"])[RNG.integers(0, 2, N)], RNG.random((N, 2))
ONE, TWICE, UNEVEN = np.ones(N, int), np.full(N, 2.0), RNG.random(N) + 0.5


def _empty(metrics: list[str], **options: Any) -> Any:
    return tm.Tally(metrics, **options).report()


def _history(truth: Any, rounds: int = 2) -> tm.training.History:
    held = tm.training.Evaluator(["r2"], [tm.training.EvalSet("valid", truth)])
    for k in range(rounds):
        held.step(k, {"valid": P})
    return held.history


def _folds(truth: Any, splitter: Any) -> tm.model_selection.CrossValidation:
    return tm.model_selection.cross_validate(LinearRegression(), X, truth, splitter=splitter, metrics=["r2"])


BOTH = ["auc", "recall"]
EXPORTS: dict[type, list[Callable[[], Any]]] = {
    tm.Report: [
        lambda: tm.evaluate(Y, P, BOTH),
        lambda: tm.evaluate(Y, P, BOTH, ci=0.9),
        lambda: tm.evaluate(ONE, P, BOTH, weights=UNEVEN),
        lambda: tm.evaluate([0.5, 2.5], [1.0, 2.0], ["auc"], errors="report"),
        lambda: tm.evaluate(Y, P > 0.5, ["recall(average=None)"]),
        lambda: _empty(BOTH),
    ],
    tm.evaluation.Slices: [
        lambda: tm.evaluate(Y, P, BOTH, by={"city": GROUP}).slices,
        lambda: tm.evaluate(Y, P, BOTH, by={"city": GROUP}, ci=0.9).slices,
        lambda: tm.evaluate(ONE, P, BOTH, by={"city": GROUP}, weights=UNEVEN).slices,
        lambda: tm.evaluate(Y, P > 0.5, ["recall(average=None)"], by={"city": GROUP}).slices,
        lambda: _empty(BOTH, by=["city"]).slices,
    ],
    tm.evaluation.WorstRows: [
        lambda: tm.evaluate(Y, Y[::-1], ["accuracy"]).worst_rows(),
        lambda: tm.evaluate(Y, Y, ["accuracy"]).worst_rows(),
        lambda: tm.evaluate(Y, ONE, ["accuracy"], weights=UNEVEN).worst_rows(1),
    ],
    tm.metrics.Confusion: [
        lambda: tm.confusion_matrix(Y, Y),
        lambda: tm.confusion_matrix(Y, P),
        lambda: tm.confusion_matrix(Y, Y, weights=TWICE),
        lambda: tm.confusion_matrix(Y, Y, weights=UNEVEN),
        lambda: tm.confusion_matrix(Y, Y).normalized(),
    ],
    tm.metrics.ClassReport: [
        lambda: tm.classification_report(Y, Y),
        lambda: tm.classification_report(ONE, Y, weights=TWICE),
    ],
    tm.metrics.Curve: [
        lambda: tm.lift_curve(Y, P),
        lambda: tm.lift_curve(ONE, ONE),
        lambda: tm.lift_curve(Y, P, weights=TWICE),
    ],
    **{
        type(curve(Y, P)): [
            lambda curve=curve: curve(Y, P),
            lambda curve=curve: curve(Y, P, weights=TWICE),
        ]
        for curve in (tm.roc_curve, tm.pr_curve, tm.det_curve)
    },
    tm.metrics.Thresholds: [lambda: tm.threshold_table(Y, P), lambda: tm.threshold_table(ONE, ONE, weights=UNEVEN)],
    tm.comparison.Comparison: [
        lambda: tm.compare(Y, {"a": P, "b": P[::-1]}, ["auc"]),
        lambda: tm.compare(ONE, {"a": P, "b": P[::-1]}, ["auc"]),
        lambda: tm.compare(Y, {"a": P, "b": P}, ["auc"], weights=UNEVEN, ci=tm.Intervals(resamples=50)),
    ],
    tm.training.History: [lambda: _history(P), lambda: _history(np.ones(N)), lambda: _history(P, 0)],
    tm.model_selection.CrossValidation: [
        lambda: _folds(P, tm.model_selection.KFold(3)),
        lambda: _folds(np.ones(N), tm.model_selection.Holdout()),
    ],
}


def _subclasses(cls: type) -> set[type]:
    return {each for sub in cls.__subclasses__() for each in ({sub} | _subclasses(sub))}


def test_every_export_is_tried():
    assert set(EXPORTS) == _subclasses(DataFrameExport)


@pytest.mark.parametrize("form", ["arrow", "polars", "pandas"])
@pytest.mark.parametrize("kind", EXPORTS, ids=lambda kind: kind.__name__)
def test_types_do_not_depend_on_values(kind: type, form: str) -> None:
    """With intervals and without, with reasons, notes and weights, and of no rows at all."""
    found = []
    for make in EXPORTS[kind]:
        held = make()
        assert type(held) is kind
        if form == "pandas" and kind is tm.metrics.Confusion:  # a matrix with its classes beside it
            continue
        frame = getattr(held, f"to_{form}")()
        types = {"arrow": lambda frame=frame: frame.schema, "polars": lambda frame=frame: frame.schema}
        found.append(types.get(form, lambda frame=frame: frame.dtypes.to_dict())())
    assert all(each == found[0] for each in found), found
    if form == "arrow":
        assert not any(pa.types.is_null(field.type) for field in found[0])
