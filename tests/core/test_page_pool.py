"""Room that is kept between calls: nobody ever sees what another call writes into it."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import tallymark as tm

ROWS = 600_000  # whose scores take more than two large pages, as only large room is kept


def rows(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, ROWS)
    return y, rng.random(ROWS) + 0.1 * y


def test_what_was_found_stays_when_others_compute():
    """Curves and states hold room of their own, as long as they live."""
    y, p = rows(0)
    curve, tally = tm.roc_curve(y, p), tm.Tally(["auc", "ks"], kind="score")
    tally.update(y, p)
    before = [np.array(curve[name]) for name in ("fpr", "tpr", "threshold")]
    values = dict(tally.report())
    for seed in range(1, 4):
        tm.auc(*rows(seed))
    assert all(
        np.array_equal(curve[name], held) for name, held in zip(("fpr", "tpr", "threshold"), before, strict=True)
    )
    assert dict(tally.report()) == values == dict(tm.evaluate(y, p, ["auc", "ks"], kind="score"))


def test_calls_at_once_have_rooms_of_their_own():
    """Threads give and take at the same time."""
    data = [rows(seed) for seed in range(4)]
    alone = [tm.auc(y, p) for y, p in data]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert list(pool.map(lambda each: tm.auc(*each), data)) == alone


def test_a_forked_child_computes_too():
    """Whatever its parent kept."""
    y, p = rows(5)
    expected = tm.auc(y, p)
    child = os.fork()
    if child == 0:
        os._exit(0 if tm.auc(y, p) == expected else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert tm.auc(y, p) == expected
