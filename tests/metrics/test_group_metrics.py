"""Metrics of groups: any metric and a way to combine its values, under names that lead back to them."""

from __future__ import annotations

import importlib
import math
import pickle

import numpy as np
import pytest

import tallymark as tm

Y = [1, 1, 1, 0, 0, 0, 1, 0]
P = [1, 0, 1, 0, 1, 0, 1, 1]
G = ["f", "f", "m", "m", "f", "m", "m", "f"]


def test_calls_and_evaluate_agree():
    """A call with `by` gives the value of the cell."""
    for item in (tm.demographic_parity, tm.equal_opportunity, tm.equalized_odds, tm.worst("accuracy"), tm.ratio("mae")):
        assert tm.evaluate(Y, P, [item], by=G)[item] == item(Y, P, by=G)


def test_group_metrics_have_the_values_computed_by_hand():
    """Selection 3/4 and 1/2... of each group; recall 1/2 and 1; fallout 1 and 0."""
    assert tm.demographic_parity(Y, P, by=G) == 0.75 - 0.5
    assert tm.metric("demographic_parity_ratio")(Y, P, by=G) == 0.5 / 0.75
    assert tm.equal_opportunity(Y, P, by=G) == 0.5
    assert tm.equalized_odds(Y, P, by=G) == 1.0
    assert tm.metric("equalized_odds_ratio")(Y, P, by=G) == 0.0
    assert tm.worst("accuracy")(Y, P, by=G) == 0.25
    assert tm.worst("mae")(Y, P, by=G) == 0.75
    assert tm.worst("mean_bias")([0, 0, 0, 0], [1, 1, -3, -3], by=[1, 1, 2, 2]) == -3.0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("gap(recall)", "equal_opportunity"),
        ("gap(of=recall)", "equal_opportunity"),
        ("gap(recall(average=macro))", "gap(recall(average=macro))"),
        ("gap(recall, fallout)", "equalized_odds"),
        ("ratio(precision)", "ratio(precision)"),
        ("ratio(recall)", "equal_opportunity_ratio"),
        ("worst(auc)", "worst(auc)"),
        ("worst(auc, undefined=0)", "worst(auc, undefined=0.0)"),
        ("demographic_parity", "demographic_parity"),
        ("demographic_parity(undefined=1)", "demographic_parity(undefined=1.0)"),
    ],
)
def test_strings_plain_data_and_pickles_make_the_same_metric(text, shown):
    """Strings, plain data and pickles all make the same metric."""
    item = tm.metric(text)
    assert str(item) == shown
    assert tm.metric(str(item)) == item == tm.metric(item.to_dict()) == pickle.loads(pickle.dumps(item))
    assert hash(tm.metric(str(item))) == hash(item)


def test_named_group_metrics_equal_their_compositions():
    """The named ones are what they are made of."""
    assert tm.demographic_parity == tm.gap("selection_rate") == tm.gap(tm.selection_rate)
    assert tm.equalized_odds == tm.gap("recall", "fallout")
    for item in tm.list_metrics("fairness"):
        assert getattr(tm, str(item)) == item == tm.metric(str(item))
    assert tm.gap("recall").better == "lower"
    assert tm.ratio("recall").better == "higher"
    assert tm.worst("mae").better == "lower"
    assert tm.gap("mcc").range == (0.0, 2.0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: tm.gap(),
        lambda: tm.gap("no_such_metric"),
        lambda: tm.gap(tm.gap("recall")),
        lambda: tm.gap("recall", nothing=1),
        lambda: tm.metric("rmse(mae)"),
        lambda: tm.demographic_parity(Y, P),
        lambda: tm.demographic_parity(Y, P, by=G, min_rows=0),
        lambda: tm.demographic_parity(Y, P, by=G, min_rows=True),
        lambda: tm.demographic_parity(Y, P, by=G, sex=1),
        lambda: tm.gap("confusion_matrix")(Y, P, by=G),
        lambda: tm.gap("recall(average=None)")(Y, P, by=G),
        lambda: tm.worst("selection_rate")(Y, P, by=G),
        lambda: tm.worst("recall", "fallout")(Y, P, by=G),
    ],
)
def test_invalid_arguments_raise_our_errors(wrong):
    """Each is an error of ours."""
    with pytest.raises(tm.TallymarkError):
        wrong()


