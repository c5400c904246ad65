"""States of labels of every form."""

from __future__ import annotations

import numpy as np

from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.states.labels.class_ranks import RanksOf
from tallymark.states.labels.pairs import PairsOf
from tallymark.states.points import PointsOf


def pairs(y, p, weights=None, *, clusters=False, **target):
    return PairsOf(Target(**target), clusters=clusters).fold(Batch(y, p, weights, whole=False))


TABLE = np.array([[1, 0], [1, 1], [0, 1]])
STATES = {
    "texts": pairs(["a", "b", "b"], ["a", "c", "b"]),
    "numbers": pairs([1, 2, 2], [1, 2**70, -3]),
    "weighted": pairs([1, 2, 2], [1, 3, 2], [0.1, 1e300, 1e-300]),
    "all of weight zero": pairs([1, 2], [1, 2], [0, 0]),
    "probabilities": pairs([0, 1, 1], [0.5, 0.2, 0.9]),
    "classes": pairs(["a", "b"], ["b", "b"], classes=["b", "a", "z"]),
    "clusters": pairs([0.5, 0.5, 3], ["x", "y", "x"], clusters=True),
    "none": PairsOf().zero(),
    "indicators": pairs(TABLE, TABLE[::-1].copy()),
    "weighted indicators": pairs(TABLE, TABLE[::-1].copy(), [0.5, 1e-300, 3.0]),
    "ranks": RanksOf(Target(classes=["a", "b", "c"])).fold(Batch(["a", "c"], np.array([[0.2, 0.3, 0.5]] * 2))),
    "no ranks": RanksOf().zero(),
    "points": PointsOf().fold(Batch([[1.0, 2.0], [3.0, 4.0]], ["a", "b"])),
    "weighted points": PointsOf().fold(Batch([[1.0], [3.0]], [0.5, 7], [0.0, 2.0])),
}
