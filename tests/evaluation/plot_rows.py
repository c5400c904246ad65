"""Rows to draw, and the words of a drawing."""

from __future__ import annotations

import numpy as np
from matplotlib.text import Text

RNG = np.random.default_rng(11)
ROWS = 400
TRUTH = RNG.integers(0, 2, ROWS)
SCORE = np.round(1 / (1 + np.exp(-(2 * TRUTH - 1 + RNG.normal(size=ROWS) * 1.4))), 2)
NUMBERS = RNG.normal(size=ROWS)
GUESSES = NUMBERS + RNG.normal(size=ROWS) / 3


def texts(plot):
    return [text.get_text() for text in plot.figure().findobj(Text)]
