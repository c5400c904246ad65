"""Rank ranges: paired tests of entries, and the ranks that each entry may have."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import tallymark as tm
from tallymark.comparison.corrections import correct_p_values
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import StateError
from tallymark.metrics.naming import metric
from tallymark.submissions.outcomes import Outcomes, row_outcomes
from tallymark.submissions.ranks import paired_test, rank_entries


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
        expected = compared(name, truth, first, second, ci=tm.Intervals(resamples=4000))
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
    assert ranges([losses(np.full(1, k)).to_bytes() for k in range(3)]) == [(1, 3)] * 3


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


def ranges(entries, **options):
    return [tuple(each) for each in rank_entries(entries, **options)]


def entries(rng, shares, rows, shared=0.5):
    """Entries with these chances to be right, the best score first; rows are hard or easy for all of them alike."""
    common = rng.random(rows)
    right = [np.where(rng.random(rows) < shared, common, rng.random(rows)) < share for share in shares]
    return [bits(each).to_bytes() for each in sorted(right, key=lambda each: -each.mean())]


def areas(truth, scores):
    return outcomes("auc", truth, scores, "score")


def definition(entries, among=None, level=0.05):
    """Ranges by the definition: a test of each pair, corrected by Holm's method together with tests never made."""
    held = [Outcomes.from_bytes(each) for each in entries]
    count, among = len(held), among or len(held)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    not_made = among * (among - 1) // 2 - len(pairs)
    ps = [paired_test(held[i], held[j]) for i, j in pairs]
    corrected = correct_p_values([*ps, *[1.0] * not_made], "holm")
    significant = [pair for pair, p in zip(pairs, corrected, strict=False) if p < level]
    better, worse = ([pair[side] for pair in significant] for side in (1, 0))
    return [(1 + better.count(k), count - worse.count(k)) for k in range(count)]


@pytest.mark.parametrize("rows", [12, 90, 600])
def test_ranges_are_those_of_the_definition(rows, monkeypatch):
    """For bits, losses and areas, with any number of tries, also where entries are read in blocks of a few."""
    rng = np.random.default_rng(rows)
    skills = np.linspace(0.95, 0.5, 18)
    truth = np.arange(rows) % 3 == 0
    lost = sorted((losses(rng.exponential(2 - share, rows)) for share in skills), key=lambda each: each.value)
    placed = sorted(
        (areas(truth, truth * 3 * share + rng.normal(size=rows)) for share in skills), key=lambda e: -e.value
    )
    boards = [entries(rng, skills, rows), [e.to_bytes() for e in lost], [e.to_bytes() for e in placed]]
    for board in boards:
        for among in (None, 60):
            expected = definition(board, among)
            assert ranges(board, among=among) == expected
            with monkeypatch.context() as patch:
                for name, few in (("_BLOCK_BYTES", 3 * len(board[0])), ("_ENTRIES", 2), ("_ROWS", 16)):
                    patch.setattr(f"tallymark.submissions.ranks.{name}", few)
                assert ranges(board, among=among) == expected
    assert rows < 600 or all(ranges(board)[0] != (1, 18) for board in boards)


def test_entries_far_apart_have_ranges_of_their_level():
    """Four good entries, three fair ones and three poor ones."""
    rng = np.random.default_rng(5)
    found = ranges(entries(rng, [0.95] * 4 + [0.75] * 3 + [0.4] * 3, 2000))
    assert found == [(1, 4)] * 4 + [(5, 7)] * 3 + [(8, 10)] * 3


def test_neighbours_overlap_where_steps_are_small():
    """The first entry and the last differ, and still no neighbours do."""
    steps = [bits(np.arange(4000) < 3900 - 5 * k).to_bytes() for k in range(8)]
    found = ranges(steps)
    assert found[0][1] < found[-1][0]
    assert all(this[1] > following[0] for this, following in pairwise(found))


