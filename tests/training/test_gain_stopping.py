"""GainStopping: stop when the rows rule out a gain worth having, by the intervals of compare."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tallymark as tm
from tallymark.training.stopping import Observation

Y = np.random.default_rng(0).integers(0, 2, 400)


def flipped(share, seed):
    """Labels of which so many are wrong, the same rows first whatever the share."""
    order = np.random.default_rng(seed).permutation(len(Y))
    p = Y.copy()
    p[order[: round(share * len(Y))]] ^= 1
    return p


def run(predictions, metrics=("accuracy",), y=Y, **given):
    rule = tm.training.GainStopping(**given)
    evaluator = tm.training.Evaluator(list(metrics), tm.training.EvalSet("v", y), early_stopping=rule)
    return rule, evaluator, [evaluator.step(k, {"v": p}).action for k, p in enumerate(predictions)]


def test_the_gain_is_that_of_compare():
    """Its interval, turned so that more is better, over the best round."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=300)
    rounds = [y + rng.normal(size=300) * spread for spread in (1.0, 0.5, 0.6)]
    rule, _, actions = run(rounds, ["rmse"], y, worth=0.0, ci=tm.Intervals(resamples=199, seed=3))
    found = tm.compare(y, {"best": rounds[1], "round": rounds[2]}, ["rmse"], ci=tm.Intervals(resamples=199, seed=3))
    expected = found[("best", "round"), "rmse"]
    assert (rule.last.value, rule.last.lo, rule.last.hi) == (-expected.value, -expected.hi, -expected.lo)
    assert rule.last.over == 1
    assert actions == ["improved", "improved", "stop" if expected.lo >= 0 else "continue"]


def test_no_stop_while_the_rows_cannot_tell():
    """A plateau of chance differences goes on: a gain worth having is not ruled out."""
    rule, _, actions = run([flipped(0.2, seed) for seed in range(6)], worth=0.01)
    assert "stop" not in actions
    assert rule.last.lo < 0.01 < rule.last.hi


def test_a_round_that_is_shown_to_be_worse_stops():
    """And the best round is the one before."""
    _, evaluator, actions = run([flipped(share, 1) for share in (0.4, 0.1, 0.3)], worth=0.0)
    assert actions == ["improved", "improved", "stop"]
    assert evaluator.best_round == 1


def test_small_gains_add_up_under_patience():
    """Each alone is below what is worth having; with patience two, the sum of them is seen."""
    rounds = [flipped(share, 1) for share in (0.40, 0.37, 0.32, 0.29, 0.24)]
    assert run(rounds, worth=0.06)[2][1] == "stop"
    assert "stop" not in run(rounds, worth=0.06, patience=2)[2]


def test_the_same_predictions_have_no_gain():
    """Exactly none, whatever the rows."""
    rule, _, actions = run([flipped(0.3, 1)] * 3, worth=0.0, patience=2)
    assert actions == ["improved", "continue", "stop"]
    assert (rule.last.lo, rule.last.hi, rule.last.value) == (0.0, 0.0, 0.0)


def test_undefined_values_have_no_gain():
    """NaN first, and NaN inside."""
    y = np.array([1.0, 1.0])
    rule, evaluator, actions = run([y, y], ["r2"], y, patience=2)
    assert actions == ["continue", "stop"]
    assert (evaluator.best_round, rule.last) == (None, None)


def test_the_same_seed_gives_the_same_interval():
    """The same seed gives the same interval; after a reset, all over again."""
    rng = np.random.default_rng(2)
    y = rng.normal(size=200)
    rounds = [y + rng.normal(size=200) for _ in range(2)]
    found = [run(rounds, ["mae"], y, ci=tm.Intervals(resamples=99, seed=seed))[0] for seed in (5, 5, 6)]
    assert found[0].last == found[1].last != found[2].last
    rule = found[0]
    rule.reset()
    assert (rule.last, rule.best_round, rule.waited) == (None, None, 0)


def test_a_resumed_run_takes_the_best_value_from_the_history():
    """The best value comes from the history, the comparisons start with the first new round."""
    rule, evaluator, _ = run([flipped(0.1, 1)])
    again = tm.training.GainStopping(0.0)
    later = tm.training.Evaluator(
        ["accuracy"], tm.training.EvalSet("v", Y), early_stopping=again, history=evaluator.history
    )
    assert (again.best_round, again.best_value) == (rule.best_round, rule.best_value)
    actions = [later.step(k, {"v": flipped(share, 1)}).action for k, share in ((1, 0.2), (2, 0.15), (3, 0.35))]
    assert actions == ["continue", "continue", "stop"]
    assert again.last.over == 2
    assert later.best_round == 0


def test_weights_and_clusters_are_passed_on():
    """The interval is that of compare with the same."""
    rng = np.random.default_rng(4)
    y, w, cluster = rng.normal(size=120), rng.random(120), np.repeat(np.arange(30), 4)
    rounds = [y + rng.normal(size=120) for _ in range(2)]
    rule = tm.training.GainStopping(0.0, ci=tm.Intervals(0.9, resamples=99))
    evaluator = tm.training.Evaluator(
        "mae", tm.training.EvalSet("v", y, weights=w, cluster=cluster), early_stopping=rule
    )
    for k, p in enumerate(rounds):
        evaluator.step(k, p)
    found = tm.compare(
        y, {"a": rounds[0], "b": rounds[1]}, "mae", weights=w, cluster=cluster, ci=tm.Intervals(0.9, resamples=99)
    )[("a", "b"), "mae"]
    assert (rule.last.lo, rule.last.hi) == (-found.hi, -found.lo)
    assert rule.last.method == found.method


def test_metrics_without_intervals_are_refused():
    """Metrics without intervals, another direction than the metric's, use outside of an evaluator, odd numbers."""
    held = tm.training.EvalSet("v", [1.0, 2.0])
    with pytest.raises(tm.ParameterError, match="has intervals"):
        tm.training.Evaluator("max_error", held, early_stopping=tm.training.GainStopping())
    with pytest.raises(tm.ParameterError, match="direction of mae"):
        tm.training.Evaluator("mae", held, early_stopping=tm.training.GainStopping(better="higher"))
    with pytest.raises(tm.ParameterError, match="Evaluator"):
        tm.training.GainStopping(better="lower").observe(Observation(0, 1.0))
    for given in ({"worth": -1}, {"worth": math.nan}, {"patience": 0}, {"ci": 1.5}, {"ci": "high"}):
        with pytest.raises(tm.ParameterError):
            tm.training.GainStopping(**given)
