"""Standings: which entries of a leaderboard the rows can tell apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import ParameterError, StateError
from tallymark.metrics.naming import metric
from tallymark.submissions.outcomes import Outcomes, row_outcomes
from tallymark.submissions.ranks import paired_test, rank_groups


def outcomes(name, truth, said, kind):
    item = metric(name)
    return row_outcomes(item, item(truth, said), Batch(truth, said), Target(kind))


def compared(name, truth, first, second, **more):
    return tm.compare(truth, {"a": first, "b": second}, [name], **more)[("a", "b"), name].p


def bits(right):
    return Outcomes.from_bits(right, float(np.mean(right)))


def losses(values):
    return Outcomes.from_influences(float(np.mean(values)), values - np.mean(values))


@pytest.mark.parametrize("rows", [5, 30, 200, 3000])
@pytest.mark.parametrize("name", ["accuracy", "error_rate", "recall"])
def test_bits_are_tested_as_compare_does(name, rows):
    """The same p-value of McNemar's test."""
    rng = np.random.default_rng(rows)
    for _ in range(20):
        truth = np.concatenate([[0, 1], rng.integers(0, 2, rows)])
        first, second = (np.where(rng.random(rows + 2) < share, truth, 1 - truth) for share in (0.8, 0.75))
        found = paired_test(*(outcomes(name, truth, said, "label") for said in (first, second)))
        assert found == pytest.approx(compared(name, truth, first, second), abs=1e-12)


@pytest.mark.parametrize("name", ["auc", "gini"])
def test_areas_are_tested_as_compare_does(name):
    """By DeLong's test, with its degrees of freedom; influences have the digits of float32."""
    rng = np.random.default_rng(0)
    for rows in (24, 60, 500):
        truth = np.arange(rows) % 3 == 0
        first, second = (np.round(truth * shift + rng.normal(size=rows), 1) for shift in (1.5, 1.0))
        found = paired_test(*(outcomes(name, truth, said, "score") for said in (first, second)))
        assert found == pytest.approx(compared(name, truth, first, second, kind="score"), rel=1e-4)


@pytest.mark.parametrize("rows", [40, 1000])
@pytest.mark.parametrize("name", ["mae", "mse"])
def test_mean_losses_are_tested_by_student(name, rows):
    """The same p-value as SciPy's test of paired losses."""
    rng = np.random.default_rng(1)
    truth = rng.normal(size=rows)
    first, second = truth + rng.normal(size=rows), truth + 1.15 * rng.normal(size=rows)
    power = 1 if name == "mae" else 2
    expected = stats.ttest_rel(abs(first - truth) ** power, abs(second - truth) ** power).pvalue
    found = paired_test(*(outcomes(name, truth, said, "value") for said in (first, second)))
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fscore(average=macro)", "mcc", "rmse", "r2"])
def test_linearised_scores_are_tested_as_by_resampling(name):
    """The p-value of a paired bootstrap of 4,000 resamples, as far as these tell it."""
    rng = np.random.default_rng(2)
    rows = 1500
    truth = rng.integers(0, 3, rows)
    kind = "value" if name in ("rmse", "r2") else "label"
    for better in (0.7, 0.715, 0.73):
        if kind == "label":
            wrong = rng.integers(0, 3, (2, rows))
            first, second = (
                np.where(rng.random(rows) < share, truth, w) for share, w in zip((better, 0.7), wrong, strict=True)
            )
        else:
            first, second = (truth + rng.normal(0, 1.7 - share, rows) for share in (better, 0.7))
        expected = compared(name, truth, first, second, resamples=4000)
        found = paired_test(*(outcomes(name, truth, said, kind) for said in (first, second)))
        assert found == pytest.approx(expected, rel=0.15, abs=0.02)


def test_either_order_gives_the_same_p_value():
    """To the last bit."""
    rng = np.random.default_rng(3)
    for one, other in (
        (bits(rng.random(50) < 0.5), bits(rng.random(50) < 0.7)),
        tuple(map(losses, rng.random((2, 50)))),
    ):
        assert paired_test(one, other) == paired_test(other, one) < 1


