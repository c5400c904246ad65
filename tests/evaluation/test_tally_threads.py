"""Tallies that threads share: no update is lost, and every reader sees whole updates."""

from __future__ import annotations

import copy
import math
import pickle
import sys
import threading

import numpy as np
import pytest
from tests.waiting import LIMIT

import tallymark as tm

THREADS = 4


@pytest.fixture(autouse=True)
def frequent_switches():
    """Threads take turns as often as they can, so that a race is lost soon."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def group_by_first(*works):
    """Run functions in threads of their own that start at once; what one raises is raised here."""
    start, failures = threading.Barrier(len(works)), []

    def run(work):
        start.wait(LIMIT)
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
        assert not thread.is_alive(), "deadlock"
    for failure in failures:
        raise failure


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, n), rng.random(n)


@pytest.mark.parametrize(
    ("metrics", "facts", "given"),
    [
        (["rmse", "mae"], {}, {}),
        (["auc", "accuracy"], {"kind": "probability"}, {}),
        (["median_absolute_error"], {}, {}),
        (["mae"], {"by": "group"}, {"by": np.arange(20) % 3}),
        (["mae"], {"ci": tm.Intervals(method="bootstrap", resamples=39)}, {}),
    ],
    ids=["sums", "scores", "rows", "groups", "resamples"],
)
def test_threads_that_share_a_tally_lose_no_rows(metrics, facts, given):
    """Four threads give the bits of one; without keys, the numbers of rows are told apart as well."""
    y, p = rows(20)
    turns = 10 if "ci" in facts else 200
    shared, alone = tm.Tally(metrics, **facts), tm.Tally(metrics, **facts)

    def update():
        for _ in range(turns):
            shared.update(y, p, **given)

    group_by_first(*[update] * THREADS)
    for _ in range(THREADS * turns):
        alone.update(y, p, **given)
    assert shared.n == THREADS * turns * len(y)
    assert shared.to_bytes() == alone.to_bytes()
    assert str(shared.report()) == str(alone.report())


def test_readers_of_a_shared_tally_see_whole_updates():
    """Rows and dropped rows grow together in reports, sums, copies and bytes."""
    y, p = [1.0, 2.0, math.nan], [2.0, 4.0, 1.0]
    shared, done = tm.Tally(["mae", "median_absolute_error"], missing="drop"), threading.Event()
    seen = set()

    def update():
        for _ in range(400):
            shared.update(y, p)

    def update_and_stop():
        update()
        done.set()

    def read():
        while not done.is_set():
            for found in (
                shared.report(),
                (shared + shared).report(),
                copy.copy(shared),
                copy.deepcopy(shared),
                pickle.loads(pickle.dumps(shared)),
            ):
                seen.add(found.n - 2 * found.dropped)

    group_by_first(update_and_stop, update, read, read)
    assert seen == {0}
    assert (shared.n, shared.dropped) == (1600, 800)


def test_adding_two_tallies_in_both_orders_at_once_does_not_deadlock():
    """While others update them."""
    y, p = rows(10)
    a, b = tm.Tally(["mae"]), tm.Tally(["mae"])

    def add(left, right):
        for _ in range(200):
            left.update(y, p)
            assert (left + right).n % len(y) == 0

    group_by_first(lambda: add(a, b), lambda: add(b, a), lambda: add(a, b), lambda: add(b, a))
    assert (a + b).n == (b + a).n == 4 * 200 * len(y)


def test_threads_that_read_the_same_scores_see_them_once():
    """The parts of a state of scores are merged by whoever reads first."""

    def tally_of_parts(seed):
        tally = tm.Tally(["auc"], kind="score")
        for n in (512, 170, 56, 18, 6, 2):
            tally.update(*rows(n, seed + n))
        return tally

    for seed in range(60):
        shared, found = tally_of_parts(seed), []
        group_by_first(*[lambda shared=shared, found=found: found.append(shared.to_bytes())] * THREADS)
        assert set(found) == {tally_of_parts(seed).to_bytes()}
