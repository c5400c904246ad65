"""Rows of four and of two classes, and the interval of a metric on some rows by its formula."""

from __future__ import annotations

import numpy as np

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.data.target import Target

RNG = np.random.default_rng(7)
Y4 = RNG.integers(0, 4, 300)
P4 = np.where(RNG.random(300) < 0.7, Y4, RNG.integers(0, 4, 300))
Y2, P2 = (Y4 > 1).astype(int), (P4 > 1).astype(int)


def interval(name, y, p, level=0.95, **facts):
    """What the formula says; None where there is none."""
    metric, target = tm.metric(name), Target(**facts)
    reads = metric.interval_reads(target) or metric.needs(target)
    return metric.interval(reads.fold(Batch(y, p)), level)
