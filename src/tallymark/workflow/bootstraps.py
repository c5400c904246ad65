"""Bootstrap splitters: training rows are drawn with replacement, and those that were never drawn are the test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tallymark.arrays import Array
from tallymark.errors import ParameterError
from tallymark.workflow.shuffling import drawn
from tallymark.workflow.splitters import Split, Splitter, codes_of

_MOST_TRIES = 1_000


@dataclass(frozen=True)
class Bootstrap(Splitter):
    """As many training rows as there are rows, drawn with replacement; the test is out of the bag."""

    times: int = 100
    seed: int = 0

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        return _bags([np.arange(n)], n, self.times, self.seed)

    def count(self, rows: object) -> int:
        return self.times


@dataclass(frozen=True)
class StratifiedBootstrap(Bootstrap):
    """A bootstrap within every class, so that training has as many rows of each as there are."""

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        labels, codes = codes_of("y", y, n, "the classes of the rows, within which they are drawn")
        classes = [np.flatnonzero(codes == k) for k in range(len(labels))]
        if max(map(len, classes)) < 2:
            raise ParameterError(
                argument="y", expected="have a class of at least two rows, or no row is ever out of the bag"
            )
        return _bags(classes, n, self.times, self.seed)


def _bags(classes: list[Array], n: int, times: int, seed: int) -> Iterator[Split]:
    for k in range(times):
        for again in range(_MOST_TRIES):  # few rows may all be in the bag
            first = (k * _MOST_TRIES + again) * len(classes)
            bag = [rows[drawn(len(rows), len(rows), seed, first + c)] for c, rows in enumerate(classes)]
            train = np.sort(np.concatenate(bag))
            test = np.setdiff1d(np.arange(n), train)
            if len(test):
                break
        yield train, test
