"""Splitters of groups: rows of one group, such as those of one patient, are never on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tallymark.errors import ParameterError
from tallymark.workflow.shuffling import shuffled
from tallymark.workflow.splitters import (
    Split,
    Splitter,
    apart,
    by_fold,
    check_folds,
    codes_of,
    count_test,
)

_WHY = "the group of every row, which is never split"


@dataclass(frozen=True)
class GroupKFold(Splitter):
    """Folds of whole groups, as even as the sizes of the groups allow.

    The largest groups are dealt first, each to the fold that has the fewest rows; the seed decides between equal ones.

    >>> [test.tolist() for _, test in GroupKFold(2).split(5, groups=["a", "b", "a", "c", "a"])]
    [[0, 2, 4], [1, 3]]
    """

    folds: int = 5
    seed: int = 0

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        labels, codes = codes_of("groups", groups, n, _WHY)
        check_folds(self.folds, len(labels), "groups")
        sizes = np.bincount(codes, minlength=len(labels))
        order = shuffled(len(labels), self.seed)
        held, fold = [0] * self.folds, np.empty(len(labels), np.int64)
        for group in order[np.argsort(-sizes[order], kind="stable")].tolist():
            place = held.index(min(held))
            fold[group] = place
            held[place] += int(sizes[group])
        return by_fold(fold[codes], self.folds)

    def count(self, rows: object) -> int:
        return self.folds


@dataclass(frozen=True)
class GroupHoldout(Splitter):
    """One split of whole groups: shuffled, they go to the test while it has too few rows for its share."""

    test: float = 0.25
    seed: int = 0

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        labels, codes = codes_of("groups", groups, n, _WHY)
        if len(labels) < 2:
            raise ParameterError(argument="groups", expected="be at least two, to be split", got="one")
        sizes, wanted, held = np.bincount(codes, minlength=len(labels)), count_test(self.test, n), 0
        chosen = np.zeros(len(labels), bool)
        for group in shuffled(len(labels), self.seed)[:-1].tolist():  # one group is left for training
            if held >= wanted:
                break
            chosen[group] = True
            held += int(sizes[group])
        yield apart(chosen[codes])

    def count(self, rows: object) -> int:
        return 1
