"""Groups of a leaderboard: entries without a significant difference between them share a rank.

Two entries are compared by their outcomes in each row: McNemar's score test where rows are right or wrong, Student's on
the influences of the rows where they are not (of an area under the ROC curve that is DeLong's).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sized

import numpy as np

from tallymark.comparison.paired_tests import mcnemar_p
from tallymark.data.arrays import Array
from tallymark.errors import ParameterError, StateError
from tallymark.intervals.analytic import welch_variance
from tallymark.intervals.distributions import student_tail
from tallymark.submissions.outcomes import BITS, Outcomes

LEVEL = 0.05
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1).astype(np.int64)


def paired_test(first: Outcomes, second: Outcomes) -> float:
    """The p-value of the difference between two submissions; NaN where there are too few rows for a test.

    >>> right = np.array([True, True, True, True, False])
    >>> round(paired_test(Outcomes.from_bits(right, 0.8), Outcomes.from_bits(~right, 0.2)), 6)
    0.179712
    """
    if first.shape != second.shape:
        raise StateError("only outcomes of the same rows can be compared; these are for other rows or another metric")
    return mcnemar_p(*_discordant_rows(first, second)) if first.kind == BITS else _student(first, second)


def _discordant_rows(first: Outcomes, second: Outcomes) -> tuple[int, int]:
    """How many rows count in the second alone, and in the first alone."""
    one, other = first.packed, second.packed
    return int(_ONES[other & ~one].sum()), int(_ONES[one & ~other].sum())


def _student(first: Outcomes, second: Outcomes) -> float:
    """Student's test of the mean difference. However alike the differences are, it claims no more than a test by their
    signs can: a row that favours one submission would have favoured the other as often."""
    if min(first.sizes) < 2:
        return math.nan
    if first.value == second.value:
        return 1.0
    unit = max(first.exponent, second.exponent)  # in which squares are neither too large nor too small
    shifts = first.exponent - unit, second.exponent - unit
    pairs = zip(first.influences(), second.influences(), strict=True)
    spreads = [_variance(np.ldexp(b, shifts[1]) - np.ldexp(a, shifts[0])) for a, b in pairs]
    spread = welch_variance(list(zip(spreads, first.sizes, strict=True)))
    try:
        away = abs(math.ldexp(second.value, -unit) - math.ldexp(first.value, -unit)) / math.sqrt(spread.variance)
        p = 2 * student_tail(away, spread.freedom) if math.isfinite(away) else 0.0
    except (OverflowError, ZeroDivisionError):
        p = 0.0
    return max(p, 2.0 ** (1 - min(first.rows, 1000)))


def _variance(differences: Array) -> float:
    return float(np.var(differences, ddof=1))


def rank_groups(entries: Iterable[bytes | None], *, among: int | None = None, level: float = LEVEL) -> list[int | None]:
    """The group of each entry, from 1 on. Entries come best first, as the bytes of their outcomes.

    The first entry leads the first group. An entry that differs from the leader of the group leads the next one, where
    "differs" is Bonferroni's for all pairs of entries: p < level / (n (n − 1) / 2). The leader is the best of many, so
    that a correction for the n − 1 tests that are made would not do. Of entries that are all equally good, more than
    one group is made in at most 5 of 100 cases.

    None stands for an entry that nothing tells about: it has no outcomes, or is of other rows than the first one with
    outcomes. It leads nothing and has no group. `among` is the n of the correction, where it is not the number of
    entries: they come one by one, or each is the best of several that a team handed in, all of which count.

    >>> right = np.arange(40)
    >>> entries = [Outcomes.from_bits(right < n, n / 40).to_bytes() for n in (38, 36, 10)]
    >>> rank_groups(entries)
    [1, 1, 2]
    """
    limit = level / _pairs(entries, among)
    groups: list[int | None] = []
    leader, group = None, 1
    for data in entries:
        found = None if data is None else Outcomes.from_bytes(data)
        if found is None or (leader is not None and found.shape != leader.shape):
            groups.append(None)
            continue
        if leader is None:
            leader = found
        elif paired_test(leader, found) < limit:  # which NaN is not
            leader, group = found, group + 1
        groups.append(group)
    if among is not None and len(groups) > among:
        raise ParameterError(
            argument="among", expected="be at least the number of entries", got=f"{among}, and there were {len(groups)}"
        )
    return groups


def _pairs(entries: Iterable[bytes | None], among: int | None) -> int:
    if among is None:
        if not isinstance(entries, Sized):
            raise ParameterError(
                argument="among",
                expected="be given: the number of submissions, which cannot be counted from an iterator",
            )
        among = len(entries)
    if type(among) is not int or among < 0:
        raise ParameterError(argument="among", expected="be the number of submissions", got=repr(among))
    return max(among * (among - 1) // 2, 1)
