"""Splitters: partitions, shares of classes within one row, groups that are never split, seeds that decide alone."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import model_selection as sk
from sklearn.dummy import DummyClassifier

import tallymark as tm
from tallymark.model_selection.splitters import draw_with_replacement, shuffle_rows

CLASSES = st.lists(st.sampled_from(["a", "b", "c"]), min_size=6, max_size=60)
SEEDS = st.integers(0, 2**64 - 1)


def lists(splitter, *rows, **given):
    return [(train.tolist(), test.tolist()) for train, test in splitter.split(*rows, **given)]


def check_partition(splits, n):
    """Every row is tested once, and trained on in all other splits."""
    tested = sorted(row for _, test in splits for row in test)
    assert tested == list(range(n))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(n))
        assert test


@given(st.integers(2, 100), st.data(), SEEDS, st.booleans())
def test_k_folds_are_a_partition_as_in_scikit_learn(n, data, seed, shuffle):
    """A partition whose first folds have the remainder; without a shuffle, that of scikit-learn."""
    folds = data.draw(st.integers(2, n))
    splits = lists(tm.model_selection.KFold(folds, shuffle=shuffle, seed=seed), n)
    check_partition(splits, n)
    assert [len(test) for _, test in splits] == [n // folds + (k < n % folds) for k in range(folds)]
    if not shuffle:
        assert splits == [(a.tolist(), b.tolist()) for a, b in sk.KFold(folds).split(np.zeros(n))]


@given(CLASSES, st.integers(2, 6), SEEDS, st.booleans())
def test_stratified_folds_have_every_class_within_one_row(y, folds, seed, shuffle):
    """Every class, and all rows together, are dealt within one row."""
    splits = lists(tm.model_selection.StratifiedKFold(folds, shuffle=shuffle, seed=seed), y, y)
    check_partition(splits, len(y))
    assert [len(test) for _, test in splits] == [len(y) // folds + (k < len(y) % folds) for k in range(folds)]
    for label in set(y):
        held = [sum(y[row] == label for row in test) for _, test in splits]
        assert max(held) - min(held) <= 1


@given(CLASSES, st.floats(0.01, 0.99), SEEDS, st.booleans())
def test_a_stratified_holdout_has_every_class_within_one_row(y, share, seed, shuffle):
    """As many test rows as without strata, and each class within one row of its share of them."""
    [(train, test)] = lists(tm.model_selection.StratifiedHoldout(share, shuffle=shuffle, seed=seed), y, y)
    assert sorted([*train, *test]) == list(range(len(y)))
    assert len(test) == len(lists(tm.model_selection.Holdout(share), y)[0][1])
    for label in set(y):
        exact = y.count(label) * len(test) / len(y)
        assert abs(sum(y[row] == label for row in test) - exact) < 1


@given(st.integers(2, 200), st.floats(0.001, 0.999), SEEDS)
def test_a_holdout_has_the_nearest_number_of_rows(n, share, seed):
    """The nearest number of rows to the share, neither none nor all."""
    [(train, test)] = lists(tm.model_selection.Holdout(share, seed=seed), n)
    assert sorted([*train, *test]) == list(range(n))
    assert 1 <= len(test) < n
    assert abs(len(test) - share * n) <= 0.5 or len(test) in (1, n - 1)


def test_a_holdout_may_be_a_number_of_rows():
    """A number of rows; the last ones without a shuffle."""
    assert lists(tm.model_selection.Holdout(3, shuffle=False), 5) == [([0, 1], [2, 3, 4])]
    with pytest.raises(tm.ParameterError, match="less than the number of rows"):
        lists(tm.model_selection.Holdout(5), 5)


@given(st.lists(st.integers(0, 9), min_size=4, max_size=60), st.integers(2, 5), SEEDS)
def test_groups_are_never_split(groups, folds, seed):
    """Neither in folds nor in a holdout; the folds differ by no more than the largest group."""
    if len(set(groups)) < folds:
        with pytest.raises(tm.ParameterError, match="number of groups"):
            lists(tm.model_selection.GroupKFold(folds, seed=seed), len(groups), groups=groups)
        return
    splits = lists(tm.model_selection.GroupKFold(folds, seed=seed), len(groups), groups=groups)
    check_partition(splits, len(groups))
    holdout = lists(tm.model_selection.GroupHoldout(0.3, seed=seed), len(groups), groups=groups)
    for train, test in [*splits, *holdout]:
        assert train
        assert test
        assert not {groups[row] for row in train} & {groups[row] for row in test}
    sizes = [len(test) for _, test in splits]
    assert max(sizes) - min(sizes) <= max(groups.count(group) for group in groups)


@given(st.integers(2, 50), SEEDS)
def test_a_bootstrap_tests_what_was_never_drawn(n, seed):
    """As many draws as rows; the test is what was never drawn, and never nothing."""
    splits = lists(tm.model_selection.Bootstrap(5, seed=seed), n)
    assert len(splits) == 5
    for train, test in splits:
        assert len(train) == n
        assert test == sorted(set(range(n)) - set(train))
        assert test


@given(CLASSES.filter(lambda y: max(map(y.count, y)) > 1), SEEDS)
def test_a_stratified_bootstrap_keeps_the_size_of_every_class(y, seed):
    """Training has as many rows of every class as there are."""
    for train, test in lists(tm.model_selection.StratifiedBootstrap(3, seed=seed), y, y):
        assert sorted(y[row] for row in train) == sorted(y)
        assert test == sorted(set(range(len(y))) - set(train))
        assert test


def test_every_row_is_drawn_equally_often():
    """Every row is drawn about as often as any other, and out of the bag in 1/e of the bags."""
    counts = np.bincount(np.concatenate([draw_with_replacement(10, 10, 7, k) for k in range(2000)]), minlength=10)
    assert np.all(np.abs(counts - 2000) < 5 * np.sqrt(2000))
    out = [len(test) / 100 for _, test in tm.model_selection.Bootstrap(300).split(100)]
    assert abs(np.mean(out) - np.exp(-1)) < 0.01


def test_every_row_takes_every_place_equally_often():
    """Every row stands at every place about as often."""
    places = np.array([shuffle_rows(6, seed) for seed in range(6000)])
    for place in range(6):
        counts = np.bincount(places[:, place], minlength=6)
        assert np.all(np.abs(counts - 1000) < 5 * np.sqrt(1000))


@pytest.mark.parametrize(
    "given_", [{}, {"gap": 2}, {"test": 3}, {"most_train": 4}, {"test": 2, "gap": 1, "most_train": 5}]
)
def test_time_series_splits_are_those_of_scikit_learn(given_):
    """The same splits as scikit-learn's, whose words for the options differ."""
    words = {"gap": "gap", "test": "test_size", "most_train": "max_train_size"}
    theirs = sk.TimeSeriesSplit(4, **{words[key]: value for key, value in given_.items()})
    for n in (23, 24, 25):
        expected = [(a.tolist(), b.tolist()) for a, b in theirs.split(np.zeros(n))]
        assert lists(tm.model_selection.TimeSeries(4, **given_), n) == expected


