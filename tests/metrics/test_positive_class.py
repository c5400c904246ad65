"""Which class is positive: 1 beside 0 or -1; any other two classes need `positive`, wherever it matters."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import tallymark as tm

Y, P, S = [1, 2, 2, 1], [1, 2, 1, 1], [0.1, 0.9, 0.4, 0.3]
TABLE = np.column_stack([1 - np.array(S), S])
BY = ["a", "b", "a", "b"]
RATES = ["precision", "recall", "fscore", "jaccard", "fallout", "informedness", "selection_rate"]
OF_ONE_COLUMN = ["auc", "auc(bounded=8)", "ks", "average_precision", "roc_curve", "threshold_table", "best_threshold"]
OF_ONE_COLUMN += ["logloss", "brier", "ece", "accuracy", "precision"]
needed = pytest.raises(
    tm.ParameterError, match=r"`positive` must name the positive class, one of 1, 2( \(\w+\))?\. The default"
)


def read(tally, name):
    return tally.report()[name]


@pytest.mark.parametrize("name", RATES)
def test_rates_of_1_and_2_need_a_positive_class(name):
    """In a call, a report, a tally, slices and gaps; also where one side, or no row, has the 2."""
    metric = tm.metric(name)
    with needed:
        metric(Y, P)
    with needed:
        metric([1, 1], [1, 2])
    with needed:
        metric([1, 1], [1, 1], classes=[1, 2])
    with needed:
        tm.evaluate(Y, P, [name], by=BY, errors="raise")
    with needed:
        read(tm.Tally([name]).update([1, 1], [1, 1]).update([2], [1]), name)
    with needed:
        read(tm.Tally([name]).update([2], [2]) + tm.Tally([name]).update([1], [1]), name)
    with needed:
        tm.gap(name)(Y, P, by=BY)
    zeros = metric([int(y == 2) for y in Y], [int(p == 2) for p in P])
    assert metric(Y, P, positive=2) == zeros
    assert read(tm.Tally([name], positive=2).update(Y[:1], P[:1]).update(Y[1:], P[1:]), name) == zeros


@pytest.mark.parametrize("name", OF_ONE_COLUMN)
def test_one_column_for_1_and_2_needs_a_positive_class(name):
    """Scores and probabilities, whole and in pieces of one class each, in either order."""
    metric = tm.metric(name)
    with needed:
        metric(Y, S)
    first, second = ([1, 1], [0.1, 0.3]), ([2, 2], [0.9, 0.4])
    for pieces in ((first, second), (second, first)):
        with needed:
            read(tm.Tally([name]).update(*pieces[0]).update(*pieces[1]), name)
        with needed:
            read(tm.Tally([name]).update(*pieces[0]) + tm.Tally([name]).update(*pieces[1]), name)
    read(tm.Tally([name]).update(*first), name)  # 1 alone may have a 0 beside it
    assert str(metric(Y, S, positive=2)) == str(metric([0, 1, 1, 0], S))


@pytest.mark.parametrize("name", ["demographic_parity", "equal_opportunity", "equalized_odds"])
def test_fairness_of_1_and_2_needs_a_positive_class(name):
    """As the rates that it compares."""
    with needed:
        tm.metric(name)(Y, P, by=BY)
    expected = tm.metric(name)([0, 1, 1, 0], [0, 1, 0, 0], by=BY)
    assert np.array_equal(tm.metric(name)(Y, P, by=BY, positive=2), expected, equal_nan=True)


def test_what_has_no_positive_class_takes_any_two():
    """Symmetric metrics, the other averages, one column per class, and the default metrics, which are then macro."""
    zeros, said = [0, 1, 1, 0], [0, 1, 0, 0]
    for name in (
        "accuracy",
        "mcc",
        "cohen_kappa",
        "balanced_accuracy",
        "fscore(average=macro)",
        "recall(average=micro)",
    ):
        assert tm.metric(name)(Y, P) == tm.metric(name)(zeros, said)
    for name in ("auc", "ks", "logloss", "brier", "accuracy"):
        assert tm.metric(name)(Y, TABLE, classes=[1, 2]) == tm.metric(name)(zeros, TABLE)
    report = tm.evaluate(Y, P)
    assert list(report.values()) == list(tm.evaluate(zeros, said, list(report)).values())
    with needed:
        tm.average_precision(Y, TABLE, classes=[1, 2])
    with pytest.raises(tm.ParameterError, match="`threshold` needs `positive`"):
        tm.accuracy(Y, TABLE, threshold=0.3)


@pytest.mark.parametrize("other", [0, -1, False, 0.0, -1.0])
def test_1_is_positive_beside_0_and_minus_1(other):
    """Without a word, as ints, bools and floats, and where either is alone."""
    assert tm.precision([1, other, other], [1, 1, other], kind="label") == 0.5
    assert tm.auc([1, other], [0.9, 0.1]) == 1.0
    assert tm.precision([1, 1], [1, 1]) == 1.0
    assert math.isnan(tm.precision([other], [other], kind="label"))
    assert tm.recall([1, 1], [1, 1], classes=[other, 1]) == 1.0


@pytest.mark.parametrize("pair", [[0, -1], [2, 3], [1, 3], [1, -2], ["no", "yes"], ["0", "1"]])
def test_other_pairs_need_a_positive_class(pair):
    """The error names both."""
    with pytest.raises(tm.ParameterError, match=rf"one of {min(pair)!r}, {max(pair)!r}\."):
        tm.recall(pair, pair)
    assert tm.recall(pair, pair, positive=pair[1]) == 1.0


def test_files_with_one_class_each_need_a_positive_class(tmp_path):
    """Also where ranges of scores are read one at a time."""
    for k in (1, 2):
        frame = pd.DataFrame({"y": k, "p": np.linspace(0, 1, 50) ** k})
        frame.to_csv(tmp_path / f"{k}.csv", index=False)
    given = {"truth": "y", "prediction": "p", "metrics": ["auc"], "errors": "raise"}
    for ranges in (None, 4):
        with needed:
            tm.evaluate_table(str(tmp_path / "*.csv"), score_ranges=ranges, **given)
        assert 0 < tm.evaluate_table(str(tmp_path / "*.csv"), score_ranges=ranges, positive=2, **given)["auc"] < 0.5


def test_models_of_1_and_2_need_a_positive_class():
    """In scorers, bundles and comparisons; auc of two columns does not."""
    x = np.arange(12.0)[:, None]
    y = np.where(np.arange(12) < 5, 1, 2)
    model = LogisticRegression().fit(x, y)
    for name in ("precision", "average_precision"):
        with needed:
            tm.sklearn.scorer(name)(model, x, y)
        assert 0 < tm.sklearn.scorer(name, positive=2)(model, x, y) <= 1
    assert 0 < tm.sklearn.scorer("auc")(model, x, y) <= 1
    with needed:
        tm.model_selection.classification_metrics(Y, P)
    assert tm.model_selection.classification_metrics(Y, P, positive=2)["recall"] == 0.5
    with needed:
        tm.compare(Y, {"first": P, "second": Y}, ["recall"])