def test_the_same_outcomes_are_never_told_apart():
    """A file that was handed in twice."""
    for each in (bits(np.arange(9) < 5), losses(np.arange(9.0)), losses(np.ones(3))):
        assert paired_test(each, each) == 1


def test_what_all_rows_say_alike_is_no_surer_than_their_signs():
    """Losses that differ by 1 in each of ten rows: a coin falls so in two of 1,024 cases."""
    rows = np.arange(10.0)
    assert paired_test(losses(rows), losses(rows + 1)) == 2 / 1024
    assert paired_test(losses(np.ones(4)), losses(np.zeros(4))) == 2 / 16
    assert 0 < paired_test(losses(np.zeros(5000)), losses(np.ones(5000))) < 1e-200


def test_one_row_tells_nothing():
    """There is no spread to go by; a single row that is right or wrong is far from significant."""
    assert math.isnan(paired_test(losses(np.zeros(1)), losses(np.ones(1))))
    assert paired_test(bits(np.array([True])), bits(np.array([False]))) == pytest.approx(0.317, abs=0.001)
    assert rank_groups([losses(np.full(1, k)).to_bytes() for k in range(3)]) == [1, 1, 1]


def test_numbers_of_any_size_are_compared():
    """In any unit of the truth the same p-value, also where squares would leave float64."""
    rng = np.random.default_rng(4)
    first, second = rng.exponential(size=(2, 60))
    expected = paired_test(losses(first), losses(1.2 * second))
    for power in (-900, -300, 300, 900):
        held = (losses(np.ldexp(each, power)) for each in (first, 1.2 * second))
        assert paired_test(*held) == pytest.approx(expected, rel=1e-9)


def test_outcomes_of_other_rows_are_not_compared():
    """By number, and by kind."""
    for other in (bits(np.ones(8, bool)), losses(np.ones(9))):
        with pytest.raises(StateError, match="outcomes of the same rows"):
            paired_test(bits(np.ones(9, bool)), other)


def entries(rng, shares, rows, shared=0.5):
    """Entries with these chances to be right, the best score first; rows are hard or easy for all of them alike."""
    common = rng.random(rows)
    right = [np.where(rng.random(rows) < shared, common, rng.random(rows)) < share for share in shares]
    return [bits(each).to_bytes() for each in sorted(right, key=lambda each: -each.mean())]


def test_groups_begin_where_entries_are_told_apart_from_the_leader():
    """Three levels of skill, far from each other."""
    rng = np.random.default_rng(5)
    found = rank_groups(entries(rng, [0.95] * 4 + [0.75] * 3 + [0.4] * 3, 2000))
    assert found == [1] * 4 + [2] * 3 + [3] * 3


def test_groups_are_those_of_the_definition():
    """Each entry is tested against the leader alone, at a level for all pairs."""
    rng = np.random.default_rng(6)
    data = entries(rng, np.linspace(0.9, 0.6, 60), 1500)
    held = [Outcomes.from_bytes(each) for each in data]
    expected, leader, group = [], held[0], 1
    for each in held:
        if paired_test(leader, each) < 0.05 / (60 * 59 / 2):
            leader, group = each, group + 1
        expected.append(group)
    assert rank_groups(data) == rank_groups(iter(data), among=60) == expected
    assert 3 < expected[-1] < 30


def test_groups_are_not_transitive():
    """The first and the last of many small steps differ, and still neighbours do not: a group ends where its leader is
    told apart, though the entry before is not."""
    steps = [bits(np.arange(4000) < 3900 - 5 * k).to_bytes() for k in range(8)]
    found = rank_groups(steps)
    assert found[0] == 1 < found[-1]
    edge = found.index(2)
    held = [Outcomes.from_bytes(each) for each in steps]
    assert paired_test(held[edge - 1], held[edge]) > 0.05 / 28


