"""Arrays of a type, as tests of states and of the core write many."""

from __future__ import annotations

import numpy as np


def reals(*items):
    return np.array(items, np.float64)


def wholes(*items):
    return np.array(items, np.int64)
