"""Thinned lines are where the full ones are, to half a pixel of two thousand."""

from __future__ import annotations

import numpy as np
import pytest

import tallymark as tm
from tallymark.rendering.plots.thinning import PIXELS, distinct_points, simplify_line

pytestmark = pytest.mark.slow


def farthest(points, line):
    """The largest distance of points from a line, in pixels: every point against every stretch."""
    points, line = np.asarray(points) * PIXELS, np.asarray(line) * PIXELS
    start, way = line[:-1], np.diff(line, axis=0)
    length = np.maximum((way**2).sum(axis=1), 1e-300)
    worst = 0.0
    for block in np.array_split(points, max(1, len(points) * len(line) // 2_000_000)):
        ahead = block[:, None] - start[None]
        along = np.clip((ahead * way).sum(axis=2) / length, 0, 1)
        off = np.hypot(*(ahead - along[..., None] * way).transpose(2, 0, 1))
        worst = max(worst, float(off.min(axis=1).max()))
    return worst


def filled(line):
    """A line with points in between, so that its points stand for all of it."""
    line = np.asarray(line)
    return np.concatenate([line, *(line[:-1] + np.diff(line, axis=0) * share for share in (0.25, 0.5, 0.75))])


def walk(rng, rows):
    return np.linspace(0, 1, rows), np.clip(0.5 + np.cumsum(rng.normal(size=rows)) / rows**0.5 / 3, 0, 1)


def roc(rng, rows):
    truth = rng.integers(0, 2, rows)
    curve = tm.roc_curve(truth, np.round(truth + rng.normal(size=rows), int(rng.integers(1, 6))), kind="score")
    return curve.fpr, curve.tpr


def spiral(rng, rows):
    turn = np.linspace(0, 40, rows)
    return 0.5 + 0.01 * turn * np.cos(turn), 0.5 + 0.01 * turn * np.sin(turn)


def still(rng, rows):
    return np.full(rows, 0.3), np.full(rows, 0.7)


@pytest.mark.parametrize("rows", [1, 2, 3, 10, 3_000])
@pytest.mark.parametrize("make", [walk, roc, spiral, still])
def test_nothing_moves_by_half_a_pixel(make, rows):
    """Neither is the thinned line away from the full one, nor the full one from the thinned."""
    x, y = make(np.random.default_rng(rows), max(rows, 2) if make is roc else rows)
    if np.isnan(x).any():
        return
    full, found = np.column_stack((x, y)), np.column_stack(simplify_line(x, y))
    assert len(found) <= len(full)
    assert (found[[0, -1]] == full[[0, -1]]).all()
    if len(full) > 1:
        assert farthest(full, found) < 0.5
        assert farthest(filled(found), full) < 0.5


def test_a_line_that_was_spaced_before_is_still_right():
    """As curves of millions of points are before they are kept."""
    x, y = walk(np.random.default_rng(5), 4_000)
    kept = distinct_points(x, y)
    found = np.column_stack(simplify_line(x[kept], y[kept]))
    assert farthest(np.column_stack((x, y)), found) < 0.5


def test_many_points_become_few():
    """A smooth line of a million points needs some hundreds."""
    x = np.linspace(0, 1, 1_000_000)
    assert len(simplify_line(x, x**2)[0]) < 200
    assert len(simplify_line(x, np.zeros_like(x))[0]) == 2


def test_spans_are_the_lengths_of_the_axes():
    """What is far on a short axis is near on a long one."""
    x, y = np.array([0.0, 1, 2]), np.array([0.0, 1e-4, 0])
    assert len(simplify_line(x, y, (2.0, 1.0))[0]) == 2
    assert len(simplify_line(x, y, (2.0, 1e-4))[0]) == 3


def test_blocks_do_not_show():
    """A point at the border of two blocks is compared with the one before it."""
    rng = np.random.default_rng(1)
    x = np.repeat(np.arange(40_000) / 40_000, 3)
    y = np.repeat(rng.random(40_000), 3)
    assert distinct_points(x, y).tolist() == [*range(0, 120_000, 3), 119_999]
