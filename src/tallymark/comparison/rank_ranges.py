"""Rank ranges: the ranks that an entry may have, by the differences that are significant.

The range of an entry begins after the entries that are significantly better and ends before those that are
significantly worse. If no difference of any pair is found by mistake with a probability of 0.95, all ranges hold the
true ranks with that probability (Mogstad, Romano, Shaikh and Wilhelm 2024). Models and leaderboards are ranked by this
function alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tallymark.data.arrays import Array


class RankRange(NamedTuple):
    """The best and the worst rank that an entry may have.

    >>> str(RankRange(1, 3)), str(RankRange(2, 2))
    ('1–3', '2')
    """

    best: int
    worst: int

    def __str__(self) -> str:
        return f"{self.best:,}" if self.best == self.worst else f"{self.best:,}–{self.worst:,}"


SignificantPairs = tuple[Sequence[int] | Array, Sequence[int] | Array]
"""Entries that are significantly better, and for each of them one that is significantly worse."""


def rank_ranges(entries: int, blocks: Iterable[SignificantPairs]) -> list[RankRange]:
    """The rank range of each entry: 1 + the number of entries that are significantly better, to the number of all
    entries − the number of those that are significantly worse. Each pair is in one of the `blocks`, once.

    >>> [str(each) for each in rank_ranges(3, [([0, 1], [2, 2])])]
    ['1–2', '1–2', '3']
    """
    better, worse = np.zeros(entries, np.int64), np.zeros(entries, np.int64)
    for winners, losers in blocks:
        better += np.bincount(np.asarray(losers, np.int64), minlength=entries)
        worse += np.bincount(np.asarray(winners, np.int64), minlength=entries)
    return [RankRange(*each) for each in zip((1 + better).tolist(), (entries - worse).tolist(), strict=True)]
