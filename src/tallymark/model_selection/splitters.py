"""Splitters: rows into training and test, by place. Every splitter serves scikit-learn's ``cv=`` as well.

A split is a hash of the seed and the row. No generator has a state that other code could change, and no release of
NumPy can change the splits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from tallymark.data.arguments import describe
from tallymark.data.arrays import Array, count_rows
from tallymark.data.batch import Batch
from tallymark.errors import LengthError, MissingValueError, ParameterError, ShapeError, Text, brief
from tallymark.intervals.settings import check_least, check_whole
from tallymark.states.labels.encoding import encode_labels

_WORD = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def shuffle_rows(n: int, seed: int, stream: int = 0) -> Array:
    """The numbers below n in an order that follows from the seed and the stream."""
    return np.argsort(_hashes(n, seed, stream), kind="stable").astype(np.int64)


def draw_with_replacement(n: int, count: int, seed: int, stream: int = 0) -> Array:
    """So many numbers below n, which is at most 2³², each drawn by itself."""
    return ((_hashes(count, seed, stream) >> np.uint64(32)) * np.uint64(n) >> np.uint64(32)).astype(np.int64)


def repeat_seed(seed: int, repeat: int) -> int:
    """The seed of a repeat; that of the first is the seed itself."""
    return seed if repeat == 0 else _mixed(_mixed(seed + _STEP) + repeat * _STEP)


def _hashes(count: int, seed: int, stream: int) -> Array:
    start = _mixed(_mixed(seed + _STEP) ^ (stream * _STEP & _WORD))
    x = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_STEP) + np.uint64(start)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(_FIRST)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(_SECOND)
    return x ^ (x >> np.uint64(31))


def _mixed(x: int) -> int:
    x &= _WORD
    x = ((x ^ (x >> 30)) * _FIRST) & _WORD
    x = ((x ^ (x >> 27)) * _SECOND) & _WORD
    return x ^ (x >> 31)


Split = tuple[Array, Array]


class Splitter:
    """Splits rows into training and test. A subclass, which is a dataclass, writes `parts` and `count`."""

    def __post_init__(self) -> None:
        check_fields(self)

    def split(self, X: object, y: object = None, groups: object = None) -> Iterator[Split]:  # noqa: N803 - as theirs
        """The places of training and test rows, split by split; X is the rows or how many there are."""
        n = number_of_rows(X)
        if n < 2:
            raise ShapeError(argument="X", expected="have at least two rows to split", got=f"{n}")
        return self.parts(n, y, groups)

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        """The splits of n rows."""
        raise NotImplementedError(f"{type(self).__name__} must define `parts`")

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:  # noqa: N803 - as theirs
        """How many splits there are, as scikit-learn asks."""
        return self.count(X)

    def count(self, rows: object) -> int:
        """How many splits there are of these rows."""
        raise NotImplementedError(f"{type(self).__name__} must define `count`")


@dataclass(frozen=True)
class KFold(Splitter):
    """Folds of nearly equal size, each the test set once; the remainder is spread over the first folds.

    >>> [test.tolist() for _, test in KFold(3, shuffle=False).split(7)]
    [[0, 1, 2], [3, 4], [5, 6]]
    """

    folds: int = 5
    shuffle: bool = True
    seed: int = 0

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        check_folds(self.folds, n, "rows")
        order = shuffle_rows(n, self.seed) if self.shuffle else np.arange(n)
        fold = np.empty(n, np.int64)
        fold[order] = np.repeat(
            np.arange(self.folds), [n // self.folds + (k < n % self.folds) for k in range(self.folds)]
        )
        return splits_by_fold(fold, self.folds)

    def count(self, rows: object) -> int:
        return self.folds


@dataclass(frozen=True)
class Holdout(Splitter):
    """One split: a share of the rows, or a number of them, is the test set.

    With ``shuffle=False`` it is the last rows.

    >>> [test.tolist() for _, test in Holdout(0.25, shuffle=False).split(8)]
    [[6, 7]]
    """

    test: float = 0.25
    shuffle: bool = True
    seed: int = 0

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        order = shuffle_rows(n, self.seed) if self.shuffle else np.arange(n)
        yield train_and_test(np.isin(np.arange(n), order[n - rows_in_test(self.test, n) :]))

    def count(self, rows: object) -> int:
        return 1


@dataclass(frozen=True)
class LeaveOneOut(Splitter):
    """Every row is the test set once."""

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        return splits_by_fold(np.arange(n), n)

    def count(self, rows: object) -> int:
        return number_of_rows(rows)


@dataclass(frozen=True)
class TimeSeries(Splitter):
    """Rows in the order of time: every test follows its training rows, `gap` rows later.

    Args:
        folds: The number of tests.
        gap: How many rows to leave out between training and test.
        test: The number of rows of a test; by default n / (folds + 1).
        most_train: Train on at most this many rows, the last before the gap.

    >>> [(train.tolist(), test.tolist()) for train, test in TimeSeries(2).split(6)]
    [([0, 1], [2, 3]), ([0, 1, 2, 3], [4, 5])]
    """

    folds: int = 5
    gap: int = 0
    test: int | None = None
    most_train: int | None = None

    def __post_init__(self) -> None:
        check_least("folds", self.folds, 1)
        check_least("gap", self.gap, 0)
        for name in ("test", "most_train"):
            if getattr(self, name) is not None:
                check_least(name, getattr(self, name), 1)

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        size = n // (self.folds + 1) if self.test is None else int(self.test)
        first = n - self.folds * size
        if size < 1 or first - self.gap < 1:
            raise ParameterError(
                argument="folds",
                expected=f"leave training rows before the first test: {n} rows are too few for {self.folds} "
                f"tests of {max(size, 1)} after a gap of {self.gap}",
            )
        for start in range(first, n, size):
            end = start - self.gap
            least = 0 if self.most_train is None else max(0, end - self.most_train)
            yield np.arange(least, end), np.arange(start, start + size)

    def count(self, rows: object) -> int:
        return self.folds


@dataclass(frozen=True)
class Repeated(Splitter):
    """Another splitter several times, each with its own seed; the first time is the splitter itself.

    >>> Repeated(KFold(5), 3).get_n_splits()
    15
    """

    splitter: Any
    times: int = 10

    def __post_init__(self) -> None:
        check_least("times", self.times, 1)
        seeded = isinstance(self.splitter, Splitter) and hasattr(self.splitter, "seed")
        if not seeded or getattr(self.splitter, "shuffle", True) is False:
            raise ParameterError(
                argument="splitter",
                expected="shuffle with a seed, like KFold(5)",
                got=repr(self.splitter),
            )

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        for k in range(self.times):
            yield from replace(self.splitter, seed=repeat_seed(self.splitter.seed, k)).parts(n, y, groups)

    def count(self, rows: object) -> int:
        return int(self.times * self.splitter.count(rows))


def splits_by_fold(fold: Array, folds: int) -> Iterator[Split]:
    """Each fold in turn as the test."""
    for k in range(folds):
        yield train_and_test(fold == k)


def train_and_test(test: Array) -> Split:
    """Training and test rows, by a mark on those of the test."""
    return np.flatnonzero(~test), np.flatnonzero(test)


def number_of_rows(source: object) -> int:
    """How many rows there are: the number itself, or that of a table, a sequence or columns by name."""
    if isinstance(source, Integral) and not isinstance(source, bool):
        return int(source)
    if isinstance(source, Mapping) and source:
        return number_of_rows(next(iter(source.values())))
    shape = getattr(source, "shape", None)
    n = int(shape[0]) if shape else count_rows(source)
    if n is None:
        raise ShapeError(argument="X", expected="be rows, or the number of rows", got=describe(source))
    return n


def label_codes(name: str, labels: object, n: int, what: str) -> tuple[list[Any], Array]:
    """The distinct labels and the place of each row's among them."""
    if labels is None:
        raise ParameterError(argument=name, expected=f"be given: {what}")
    rows = Batch(labels, labels)
    rows.names = (name, name)
    if rows.n != n:
        raise LengthError(
            argument=name, expected="have one label per row", got=Text("{} for {} rows of {X}", rows.n, n)
        )
    try:
        return encode_labels(rows, 0)
    except MissingValueError as error:
        error.hint = None
        raise error.add_hint("Drop such rows before splitting") from None


