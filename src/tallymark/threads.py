"""How many threads one call may use."""

from __future__ import annotations

import os

import numpy as np

from tallymark._core import get_threads as _get_limit
from tallymark._core import set_threads as _set_limit
from tallymark.errors import ParameterError

__all__ = ["get_threads", "set_threads"]

VARIABLE = "TALLYMARK_THREADS"


def set_threads(n: int | None = None) -> None:
    """Use at most `n` threads for one call; None for as many as there are CPUs. Results never depend on it."""
    if n is None:
        n = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, 1024)
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 1 <= n <= 1024:
        raise ParameterError(f"`n` must be a whole number of threads from 1 to 1024; it was {n!r}")
    _set_limit(int(n))


def get_threads() -> int:
    """The most threads that one call may use."""
    return _get_limit()


def _follow_environment() -> None:
    """Follow the environment variable, or else the number of CPUs."""
    wanted = os.environ.get(VARIABLE, "").strip()
    if wanted and not (wanted.isdecimal() and 1 <= int(wanted) <= 1024):
        raise ParameterError(f"{VARIABLE} must be a whole number from 1 to 1024; it was {wanted!r}")
    set_threads(int(wanted) if wanted else None)


_follow_environment()
