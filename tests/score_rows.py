"""Rows for metrics on scores, and their names."""

from __future__ import annotations

import numpy as np

import tallymark as tm

NAMES = ["auc", "gini", "average_precision", "pr_auc", "ks"]
BOUNDED = ["auc", "gini", "average_precision", "ks"]
ALL = [*NAMES, *(f"{name}(bounded=16)" for name in BOUNDED)]
TABLE = np.array([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7], [0.4, 0.4, 0.2], [0.3, 0.3, 0.4], [0.6, 0.2, 0.2]])
TRUTH = [0, 1, 2, 1, 0, 2]


def values(y, p, names=NAMES, **keywords):
    """The value of each metric; an error in one is an error."""
    report = tm.evaluate(y, p, names, errors="raise", **keywords)
    return [report[name] for name in names]


def drawn(seed, n=200):
    """Truth, scores with ties, weights."""
    rng = np.random.default_rng(seed)
    y = np.append([0, 1], rng.integers(0, 2, n - 2))
    return y, np.round(rng.normal(0, 1, n) + y, 1), rng.choice([0.1, 1.0, 2.5, 3.0], n)
