"""Calls of scikit-learn's functions that tallymark serves, and the count of those that it hands back.

An adapter has the signature of the function that it stands for. It returns the value, or raises `UnservedError` with
the reason why only the original may answer. Whatever else an adapter raises counts as a reason as well, so that errors
and their texts are always scikit-learn's.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

from tallymark.rendering.table import Table
from tallymark.rendering.text import to_text

__all__ = ["CallCounts", "Status", "UnservedError", "served", "status"]

_MOST_SHOWN = 3
_MOST_REASONS = 20  # kept by function: a reason may name what a caller passed


class UnservedError(Exception):
    """Raised by an adapter: the original has to answer, for this reason.

    Where tallymark means another value on purpose, `ours` is that value, for callers who prefer it.
    """

    def __init__(self, reason: str, *, ours: Any = None) -> None:
        super().__init__(reason)
        self.ours = ours


class CallCounts(NamedTuple):
    """What became of the calls of one function."""

    served: int
    served_seconds: float
    fallen_back: int
    fallen_back_seconds: float
    reasons: dict[str, int]


class _Record:
    """The counts of one function, for all threads."""

    __slots__ = ("fallen_back", "fallen_back_seconds", "lock", "reasons", "served", "served_seconds")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        self.served = self.fallen_back = 0
        self.served_seconds = self.fallen_back_seconds = 0.0
        self.reasons: dict[str, int] = {}

    def serve(self, seconds: float) -> None:
        with self.lock:
            self.served += 1
            self.served_seconds += seconds

    def fall_back(self, reason: str, seconds: float) -> None:
        with self.lock:
            self.fallen_back += 1
            self.fallen_back_seconds += seconds
            if reason not in self.reasons and len(self.reasons) >= _MOST_REASONS:
                reason = "other reasons"
            self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def counts(self) -> CallCounts:
        with self.lock:
            return CallCounts(
                self.served,
                self.served_seconds,
                self.fallen_back,
                self.fallen_back_seconds,
                dict(sorted(self.reasons.items(), key=lambda item: -item[1])),
            )


_records: dict[str, _Record] = {}


class Status:
    """Which functions of scikit-learn were called since the start of the process, and who answered.

    `calls` has the counts by name of the function; printed, the status is a table.
    """

    def __init__(self, calls: dict[str, CallCounts], *, patched: bool) -> None:
        self.calls = calls
        self.patched = patched

    @property
    def served(self) -> int:
        """How many calls tallymark answered."""
        return sum(each.served for each in self.calls.values())

    @property
    def fallen_back(self) -> int:
        """How many calls scikit-learn answered."""
        return sum(each.fallen_back for each in self.calls.values())

    def __str__(self) -> str:
        title = f"sklearn.metrics is {'patched' if self.patched else 'not patched'}"
        if not self.calls:
            return f"{title}; no function was called"
        headings = ["function", "tallymark", "time", "scikit-learn", "its time"]
        rows = [
            [name, each.served, _seconds(each.served_seconds), each.fallen_back, _seconds(each.fallen_back_seconds)]
            for name, each in self.calls.items()
        ]
        notes = [
            f"{name} of scikit-learn: {_first_reasons(each.reasons)}"
            for name, each in self.calls.items()
            if each.reasons
        ]
        return to_text(Table(title, headings, rows, notes, numbers=headings[1:]))

    __repr__ = __str__


def _first_reasons(reasons: dict[str, int]) -> str:
    """The most frequent reasons, and how many calls have others."""
    first = [f"{reason} ({count:,})" for reason, count in list(reasons.items())[:_MOST_SHOWN]]
    rest = sum(list(reasons.values())[_MOST_SHOWN:])
    return "; ".join([*first, *([f"other reasons ({rest:,})"] if rest else [])])


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def served(
    adapter: Callable[..., Any],
    original: Callable[..., Any],
    home: str,
    strict: Callable[[], bool] = lambda: True,
) -> Callable[..., Any]:
    """Return a function that looks like the original and lives in the module `home`: the adapter answers, or else the
    original does, and is counted. Unless it is `strict`, values that tallymark means otherwise are its own."""
    record = _records.setdefault(original.__name__, _Record())

    @functools.wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        start = perf_counter()
        try:
            value = adapter(*args, **kwargs)
        except Exception as error:  # the original has its own words for what is wrong
            value = error.ours if isinstance(error, UnservedError) and not strict() else None
            if value is None:
                return _fall_back(record, _reason(error), original, args, kwargs)
        record.serve(perf_counter() - start)
        return value

    function.__module__ = home
    return function


def _fall_back(record: _Record, reason: str, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    start = perf_counter()
    try:
        return original(*args, **kwargs)
    finally:
        record.fall_back(reason, perf_counter() - start)


def _reason(error: Exception) -> str:
    if isinstance(error, UnservedError):
        return str(error)
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text if len(text) <= 100 else text[:97] + '...'}"


def status(*, reset: bool = False) -> Status:
    """Return which calls of `sklearn.metrics` tallymark served in this process, and which fell back to scikit-learn.

    Calls count where they are made through `tallymark.sklearn.metrics` or while `patch` is on. With `reset`, the counts
    start again.

    >>> from tallymark.sklearn import metrics, status
    >>> _ = status(reset=True)
    >>> metrics.accuracy_score([0, 1, 1], [0, 1, 0])
    0.6666666666666666
    >>> status().calls["accuracy_score"].served
    1
    """
    from tallymark.sklearn import patching

    calls = {name: record.counts() for name, record in _records.items()}
    if reset:
        for record in _records.values():
            with record.lock:
                record.clear()
    called = {name: each for name, each in calls.items() if each.served or each.fallen_back}
    return Status(called, patched=patching.is_patched())
