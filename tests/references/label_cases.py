"""Random labels of every type, and what scikit-learn says of them."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn import metrics as sk

# Universes of numbers and of strings, and the ways to hold each: all forms of one kind may meet.
NUMBERS = [[0, 1], [-1, 1], [0, 1, 2, 3, 4], [-7, -1, 0, 1, 30], [-(10**12), -1, 1, 10**12]]
TEXTS = [["no", "yes"], ["cat", "dog", "fox"], ["", "a", "b", "a much longer name than sixteen bytes", "ä", "класс"]]
NUMBER_FORMS = {
    "list": np.ndarray.tolist,
    "array": np.asarray,
    "objects": lambda a: a.astype(object),
    "column": lambda a: a.reshape(-1, 1),
    "pandas": pd.Series,
    "categorical": pd.Categorical,
    "polars": pl.Series,
    "arrow": pa.array,
    "dictionary": lambda a: pa.array(a).dictionary_encode(),
}
TEXT_FORMS = {
    "list": np.ndarray.tolist,
    "array": np.asarray,
    "objects": lambda a: a.astype(object),
    "bytes": lambda a: np.array([s.encode() for s in a.tolist()]),
    "pandas": lambda a: pd.Series(a.tolist()),
    "categorical": lambda a: pd.Series(pd.Categorical(a.tolist(), sorted(set(a.tolist()), reverse=True))),
    "polars": lambda a: pl.Series(a.tolist()),
    "polars categorical": lambda a: pl.Series(a.tolist(), dtype=pl.Categorical),
    "arrow": lambda a: pa.array(a.tolist()),
    "chunks": lambda a: pa.chunked_array([a[: len(a) // 2].tolist(), a[len(a) // 2 :].tolist()], pa.string()),
    "dictionary": lambda a: pa.array(a.tolist()).dictionary_encode(),
}
BETAS = (0.5, 1.0, 2.0, 3.7)


class Case(NamedTuple):
    """Truth and predictions as plain arrays for scikit-learn and in some form for us, weights, and the universe."""

    y: Any
    p: Any
    ours: tuple[Any, Any]
    w: Any
    universe: Any

    @property
    def seen(self):
        return np.unique(np.concatenate((self.y, self.p)))


def draw(rng, *, binary=False, exact=False):
    """A random case; often a side lacks some classes, or has only one. Exact weights add up without rounding."""
    pool = NUMBERS if rng.random() < 0.5 else TEXTS
    fitting = [labels for labels in pool if len(labels) == 2 or not binary]
    universe = np.array(fitting[int(rng.integers(len(fitting)))])
    n, k = int(rng.integers(1, 50)), len(universe)
    sides = [rng.choice(k, int(rng.integers(1, k + 1)), replace=False) if rng.random() < 0.3 else k for _ in range(2)]
    y = rng.choice(sides[0], n)
    p = np.where(rng.random(n) < rng.random(), y, rng.choice(sides[1], n))
    y, p = universe[y], universe[p]
    w = None
    if rng.random() < 0.5:
        w = rng.integers(1, 200, n) / 64 if exact else rng.uniform(0.1, 5, n)
    forms = list((NUMBER_FORMS if pool is NUMBERS else TEXT_FORMS).values())
    held = [forms[int(rng.integers(len(forms)))](side) for side in (y, p)]
    if universe.tolist() == [0, 1] and rng.random() < 0.3:
        held = [(y == 1).tolist(), p == 1]
    return Case(y, p, (held[0], held[1]), w, universe)


def peer(function, *args, **kwargs):
    """What scikit-learn says, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def agree(ours, theirs, *context):
    """Absolute to 1e-12; undefined on both sides, or on none."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    assert ours.shape == theirs.shape, (ours, theirs, *context)
    same = (np.abs(ours - theirs) <= 1e-12) | (np.isnan(ours) & np.isnan(theirs))
    assert same.all(), (ours, theirs, *context)


def universe_of(rng, case):
    """Keywords for us and labels for scikit-learn: half of the time all classes, in any order, are given."""
    if rng.random() < 0.5:
        return {}, case.seen
    order = rng.permutation(case.universe)
    return {"classes": order.tolist()}, order


def their_ratio(name, beta=1.0):
    """Precision, recall or F as scikit-learn has it."""
    if name == "fscore":
        return lambda *args, **kwargs: sk.fbeta_score(*args, beta=beta, **kwargs)
    return {"precision": sk.precision_score, "recall": sk.recall_score}[name]


RATIOS = [("precision", None), ("recall", None), *(("fscore", beta) for beta in BETAS)]


def same_scores(ours, theirs, *context):
    """One line of a report."""
    agree(ours[:3], [theirs["precision"], theirs["recall"], theirs["f1-score"]], *context)
    assert math.isclose(ours.support, theirs["support"], rel_tol=1e-12)
