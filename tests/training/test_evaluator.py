"""Evaluator: rounds, actions, history, periods, warm starts, and the same numbers as evaluate."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

import tallymark as tm

METRICS = ["auc", "logloss", "brier", "accuracy", "fscore", "ece"]


def rows(n=500, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, rng.normal(size=n) + 2 * y - 1, rng.random(n)


def errors_of(values, **given):
    """An evaluator whose mae in round k is the k-th value."""
    evaluator = tm.training.Evaluator(["mae"], tm.training.EvalSet("valid", [0.0]), **given)
    return evaluator, [evaluator.step(k, {"valid": [value]}) for k, value in enumerate(values)]


def test_values_are_those_of_evaluate():
    """To the last bit, on every set, with weights, margins and classes of any name; also of many rows at once."""
    for n in (500, 20_000):
        y, m, w = rows(n)
        names = np.array(["no", "yes"])[y]
        sets = [
            tm.training.EvalSet("margins", y, weights=w, kind="margin"),
            tm.training.EvalSet("names", names, kind="margin", positive="yes"),
            tm.training.EvalSet("series", pd.Series(names), kind="margin", positive="yes", classes=["no", "yes"]),
        ]
        evaluator = tm.training.Evaluator(METRICS, sets)
        for k in range(2):
            found = evaluator.step(k, {held.name: m + k for held in sets})
            expected = [
                tm.evaluate(y, m + k, METRICS, weights=w, kind="margin"),
                tm.evaluate(names, m + k, METRICS, kind="margin", positive="yes"),
                tm.evaluate(names, m + k, METRICS, kind="margin", positive="yes", classes=["no", "yes"]),
            ]
            for held, report in zip(sets, expected, strict=True):
                assert dict(found.reports[held.name]) == dict(report)
                assert {r.metric: r.value for r in found.results if r.set == held.name} == dict(report)


def test_margins_are_transformed_once(monkeypatch):
    """However many metrics read them as labels or in bins."""
    from tallymark.states.labels import encoding

    y, m, _ = rows()
    calls = []
    real = encoding.read_margins
    monkeypatch.setattr(encoding, "read_margins", lambda held, out: calls.append(1) or real(held, out))
    evaluator = tm.training.Evaluator(
        ["accuracy", "fscore", "ece", "mce", "accuracy(threshold=0.3)"], tm.training.EvalSet("v", y, kind="margin")
    )
    evaluator.step(0, {"v": m})
    assert len(calls) == 1
    evaluator.step(1, {"v": m})
    assert len(calls) == 2


def test_results_name_set_metric_value_and_direction():
    """In the order of sets and metrics; classes of a metric are results of their own."""
    evaluator = tm.training.Evaluator(
        {"f": "recall(average=none)", "area": "accuracy"},
        [tm.training.EvalSet("a", ["x", "y"]), tm.training.EvalSet("b", ["x", "y"])],
    )
    found = evaluator.step(0, {"b": ["x", "y"], "a": ["x", "x"]})
    assert found.results[:3] == (
        tm.training.EvalResult("a", "f · x", 1.0, "higher"),
        tm.training.EvalResult("a", "f · y", 0.0, "higher"),
        tm.training.EvalResult("a", "area", 0.5, "higher"),
    )
    assert [result.set for result in found.results] == ["a"] * 3 + ["b"] * 3
    assert found.value("b", "area") == 1.0
    with pytest.raises(KeyError):
        found.value("c", "area")


def test_actions_follow_the_value():
    """Improved, continue and stop; the best round is that of the value."""
    evaluator, found = errors_of([3.0, 2.0, 2.0, 2.5], early_stopping=tm.training.EarlyStopping(2))
    assert [each.action for each in found] == ["improved", "improved", "continue", "stop"]
    assert [each.improved for each in found] == [True, True, False, False]
    assert (evaluator.best_round, evaluator.best_value, evaluator.stopped) == (1, 2.0, True)
    assert evaluator.monitor == ("valid", "mae")


def test_without_a_rule_the_best_round_is_kept():
    """And nothing stops."""
    evaluator, found = errors_of([3.0, 1.0, 2.0, 2.0])
    assert [each.action for each in found] == ["improved", "improved", "continue", "continue"]
    assert (evaluator.best_round, evaluator.best_value, evaluator.stopped) == (1, 1.0, False)


def test_a_metric_without_a_direction_needs_none():
    """Unless a rule is to follow it."""
    y, m, _ = rows()
    evaluator = tm.training.Evaluator(["confusion_matrix"], tm.training.EvalSet("v", y, kind="margin"))
    assert tm.confusion_matrix.better is None
    found = evaluator.step(0, {"v": m})
    assert (found.action, found.results, evaluator.best_round) == ("continue", (), None)
    assert found.reports["v"]["confusion_matrix"]
    with pytest.raises(tm.ParameterError, match="does not define which values are better"):
        tm.training.Evaluator(
            ["confusion_matrix"], tm.training.EvalSet("v", y), early_stopping=tm.training.EarlyStopping(1)
        )


def test_rounds_between_periods_are_skipped():
    """Rounds between are skipped: their predictions are not asked for, and they do not count for patience."""
    asked = []

    def predictions(k, value):
        return lambda: asked.append(k) or {"valid": [value]}

    rule = tm.training.EarlyStopping(2)
    evaluator = tm.training.Evaluator(["mae"], tm.training.EvalSet("valid", [0.0]), period=3, early_stopping=rule)
    values = [1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 3.0]
    found = [evaluator.step(k, predictions(k, value)) for k, value in enumerate(values)]
    assert [each.action for each in found] == ["improved", "skip", "skip", "continue", "skip", "skip", "stop"]
    assert asked == [0, 3, 6]
    assert [each.round for each in evaluator.history] == [0, 3, 6]
    assert evaluator.best_round == 0
    assert found[1].results == ()
    assert found[1].line == ""


@pytest.mark.parametrize(
    ("sets", "monitor", "followed"),
    [
        (["train", "valid"], None, "valid"),
        (["Training", "valid"], None, "valid"),
        (["learn", "validation"], None, "validation"),
        (["train"], None, "train"),
        (["train", "valid"], "train", "train"),
        (["train", "valid", "test"], "test", "test"),
        (["train", "valid", "test"], "test-mae", "test"),
        (["train", "valid"], "mae", "valid"),
        (["train", "valid"], tm.mae, "valid"),
        (["train", "valid"], ["valid", "mae"], "valid"),
    ],
)
def test_a_rule_follows_the_set_that_is_not_trained_on_unless_it_names_one(sets, monitor, followed):
    """The only set that is not called train, a single set, or what monitor names: a set, a metric, or both."""
    eval_sets = [tm.training.EvalSet(name, [1.0]) for name in sets]
    rule = tm.training.EarlyStopping(1, monitor=monitor)
    evaluator = tm.training.Evaluator(["rmse", "mae"], eval_sets, early_stopping=rule)
    assert evaluator.monitor == (followed, "mae" if monitor and "mae" in str(monitor) else "rmse")


def test_several_sets_need_a_monitor_before_anything_is_trained():
    """Also where the metrics are not known yet; without a rule, the first such set has the best round."""
    sets = [tm.training.EvalSet(name, [1.0, 2.0]) for name in ("train", "valid", "test")]
    for metrics in (["mae"], None):
        with pytest.raises(tm.ParameterError, match=r"`monitor` must name .* 'valid', 'test'. Pass monitor='valid'"):
            tm.training.Evaluator(metrics, sets, early_stopping=tm.training.EarlyStopping(1))
    assert tm.training.Evaluator(["mae"], sets).monitor == ("valid", "mae")


def test_a_number_is_the_patience_of_early_stopping():
    """As where trainers take early_stopping_rounds."""
    evaluator, found = errors_of([3.0, 2.0, 2.5, 2.5], early_stopping=2)
    assert (found[-1].action, evaluator.best_round) == ("stop", 1)
    with pytest.raises(tm.ParameterError, match="`early_stopping` must be stopping rules"):
        tm.training.Evaluator(["mae"], tm.training.EvalSet("valid", [0.0]), early_stopping="2")


def test_monitor_by_set_and_any_name_of_the_metric():
    """The second set, the second metric, by an alias, by the object and by a key of one's own."""
    sets = [tm.training.EvalSet("train", [0, 1, 1]), tm.training.EvalSet("valid", [0, 1, 1])]
    good, bad = [0.1, 0.9, 0.8], [0.9, 0.1, 0.8]
    for name, metrics in (
        ("roc_auc", ["accuracy", "auc"]),
        (tm.auc, ["accuracy", "auc"]),
        ("mine", {"acc": "accuracy", "mine": "auc"}),
    ):
        evaluator = tm.training.Evaluator(
            metrics, sets, early_stopping=tm.training.EarlyStopping(1, monitor=("valid", name))
        )
        evaluator.step(0, {"train": good, "valid": bad})
        assert evaluator.best_value == tm.auc([0, 1, 1], bad)
        assert evaluator.step(1, {"train": bad, "valid": good}).action == "improved"
    for monitor, words in ((("test", "auc"), "eval set"), (("valid", "rmse"), "metrics"), (("valid", "x"), "metrics")):
        with pytest.raises(tm.ParameterError, match=words):
            tm.training.Evaluator(["auc"], sets, early_stopping=tm.training.EarlyStopping(1, monitor=monitor))


