"""Rank ranges of a leaderboard: the ranks that each entry may have, by paired tests of all pairs of entries.

Two entries are compared by their outcomes in each row: McNemar's score test where rows are right or wrong, Student's on
the influences of the rows where they are not (of an area under the ROC curve that is DeLong's). The p-values are
corrected by Holm's method for all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from tallymark.comparison.paired_tests import mcnemar_p
from tallymark.comparison.rank_ranges import RankRange, SignificantPairs, rank_ranges
from tallymark.data.arrays import Array
from tallymark.errors import ParameterError, StateError
from tallymark.intervals.analytic import welch_variance
from tallymark.intervals.distributions import student_quantile, student_tail, two_sided
from tallymark.submissions.outcomes import BITS, Outcomes

LEVEL = 0.05
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1).astype(np.int64)
_ROUNDING = 2.0**-46  # of float32, in the squares of influences
_MARGIN = 1e-9
_BLOCK_BYTES = 1 << 26  # of packed outcomes that are in memory, twice
_ENTRIES, _ROWS = 512, 1 << 13  # that are unpacked at a time, twice; the rows are a multiple of 8


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
    spreads = [_variance(np.ldexp(a, shifts[0]), np.ldexp(b, shifts[1])) for a, b in pairs]
    spread = welch_variance(list(zip(spreads, first.sizes, strict=True)))
    try:
        away = abs(math.ldexp(second.value, -unit) - math.ldexp(first.value, -unit)) / math.sqrt(spread.variance)
        p = 2 * student_tail(away, spread.freedom) if math.isfinite(away) else 0.0
    except (OverflowError, ZeroDivisionError):
        p = 0.0
    return max(p, _least_p(first))


def _least_p(outcomes: Outcomes) -> float:
    """The p-value of rows whose signs are all the same."""
    return 2.0 ** (1 - min(outcomes.rows, 1000))


def _variance(first: Array, second: Array) -> float:
    """The variance of the differences, which float32 has kept up to rounding errors."""
    rounding = _ROUNDING * float(first @ first + second @ second) / (len(first) - 1)
    return max(float(np.var(second - first, ddof=1)), rounding)


class EntryBytes(Protocol):
    """The outcomes of entries as bytes, best first: a list, or what reads a slice of them where they are stored."""

    def __len__(self) -> int: ...

    def __getitem__(self, places: slice, /) -> Sequence[bytes | None]: ...


def rank_entries(
    entries: EntryBytes, *, scores: Sequence[float] | None = None, among: int | None = None, level: float = LEVEL
) -> list[RankRange]:
    """The rank range of each entry. Entries come best first, as the bytes of their outcomes.

    All pairs are tested, and the p-values are corrected by Holm's method, so that all ranges contain the true ranks in
    95 of 100 leaderboards. Where each entry is the best of several that a team handed in, `among` is the number of all
    of them: all of their pairs are corrected for.

    `scores` are the scores that the leaderboard shows: of two entries with equal scores, none is better. None stands
    for an entry without outcomes. It differs significantly from no other entry, as does one of other rows than the
    first entry with outcomes.

    >>> right = np.arange(40)
    >>> entries = [Outcomes.from_bits(right < n, n / 40).to_bytes() for n in (38, 36, 10)]
    >>> [str(each) for each in rank_entries(entries)]
    ['1–2', '1–2', '3']
    """
    count = len(entries)
    among = count if among is None else among
    if type(among) is not int or among < count:
        raise ParameterError(
            argument="among", expected=f"be at least the number of entries, which is {count:,}", got=repr(among)
        )
    if scores is not None and len(scores) != count:
        raise ParameterError(
            argument="scores", expected=f"have a number for each of the {count:,} entries", got=f"{len(scores):,}"
        )
    tests = max(among * (among - 1) // 2, 1)
    shown = None if scores is None else np.asarray(scores, np.float64)
    return rank_ranges(count, _significant_pairs(entries, shown, tests, level))


class _TestedPairs(NamedTuple):
    """Pairs of entries, the better one first, with the statistic of their test and its degrees of freedom."""

    better: Array
    worse: Array
    statistic: Array
    freedom: Array

    def take(self, chosen: Array) -> _TestedPairs:
        """Some of the pairs."""
        return _TestedPairs(*(each[chosen] for each in self))


def _significant_pairs(
    entries: EntryBytes, scores: Array | None, tests: int, level: float
) -> Iterator[SignificantPairs]:
    """The significant pairs by Holm's method. Most pairs are significant even if corrected for all tests, or not even
    if corrected for those alone that Holm's method cannot reject; only the p-values of the others are computed."""
    size, first = _first_outcomes(entries)
    if first is None or (first.kind != BITS and min(first.sizes) < 2):
        return
    freedom = math.inf if first.kind == BITS else min(first.sizes) - 1  # at least
    least_p = 0.0 if first.kind == BITS else _least_p(first)
    certain = -student_quantile(level / tests / 2, freedom) if least_p < level / tests else math.inf
    most = 0  # pairs that can be significant
    for pairs in _tested_pairs(entries, size, first.shape, scores):
        most += int(np.count_nonzero(pairs.statistic >= two_sided(1 - level) * (1 - _MARGIN)))
    possible = two_sided(1 - level / max(tests - most + 1, 1))
    certain, possible = certain * (1 + _MARGIN), possible * (1 - _MARGIN)
    rejected, undecided = 0, []
    for pairs in _tested_pairs(entries, size, first.shape, scores):
        is_certain = pairs.statistic >= certain
        rejected += int(np.count_nonzero(is_certain))
        yield pairs.better[is_certain], pairs.worse[is_certain]
        undecided.append(pairs.take(~is_certain & (pairs.statistic >= possible)))
    better, worse, statistic, freedoms = (np.concatenate(parts) for parts in zip(*undecided, strict=True))
    tails = map(student_tail, statistic.tolist(), freedoms.tolist())
    ps = np.maximum(2 * np.fromiter(tails, np.float64, len(statistic)), least_p)
    order = np.argsort(ps, kind="stable")
    fails = ps[order] * (tests - rejected - np.arange(len(ps))) >= level
    chosen = order[: np.argmax(fails) if fails.any() else len(fails)]
    yield better[chosen], worse[chosen]