def test_time_series_of_too_few_rows():
    """Is refused, since a model needs rows."""
    for splitter in (
        tm.model_selection.TimeSeries(5),
        tm.model_selection.TimeSeries(2, test=3),
        tm.model_selection.TimeSeries(2, gap=3),
    ):
        with pytest.raises(tm.ParameterError, match="too few"):
            lists(splitter, 5)


def test_leave_one_out_tests_every_row_alone():
    """Every row alone, as often as there are rows."""
    check_partition(lists(tm.model_selection.LeaveOneOut(), 7), 7)
    assert tm.model_selection.LeaveOneOut().get_n_splits(np.zeros((7, 2))) == 7


def test_each_repeat_is_another_shuffle():
    """The first time is the splitter itself, each later one another shuffle."""
    found = lists(tm.model_selection.Repeated(tm.model_selection.KFold(3, seed=5), 4), 12)
    assert len(found) == tm.model_selection.Repeated(tm.model_selection.KFold(3), 4).get_n_splits() == 12
    assert found[:3] == lists(tm.model_selection.KFold(3, seed=5), 12)
    for k in range(4):
        check_partition(found[3 * k : 3 * k + 3], 12)
    assert len({str(found[3 * k : 3 * k + 3]) for k in range(4)}) == 4
    for bad in (
        tm.model_selection.LeaveOneOut(),
        tm.model_selection.TimeSeries(3),
        tm.model_selection.KFold(3, shuffle=False),
        3,
    ):
        with pytest.raises(tm.ParameterError, match="shuffle with a seed"):
            tm.model_selection.Repeated(bad)


