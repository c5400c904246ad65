"""Every metric, with every sample of its parameters, and rows that fit it. Nobody lists names: a new metric is here."""

from __future__ import annotations

import math
import struct
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from tallymark.metrics import Metric, registry
from tallymark.states import INTERVAL, QUANTILES

METRICS = [cls(**sample) for cls in registry.classes.values() for sample in cls.samples]
FIXED = [metric for metric in METRICS if not metric.grows]


class Rows(NamedTuple):
    """Truth, predictions (one or more columns) and weights."""

    y: Any
    p: Any
    w: Any

    def take(self, index: Any) -> Rows:
        return Rows(self.y[index], self.p[index], self.w[index])


def rows_for(metric: Metric, y: Any, p: Any, w: Any) -> Rows:
    """Rows that the metric accepts, made of an n × 4 pool of predictions."""
    y, p = np.array(y, float), np.array(p, float)
    for bound in getattr(metric, "requires", ()):
        if bound.who == "y_true":
            y = np.abs(y)
            y[y <= (0.0 if bound.strict else -1.0)] = 1e-3
        if bound.who == "y_pred":
            p = np.abs(p)
            p[p <= 0.0] = 1e-3
    layout = getattr(metric, "layout", "paired")
    if layout == QUANTILES:
        p = p[:, : metric.quantiles] if metric.quantiles <= p.shape[1] else np.resize(p, (len(p), metric.quantiles))
    elif layout == INTERVAL:
        p = np.sort(p[:, :2], axis=1)
    else:
        p = p[:, 0]
    return Rows(y, p, np.asarray(w, float))


# Values that defeat plain summation: half-way bits, huge cancellations, both zeros, the smallest numbers.
TRAPS = [0.0, -0.0, 1.0, 2.0**-27, 2.0**-54, -(2.0**-54), 1e16, -1e16, 1e100, -1e100, 5e-324, 1e-300, 3.0, 0.1]
WEIGHTS = [0.0, 1.0, 2.0, 3.0, 0.1, 1e-10, 1e10]


def values(rng: np.random.Generator, style: str, shape: Any) -> Any:
    """Numbers of one style: plain, whole (many ties), traps, or of any size."""
    if style == "plain":
        return np.round(rng.normal(0, 1000, shape), 3)
    if style == "whole":
        return rng.integers(-4, 5, shape).astype(float)
    if style == "traps":
        return rng.choice(TRAPS, shape)
    return rng.normal(0, 1, shape) * 10.0 ** rng.integers(-90, 91, shape)


@st.composite
def tables(draw: Any, metric: Metric, *, least: int = 1, styles: Any = ("plain", "whole", "traps", "any")) -> Rows:
    """Rows for a metric. Arrays come from a seed, since drawing every number takes Hypothesis a second a law."""
    n = draw(st.integers(least, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    y = values(rng, draw(st.sampled_from(styles)), n)
    p = values(rng, draw(st.sampled_from(styles)), (n, 4))
    w = rng.choice(WEIGHTS, n) if draw(st.booleans()) else rng.uniform(0, 3, n)
    return rows_for(metric, y, p, w)


def random_rows(metric: Metric, n: int, seed: int = 0, k: int = 4) -> Rows:
    """Well-behaved rows, many of them."""
    rng = np.random.default_rng(seed)
    y = rng.normal(3, 2, n)
    return rows_for(metric, y, y[:, None] + rng.normal(0, 1, (n, k)), rng.uniform(0.1, 2, n))


def same_bits(a: Any, b: Any) -> bool:
    """Whether two values are the same to the last bit. All NaNs are one."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_bits, a, b))
    if math.isnan(a) and math.isnan(b):
        return True
    return struct.pack("<d", a) == struct.pack("<d", b)


def close(a: float, b: float, tolerance: float = 1e-12) -> bool:
    """Whether two values agree to a relative tolerance; not-a-number agrees with itself."""
    return (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= tolerance * max(abs(a), abs(b))
