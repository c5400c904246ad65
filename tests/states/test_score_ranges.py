"""Ranges of scores: cut anywhere between two scores, their sums are those of all scores, to the last bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tallymark import _core
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import ParameterError, StateError
from tallymark.states.base import State
from tallymark.states.scores.binned import BoundedScoresOf
from tallymark.states.scores.ranges import (
    RangeSums,
    RankedScores,
    add_ranges,
    bin_scores,
    choose_ranges,
    cut_scores,
    refine,
    sum_range,
)
from tallymark.states.scores.scores import ScoresOf

TARGET = Target("score")
READS = ScoresOf(TARGET, frozenset({"", "steps", "trapezoids", "distance"}))


def patterns(rng, n):
    """Scores that are hard to cut: ties, zeros of both signs, the smallest and the largest numbers."""
    return {
        "any": rng.normal(size=n),
        "few": rng.integers(-2, 3, n) * 1.0,
        "zeros": np.where(rng.random(n) < 0.5, 0.0, -0.0),
        "one": np.full(n, 3.0),
        "tiny": rng.integers(-9, 9, n) * 5e-324,
        "spread": np.ldexp(rng.normal(size=n), rng.integers(-1000, 1000, n)),
        "close to 1": 1 - np.ldexp(rng.random(n), rng.integers(-40, 0, n)),
        "ends": rng.choice([1.7e308, -1.7e308, 0.0, -0.0, 1.0], n),
    }


def rows(pattern, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    return (rng.random(n) < rng.random()).astype(int), patterns(rng, n)[pattern], rng


def walked(scores, ranges):
    """The sums over all ranges, as they come back from workers."""
    resolved = ScoresOf(TARGET.with_classes(scores.labels), READS.wants)
    cut = cut_scores(scores, ranges.edges)
    sums = [sum_range(piece.with_reads(resolved), ranges, place) for place, piece in enumerate(cut)]
    return add_ranges([RangeSums.from_bytes(each.to_bytes()) for each in sums], ranges)


@pytest.mark.parametrize("pattern", list(patterns(np.random.default_rng(0), 1)))
def test_states_of_the_ranges_add_to_the_whole(pattern):
    """States of the ranges add to the whole, every row is counted, and the sums are those of one walk."""
    for seed in range(40):
        y, s, rng = rows(pattern, seed)
        scores = READS.fold(Batch(y, s))
        bins = BoundedScoresOf(TARGET, int(rng.integers(2, 40))).fold(Batch(y, s))
        ranges = choose_ranges(bins, int(rng.integers(1, 20)))
        cut = cut_scores(scores, ranges.edges)
        assert np.isfinite(ranges.edges).all()
        assert (np.diff(ranges.edges) > 0).all()
        assert [sum(held) for held in ranges.rows] == [piece.n for piece in cut]
        assert sum(cut[1:], cut[0]) == scores
        sums, places = walked(scores, ranges)
        assert sums == scores.sums(wants="steps")
        assert places == scores.placements()


@pytest.mark.parametrize("pattern", list(patterns(np.random.default_rng(0), 1)))
def test_ranges_are_at_most_twice_their_share(pattern):
    """Cut further by bins of their own, ranges have at most twice their share, but for what is one score."""
    for seed in range(20):
        y, s, rng = rows(pattern, seed)
        count = int(rng.integers(1, 20))
        scores = READS.fold(Batch(y, s))
        resolved = BoundedScoresOf(TARGET.with_classes(scores.labels), 4)
        ranges = choose_ranges(bin_scores(scores, 4).with_reads(resolved), count)
        for _ in range(70):
            large = ranges.too_large(count)
            if not large:
                break
            cut = cut_scores(scores, ranges.edges)
            ranges = refine(ranges, {k: bin_scores(cut[k], 4).with_reads(resolved) for k in large}, count)
        assert not ranges.too_large(count)
        for piece in cut_scores(scores, ranges.edges):
            distinct = {score for runs in piece.whole.columns[0] for score in runs[0].tolist()}
            assert piece.n <= 2 * len(s) / count or len(distinct) == 1
        assert walked(scores, ranges) == (scores.sums(wants="steps"), scores.placements())


def test_bins_of_scores_are_those_of_rows():
    """However they were found."""
    for seed in range(40):
        y, s, rng = rows("any", seed)
        most = int(rng.integers(2, 20))
        assert bin_scores(READS.fold(Batch(y, s)), most) == BoundedScoresOf(TARGET, most).fold(Batch(y, s))


def test_many_rows_are_split_evenly_on_several_threads():
    """About as many rows each, on several threads."""
    rng = np.random.default_rng(1)
    s = rng.random(300_000)
    y = rng.random(len(s)) < s
    ranges = choose_ranges(BoundedScoresOf(TARGET, 1 << 16).fold(Batch(y, s)), 10)
    assert len(ranges.rows) == 10
    assert all(abs(sum(held) - 30_000) < 100 for held in ranges.rows)
    scores = READS.fold(Batch(y, s))
    assert walked(scores, ranges) == (scores.sums(wants="steps"), scores.placements())


def test_squares_of_any_size():
    """Places of more rows than a machine can hold, by counts: all whole numbers."""
    many = 1 << 60
    negative = (np.array([0.0, 2.0]), None, np.array([many, many]))
    positive = (np.array([1.0, 2.0]), None, np.array([many, 3]))
    below, above = [(2 * many, many), (3 * many, 3)], [(2 * many + 6, many), (3, many)]
    wins, of_negatives, of_positives = _core.placement_sums(negative, positive, (2 * many, many + 3), (0, 0))
    assert wins == sum(place * count for place, count in below) == sum(place * count for place, count in above)
    assert of_positives == sum(place * place * count for place, count in below)
    assert of_negatives == sum(place * place * count for place, count in above)


def test_a_stretch_is_a_part_of_the_whole():
    """Counts that cannot be are refused, as are weights."""
    run = (np.array([0.1, 0.2]), None, None)
    weighed = (np.array([0.1, 0.2]), np.array([1.0, 2.0]), None)
    for whole, above in (((1, 2), (0, 0)), ((2, 2), (1, 0)), ((2, 2), (0, 3)), ((1 << 63, 2), (0, 0))):
        for call in (_core.placement_sums, lambda *given: _core.stretch_sums(*given, True, True, True)):
            with pytest.raises(ValueError, match="must be a part of the whole"):
                call(run, run, whole, above)
    with pytest.raises(ValueError, match="a stretch has no weights"):
        _core.placement_sums(run, weighed, (2, 2), (0, 0))
    with pytest.raises((TypeError, ValueError)):
        _core.placement_sums(run, run, (-2, 2), (0, 0))


def test_a_row_that_changes_between_passes_is_detected():
    """Another row in a range is found, before it gives another number."""
    y, s = np.array([0, 1, 0, 1]), np.array([0.1, 0.2, 0.3, 0.4])
    scores, other = READS.fold(Batch(y, s)), READS.fold(Batch(1 - y, s))
    bins = bin_scores(scores, 2)
    ranges = choose_ranges(bins, 2)
    assert not ranges.exact[0]
    with pytest.raises(StateError, match="must have the same rows each time it is read"):
        sum_range(cut_scores(other, ranges.edges)[0], ranges, 0)
    for changed in (other, READS.zero()):
        with pytest.raises(StateError, match="must have the same rows each time it is read"):
            refine(ranges, {0: bin_scores(changed, 2)}, 2)


def test_what_remains_of_a_range_can_only_be_read():
    """The sums are read, and nothing else: it neither adds nor is written."""
    y, s = np.array([0, 1, 0, 1]), np.array([0.1, 0.2, 0.3, 0.4])
    scores = READS.fold(Batch(y, s))
    bins = bin_scores(scores, 16)
    found = RankedScores(READS, bins, *walked(scores, choose_ranges(bins, 2)))
    assert (found.n, found.weight, found.columns, found.several) == (4, scores.weight, (1, 1), False)
    assert Fraction(found.sums().area) == Fraction(3, 4)
    for call in (found.steps, lambda: found.points("roc", drop=True)):
        with pytest.raises(ParameterError, match="curves and thresholds need every distinct score"):
            call()
    with pytest.raises(StateError, match="cannot be added"):
        found + found
    with pytest.raises(StateError, match="cannot be written"):
        found.to_bytes()
    with pytest.raises(StateError, match="cannot be read"):
        State.restore("RankedScores", {})
