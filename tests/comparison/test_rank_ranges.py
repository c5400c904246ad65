"""Rank ranges: 1 + the number of entries that are significantly better, to n − the number that are worse."""

from __future__ import annotations

import numpy as np

from tallymark.comparison.rank_ranges import RankRange, rank_ranges


def test_ranges_count_significant_differences():
    """As the definition does, whatever blocks the pairs come in."""
    rng = np.random.default_rng(0)
    pairs = [(i, j) for i in range(9) for j in range(i + 1, 9) if rng.random() < 0.4]
    expected = [
        RankRange(1 + sum(k == worse for _, worse in pairs), 9 - sum(k == better for better, _ in pairs))
        for k in range(9)
    ]
    better, worse = np.array(pairs).T
    assert rank_ranges(9, [(better, worse)]) == expected
    assert rank_ranges(9, ([[i], [j]] for i, j in pairs)) == expected


def test_without_significant_differences_every_rank_is_possible():
    """Also where no pair was tested, and where there is no entry."""
    assert rank_ranges(3, []) == rank_ranges(3, [([], [])]) == [RankRange(1, 3)] * 3
    assert rank_ranges(0, []) == []


def test_a_range_is_printed_like_places():
    """One number where there is one rank."""
    assert [str(RankRange(*each)) for each in ((1, 1), (2, 5), (1, 12_000))] == ["1", "2–5", "1–12,000"]
