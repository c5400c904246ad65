"""Lines with no more points than can be seen.

Two passes leave out points: first those in the same small cell as the point before, block by block
(`distinct_points`); then those near the line between their neighbours (`simplify_line`, by Douglas and Peucker). The
line that is drawn stays within half a pixel of the full line, and the full line within half a pixel of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tallymark.data.arrays import Array

PIXELS = 2000
"""How wide a line may be drawn before it differs by half a pixel from the one with all its points."""
_SAME = 0.06 / PIXELS  # points so near to each other are one
_FLAT = 0.25 / PIXELS  # how far a point may be off the line that stands for it
BLOCK = 1 << 15  # rows that stay in a near cache


def distinct_points(*columns: Any, spans: Sequence[float] = ()) -> Array:
    """Places of the points of a line, both ends among them, that are not all but the same as the one before.

    `spans` are the lengths of the axes, 1 where none are given. Of a line that is level between its points, and goes
    up or down at them, no more is missed.
    """
    rows = len(columns[0])
    steps = [span * _SAME for span in spans or [1.0] * len(columns)]
    moved = np.empty(rows, bool)
    moved[[0, -1]] = True
    for start in range(1, rows - 1, BLOCK):
        block = slice(start - 1, min(start + BLOCK, rows - 1))
        changed = np.zeros(block.stop - start, bool)
        for column, step in zip(columns, steps, strict=True):
            cells = np.floor(np.asarray(column[block], np.float64) / step)
            changed |= cells[1:] != cells[:-1]
        moved[start : block.stop] = changed
    return np.flatnonzero(moved)


def simplify_line(x: Any, y: Any, spans: tuple[float, float] = (1.0, 1.0)) -> tuple[Array, Array]:
    """Some of the points of a line, both ends among them, of which none that is left out is missed.

    `spans` are the lengths of the axes. The line through the points that stay is nowhere half a pixel away from the
    line through all of them, nor the other way round, where the axes are `PIXELS` pixels long; not even if the points
    are `distinct_points` ones.
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if len(x) < 3:
        return x, y
    places = distinct_points(x, y, spans=spans)
    x, y = x[places], y[places]
    places = _corners(np.column_stack((x / spans[0], y / spans[1])))
    return x[places], y[places]


def _corners(points: Array) -> Array:
    """Places of the points that are farther off the line between their neighbours than can be ignored."""
    keep = np.zeros(len(points), bool)
    keep[[0, -1]] = True
    spans = [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        off = _distances(points[first + 1 : last], points[first], points[last])
        worst = int(np.argmax(off))
        if off[worst] > _FLAT:
            middle = first + 1 + worst
            keep[middle] = True
            spans += [(first, middle), (middle, last)]
    return np.flatnonzero(keep)


def _distances(points: Array, start: Array, end: Array) -> Array:
    """How far points are from the stretch of a line between two others."""
    way = end - start
    length = float(way @ way)
    along = np.clip((points - start) @ way / length, 0.0, 1.0) if length > 0 else np.zeros(len(points))
    found: Array = np.hypot(*(points - start - along[:, None] * way).T)
    return found