def test_what_is_followed_must_be_one_number():
    """Not one per class."""
    rule = tm.training.EarlyStopping(1)
    evaluator = tm.training.Evaluator(
        ["recall(average=none)"], tm.training.EvalSet("v", ["a", "b"]), early_stopping=rule
    )
    with pytest.raises(tm.ParameterError, match="one number"):
        evaluator.step(0, {"v": ["a", "b"]})


def test_a_history_has_every_export():
    """Text, HTML, plain data, JSON and data frames; undefined is null in JSON and comes back as NaN."""
    evaluator = tm.training.Evaluator(["r2", "mae"], tm.training.EvalSet("v", [1.0, 1.0]))
    for k in range(3):
        evaluator.step(k, {"v": [1.0, 3.0 - k]})
    history = evaluator.history
    assert history.values("v", "mae") == {0: 1.0, 1: 0.5, 2: 0.0}
    assert history.values("v", "mean_absolute_error" if "mean_absolute_error" in tm.metrics.registry.aliases else "mae")
    columns = history.columns()
    assert columns["round"] == [0, 0, 1, 1, 2, 2]
    assert columns["reason"][0] == "the truth is constant"
    assert columns["reason"][1] is None
    for frame in (history.to_pandas(), history.to_polars(), history.to_arrow().to_pandas()):
        assert len(frame) == 6
        assert list(frame["value"])[1::2] == [1.0, 0.5, 0.0]
    assert json.loads(history.to_json())["rounds"][0]["results"][0]["value"] is None
    again = tm.training.History.from_json(history.to_json())
    assert again.to_dict()["rounds"][1]["results"][1] == history.to_dict()["rounds"][1]["results"][1]
    assert math.isnan(again[0].results[0].value)
    assert "3 evaluations" in str(history)
    assert "undefined" in str(history)
    assert "<table>" in history._repr_html_()
    with pytest.raises(KeyError, match="it has v-mae, v-r2"):
        history.values("w", "mae")