def rows_in_test(test: float, n: int) -> int:
    """How many rows the test has: the nearest whole number to the share, and neither none nor all."""
    if isinstance(test, Integral):
        if not 1 <= test < n:
            raise ParameterError(argument="test", expected=f"be less than the number of rows, {n}", got=f"{test}")
        return int(test)
    return min(max(int(test * n + 0.5), 1), n - 1)


def check_folds(folds: int, n: int, what: str) -> None:
    """Reject more folds than there are things to put into them."""
    if folds > n:
        raise ParameterError(argument="folds", expected=f"be at most the number of {what}, {n}", got=f"{folds}")


def check_fields(splitter: Any) -> None:
    """Require valid fields of a splitter."""
    for field in fields(splitter):
        value = getattr(splitter, field.name)
        if field.name == "folds":
            check_least("folds", value, 2)
        elif field.name == "times":
            check_least("times", value, 1)
        elif field.name == "seed":
            check_whole("seed", value, 0, (1 << 64) - 1)
        elif field.name == "shuffle" and not isinstance(value, bool):
            raise ParameterError(argument="shuffle", expected="be True or False", got=brief(value))
        elif field.name == "test":
            whole = isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
            if not whole and not (isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) < 1):
                raise ParameterError(
                    argument="test", expected="be a fraction between 0 and 1 or a number of rows", got=brief(value)
                )


