"""Shuffles and draws that follow from a seed alone: the same on every machine and with every version of NumPy.

The place of a row is a hash of seed, stream and row (splitmix64); no generator has a state that others could change.
"""

from __future__ import annotations

import numpy as np

from tallymark.arrays import Array

_WORD = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def shuffled(n: int, seed: int, stream: int = 0) -> Array:
    """The numbers below n in an order that follows from the seed and the stream."""
    return np.argsort(_hashes(n, seed, stream), kind="stable").astype(np.int64)


def drawn(n: int, count: int, seed: int, stream: int = 0) -> Array:
    """So many numbers below n, which is at most 2³², each drawn by itself."""
    return ((_hashes(count, seed, stream) >> np.uint64(32)) * np.uint64(n) >> np.uint64(32)).astype(np.int64)


def seed_of(seed: int, repeat: int) -> int:
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