def test_parameters_stand_with_their_metric():
    """Who gives one to the gap is shown where it belongs; what is shown is what was meant."""
    odds = '"recall(average=binary)", "fallout(average=binary)"'
    for wrong, shown in {
        lambda: tm.gap(
            "fscore", beta=2
        ): '`beta` is a parameter of fscore. Write it there, as in gap("fscore(beta=2)")',
        lambda: tm.metric("equalized_odds(average=binary)"): f"recall and fallout. Write it there, as in gap({odds})",
        lambda: tm.metric("equalized_odds_ratio", average="binary"): f"as in ratio({odds})",
        lambda: tm.equalized_odds(Y, P, by=G, average="binary"): f"as in gap({odds})",
        lambda: tm.worst(tm.FScore(beta=2), average="macro"): 'as in worst("fscore(beta=2, average=macro)")',
        lambda: tm.gap("accuracy", "recall", absent=0.5): 'as in gap("accuracy", "recall(absent=0.5)")',
        lambda: tm.gap("recall", average="mean"): '`average` must be one of "auto", ',
        lambda: tm.gap("recall", undefind=0): "gap has no parameter `undefind`; it has of, undefined. Did you mean",
    }.items():
        with pytest.raises(tm.ParameterError) as caught:
            wrong()
        assert shown in str(caught.value)
    assert tm.metric(f"gap({odds})") == tm.gap("recall(average=binary)", "fallout(average=binary)")


def test_one_class_of_several_against_the_rest():
    """The gap of recalls of the positive class, as if the others were one."""
    truth, found = [0, 1, 2, 1, 1, 0, 2, 1], [0, 1, 1, 0, 1, 0, 2, 1]
    one = [[int(label == 1) for label in labels] for labels in (truth, found)]
    binary = tm.gap("recall(average=binary)", "fallout(average=binary)")
    assert binary(truth, found, by=G, positive=1) == tm.equalized_odds(*one, by=G)
    with pytest.raises(tm.ParameterError, match=r'one of "binary" \(the positive class against the rest\), "macro"'):
        tm.equalized_odds(truth, found, by=G, positive=1)


def test_undefined_comparisons_say_why():
    """One group, no value, ratios of zeros and of negative numbers: NaN with the reason, or what `undefined` says."""
    assert math.isnan(tm.gap("recall")(Y, P, by=["a"] * 8))
    assert math.isnan(tm.ratio("recall")([1, 1], [0, 0], by=[1, 2]))
    assert math.isnan(tm.ratio("mean_bias")([0.0, 0.0], [-1.0, 1.0], by=[1, 2]))
    assert tm.gap("recall", undefined=0)(Y, P, by=["a"] * 8) == 0.0
    with pytest.raises(tm.UndefinedError):
        tm.gap("recall", undefined="raise")(Y, P, by=["a"] * 8)


def test_ranking_metrics_are_compared_between_groups():
    """Rankings are compared like anything else."""
    y, s, q = [1, 0, 1, 0], [0.9, 0.1, 0.2, 0.8], [1, 1, 2, 2]
    assert tm.gap("mrr")(y, s, by=["a", "a", "b", "b"], query=q) == 0.5


FAIRLEARN = {
    "demographic_parity": "demographic_parity_difference",
    "demographic_parity_ratio": "demographic_parity_ratio",
    "equalized_odds": "equalized_odds_difference",
    "equalized_odds_ratio": "equalized_odds_ratio",
    "equal_opportunity": "equal_opportunity_difference",
    "equal_opportunity_ratio": "equal_opportunity_ratio",
}


def draw_groups(rng):
    """Labels, predictions and groups of random rows, half of the time with weights."""
    n, groups = int(rng.integers(50, 400)), int(rng.integers(2, 6))
    y, p, g = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.integers(0, groups, n)
    return y, p, g, rng.random(n) if rng.random() < 0.5 else None


@pytest.mark.slow
def test_fairlearn_has_the_same_values():
    """Groups, differences and ratios on random rows with weights."""
    fair = importlib.import_module("fairlearn.metrics")
    from sklearn.metrics import recall_score

    rng = np.random.default_rng(0)
    for _ in range(60):
        y, p, g, w = draw_groups(rng)
        report = tm.evaluate(y, p, ["recall", *FAIRLEARN], by=g, weights=w)
        for name, theirs in FAIRLEARN.items():
            expected = getattr(fair, theirs)(y, p, sensitive_features=g, sample_weight=w)
            assert report[name] == pytest.approx(expected, rel=1e-12, abs=1e-15)
        frame = fair.MetricFrame(
            metrics=recall_score, y_true=y, y_pred=p, sensitive_features=g, sample_params={"sample_weight": w}
        )
        for group, value in frame.by_group.items():
            assert report.slices[group]["recall"] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("method", ["auto", "analytic", "bootstrap"])
@pytest.mark.parametrize("name", ["gap(recall)", "ratio(recall)", "worst(recall)", "equalized_odds"])
def test_a_number_for_what_no_group_has_is_without_an_interval(name, method):
    """There is no interval of what stands for a value."""
    item = tm.metric(name).replace(undefined=0.5)
    rows = [0] * 8, [0, 1] * 4, [item]
    report = tm.evaluate(*rows, by=list("aaaabbbb"), ci=tm.Intervals(method=method), positive=1, classes=[0, 1])
    cell = report.cell(item)
    assert (cell.value, cell.lo) == (0.5, None)
    assert "no interval: no group has a value" in cell.notes