_WHY_STRATIFIED = "the class of each row, to stratify by"


@dataclass(frozen=True)
class StratifiedKFold(KFold):
    """Folds with equally many rows of every class, and of all rows, up to one row.

    >>> folds = StratifiedKFold(2).split(6, ["a", "b", "a", "b", "a", "a"])
    >>> [len(test) for _, test in folds]
    [3, 3]
    """

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        check_folds(self.folds, n, "rows")
        fold = np.empty(n, np.int64)
        # Dealt class after class without a new start, so that the remainders of the classes do not pile up.
        fold[class_by_class(n, y, self.seed if self.shuffle else None)] = np.arange(n) % self.folds
        return splits_by_fold(fold, self.folds)


@dataclass(frozen=True)
class StratifiedHoldout(Holdout):
    """One split whose test set has its share of every class, up to one row.

    >>> [test.tolist() for _, test in StratifiedHoldout(0.5, shuffle=False).split(4, ["a", "a", "b", "b"])]
    [[1, 3]]
    """

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        labels, codes = label_codes("y", y, n, _WHY_STRATIFIED)
        order = class_by_class(n, y, self.seed if self.shuffle else None)
        sizes = np.bincount(codes, minlength=len(labels))
        ends = np.cumsum(sizes)
        test = np.zeros(n, bool)
        for end, count in zip(ends.tolist(), allocate_rows(sizes, rows_in_test(self.test, n)).tolist(), strict=True):
            test[order[end - count : end]] = True
        yield train_and_test(test)


def class_by_class(n: int, y: object, seed: int | None) -> Array:
    """The places of the rows, those of the first class first; within a class shuffled, if there is a seed."""
    _, codes = label_codes("y", y, n, _WHY_STRATIFIED)
    order = np.arange(n) if seed is None else shuffle_rows(n, seed)
    return order[np.argsort(codes[order], kind="stable")]


