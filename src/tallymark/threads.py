"""How many threads one call may use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from tallymark._core import get_threads as _get_limit
from tallymark._core import set_own_threads as _set_own_limit
from tallymark._core import set_threads as _set_limit
from tallymark.errors import ParameterError, brief

__all__ = ["get_threads", "set_threads"]


VARIABLE = "TALLYMARK_THREADS"

T = TypeVar("T")
_FEW_ROWS = 4_096
_MANY_ROWS = 131_072  # from here on the core itself takes several threads


def set_threads(n: int | None = None) -> None:
    """Use at most `n` threads for one call; None for as many as there are CPUs. Results never depend on it."""
    if n is None:
        n = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, 1024)
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 1 <= n <= 1024:
        raise ParameterError(argument="n", expected="be an integer from 1 to 1024", got=brief(n))
    _set_limit(int(n))


def get_threads() -> int:
    """The most threads that one call may use."""
    return _get_limit()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Calls from this thread start no others: the same work already runs in several threads."""
    _set_own_limit(1)
    try:
        yield
    finally:
        _set_own_limit(0)


def map_in_order(work: Callable[[int], T], count: int, rows: int) -> Iterator[T]:
    """work(0), work(1), … in this order; each reads `rows` rows. Several run at once, unless one call keeps all threads
    busy by itself, or is done before a thread has started."""
    threads = min(get_threads(), count)
    if threads < 2 or not _FEW_ROWS <= rows < _MANY_ROWS:
        yield from map(work, range(count))
        return
    from concurrent.futures import ThreadPoolExecutor  # slow to load, and few ask

    with ThreadPoolExecutor(threads) as pool:
        for first in range(0, count, 4 * threads):  # so that no more results wait than are about to be read
            yield from pool.map(work, range(first, min(first + 4 * threads, count)))


def _follow_environment() -> None:
    """Follow the environment variable, or else the number of CPUs."""
    wanted = os.environ.get(VARIABLE, "").strip()
    if wanted and not (wanted.isdecimal() and 1 <= int(wanted) <= 1024):
        raise ParameterError(f"{VARIABLE} must be an integer from 1 to 1024; got {brief(wanted)}")
    set_threads(int(wanted) if wanted else None)


_follow_environment()
