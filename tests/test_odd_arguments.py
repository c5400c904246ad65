"""Objects that nobody would pass on purpose: every call refuses them with an error of ours, or copes."""

from __future__ import annotations

import contextlib
import copy
import inspect
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import tallymark as tm
from tallymark import errors
from tallymark.metrics import registry


class _Failing:
    """Code of its own that fails, whatever is asked of it."""

    def fail(self, *_):
        raise RuntimeError("code of the caller's")

    __repr__ = __eq__ = __bool__ = __len__ = __iter__ = __getitem__ = __float__ = __index__ = fail  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


ODD = {
    "an array": np.arange(3),
    "a table": np.zeros((2, 2)),
    "an array of no dimensions": np.array("value"),
    "an empty array": np.array([]),
    "a series": pd.Series([1, 2]),
    "a frame": pd.DataFrame({"a": [1]}),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "a list": [1, 2],
    "a mapping": {"a": 1},
    "a mapping of numbers": {1: 2},
    "bytes": b"x",
    "a lone surrogate": "\ud800",
    "a NUL": "a\0",
    "many parentheses": "(" * 500,
    "a number of 5,001 digits": 10**5000,
    "NaN": float("nan"),
    "a signalling NaN": Decimal("sNaN"),
    "a complex number": 1j,
    "a function": print,
    "a type": int,
    "a metric": tm.mae,
    "failing code": _Failing(),
    "a list of failing code": [_Failing()],
}
Y, P = [0.0, 1.0, 2.0, 1.0], [0.1, 0.9, 2.0, 1.0]
TABLE = {"y": Y, "p": P}
BOTH = {"y_true": Y, "y_pred": P}
CALLS = {
    "evaluate": (tm.evaluate, {**BOTH, "metrics": ["mae"]}),
    "evaluate with intervals": (tm.evaluate, {**BOTH, "metrics": ["mae"], "ci": 0.9}),
    "evaluate_table": (tm.evaluate_table, {"source": TABLE, "truth": "y", "prediction": "p", "metrics": ["mae"]}),
    "a call": (tm.mae, BOTH),
    "Intervals": (tm.Intervals, {}),
    "Target": (tm.Target, {}),
    "Tally": (tm.Tally, {"metrics": ["mae"]}),
    "update": (tm.Tally(["mae"]).update, BOTH),
    "update by groups": (tm.Tally(["mae"], by="g").update, {**BOTH, "by": ["a"] * 4}),
    "update with intervals": (tm.Tally(["mae"], ci=0.9).update, {**BOTH, "keys": [1, 2, 3, 4]}),
    "report": (tm.Tally(["mae"], by="g").report, {}),
    "from_bytes": (tm.Tally.from_bytes, {"data": b""}),
    "compare": (
        tm.compare,
        {"y_true": Y, "models": {"a": P, "b": Y}, "metrics": ["mae"], "ci": tm.Intervals(resamples=99)},
    ),
    "accept": (tm.accept, {"report": {"mae": 1.0}, "condition": "mae < 2"}),
    "to_json": (tm.evaluate(Y, P, ["mae"]).to_json, {}),
    "to_markdown": (tm.evaluate(Y, P, ["mae"]).to_markdown, {}),
    "to_terminal": (tm.evaluate(Y, P, ["mae"]).to_terminal, {}),
    "list_metrics": (tm.list_metrics, {}),
    "custom": (tm.custom, {"function": lambda y, p, w: 0.0, "name": "odd"}),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", CALLS)
def test_odd_arguments_raise_errors_of_ours(name, odd):
    """One argument at a time."""
    call, given = CALLS[name]
    known = dict(registry.functions)
    kept = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    for argument, parameter in inspect.signature(call).parameters.items():
        if parameter.kind not in kept and argument != "progress":
            with contextlib.suppress(tm.TallymarkError):
                call(**{**given, argument: ODD[odd]})
    registry.functions.clear()
    registry.functions.update(known)


@pytest.mark.parametrize("odd", ODD)
def test_odd_parameters_of_metrics_raise_errors_of_ours(odd):
    """Every parameter of every metric."""
    for cls in registry.classes.values():
        for parameter in cls._parameters:
            with contextlib.suppress(tm.TallymarkError):
                str(cls(**{parameter: ODD[odd]}))


@pytest.mark.parametrize("odd", [name for name in ODD if name != "a metric"])
def test_odd_keys_are_key_errors(odd):
    """Of reports and slices, as of any mapping."""
    report = tm.evaluate(Y, P, ["mae"], by=["a", "b", "a", "b"])
    for held in (report, report.slices):
        with pytest.raises(KeyError):
            held[ODD[odd]]


@pytest.mark.parametrize("name", errors.__all__)
def test_errors_survive_pickling(name):
    """With their sentence, as from a worker process."""
    error = getattr(tm, name)("`x` must be 1; got 2")
    for back in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(back) is type(error)
        assert str(back) == str(error)
    bound = pickle.loads(pickle.dumps(tm.BoundError("too large", "too_many_rows", most="3")))
    assert (str(bound), bound.code, bound.facts) == ("too large", "too_many_rows", {"most": "3"})


def test_what_training_holds_survives_pickling(tmp_path):
    """An evaluator goes on from where it was, and so does its file of lines."""
    lines = tm.training.JsonLines(tmp_path / "rounds.jsonl")
    evaluator = tm.training.Evaluator(["mae", "r2"], tm.training.EvalSet("valid", Y), callbacks=lines)
    evaluator.step(0, {"valid": P})
    for place, back in enumerate((pickle.loads(pickle.dumps(evaluator)), copy.deepcopy(evaluator)), 1):
        back.step(place, {"valid": P})
        assert back.history[-1].results == evaluator.history[-1].results
        back.close()
    evaluator.close()
    assert len((tmp_path / "rounds.jsonl").read_text().splitlines()) == 3


def test_what_cannot_be_pickled_says_so():
    """A plot is what a function draws, and a progress bar belongs to a terminal."""
    plot = tm.evaluate(Y, P, ["mae"]).plot.residuals()
    assert copy.copy(plot) is copy.deepcopy(plot) is plot
    for held in (plot, tm.training.Progress(3)):
        with pytest.raises(tm.ParameterError, match=r"cannot be .*pickled"):
            pickle.dumps(held)


def test_a_tally_of_a_lambda_is_copied():
    """Its states and metrics are shared, since nothing changes them."""
    metric = tm.custom(lambda y, p, w: float(abs(y - p).max()), name="largest_gap")
    tally = tm.Tally([metric]).update(Y, P)
    for back in (copy.copy(tally), copy.deepcopy(tally)):
        back.update(Y, P)
        assert (tally.n, back.n) == (4, 8)
        assert back.report()["largest_gap"] == tally.report()["largest_gap"]