@pytest.mark.parametrize("text", ["nonsense", "3", '{"rounds": 3}', '{"rounds": [{}]}', "[1]", '{"round": 0}\n{'])
def test_an_invalid_history_is_refused(text):
    """Is refused, whatever it is."""
    with pytest.raises(tm.ParameterError):
        tm.training.History.from_json(text)


def test_a_resumed_run_stops_where_one_run_does():
    """A run in two parts stops and remembers as one run does."""
    values = [3.0, 2.0, 2.5, 2.4, 2.6, 1.0]
    for cut in range(1, 5):
        for rule in (
            lambda: tm.training.EarlyStopping(3),
            lambda: [tm.training.EarlyStopping(3), tm.training.EarlyStopping(9)],
        ):
            whole, found = errors_of(values[:5], early_stopping=rule())
            first, _ = errors_of(values[:cut], early_stopping=rule())
            kept = tm.training.History.from_json(first.history.to_json())
            second = tm.training.Evaluator(
                ["mae"], tm.training.EvalSet("valid", [0.0]), early_stopping=rule(), history=kept
            )
            assert (second.best_round, second.best_value) == (first.best_round, first.best_value)
            actions = [second.step(k, {"valid": [values[k]]}).action for k in range(cut, 5)]
            assert actions == [each.action for each in found[cut:]]
            assert second.history.to_dict() == whole.history.to_dict()
            second.reset()
            assert len(second.history) == cut
            whole.resume(kept)
            assert whole.history.to_dict() == kept.to_dict()
            assert (whole.best_round, whole.last_round) == (first.best_round, cut - 1)
    with pytest.raises(tm.ParameterError, match="history"):
        tm.training.Evaluator(["rmse"], tm.training.EvalSet("valid", [0.0]), history=whole.history)
    with pytest.raises(tm.ParameterError, match="metrics"):
        tm.training.Evaluator(None, tm.training.EvalSet("valid", [0.0]), history=whole.history)


def test_a_reset_forgets_rounds_and_counts():
    """Starts anew: history, best round, and the count of rounds."""
    evaluator, _ = errors_of([1.0, 2.0], early_stopping=tm.training.EarlyStopping(1))
    assert evaluator.stopped
    evaluator.reset()
    assert (evaluator.best_round, evaluator.stopped, len(evaluator.history)) == (None, False, 0)
    assert evaluator.step(0, {"valid": [9.0]}).action == "improved"


def test_the_default_metrics_are_those_of_evaluate():
    """None chooses as evaluate does, at the first evaluation."""
    evaluator = tm.training.Evaluator(
        None, tm.training.EvalSet("v", [1.0, 2.0]), early_stopping=tm.training.EarlyStopping(1)
    )
    assert evaluator.monitor is None
    found = evaluator.step(0, {"v": [1.0, 3.0]})
    assert [each.metric for each in found.results] == ["rmse", "mae", "r2"]
    assert evaluator.monitor == ("v", "rmse")


