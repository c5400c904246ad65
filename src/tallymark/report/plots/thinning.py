"""Lines with no more points than can be seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallymark.arrays import Array

PIXELS = 2000
"""How wide a line may be drawn before it differs by half a pixel from the one with all its points."""
_SAME = 0.12 / PIXELS  # points so near to each other are one
_FLAT = 0.25 / PIXELS  # how far a point may be off the line that stands for it


def thin(x: Any, y: Any, spans: tuple[float, float] = (1.0, 1.0)) -> tuple[Array, Array]:
    """Some of the points of a line, both ends among them, of which none that is left out is missed.

    `spans` are the lengths of the axes. The line through the points that stay is nowhere half a pixel away from the
    line through all of them, nor the other way round, where the axes are `PIXELS` pixels long.
    """
    points = np.column_stack((np.asarray(x, np.float64) / spans[0], np.asarray(y, np.float64) / spans[1]))
    if len(points) < 3:
        return np.asarray(x, np.float64), np.asarray(y, np.float64)
    cells = np.floor(points / _SAME)
    moved = np.concatenate(([True], (cells[1:] != cells[:-1]).any(axis=1)))
    moved[-1] = True
    kept = np.flatnonzero(moved)
    kept = kept[_corners(points[kept])]
    return np.asarray(x, np.float64)[kept], np.asarray(y, np.float64)[kept]


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
