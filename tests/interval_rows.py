"""Rows of four and of two classes, and the interval of a metric on some rows."""

from __future__ import annotations

import numpy as np
from bench.interval_coverage import interval_of

import tallymark as tm

RNG = np.random.default_rng(7)
Y4 = RNG.integers(0, 4, 300)
P4 = np.where(RNG.random(300) < 0.7, Y4, RNG.integers(0, 4, 300))
Y2, P2 = (Y4 > 1).astype(int), (P4 > 1).astype(int)


def interval(name, y, p, level=0.95, **facts):
    return interval_of(tm.metric(name), y, p, facts, level)