def every_splitter():
    y = ["a", "b"] * 10
    groups = [k // 3 for k in range(20)]
    kinds = [
        tm.model_selection.KFold,
        tm.model_selection.Holdout,
        tm.model_selection.StratifiedKFold,
        tm.model_selection.StratifiedHoldout,
        tm.model_selection.GroupKFold,
        tm.model_selection.GroupHoldout,
        tm.model_selection.Bootstrap,
        tm.model_selection.StratifiedBootstrap,
    ]
    return y, groups, kinds


def test_the_seed_decides_alone():
    """The same seed gives the same splits whatever NumPy's own generator did; another seed gives others."""
    y, groups, kinds = every_splitter()
    for kind in kinds:
        np.random.seed(1)
        first = lists(kind(seed=3), y, y, groups=groups)
        np.random.seed(2)
        np.random.random(5)
        assert lists(kind(seed=3), y, y, groups=groups) == first
        assert any(lists(kind(seed=other), y, y, groups=groups) != first for other in range(4, 9))


def test_splits_are_the_same_on_every_machine():
    """What the seeds gave when this was written."""
    y, groups, kinds = every_splitter()
    found = str([lists(kind(seed=11), y, y, groups=groups) for kind in kinds])
    assert hashlib.sha256(found.encode()).hexdigest()[:16] == "d3d5650f2282f312"
    assert shuffle_rows(8, 0).tolist() == [6, 7, 1, 2, 0, 5, 3, 4]


def test_scikit_learn_takes_them():
    """As cv= of cross_val_score, with groups where they need them."""
    y, groups, kinds = every_splitter()
    rows = np.zeros((20, 1))
    for splitter in [
        *(kind() for kind in kinds),
        tm.model_selection.Repeated(tm.model_selection.KFold(3), 2),
        tm.model_selection.TimeSeries(3),
        tm.model_selection.LeaveOneOut(),
    ]:
        found = sk.cross_val_score(DummyClassifier(), rows, y, cv=splitter, groups=groups)
        assert len(found) == splitter.get_n_splits(rows, y, groups)
        assert sk.check_cv(splitter) is splitter
        assert repr(splitter) == repr(eval(repr(splitter), vars(tm.model_selection)))


def test_splitters_take_a_number_lists_tables_and_labels():
    """A number, a list, a table, a data frame; labels as numbers, strings or categories."""
    y = [1, 0, 1, 0, 1, 1]
    expected = lists(tm.model_selection.StratifiedKFold(2), 6, y)
    for labels in (np.array(y), np.array(y, bool), pd.Series(y).map({0: "n", 1: "y"}), pd.Categorical(y)):
        assert lists(tm.model_selection.StratifiedKFold(2), pd.DataFrame({"x": y}), labels) == expected
    assert lists(tm.model_selection.KFold(2), [[1], [2]]) == lists(tm.model_selection.KFold(2), 2)


def test_splits_that_cannot_be_made_are_refused():
    """Too few rows, folds that are none, labels that are missing or too few, odd seeds and shares."""
    for bad in (
        lambda: tm.model_selection.KFold(1),
        lambda: tm.model_selection.KFold(2.5),
        lambda: tm.model_selection.KFold(3, seed=-1),
        lambda: tm.model_selection.KFold(3, shuffle="yes"),
        lambda: tm.model_selection.Holdout(1.0),
        lambda: tm.model_selection.Holdout(0),
        lambda: tm.model_selection.Holdout(True),
        lambda: tm.model_selection.Bootstrap(0),
        lambda: tm.model_selection.TimeSeries(0),
        lambda: tm.model_selection.TimeSeries(2, gap=-1),
        lambda: lists(tm.model_selection.KFold(5), 4),
        lambda: lists(tm.model_selection.KFold(2), 1),
        lambda: lists(tm.model_selection.KFold(2), None),
        lambda: lists(tm.model_selection.StratifiedKFold(2), 4),
        lambda: lists(tm.model_selection.StratifiedKFold(2), 4, ["a", "b"]),
        lambda: lists(tm.model_selection.StratifiedKFold(2), 3, ["a", None, "b"]),
        lambda: lists(tm.model_selection.StratifiedBootstrap(2), 2, ["a", "b"]),
        lambda: lists(tm.model_selection.GroupKFold(2), 4),
        lambda: lists(tm.model_selection.GroupHoldout(), 2, groups=["a", "a"]),
    ):
        with pytest.raises(tm.TallymarkError):
            bad()