def test_a_failed_metric_raises_or_is_nan():
    """Raise by default; as cells they are NaN, which never improves."""
    held = tm.training.EvalSet("v", [1.0, 2.0])
    with pytest.raises(tm.TallymarkError):
        tm.training.Evaluator(["coverage"], held).step(0, {"v": [1.0, 2.0]})
    evaluator = tm.training.Evaluator(
        ["coverage", "mae"], held, errors="report", early_stopping=tm.training.EarlyStopping(2)
    )
    found = [evaluator.step(k, {"v": [1.0, 2.0]}) for k in range(2)]
    assert math.isnan(found[0].results[0].value)
    assert "column" in found[0].results[0].reason
    assert [each.action for each in found] == ["continue", "stop"]
    assert evaluator.best_round is None


def test_a_diverging_model_is_named():
    """NaN in the predictions is an error that says of which eval set."""
    evaluator = tm.training.Evaluator(
        ["mae"], [tm.training.EvalSet("train", [1.0]), tm.training.EvalSet("valid", [1.0])]
    )
    with pytest.raises(tm.MissingValueError, match=r"`y_pred` .*\(eval set 'valid'"):
        evaluator.step(0, {"train": [1.0], "valid": [math.nan]})
    with pytest.raises(tm.LengthError, match="eval set 'train'"):
        evaluator.step(0, {"train": [1.0, 2.0], "valid": [1.0]})


def test_arguments_that_cannot_be_used_are_refused():
    """Names that do not fit, rounds that do not grow, sets that are none."""
    held = tm.training.EvalSet("v", [1.0])
    evaluator = tm.training.Evaluator(["mae"], [held, tm.training.EvalSet("w", [1.0])])
    for bad, words in (
        ({"v": [1.0]}, "'w' is missing"),
        ({"v": [1.0], "w": [1.0], "x": [1.0]}, "'x' is not one"),
        ([1.0], "map"),
    ):
        with pytest.raises(tm.ParameterError, match=words):
            evaluator.step(0, bad)
    assert len(evaluator.history) == 0
    evaluator.step(4, {"v": [1.0], "w": [1.0]})
    for bad in (4, 3, -1, 1.5):
        with pytest.raises(tm.ParameterError, match="round"):
            evaluator.step(bad, {"v": [1.0], "w": [1.0]})
    for bad, words in (
        ([], "at least one"),
        ([held, held], "different names"),
        ([3], "eval sets"),
        ("v", "list"),
        (3, "list"),
    ):
        with pytest.raises(tm.ParameterError, match=words):
            tm.training.Evaluator(["mae"], bad)
    for given in ({"period": 0}, {"callbacks": [3]}, {"errors": "ignore"}, {"early_stopping": [3]}):
        with pytest.raises(tm.ParameterError):
            tm.training.Evaluator(["mae"], held, **given)
    for bad in (
        lambda: tm.training.EvalSet("", [1.0]),
        lambda: tm.training.EvalSet(3, [1.0]),
        lambda: tm.training.EvalSet("v", []),
        lambda: tm.training.EvalSet("v", [1.0], weights=[-1.0]),
        lambda: tm.training.EvalSet("v", [1.0], kind="guess"),
        lambda: tm.training.EvalSet("v", [1.0], missing="skip"),
        lambda: tm.training.EvalSet("v", [1.0], by=[1, 2]),
    ):
        with pytest.raises(tm.TallymarkError):
            bad()


def test_predictions_are_not_kept_by_reference():
    """A trainer that writes into the same array changes nothing of earlier rounds."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    rule = tm.training.GainStopping(0.0, ci=tm.Intervals(resamples=99))
    evaluator = tm.training.Evaluator(["mae"], tm.training.EvalSet("v", y), early_stopping=rule)
    buffer = y + 0.1
    evaluator.step(0, {"v": buffer})
    buffer += rng.normal(size=200) + 5.0
    assert evaluator.step(1, {"v": buffer}).action == "stop"
    assert rule.last.hi < 0


def test_rewinding_forgets_what_follows():
    """The rule of stopping is where it was, and the rounds are done again; rewound to 0, nothing is left."""
    stopping = tm.training.EarlyStopping(2)
    evaluator = tm.training.Evaluator("mae", tm.training.EvalSet("valid", [0.0]), early_stopping=stopping)
    for k, value in enumerate((3.0, 2.0, 2.5, 2.5)):
        evaluator.step(k, [value])
    evaluator.rewind(3)
    assert (evaluator.last_round, evaluator.best_round, evaluator.stopped, stopping.waited) == (2, 1, False, 1)
    assert evaluator.step(3, [1.0]).action == "improved"
    evaluator.rewind(0)
    assert (len(evaluator.history), evaluator.last_round, evaluator.best_round) == (0, None, None)