def _first_outcomes(entries: EntryBytes) -> tuple[int, Outcomes | None]:
    """How many entries are in memory at a time, and the first outcomes."""
    for place in range(len(entries)):
        (data,) = entries[place : place + 1]
        if data is not None:
            return max(_BLOCK_BYTES // len(data), 1), Outcomes.from_bytes(data)
    return 1, None


def _tested_pairs(
    entries: EntryBytes, size: int, shape: tuple[str, tuple[int, ...]], scores: Array | None
) -> Iterator[_TestedPairs]:
    """All pairs of entries of these rows whose scores differ."""
    for start in range(0, len(entries), size):
        block = _read_block(entries, start, size, shape)
        for other_start in range(start, len(entries), size):
            other = block if other_start == start else _read_block(entries, other_start, size, shape)
            for i in range(0, len(block), _ENTRIES):
                for j in range(i if other is block else 0, len(other), _ENTRIES):
                    some, others = block[i : i + _ENTRIES], other[j : j + _ENTRIES]
                    better, worse = (np.array([place for place, _ in each]) for each in (some, others))
                    outcomes = [each for _, each in some], [each for _, each in others]
                    statistic, freedom = (_bit_statistics if shape[0] == BITS else _student_statistics)(*outcomes)
                    tested = better[:, None] < worse
                    if scores is not None:
                        tested &= scores[better, None] != scores[worse]
                    rows, columns = np.nonzero(tested)
                    yield _TestedPairs(better[rows], worse[columns], statistic[tested], freedom[tested])


def _read_block(
    entries: EntryBytes, start: int, size: int, shape: tuple[str, tuple[int, ...]]
) -> list[tuple[int, Outcomes]]:
    """The outcomes of this shape in a block of entries, each with its place."""
    found = [
        (start + k, Outcomes.from_bytes(data))
        for k, data in enumerate(entries[start : start + size])
        if data is not None
    ]
    return [(place, each) for place, each in found if each.shape == shape]


def _bit_statistics(one: Sequence[Outcomes], other: Sequence[Outcomes]) -> tuple[Array, Array]:
    """McNemar's statistic of each pair."""
    both = _products(one, other, 0, one[0].rows)
    totals = [np.array([_ONES[each.packed].sum() for each in side], np.float64) for side in (one, other)]
    gains, losses = totals[1] - both, totals[0][:, None] - both
    with np.errstate(invalid="ignore"):
        statistic = np.abs(gains - losses) / np.sqrt(gains + losses)
    return np.nan_to_num(statistic, nan=0.0), np.full(both.shape, math.inf)


def _student_statistics(one: Sequence[Outcomes], other: Sequence[Outcomes]) -> tuple[Array, Array]:
    """Student's statistic of each pair, with Welch's degrees of freedom where rows are of two classes."""
    exponents = [np.array([each.exponent for each in side]) for side in (one, other)]
    unit = np.maximum(exponents[0][:, None], exponents[1])
    shifts = exponents[0][:, None] - unit, exponents[1] - unit
    values = [np.array([each.value for each in side]) for side in (one, other)]
    variance, unsure, begin = np.zeros(unit.shape), np.zeros(unit.shape), 0
    with np.errstate(all="ignore"):
        for rows in one[0].sizes:
            sums = [_sums(side, begin, begin + rows) for side in (one, other)]
            squares = np.ldexp(sums[0][1][:, None], 2 * shifts[0]) + np.ldexp(sums[1][1], 2 * shifts[1])
            products = np.ldexp(_products(one, other, begin, begin + rows), shifts[0] + shifts[1])
            difference = np.ldexp(sums[1][0], shifts[1]) - np.ldexp(sums[0][0][:, None], shifts[0])
            spread = np.maximum(squares - 2 * products - difference**2 / rows, _ROUNDING * squares)
            part = spread / (rows - 1) / rows
            variance, unsure, begin = variance + part, unsure + part**2 / (rows - 1), begin + rows
        away = np.abs(np.ldexp(values[1], -unit) - np.ldexp(values[0][:, None], -unit)) / np.sqrt(variance)
        freedom = np.where(unsure > 0, variance**2 / unsure, 1.0)
    away = np.where(values[0][:, None] == values[1], 0.0, np.nan_to_num(away, nan=math.inf))
    return away, freedom


def _sums(side: Sequence[Outcomes], begin: int, end: int) -> tuple[Array, Array]:
    """The sum of the influences of each entry, and that of their squares."""
    values = [each.packed[begin:end].astype(np.float64) for each in side]
    return np.array([each.sum() for each in values]), np.array([each @ each for each in values])


def _products(one: Sequence[Outcomes], other: Sequence[Outcomes], begin: int, end: int) -> Array:
    """The sums over rows of the products of each pair."""
    total = np.zeros((len(one), len(other)))
    for start in range(begin, end, _ROWS):
        stop = min(start + _ROWS, end)
        left = _unpack(one, start, stop)
        total += left @ (left if other is one else _unpack(other, start, stop)).T
    return total


def _unpack(side: Sequence[Outcomes], start: int, stop: int) -> Array:
    """Rows of entries as numbers, for products that are exact, or as exact as float32 was."""
    if side[0].kind != BITS:
        return np.stack([each.packed[start:stop] for each in side]).astype(np.float64)
    packed = np.stack([each.packed[start // 8 : -(-stop // 8)] for each in side])
    return np.unpackbits(packed, axis=1, count=stop - start).astype(np.float32)
