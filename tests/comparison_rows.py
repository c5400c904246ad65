"""Rows of several models whose errors are partly shared."""

from __future__ import annotations

import numpy as np

RESAMPLES = 199


def scores(n=300, seed=0, noise=(1.0, 1.3, 1.0)):
    """Two classes, and probabilities of several models whose errors are partly shared."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    shared = rng.normal(size=n)
    names = "abcdefgh"
    return y, {
        names[k]: 1 / (1 + np.exp(-(2 * y - 1 + 0.8 * (shared + rng.normal(size=n)) * sd)))
        for k, sd in enumerate(noise)
    }


Y, MODELS = scores()
ALL = ["accuracy", "recall", "auc", "logloss", "fscore", "brier"]