@pytest.mark.slow
def test_equal_entries_are_in_one_group_in_95_of_100_cases():
    """Of thirty equally good entries, though the best leads; with rows that are right or wrong, and with losses."""
    rng = np.random.default_rng(7)
    cases, parted = 150, [0, 0]
    for _ in range(cases):
        parted[0] += rank_groups(entries(rng, [0.8] * 30, 300, shared=0.3))[-1] > 1
        held = sorted(map(losses, rng.normal(size=(30, 300))), key=lambda each: each.value)
        parted[1] += rank_groups([each.to_bytes() for each in held])[-1] > 1
    assert max(parted) <= stats.binom.ppf(0.999, cases, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fscore(average=macro)", "mcc", "auc", "rmse"])
def test_linearised_scores_keep_the_level(name):
    """Of two equally good submissions, p is below 0.05 in about 5 of 100 cases, with classes of different sizes."""
    rng = np.random.default_rng(10)
    cases, below = 400, 0
    for _ in range(cases):
        truth = rng.choice(3, 300, p=[0.6, 0.3, 0.1])
        if name in ("auc", "rmse"):
            kind, truth = ("score", truth > 0) if name == "auc" else ("value", truth)
            both = truth + rng.normal(size=(2, 300))
        else:
            kind, both = "label", np.where(rng.random((2, 300)) < 0.7, truth, rng.integers(0, 3, (2, 300)))
        below += paired_test(*(outcomes(name, truth, said, kind) for said in both)) < 0.05
    assert stats.binom.ppf(0.001, cases, 0.05) <= below <= stats.binom.ppf(0.999, cases, 0.05)


def test_tests_that_are_made_are_too_few_to_correct_for():
    """The leader is the best of all: at a level for 29 tests, equal entries are parted too often."""
    rng = np.random.default_rng(8)
    cases, parted = 150, 0
    for _ in range(cases):
        held = sorted(map(losses, rng.normal(size=(30, 300))), key=lambda each: each.value)
        parted += paired_test(held[0], held[-1]) <= 0.05 / 29
    assert parted > stats.binom.ppf(0.999, cases, 0.05)


@pytest.mark.slow
def test_the_best_of_many_tries_are_corrected_for_all_of_them():
    """Ten equally good teams, half of which hand in once and half 39 times: told how many tries there were, groups keep
    their level; told the number of teams, they do not."""
    rng = np.random.default_rng(11)
    cases, parted = 150, {10: 0, 200: 0}
    for _ in range(cases):
        tried = (rng.normal(size=(1 if team % 2 else 39, 300)) for team in range(10))
        best = sorted((losses(min(each, key=np.mean)) for each in tried), key=lambda each: each.value)
        for among in parted:
            parted[among] += rank_groups([each.to_bytes() for each in best], among=among)[-1] > 1
    assert parted[200] <= stats.binom.ppf(0.999, cases, 0.05) < parted[10]


def test_entries_without_outcomes_or_of_other_rows_have_no_group():
    """They lead nothing, and part nothing."""
    best, same, worst = (bits(np.arange(60) < right).to_bytes() for right in (59, 57, 5))
    other = bits(np.ones(61, bool)).to_bytes()
    assert rank_groups([None, best, other, same, None, worst]) == [None, 1, None, 1, None, 2]
    assert rank_groups([None, None]) == [None, None]
    assert rank_groups([]) == []


def test_ties_are_left_in_the_order_they_came():
    """The first of two equal entries leads, and they share its group."""
    first, second = (bits(held).to_bytes() for held in (np.arange(40) < 30, np.arange(40) >= 10))
    assert rank_groups([first, second]) == rank_groups([second, first]) == [1, 1]


def test_a_perfect_and_a_constant_submission():
    """Told apart by accuracy, by macro F1 and by the area under the ROC curve; one that is perfect twice is not."""
    truth = np.arange(60) % 2
    for name, kind in (("accuracy", "label"), ("fscore(average=macro)", "label"), ("auc", "score")):
        perfect, constant = (outcomes(name, truth, said, kind).to_bytes() for said in (truth, np.ones(60, int)))
        assert rank_groups([perfect, perfect, constant]) == [1, 1, 2]


def test_the_number_of_entries_must_be_known():
    """Where they come one by one, it must be told, and be right."""
    one = bits(np.ones(3, bool)).to_bytes()
    for among in (None, 1, -1, 2.0):
        with pytest.raises(ParameterError, match="`among` must be"):
            rank_groups(iter([one, one]), among=among)


def test_damaged_entries_are_refused():
    """Never passed over."""
    with pytest.raises(StateError):
        rank_groups([b"damaged"])
