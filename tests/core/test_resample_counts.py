"""How often rows count in a replicate: against a NumPy twin, the Poisson distribution, and called past validation."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tallymark as tm
from tallymark import _core

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def twin(seed, replicate, keys):
    with np.errstate(over="ignore"):
        stream = mix(mix(np.uint64(seed) + GOLDEN) + np.uint64(replicate + 1) * GOLDEN)
        drawn = mix(stream + keys * GOLDEN) >> np.uint64(32)
    at_most = np.cumsum([math.exp(-1) / math.factorial(k) for k in range(12)])
    return np.searchsorted(np.rint(at_most * 2**32) - 2**31, drawn.astype(np.uint32).view(np.int32), side="right")


@pytest.mark.parametrize("size", [0, 1, 7, 255, 256, 257, 1000, 200_000])
def test_counts_are_those_of_the_twin(size):
    """Every size gives the counts of the twin, for keys anywhere and for places."""
    keys = np.random.default_rng(size).integers(0, 2**64, size, dtype=np.uint64)
    for seed, replicate in ((0, 0), (7, 3), (2**64 - 1, 10**6)):
        assert (_core.poisson_counts(seed, replicate, keys) == twin(seed, replicate, keys)).all()
        places = np.arange(5, 5 + size, dtype=np.uint64)
        found = _core.poisson_counts_of_places(seed, replicate, 5, size)
        assert found.dtype == np.uint8
        assert (found == twin(seed, replicate, places)).all()


def test_counts_go_with_the_key_alone():
    """Neither order nor threads nor pieces show: a row's count goes with its key."""
    keys = np.random.default_rng(1).permutation(300_000).astype(np.uint64)
    whole = _core.poisson_counts_of_places(4, 2, 0, len(keys))
    assert (_core.poisson_counts(4, 2, keys) == whole[keys]).all()
    before = _core.get_threads()
    try:
        for threads in (1, 2, 5):
            tm.set_threads(threads)
            assert (_core.poisson_counts_of_places(4, 2, 0, len(keys)) == whole).all()
    finally:
        tm.set_threads(before)


@pytest.mark.parametrize("stride", [1, 2**20, 2**32, 2**57 + 1])
def test_resample_counts_follow_the_poisson_distribution(stride):
    """A million counts fit the Poisson distribution of mean 1, whatever the keys look like."""
    keys = np.arange(1_000_000, dtype=np.uint64) * np.uint64(stride)
    observed = np.bincount(_core.poisson_counts(11, 5, keys), minlength=13)
    expected = np.array([math.exp(-1) / math.factorial(k) for k in range(7)]) * len(keys)
    expected = np.append(expected, len(keys) - expected.sum())
    observed = np.append(observed[:7], observed[7:].sum())
    assert ((observed - expected) ** 2 / expected).sum() < 26.0  # 1 in 2,000 for 7 degrees of freedom


def correlation(a, b):
    return abs(np.corrcoef(a, b)[0, 1]) * math.sqrt(len(a))


def test_counts_of_different_replicates_rows_and_seeds_are_independent():
    """Neighbours among replicates, rows and seeds are uncorrelated, and so are their squares."""
    n = 400_000
    first = _core.poisson_counts_of_places(0, 0, 0, n).astype(float)
    others = [
        *(_core.poisson_counts_of_places(0, replicate, 0, n) for replicate in (1, 2, 3, 64, 1000)),
        *(_core.poisson_counts_of_places(seed, 0, 0, n) for seed in (1, 2, 2**32)),
        *(_core.poisson_counts_of_places(0, 0, shift, n) for shift in (1, 2, 3, 64, 1000)),
    ]
    for other in others:
        assert correlation(first, other) < 4.0
        assert correlation(first**2, other.astype(float) ** 2) < 4.0
    by_replicate = [_core.poisson_counts_of_places(3, replicate, 0, 1).item() for replicate in range(20_000)]
    assert correlation(by_replicate[1:], by_replicate[:-1]) < 4.0
    assert abs(np.mean(by_replicate) - 1) < 4 / math.sqrt(20_000)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (np.zeros(3), "uint64"),
        (np.zeros(3, dtype=np.int64), "uint64"),
        (np.zeros((3, 2), dtype=np.uint64), "dimension"),
        (np.zeros(6, dtype=np.uint64)[::2], "contiguous"),
    ],
)
def test_other_keys_are_refused(keys, message):
    """Keys of another type, shape or layout are refused, never read."""
    with pytest.raises(ValueError, match=message):
        _core.poisson_counts(0, 0, keys)


def test_rows_beyond_memory_are_refused():
    """More rows than memory holds are an error, not a crash."""
    with pytest.raises((MemoryError, ValueError)):
        _core.poisson_counts_of_places(0, 0, 0, 2**62)
    with pytest.raises(TypeError):
        _core.poisson_counts_of_places(-1, 0, 0, 3)
