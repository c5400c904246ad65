"""States of scores of every form."""

from __future__ import annotations

import numpy as np

from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.states.scores.binned import BoundedScoresOf
from tallymark.states.scores.scores import ScoresOf

INFINITY, NAN = float("inf"), float("nan")
TABLE = np.array([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7], [0.2, 0.6, 0.2]])


def scores(y, p, weights=None, **target):
    return ScoresOf(Target(**target)).fold(Batch(y, p, weights, whole="classes" not in target))


def bounded(y, p, weights=None, most=4, **target):
    return BoundedScoresOf(Target(**target), most).fold(Batch(y, p, weights, whole="classes" not in target))


STATES = {
    "plain": scores([0, 1, 1], [0.1, 0.2, 0.3]),
    "ties": scores([0, 1, 1, 0], [0.1, 0.2, 0.2, 0.1]),
    "weighted": scores([0, 1, 1, 0], [0.1, 0.2, 0.2, 0.1], [1.0, 2.0, 3.0, 0.5]),
    "weighted ties": scores([0, 1, 1, 0], [0.1, 0.2, 0.2, 0.1], [1.0, 2.0, 2.0, 0.5]),
    "one class": scores([1, 1], [0.1, 0.2]),
    "all of weight zero": scores([0, 1], [0.1, 0.2], [0.0, 0.0]),
    "texts": scores(["a", "b", "b"], [0.1, 0.2, 0.3], positive="b"),
    "two columns": scores([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]], classes=[1, 0]),
    "a table": scores([0, 1, 2, 1], TABLE, [1.0, 2.0, 0.1, 1.0], classes=[0, 2, 1]),
    "an absent class": scores([0, 1], TABLE[:2], classes=[0, 2, 1]),
    "none": ScoresOf().zero(),
    "bins": bounded([0, 1, 1, 0, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
    "exact bins": bounded([0, 1, 1], [0.1, 0.2, 0.3]),
    "weighted bins": bounded([0, 1, 1], [0.1, 0.2, 0.3], [0.1, 1e300, 1e-300]),
    "bins of weight zero": bounded([0, 1], [0.1, 0.2], [0.0, 0.0]),
    "bins of texts": bounded(["a", "b", "b"], [0.1, 0.2, 0.3], positive="b"),
    "bins of a table": bounded([0, 1, 2, 1], TABLE, classes=[0, 2, 1]),
    "no bins": BoundedScoresOf().zero(),
}
