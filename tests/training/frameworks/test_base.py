"""What all libraries share: a metric as one number, and an evaluator that follows a training."""

from __future__ import annotations

import numpy as np
import pytest

import tallymark as tm
from tallymark.training.frameworks import base
from tests.training.frameworks import boosted_rows as rows


def test_the_number_is_that_of_the_metric():
    """With weights, kinds, tables of K columns and queries; float32 is read as it is."""
    _, y, w = rows.two_classes()
    m = np.random.default_rng(0).normal(size=(rows.N, 3)).astype(np.float32)
    assert base.NativeMetric("logloss", tm.Target("margin")).value(y, m[:, 0], w) == tm.logloss(
        y, m[:, 0], weights=w, kind="margin"
    )
    y = rows.three_classes()[1]
    for name in ("auc", "logloss", "accuracy"):
        expected = tm.metric(name)(y, m, weights=w, kind="margin", classes=[0, 1, 2])
        assert base.NativeMetric(name, tm.Target("margin")).value(y, m, w) == expected
    query = base.repeat_per_row([100, 300])
    assert base.NativeMetric("ndcg").value(y, m[:, 0], None, query) == tm.ndcg(y, m[:, 0], query=query)
    assert base.NativeMetric("mae").value(m[:, :2], m[:, 1:], w, query) == tm.mae(m[:, :2], m[:, 1:], weights=w)


def test_a_target_says_which_class_is_positive():
    """To a metric of one class, which libraries know as 0 and 1."""
    item = base.NativeMetric("precision", tm.Target("probability", positive=0))
    assert item.value([0, 1, 1], [0.9, 0.2, 0.3]) == tm.precision([0, 1, 1], [0.9, 0.2, 0.3], positive=0)
    assert item.value([0, 1, 1], [0.9, 0.2, 0.3]) != tm.precision([0, 1, 1], [0.9, 0.2, 0.3])


def test_what_is_best_at_a_value():
    """Libraries know two directions, so they get the distance, under a name that says so."""
    item = base.NativeMetric("mean_bias")
    assert (item.__name__, item.maximize) == ("distance_of_mean_bias", False)
    assert item.value([1.0, 2.0], [0.0, 0.0]) == 1.5
    assert base.NativeMetric("auc").maximize


def test_values_of_groups_are_dealt_to_rows():
    """Numbers of groups, or what belongs to each."""
    assert base.repeat_per_row([2, 0, 3]).tolist() == [0, 0, 2, 2, 2]
    assert base.repeat_per_row([1, 2], np.array([0.5, 2.0])).tolist() == [0.5, 2.0, 2.0]


def test_a_training_that_goes_on_keeps_its_rounds():
    """One that goes on from an earlier round forgets what followed, and one that starts again all of them."""
    evaluator = tm.training.Evaluator("mae", tm.training.EvalSet("valid", [1.0]))
    base.rewind_to(evaluator, 0)
    for k in range(3):
        evaluator.step(k, [1.0])
    base.rewind_to(evaluator, 3)
    assert len(evaluator.history) == 3
    base.rewind_to(evaluator, 2)
    assert [each.round for each in evaluator.history] == [0, 1]
    base.rewind_to(evaluator, 0)
    assert len(evaluator.history) == 0


def test_only_rules_choose_a_round():
    """Without one, a model is left as it is."""
    held = tm.training.EvalSet("valid", [1.0])
    assert not base.has_stopping_rule(tm.training.Evaluator("mae", held))
    assert base.has_stopping_rule(tm.training.Evaluator("mae", held, early_stopping=tm.training.EarlyStopping(2)))
    assert base.has_stopping_rule(tm.training.Evaluator("mae", held, early_stopping=[tm.training.EarlyStopping(2)]))


@pytest.mark.parametrize("given", ["probability", "score"])
def test_kinds_that_need_no_word(given):
    """Probabilities, and scores, of which metrics on labels say themselves what is wrong."""
    base.check_kinds(tm.training.Evaluator(["accuracy", "auc"], tm.training.EvalSet("valid", [0, 1])), given, "it")


def test_kinds_that_are_declared_or_do_not_matter():
    """Whoever declares them knows; ranks and numbers are read from anything."""
    base.check_kinds(
        tm.training.Evaluator("logloss", tm.training.EvalSet("valid", [0, 1], kind="margin")), "value", "it"
    )
    base.check_kinds(tm.training.Evaluator(["auc", "rmse"], tm.training.EvalSet("valid", [0, 1])), "margin", "it")
    base.check_kinds(tm.training.Evaluator(None, tm.training.EvalSet("valid", [0, 1])), "margin", "it")


@pytest.mark.parametrize("given", ["probability", "label", "value"])
def test_margins_are_asked_of_libraries_that_give_something_else(given):
    """Probabilities read as margins are all positive; margins, given or declared, are what the metric reads."""
    undeclared = tm.training.Evaluator("margin_accuracy", tm.training.EvalSet("valid", [0, 1]))
    with pytest.raises(tm.KindError, match=rf"reads predictions of kind .margin.*gives predictions of kind {given!r}"):
        base.check_kinds(undeclared, given, "it")
    base.check_kinds(undeclared, "margin", "it")
    base.check_kinds(
        tm.training.Evaluator("margin_accuracy", tm.training.EvalSet("valid", [0, 1], kind="margin")), given, "it"
    )
    with pytest.raises(tm.KindError, match=r'`kind` must be "margin" for margin_accuracy.*Take accuracy'):
        base.check_margins(tm.margin_accuracy, None, "it")
    base.check_margins(tm.margin_accuracy, "margin", "it")


@pytest.mark.parametrize(
    ("truth", "facts", "right"),
    [
        ([1, 2, 2], {"positive": 1}, 2),
        (["no", "yes", "yes"], {"positive": "no"}, "'yes'"),
        ([0, 1, 1], {"positive": 0, "kind": "margin"}, 1),
        ([1, 1, 1], {}, "the class that is predicted"),
    ],
)
def test_predictions_of_the_other_class_are_refused(truth, facts, right):
    """Libraries predict the second class in order; an eval set whose positive one is the first would turn it around."""
    held = tm.training.EvalSet("valid", truth, **facts)
    target = np.array([0, 0, 0] if truth == [1, 1, 1] else [0, 1, 1], np.float32)
    with pytest.raises(tm.TallymarkError, match=f"eval set 'valid' must have {right} as `positive`, of which it gives"):
        base.check_positive(held, target, "it")


@pytest.mark.parametrize(
    ("truth", "facts"),
    [
        ([0, 1, 1], {}),
        ([-1, 1, 1], {}),
        ([1, 2, 2], {"positive": 2}),
        ([1, 2, 2], {"kind": "label"}),
        ([2, 1, 2], {}),
        ([0.5, 1.0, 1.0], {}),
        ([1, 2], {}),
    ],
)
def test_predictions_of_the_positive_class_are_not(truth, facts):
    """Nor labels, numbers, and rows that are others than the library's."""
    base.check_positive(tm.training.EvalSet("valid", truth, **facts), np.array([0, 1, 1]), "it")
