"""Kernels in several threads at once, on the same arrays: the bits of one thread alone."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from tests.waiting import LIMIT

import tallymark as tm

THREADS, ROUNDS = 6, 4


def cases():
    rng = np.random.default_rng(0)
    n = 150_000  # enough for threads of a call's own, and for room that is kept for the next call
    y, p, weights = rng.normal(size=n), rng.normal(size=n), rng.random(n)
    happened, score = rng.integers(0, 2, n), rng.random(n)
    texts = [f"class {k}" for k in rng.integers(0, 5, 2_000)]
    guesses = [f"class {k}" for k in rng.integers(0, 5, 2_000)]
    return {
        "errors": lambda: tm.evaluate(y, p, ["rmse", "log_cosh"], weights=weights),
        "ranks": lambda: tm.evaluate(happened, score, ["auc", "average_precision"], weights=weights),
        "texts": lambda: tm.evaluate(texts, guesses, ["accuracy", "cohen_kappa"]),
        "replicates": lambda: tm.evaluate(y[:500], p[:500], ["rmse"], ci=0.95),
    }


@pytest.fixture
def frequent_switches():
    """Threads take turns as often as they can, so that a race is found soon."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_on_the_same_arrays_get_the_bits_of_one_thread(frequent_switches):
    """All kinds of kernels side by side, so that they share the room and the settings of the process."""
    calls = cases()
    alone = {name: call().to_json() for name, call in calls.items()}
    start = Barrier(THREADS)

    def work(first):
        start.wait(LIMIT)
        names = sorted(calls)[first % len(calls) :] + sorted(calls)[: first % len(calls)]
        return [(name, calls[name]().to_json()) for _ in range(ROUNDS) for name in names]

    with ThreadPoolExecutor(THREADS) as pool:
        for found in pool.map(work, range(THREADS)):
            assert len(found) == ROUNDS * len(calls)
            assert all(json == alone[name] for name, json in found)
