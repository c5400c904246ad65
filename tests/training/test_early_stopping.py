"""EarlyStopping: when it stops, which round is best, and what never counts as an improvement."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm

NAN, INF = math.nan, math.inf

# values, patience, min_delta, better → index of the stop (None: none), best round, best value
TABLE = {
    "rising, lower is better": ([0.5, 0.6, 0.7, 0.8], 3, 0.0, "lower", 3, 0, 0.5),
    "falling, lower is better": ([0.8, 0.7, 0.6, 0.5], 1, 0.0, "lower", None, 3, 0.5),
    "rising, higher is better": ([0.5, 0.6, 0.7, 0.8], 1, 0.0, "higher", None, 3, 0.8),
    "falling, higher is better": ([0.8, 0.7, 0.6], 2, 0.0, "higher", 2, 0, 0.8),
    "a tie is no improvement": ([0.5, 0.5, 0.5], 2, 0.0, "lower", 2, 0, 0.5),
    "an improvement starts the count again": ([0.5, 0.6, 0.4, 0.5, 0.5], 2, 0.0, "lower", 4, 2, 0.4),
    "patience of one": ([0.5, 0.6], 1, 0.0, "lower", 1, 0, 0.5),
    "NaN first": ([NAN, NAN, 0.5, 0.4], 3, 0.0, "lower", None, 3, 0.4),
    "NaN first counts as an evaluation": ([NAN, NAN], 2, 0.0, "lower", 1, None, None),
    "NaN inside": ([0.5, NAN, 0.6], 2, 0.0, "lower", 2, 0, 0.5),
    "NaN inside, patient enough": ([0.5, NAN, 0.4, NAN, NAN, NAN], 3, 0.0, "lower", 5, 2, 0.4),
    "infinity is no finite value": ([INF, 3.0, -INF, 4.0], 2, 0.0, "lower", 3, 1, 3.0),
    "min_delta does not hide the best round": ([1.0, 0.95, 0.92], 2, 0.1, "lower", 2, 2, 0.92),
    "small gains add up": ([1.0, 0.95, 0.89, 0.85, 0.78], 2, 0.1, "lower", None, 4, 0.78),
    "min_delta itself is not enough": ([1.0, 0.5, 0.75], 2, 0.5, "lower", 2, 1, 0.5),
    "best at a value": ([0.5, -0.4, 0.3, -0.35, 0.31], 2, 0.0, 0.0, 4, 2, 0.3),
    "best at a value, with min_delta": ([0.5, 0.45, -0.39], 3, 0.1, 0.0, None, 2, -0.39),
}


@pytest.mark.parametrize("name", TABLE)
def test_it_stops_where_counting_by_hand_does(name):
    """The stop, the best round and the best value, as counted by hand."""
    values, patience, min_delta, better, stop, best_round, best_value = TABLE[name]
    rule = tm.training.EarlyStopping(patience, min_delta=min_delta, better=better)
    said = [rule.should_stop(value) for value in values]
    assert (said.index(True) if any(said) else None) == stop
    assert stop is None or stop == len(values) - 1
    assert (rule.best_round, rule.best_value) == (best_round, best_value)


@pytest.mark.parametrize("name", TABLE)
def test_the_evaluator_follows_the_same_rule(name):
    """Fed the same values as a metric, by rounds."""
    values, patience, min_delta, better, stop, best_round, best_value = TABLE[name]
    feed = iter(values)
    shown = tm.custom(lambda y, p, w: next(feed), name="shown_value", better=better)
    try:
        rule = tm.training.EarlyStopping(patience, min_delta=min_delta)
        evaluator = tm.training.Evaluator([shown], tm.training.EvalSet("valid", [1.0]), early_stopping=rule)
        actions = [evaluator.step(k, {"valid": [1.0]}).action for k in range(len(values))]
    finally:
        from tallymark.metrics import registry

        registry.functions.pop("shown_value")
    assert ("stop" in actions) == (stop is not None)
    assert stop is None or actions.index("stop") == stop
    assert (evaluator.best_round, evaluator.best_value) == (best_round, best_value)


@given(
    st.lists(st.sampled_from([NAN, INF, -INF, 0.0, 0.1, 0.2, 0.25, 0.3, 0.5]), max_size=30),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.05, 0.1]),
    st.sampled_from(["lower", "higher"]),
)
def test_early_stopping_agrees_with_a_plain_loop(values, patience, min_delta, better):
    """The rule in a few lines: walk the values, count those that are not better than the last that counted."""
    rule = tm.training.EarlyStopping(patience, min_delta=min_delta, better=better)
    sign = 1 if better == "higher" else -1
    counted, waited = None, 0
    for value in values:
        gain = INF if counted is None else sign * (value - counted)
        if math.isfinite(value) and gain > min_delta:
            counted, waited = value, 0
        else:
            waited += 1
        assert rule.should_stop(value) == (waited >= patience)
    finite = [value for value in values if math.isfinite(value)]
    best = None if not finite else max(finite) if better == "higher" else min(finite)
    assert rule.best_value == best
    assert rule.best_round == (None if best is None else values.index(best))


def test_a_reset_rule_can_serve_another_training():
    """A rule can serve a second training."""
    rule = tm.training.EarlyStopping(1, better="lower")
    assert [rule.should_stop(value) for value in (1.0, 2.0)] == [False, True]
    rule.reset()
    assert (rule.best_value, rule.best_round, rule.stopped, rule.waited) == (None, None, False, 0)
    assert not rule.should_stop(5.0)
    assert rule.best_round == 0


@pytest.mark.parametrize("rule", [tm.training.EarlyStopping, tm.training.GainStopping])
def test_directions_of_other_libraries_say_what_to_write(rule):
    """Whether higher is better is `better=` here."""
    for name, value, better in (("mode", "max", "higher"), ("mode", "min", "lower"), ("maximize", True, "higher")):
        with pytest.raises(tm.ParameterError, match=f'{rule.__name__} has no argument .* Write better="{better}"'):
            rule(3, **{name: value})
    with pytest.raises(tm.ParameterError, match=r"no argument `delta`$"):
        rule(3, delta=1)


def test_arguments_that_cannot_be_used_are_refused():
    """Patience below one, odd directions, monitors and deltas; and no direction at all, outside of an evaluator."""
    for bad in (0, -1, 1.5, True, "3"):
        with pytest.raises(tm.ParameterError, match="patience"):
            tm.training.EarlyStopping(bad)
    for bad in (-0.1, NAN, INF, "small"):
        with pytest.raises(tm.ParameterError, match="min_delta"):
            tm.training.EarlyStopping(1, min_delta=bad)
    for bad in ("up", NAN, True):
        with pytest.raises(tm.ParameterError, match="better"):
            tm.training.EarlyStopping(1, better=bad)
    for bad in (("valid",), (1, "auc"), ("valid", 3), 3):
        with pytest.raises(tm.ParameterError, match="monitor"):
            tm.training.EarlyStopping(1, monitor=bad)
    with pytest.raises(tm.ParameterError, match="`better` must be given"):
        tm.training.EarlyStopping(1).should_stop(0.5)


def test_rules_may_stop_together_or_one_by_one():
    """Two rules on two metrics: any stops with the first, all with the last that is still waiting."""
    y = np.array([0.0, 0.0])
    # mae: 1, 2, 3, 4, 0.5, 5, 6 (bad from round 1 on); max_error the same here, so give it more patience
    errors = [1.0, 2.0, 3.0, 4.0, 0.5, 5.0, 6.0, 7.0, 8.0]

    def stop_of(**how):
        rules = [tm.training.EarlyStopping(2), tm.training.EarlyStopping(4, monitor=("valid", "max_error"))]
        stopping = rules if not how else tm.training.StoppingRules(rules, **how)
        evaluator = tm.training.Evaluator(
            ["mae", "max_error"], tm.training.EvalSet("valid", y), early_stopping=stopping
        )
        for k, error in enumerate(errors):
            if evaluator.step(k, {"valid": [error, error]}).action == "stop":
                return k
        return None

    assert stop_of() == stop_of(combine="any") == 2
    assert stop_of(combine="all") == 8


def test_rules_may_be_nested():
    """Any of two, one of which is all of two."""
    inner = tm.training.StoppingRules([tm.training.EarlyStopping(1), tm.training.EarlyStopping(3)], "all")
    outer = tm.training.StoppingRules([inner, tm.training.EarlyStopping(2)])
    evaluator = tm.training.Evaluator("mae", tm.training.EvalSet("valid", [0.0]), early_stopping=outer)
    assert [evaluator.step(k, [[1.0], [2.0], [2.0]][k]).action for k in range(3)] == ["improved", "continue", "stop"]
    evaluator.reset()
    assert (evaluator.best_round, outer.stopped, len(evaluator.history)) == (None, False, 0)


def test_invalid_combinations_of_rules_are_refused():
    """None, the same twice, other things, other words."""
    rule = tm.training.EarlyStopping(1)
    for bad, words in (([], "at least one"), ([rule, rule], "same rule twice"), ([3], "stopping rules")):
        with pytest.raises(tm.ParameterError, match=words):
            tm.training.StoppingRules(bad)
    with pytest.raises(tm.ParameterError, match="combine"):
        tm.training.StoppingRules([rule], "most")


def test_the_repr_of_a_rule_is_its_call():
    """As they would be written."""
    assert (
        repr(tm.training.EarlyStopping(3, min_delta=0.1, better="lower"))
        == "EarlyStopping(3, min_delta=0.1, better='lower')"
    )
    assert repr(tm.training.GainStopping(0.1)) == "GainStopping(0.1, patience=1, ci=0.95)"
    assert (
        repr(tm.training.StoppingRules([tm.training.EarlyStopping(1)]))
        == "StoppingRules([EarlyStopping(1)], combine='any')"
    )
    evaluator = tm.training.Evaluator("mae", tm.training.EvalSet("v", [1.0]))
    assert repr(evaluator) == "Evaluator([mae], [v], 0 evaluations)"


def test_a_metric_in_the_place_of_the_patience_is_refused_in_words():
    """As other libraries have it."""
    with pytest.raises(tm.ParameterError, match=r"`patience` must be the number.*Name the metric as monitor='logloss'"):
        tm.training.EarlyStopping("logloss", patience=3)
    assert "patience" in inspect.signature(tm.training.EarlyStopping).parameters
