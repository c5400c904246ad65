"""Metrics on the order of scores: worked values, and what must not change them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.laws.cases import same_bits
from tests.score_rows import ALL, NAMES, TABLE, TRUTH, drawn, values

import tallymark as tm
from tallymark.threads import get_threads, set_threads

Y, S = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("auc", 0.75),
        ("gini", 0.5),
        ("average_precision", 5 / 6),
        ("pr_auc", 19 / 24),
        ("ks", 0.5),
        ("auc(max_fpr=0.5)", 2 / 3),
        ("auc(max_fpr=1)", 0.75),
    ],
)
def test_the_value_is_that_computed_by_hand(name, expected):
    """Of four rows, one pair of which is in the wrong order."""
    assert tm.metric(name)(Y, S) == pytest.approx(expected, rel=1e-12)


def test_a_weight_of_two_is_the_row_twice():
    """A weight of 2 is a row written twice, and a fraction is a share of one."""
    assert tm.auc(Y, S, weights=[1, 2, 1, 1]) == (1 + 3) / 6
    assert tm.average_precision(Y, S, weights=[1, 2, 1, 1]) == pytest.approx((1 + 2 / 4) / 2, rel=1e-15)
    assert tm.ks(Y, S, weights=[1, 0.5, 1, 1]) == pytest.approx(1 - 1 / 3, rel=1e-15)
    for seed in range(20):
        y, s, _ = drawn(seed, 40)
        w = np.random.default_rng(seed).integers(0, 4, 40)
        w[:2] = 1
        assert values(y, s, weights=w) == pytest.approx(values(np.repeat(y, w), np.repeat(s, w)), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("name", ALL)
def test_a_constant_score_gets_what_chance_gets(name):
    """In any order of rows, weighted or not: a tie is no order."""
    rng = np.random.default_rng(0)
    y, w = rng.integers(0, 2, 50), rng.choice([0.5, 1.0, 3.0], 50)
    for constant in (0.0, 0.3, -7.0, 1e300):
        for weights in (None, w):
            share = np.average(y, weights=weights)
            expected = {"auc": 0.5, "gini": 0.0, "ks": 0.0}.get(name.split("(")[0], share)
            for order in (np.arange(50), np.argsort(y), np.argsort(-y)):
                given = None if weights is None else weights[order]
                found = tm.metric(name)(y[order], np.full(50, constant), weights=given)
                assert found == pytest.approx(expected, rel=1e-15, abs=0)


def test_negated_scores_turn_auc_and_gini_around():
    """AUC(-s) is 1 - AUC(s), Gini changes its sign, and ks is the same to the last bit."""
    for seed in range(50):
        y, s, w = drawn(seed)
        for weights in (None, w):
            assert tm.auc(y, -s, weights=weights) == pytest.approx(1 - tm.auc(y, s, weights=weights), abs=2e-16)
            assert tm.auc(1 - y, s, weights=weights) == pytest.approx(1 - tm.auc(y, s, weights=weights), abs=2e-16)
            assert tm.gini(y, -s, weights=weights) == pytest.approx(-tm.gini(y, s, weights=weights), abs=5e-16)
            assert tm.ks(y, -s, weights=weights) == pytest.approx(tm.ks(y, s, weights=weights), abs=2e-16)


@pytest.mark.parametrize(
    "rise",
    [
        np.exp,
        lambda s: s**3,
        lambda s: 1e300 * s,
        lambda s: np.round(s * 10) * 5e-324,
        lambda s: np.unique(s, return_inverse=True)[1].astype(np.int8),
        lambda s: np.round(s * 10).astype(np.int64),
        lambda s: np.round(s * 10).astype(np.float16),
        lambda s: (np.round(s * 10) + 100).astype(np.uint8),
        lambda s: (np.round(s * 10) + 100).astype(np.uint64),
        lambda s: np.round(s * 10).astype(np.float32)[:, None],
        lambda s: np.repeat(s, 3)[::3],
    ],
)
def test_any_increasing_transform_changes_nothing(rise):
    """To the last bit, as long as it keeps the ties: powers, ranks, whole numbers of any type, any strides."""
    for seed in range(10):
        y, s, w = drawn(seed)
        for weights in (None, w):
            found = [values(y, p, weights=weights) for p in (s, rise(np.round(s, 1)))]
            assert same_bits(*found)


def test_both_zeros_tie_and_the_smallest_numbers_do_not():
    """And the smallest numbers differ from them."""
    assert values([0, 1], [0.0, -0.0]) == values([0, 1], [0.0, 0.0])
    assert tm.auc([0, 1], [-0.0, 0.0]) == 0.5
    assert tm.auc([0, 1, 0], [0.0, 5e-324, -5e-324]) == 1.0
    assert tm.auc([1, 0, 1], [0.0, 5e-324, -5e-324]) == 0.0
    assert tm.auc([0, 1], [1.0, 1.0 + 2**-52]) == 1.0


@pytest.mark.parametrize("name", [*NAMES, "auc(max_fpr=0.4)", "auc(bounded=8)"])
def test_two_columns_are_binary(name):
    """To the last bit: probabilities, scores and margins, and the columns in either order."""
    metric = tm.metric(name)
    for seed in range(20):
        y, s, w = drawn(seed)
        p = 1 / (1 + np.exp(-s))
        words = np.array(["no", "yes"])[y]
        both = np.column_stack([1 - p, p])
        expected = metric(y, p, weights=w)
        assert same_bits(metric(y, both, weights=w), expected)
        assert same_bits(metric(y, both, weights=w, kind="probability"), expected)
        assert same_bits(metric(y, both[:, ::-1], weights=w, classes=[1, 0]), expected)
        assert same_bits(metric(y == 1, both, weights=w, classes=[False, True]), expected)
        assert same_bits(metric(words, p, weights=w, positive="yes"), expected)
        assert same_bits(metric(words, both, weights=w, positive="yes"), expected)
        assert same_bits(metric(words, both[:, ::-1], weights=w, classes=["yes", "no"], positive="yes"), expected)
        assert same_bits(metric(words, both[:, ::-1], weights=w, positive="no"), metric(1 - y, p, weights=w))
        assert same_bits(metric(y, s, weights=w, kind="margin"), metric(y, s, weights=w))
        low = np.round(np.random.default_rng(seed).normal(0, 1, len(y)), 1)
        pair = np.column_stack([low, low + s])
        gap = pair[:, 1] - pair[:, 0]
        assert same_bits(metric(y, pair, weights=w, kind="margin"), metric(y, gap, weights=w))
        assert same_bits(metric(y, pair[:, ::-1], weights=w, kind="margin", classes=[1, 0]), metric(y, gap, weights=w))


def test_margins_of_two_columns_that_overflow():
    """A difference beyond float64 is the highest or the lowest there is."""
    high = np.finfo(float).max
    pairs = [[high, -high], [0.0, 0.0], [-high, high], [1.0, 2.0]]
    assert tm.auc([0, 0, 1, 1], pairs, kind="margin") == 1.0
    assert tm.auc([0, 0, 1, 1], pairs, kind="margin", bounded=8) == 1.0


@pytest.mark.parametrize("name", ALL)
def test_one_class_is_undefined(name):
    """With the reason, or with the number that the caller gave; never a guess."""
    only = {"average_precision": ([0, 0], "no row is positive"), "pr_auc": ([0, 0], "no row is positive")}
    y, reason = only.get(name.split("(")[0], ([1, 1], "all rows are of one class"))
    report = tm.evaluate(y, [0.1, 0.2], [name])
    assert math.isnan(report[name])
    assert report.cell(name).reason == reason
    assert tm.metric(name)(y, [0.1, 0.2], undefined=0.5) == 0.5
    with pytest.raises(tm.TallymarkError, match=reason):
        tm.metric(name)(y, [0.1, 0.2], undefined="raise")
    assert math.isnan(tm.metric(name)(y, [[0.9, 0.1], [0.8, 0.2]], classes=[0, 1]))


def test_positives_alone_have_all_precision():
    """Nothing could be wrong."""
    assert tm.average_precision([1, 1], [0.1, 0.2]) == tm.pr_auc([1, 1], [0.1, 0.2]) == 1.0
    assert tm.average_precision([1, 1], [0.1, 0.2], weights=[0.3, 1e10]) == 1.0


def test_three_classes_are_averaged_against_the_rest_or_in_pairs():
    """Each against the rest in its column, or in pairs; the mean, or by how often a class is true."""
    alone = [tm.auc([int(t == k) for t in TRUTH], TABLE[:, k]) for k in range(3)]
    w = [1, 2, 3, 1, 1, 1]
    by_weight = [tm.auc([int(t == k) for t in TRUTH], TABLE[:, k], weights=w) for k in range(3)]
    assert tm.auc(TRUTH, TABLE) == pytest.approx(np.mean(alone), rel=1e-15)
    assert tm.auc(TRUTH, TABLE, weights=w, average="weighted") == pytest.approx(
        np.average(by_weight, weights=[2, 3, 4]), rel=1e-15
    )
    assert tm.gini(TRUTH, TABLE) == pytest.approx(2 * np.mean(alone) - 1, rel=1e-14)
    for name in ("average_precision", "pr_auc", "ks"):
        each = [tm.metric(name)([int(t == k) for t in TRUTH], TABLE[:, k]) for k in range(3)]
        assert tm.metric(name)(TRUTH, TABLE) == pytest.approx(np.mean(each), rel=1e-15)


def test_an_absent_class_makes_the_mean_undefined():
    """It has no value, so neither has the mean; by weight it counts nothing."""
    y, p = [0, 1, 0, 1], TABLE[:4]
    names = ["auc", "auc(multiclass=ovo)", "gini", "ap", "pr_auc", "ks", "auc(bounded=9)", "ap(bounded=9)"]
    report = tm.evaluate(y, p, names, classes=[0, 1, 2])
    for name in report:
        assert math.isnan(report[name])
        assert report.cell(name).reason == "class 2: no row has this class"
    for name in ("auc", "gini", "average_precision", "pr_auc", "ks", "auc(bounded=64)", "ap(bounded=64)"):
        each = [tm.metric(name)([int(t == k) for t in y], p[:, k]) for k in range(2)]
        found = tm.metric(name)(y, p, classes=[0, 1, 2], average="weighted")
        assert found == pytest.approx(np.mean(each), rel=1e-15)
    assert math.isnan(tm.auc(y, p, classes=[0, 1, 2], average="weighted", multiclass="ovo"))
    names = [f"{name}(average=weighted{more})" for name in ("auc", "gini", "ks") for more in ("", ", bounded=9")]
    report = tm.evaluate([0, 0], p[:2], names, classes=[0, 1, 2])
    assert list(report.reasons.values()) == ["all rows are of one class"] * len(names)


def test_a_stream_is_one_call():
    """Five hundred small updates, some of one class or of weight zero, give the same bits."""
    y, s, _ = drawn(1, 5000)
    w = np.random.default_rng(1).choice([0.0, 0.1, 1.0, 1e9], 5000)
    for weights in (None, w):
        whole = tm.evaluate(y, s, ALL, weights=weights)
        tally = tm.Tally(ALL)
        for rows in np.array_split(np.random.default_rng(2).permutation(5000), 500):
            tally.update(y[rows], s[rows], weights=None if weights is None else weights[rows])
        found = tally.report()
        assert all(same_bits(found[name], whole[name]) for name in ALL)
    words = np.array(["a", "b", "c"])[np.arange(600) % 3]
    table = np.round(np.random.default_rng(3).dirichlet(np.ones(3), 600), 2)
    names = ["auc", "auc(multiclass=ovo, average=weighted)", "ap", "auc(bounded=8)"]
    whole = tm.evaluate(words, table, names, classes=["a", "b", "c"])
    tally = tm.Tally(names, classes=["a", "b", "c"])
    for first in range(0, 600, 7):
        tally.update(words[first : first + 7], table[first : first + 7])
    assert all(same_bits(tally.report()[name], whole[name]) for name in names)


@pytest.mark.parametrize("shape", ["ties", "one positive", "one bucket", "all exponents", "sorted", "weighted"])
def test_the_number_of_threads_changes_no_bit(shape):
    """Any number of threads gives the same bits, and the value of a plain sort."""
    n = 400_000
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, n)
    s = rng.normal(0, 1, n) + y
    w = rng.uniform(0, 2, n) if shape == "weighted" else None
    if shape == "ties":
        s = np.round(s, 2)
    elif shape == "one positive":
        y = np.zeros(n, int)
        y[n // 3] = 1
    elif shape == "one bucket":
        s = 1 + rng.integers(0, n, n) * 2.0**-52
    elif shape == "all exponents":
        s = np.ldexp(s, rng.integers(-1000, 1000, n))
    elif shape == "sorted":
        s = np.sort(s)
    before = get_threads()
    try:
        found = []
        for threads in range(1, 5):
            set_threads(threads)
            found.append(values(y, s, weights=w))
    finally:
        set_threads(before)
    assert all(same_bits(found[0], other) for other in found[1:])
    if w is None:
        _, place, count = np.unique(s, return_inverse=True, return_counts=True)
        ranks = (np.cumsum(count) - (count - 1) / 2)[place]
        positives = int(y.sum())
        wins = ranks[y == 1].sum() - positives * (positives + 1) / 2
        assert found[0][0] == pytest.approx(wins / positives / (n - positives), rel=1e-12)


def test_one_state_serves_all(monkeypatch):
    """However many metrics are asked for, the scores are sorted once, and one walk takes all sums."""
    from tallymark.states.scores import runs, scores

    sorts, walks = [], []
    sort, walk = scores.sort_scores, runs.rank_sums
    monkeypatch.setattr(scores, "sort_scores", lambda *args: sorts.append(1) or sort(*args))
    monkeypatch.setattr(runs, "rank_sums", lambda *args: walks.append(1) or walk(*args))
    report = tm.evaluate(Y, S, ["auc", "gini", "ks"])
    assert (len(sorts), len(walks)) == (1, 1)
    assert report["gini"] == 0.5
    tm.evaluate(Y, S, [*NAMES, "auc(max_fpr=0.5)"])
    assert (len(sorts), len(walks)) == (2, 2)
