"""Terms that are added in one loop have the totals that each has alone, to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tallymark as tm
from tallymark._core import Tasks
from tallymark.states.sums import CODES

NAMES = ("absolute_error", "highest_absolute_error", "relative_error", "squared_error")
EPSILON = 1e-15
ROWS = 4_100  # four blocks and a tail


def tasks(*names):
    return Tasks([(CODES[name], EPSILON if name == "relative_error" else 0.0, 0, 0) for name in names])


def plain():
    rng = np.random.default_rng(0)
    y = rng.normal(size=ROWS)
    return y, y + rng.normal(size=ROWS)


def some_right():
    """Errors of 0 say nothing about the smallest of the others."""
    y, p = plain()
    p[::7] = y[::7]
    return y, p


def all_right():
    y, _ = plain()
    return y, y.copy()


def wide():
    """Errors that span more than two grids."""
    y, p = plain()
    return y, y + (p - y) * 10.0 ** np.linspace(-60, 40, ROWS)


def growing():
    """Every block has relative errors far above those before, so that no guess at their bound holds."""
    y, p = plain()
    return y * 10.0 ** -(np.arange(ROWS) // 1024 * 4.0), p


def shrinking():
    """A bound of the blocks before is far too high."""
    y, p = plain()
    return y, y + (p - y) * 10.0 ** -(np.arange(ROWS) // 1024 * 20.0)


def far_out():
    """A few errors are so far out that the squares span more than two grids, and the errors do not."""
    y, p = plain()
    p[::500] += 1e9
    return y, p


def small_truths():
    """Relative errors span more than two grids, and the errors do not."""
    y, p = plain()
    return np.where(np.arange(ROWS) % 300 == 0, 0.0, y), p


def tiny():
    y, p = plain()
    return y * 1e-160, p * 1e-160


def huge():
    """Squares overflow, and so do some relative errors."""
    y, p = plain()
    return np.where(np.arange(ROWS) % 5 == 0, 1e-10, y), p * 1e300


def twin(name, y, p):
    """The exact total of finite terms in units of 2**-1074, and the lowest and highest value that are kept with it."""
    with np.errstate(over="ignore", under="ignore"):
        e = np.abs(p - y)
        held = {"absolute_error": e, "squared_error": e * e, "relative_error": e / np.maximum(np.abs(y), EPSILON)}
    if name == "highest_absolute_error":
        return 0, (e.min(), e.max())
    finite = held[name][np.isfinite(held[name])]
    ratios = [value.as_integer_ratio() for value in finite.tolist()]
    total = sum(above * (2**1074 // below) for above, below in ratios)
    return total, (math.inf, -math.inf if name == "relative_error" else e.max())


@pytest.mark.parametrize(
    "rows", [plain, some_right, all_right, wide, growing, shrinking, far_out, small_truths, tiny, huge]
)
def test_sums_are_the_same_together_or_alone(rows):
    """In any company and order, on any number of threads, and as NumPy has it."""
    y, p = rows()
    together = tasks(*NAMES).run(y, p, None, 0)
    ones = tasks(*NAMES).run(y, p, np.ones(len(y)), 0)
    for name, found, weighted in zip(NAMES, together, ones, strict=False):
        assert found == tasks(name).run(y, p, None, 0)[0] == weighted
        total, ends = twin(name, y, p)
        assert int.from_bytes(found[0], "little", signed=True) << found[1] == total
        assert found[-2:] == ends
    assert tasks(*NAMES[::-1]).run(y, p, None, 0) == together[::-1]
    assert tasks("relative_error", "squared_error").run(y, p, None, 0) == together[2:]


def test_repeated_tasks_get_totals_of_their_own():
    """Tasks that stand there twice, or divide by another limit, have totals of their own."""
    y, p = plain()
    alone = {name: tasks(name).run(y, p, None, 0)[0] for name in NAMES}
    names = ("relative_error", "absolute_error", "absolute_error", "relative_error", "squared_error", "squared_error")
    assert tasks(*names).run(y, p, None, 0) == [alone[name] for name in names]
    both = [(CODES["relative_error"], limit, 0, 0) for limit in (EPSILON, 0.5)]
    assert Tasks([*both, (CODES["absolute_error"], 0.0, 0, 0)]).run(y, p, None, 0) == [
        alone["relative_error"],
        Tasks(both[1:]).run(y, p, None, 0)[0],
        alone["absolute_error"],
    ]


def test_columns_do_not_mix():
    """Absolute errors of one column are not added with the relative errors of another."""
    y, p = (np.column_stack([first, second]) for first, second in zip(plain(), wide(), strict=True))
    wanted = [(CODES[name], EPSILON, k, k) for k in (0, 1) for name in ("absolute_error", "relative_error")]
    assert Tasks(wanted).run(y, p, None, 0) == [Tasks([task]).run(y, p, None, 0)[0] for task in wanted]


def test_threads_take_blocks_as_they_come():
    """Which thread takes which blocks is left to chance and shows in nothing."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=300_000)
    p = y + rng.standard_cauchy(len(y))
    before = tm.get_threads()
    try:
        tm.set_threads(1)
        expected = tasks(*NAMES).run(y, p, None, 0)
        for threads in (2, 3, 8):
            tm.set_threads(threads)
            assert tasks(*NAMES).run(y, p, None, 0) == expected
    finally:
        tm.set_threads(before)


def test_a_bad_row_is_found_by_any_thread():
    """NaN in the truth or the predictions refuses all, wherever it stands."""
    y, p = (np.tile(side, 80) for side in plain())
    for place in (0, len(y) // 2, len(y) - 1):
        bad = p.copy()
        bad[place] = np.nan
        assert tasks(*NAMES).run(y, bad, None, 0) is None
        assert tasks(*NAMES).run(bad, p, None, 0) is None