def allocate_rows(sizes: Array, total: int) -> Array:
    """So many rows, dealt to the classes by their sizes; the largest remainders are rounded up."""
    n = int(sizes.sum())
    exact = sizes.astype(object) * total  # whole numbers of any size
    counts = np.array([int(each) // n for each in exact], np.int64)
    rest = np.array([int(each) % n for each in exact], dtype=object)
    for k in sorted(range(len(sizes)), key=lambda k: (-rest[k], k))[: total - int(counts.sum())]:
        counts[k] += 1
    return counts


_WHY_GROUPED = "the group of each row; groups are never split"


@dataclass(frozen=True)
class GroupKFold(Splitter):
    """Folds of whole groups, as equal as the sizes of the groups allow.

    The largest groups are assigned first, each to the fold with the fewest rows; the seed decides between equal folds.

    >>> [test.tolist() for _, test in GroupKFold(2).split(5, groups=["a", "b", "a", "c", "a"])]
    [[0, 2, 4], [1, 3]]
    """

    folds: int = 5
    seed: int = 0

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        labels, codes = label_codes("groups", groups, n, _WHY_GROUPED)
        check_folds(self.folds, len(labels), "groups")
        sizes = np.bincount(codes, minlength=len(labels))
        order = shuffle_rows(len(labels), self.seed)
        rows_in_fold, fold = [0] * self.folds, np.empty(len(labels), np.int64)
        for group in order[np.argsort(-sizes[order], kind="stable")].tolist():
            place = rows_in_fold.index(min(rows_in_fold))
            fold[group] = place
            rows_in_fold[place] += int(sizes[group])
        return splits_by_fold(fold[codes], self.folds)

    def count(self, rows: object) -> int:
        return self.folds


@dataclass(frozen=True)
class GroupHoldout(Splitter):
    """One split of whole groups: in random order, they go to the test set until it has its share of rows."""

    test: float = 0.25
    seed: int = 0

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        labels, codes = label_codes("groups", groups, n, _WHY_GROUPED)
        if len(labels) < 2:
            raise ParameterError(argument="groups", expected="contain at least two groups", got="one")
        sizes, rows_wanted, test_rows = np.bincount(codes, minlength=len(labels)), rows_in_test(self.test, n), 0
        in_test = np.zeros(len(labels), bool)
        for group in shuffle_rows(len(labels), self.seed)[:-1].tolist():  # one group is left for training
            if test_rows >= rows_wanted:
                break
            in_test[group] = True
            test_rows += int(sizes[group])
        yield train_and_test(in_test[codes])

    def count(self, rows: object) -> int:
        return 1


_MOST_TRIES = 1_000


@dataclass(frozen=True)
class Bootstrap(Splitter):
    """As many training rows as there are rows, drawn with replacement; the test set is out of the bag."""

    times: int = 100
    seed: int = 0

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        return _bootstrap_splits([np.arange(n)], n, self.times, self.seed)

    def count(self, rows: object) -> int:
        return self.times


@dataclass(frozen=True)
class StratifiedBootstrap(Bootstrap):
    """A bootstrap within every class, so that the training rows have the class sizes of all rows."""

    def parts(self, n: int, y: object, groups: object) -> Iterator[Split]:
        labels, codes = label_codes("y", y, n, "the class of each row, within which rows are drawn")
        classes = [np.flatnonzero(codes == k) for k in range(len(labels))]
        if max(map(len, classes)) < 2:
            raise ParameterError(
                argument="y", expected="have a class of at least two rows, so that rows can be out of the bag"
            )
        return _bootstrap_splits(classes, n, self.times, self.seed)


def _bootstrap_splits(classes: list[Array], n: int, times: int, seed: int) -> Iterator[Split]:
    for k in range(times):
        for again in range(_MOST_TRIES):  # few rows may all be in the bag
            first = (k * _MOST_TRIES + again) * len(classes)
            bag = [rows[draw_with_replacement(len(rows), len(rows), seed, first + c)] for c, rows in enumerate(classes)]
            train = np.sort(np.concatenate(bag))
            test = np.setdiff1d(np.arange(n), train)
            if len(test):
                break
        yield train, test
