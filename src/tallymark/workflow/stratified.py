"""Stratified splitters: every part has its share of every class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tallymark.arrays import Array
from tallymark.workflow.shuffling import shuffled
from tallymark.workflow.splitters import Holdout, KFold, Split, apart, by_fold, check_folds, codes_of, count_test

_WHY = "the classes of the rows, of which every part gets its share"


@dataclass(frozen=True)
class StratifiedKFold(KFold):
    """Folds that have the same number of rows of every class, and of all rows, but for one row.

    >>> folds = StratifiedKFold(2).split(6, ["a", "b", "a", "b", "a", "a"])
    >>> [len(test) for _, test in folds]
    [3, 3]
    """

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        check_folds(self.folds, n, "rows")
        fold = np.empty(n, np.int64)
        # Dealt class after class without a new start, so that the remainders of the classes do not pile up.
        fold[class_by_class(n, y, self.seed if self.shuffle else None)] = np.arange(n) % self.folds
        return by_fold(fold, self.folds)


@dataclass(frozen=True)
class StratifiedHoldout(Holdout):
    """One split whose test has its share of every class, but for one row.

    >>> [test.tolist() for _, test in StratifiedHoldout(0.5, shuffle=False).split(4, ["a", "a", "b", "b"])]
    [[1, 3]]
    """

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        labels, codes = codes_of("y", y, n, _WHY)
        order = class_by_class(n, y, self.seed if self.shuffle else None)
        sizes = np.bincount(codes, minlength=len(labels))
        ends = np.cumsum(sizes)
        test = np.zeros(n, bool)
        for end, count in zip(ends.tolist(), quotas(sizes, count_test(self.test, n)).tolist(), strict=True):
            test[order[end - count : end]] = True
        yield apart(test)


def class_by_class(n: int, y: object, seed: int | None) -> Array:
    """The places of the rows, those of the first class first; within a class shuffled, if there is a seed."""
    _, codes = codes_of("y", y, n, _WHY)
    order = np.arange(n) if seed is None else shuffled(n, seed)
    return order[np.argsort(codes[order], kind="stable")]


def quotas(sizes: Array, total: int) -> Array:
    """So many rows, dealt to the classes by their sizes; the largest remainders are rounded up."""
    n = int(sizes.sum())
    exact = sizes.astype(object) * total  # whole numbers of any size
    found = np.array([int(each) // n for each in exact], np.int64)
    rest = np.array([int(each) % n for each in exact], dtype=object)
    for k in sorted(range(len(sizes)), key=lambda k: (-rest[k], k))[: total - int(found.sum())]:
        found[k] += 1
    return found