def crossed(found, ranks):
    """Whether a range lacks the rank of its entry."""
    return any(not low <= rank <= high for (low, high), rank in zip(found, ranks, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("skills", [[0.8] * 30, np.repeat([0.85, 0.8, 0.7], 10), np.linspace(0.9, 0.7, 30)])
def test_all_ranges_contain_the_true_ranks_in_95_of_100_leaderboards(skills):
    """Of thirty entries: equally good, in three levels, and each a little worse than the one before; with rows that are
    right or wrong, and with losses."""
    rng = np.random.default_rng(7)
    cases, missed = 150, [0, 0]
    for _ in range(cases):
        common, own = rng.random(300), rng.random((30, 300))
        right = np.where(rng.random((30, 300)) < 0.3, common, own) < np.array(skills)[:, None]
        for kind, values in enumerate(
            (-right.astype(float), rng.exponential(1 - np.array(skills)[:, None], (30, 300)))
        ):
            order = np.argsort(values.mean(axis=1), kind="stable")
            held = [bits(right[k]) if kind == 0 else losses(values[k]) for k in order]
            found = ranges([each.to_bytes() for each in held])
            sorted_skills = [skills[k] for k in order]
            first = [1 + sum(other > skill for other in skills) for skill in sorted_skills]
            last = [30 - sum(other < skill for other in skills) for skill in sorted_skills]
            missed[kind] += crossed(found, first) or crossed(found, last)
    assert max(missed) <= stats.binom.ppf(0.999, cases, 0.05)


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


@pytest.mark.slow
def test_the_best_of_many_tries_are_corrected_for_all_of_them():
    """Ten equally good teams, half of which hand in once and half 39 times. Corrected for all tries, the ranges contain
    the true ranks; corrected for ten entries, they do not."""
    rng = np.random.default_rng(11)
    cases, parted = 150, {10: 0, 200: 0}
    for _ in range(cases):
        tried = (rng.normal(size=(1 if team % 2 else 39, 300)) for team in range(10))
        best = sorted((losses(min(each, key=np.mean)) for each in tried), key=lambda each: each.value)
        for among in parted:
            parted[among] += ranges([each.to_bytes() for each in best], among=among) != [(1, 10)] * 10
    assert parted[200] <= stats.binom.ppf(0.999, cases, 0.05) < parted[10]


def test_entries_without_outcomes_or_of_other_rows_may_have_any_rank():
    """No test can be made of them, so they widen the ranges of the others."""
    best, same, worst = (bits(np.arange(60) < right).to_bytes() for right in (59, 57, 5))
    other = bits(np.ones(61, bool)).to_bytes()
    any_rank = (1, 6)
    assert ranges([None, best, other, same, None, worst]) == [any_rank, (1, 5), any_rank, (1, 5), any_rank, (3, 6)]
    assert ranges([None, None]) == [(1, 2)] * 2
    assert ranges([]) == []


def test_equal_scores_are_never_parted():
    """A difference beyond the digits that are shown is no difference: the rank would disclose it."""
    truth = np.arange(4000)
    board = [bits(truth < right).to_bytes() for right in (3900, 3860)]
    assert ranges(board) == ranges(board, scores=[0.98, 0.97]) == [(1, 1), (2, 2)]
    assert ranges(board, scores=[0.97, 0.97]) == [(1, 2)] * 2


def test_equal_entries_share_their_range():
    """In either order."""
    first, second = (bits(held).to_bytes() for held in (np.arange(40) < 30, np.arange(40) >= 10))
    assert ranges([first, second]) == ranges([second, first]) == [(1, 2)] * 2


def test_a_perfect_and_a_constant_submission():
    """Differ significantly by accuracy, by macro F1 and by the area under the ROC curve; two perfect ones do not."""
    truth = np.arange(60) % 2
    for name, kind in (("accuracy", "label"), ("fscore(average=macro)", "label"), ("auc", "score")):
        perfect, constant = (outcomes(name, truth, said, kind).to_bytes() for said in (truth, np.ones(60, int)))
        assert ranges([perfect, perfect, constant]) == [(1, 2), (1, 2), (3, 3)]


def test_differences_within_the_rounding_of_float32_are_not_significant():
    """Two files that differ by noise in the seventh digit."""
    rng = np.random.default_rng(12)
    first = rng.exponential(size=200)
    board = [losses(first).to_bytes(), losses(first * (1 + 1e-9)).to_bytes()]
    assert ranges(board) == definition(board) == [(1, 2)] * 2


def test_damaged_entries_are_refused():
    """Never passed over."""
    with pytest.raises(StateError):
        rank_entries([b"damaged"])
