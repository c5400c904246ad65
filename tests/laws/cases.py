"""Every metric, with every sample of its parameters, and rows that fit it. Nobody lists names: a new metric is here."""

from __future__ import annotations

import math
import os
import struct
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.metrics import registry
from tallymark.metrics.base import Metric
from tallymark.metrics.classification.base import LabelMetric
from tallymark.metrics.classification.classification_report import ClassReport
from tallymark.metrics.classification.confusion_matrix import Confusion
from tallymark.metrics.clustering.base import ClusterMetric
from tallymark.metrics.clustering.separation import ShapeMetric
from tallymark.metrics.probability.base import ProbabilityMetric
from tallymark.metrics.probability.top_k import TopKAccuracy
from tallymark.metrics.ranking.base import RankingMetric
from tallymark.metrics.scores.base import RankMetric, ScoreMetric
from tallymark.metrics.scores.curve import Curve
from tallymark.states.sums import INTERVAL, QUANTILES

FAST = os.environ.get("TALLYMARK_TESTS") == "fast"  # the first sample of each metric; the full suite has them all
METRICS = [cls(**sample) for cls in registry.classes.values() for sample in cls.samples[: 1 if FAST else None]]
FIXED = [metric for metric in METRICS if not metric.grows]


class Rows(NamedTuple):
    """Truth, predictions (one or more columns), weights, the facts of the data, and the query of each row."""

    y: Any
    p: Any
    w: Any
    facts: dict[str, Any] = {}
    q: Any = None

    def take(self, index: Any) -> Rows:
        query = None if self.q is None else self.q[index]
        return self._replace(y=self.y[index], p=self.p[index], w=self.w[index], q=query)

    def some_times(self, rng: np.random.Generator) -> Any:
        """How often each row is repeated: rows of one query alike."""
        if self.q is None:
            return rng.integers(0, 4, len(self.y))
        names, codes = np.unique(self.q, return_inverse=True)
        return rng.integers(0, 4, len(names))[codes]

    def repeat(self, times: Any) -> Rows:
        """Every row as often as it says; a query that is repeated is written under another name."""
        if self.q is None:
            return self.take(np.repeat(np.arange(len(times)), times))
        index = [np.flatnonzero(times > k) for k in range(3)]
        names = [f"copy {k} of {self.q[row]}" for k, rows in enumerate(index) for row in rows]
        return self.take(np.concatenate(index))._replace(q=np.array(names, dtype=object))

    def batch(self, *, weighted: bool = True) -> Batch:
        return Batch(self.y, self.p, self.w if weighted else None, whole=False, query=self.q)

    def reads(self, metric: Metric) -> Any:
        return metric.needs(Target(**self.facts))

    def fold(self, metric: Metric, *, weighted: bool = True) -> Any:
        return self.reads(metric).fold(self.batch(weighted=weighted))

    def call(self, metric: Metric, /, **changes: Any) -> Any:
        return metric(self.y, self.p, **{"weights": self.w, "query": self.q, **self.facts, **changes})


def rows_for(metric: Metric, y: Any, p: Any, w: Any) -> Rows:
    """Rows of numbers that a regression metric accepts, made of an n × 4 pool of predictions."""
    y, p = np.array(y, float), np.array(p, float)
    if isinstance(metric, RankingMetric):
        names = np.arange(len(y)) % 7
        return Rows(np.abs(y), p[:, 0], np.asarray(w, float)[names], q=names)
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


# Universes of labels: numbers small, negative and huge; strings of several lengths, empty and beyond ASCII.
UNIVERSES = [
    np.array([0, 1]),
    np.array([-1, 1]),
    np.array([1, 2, 3, 4]),
    np.array([-(10**12), 0, 5, 10**12]),
    np.array(["no", "yes"]),
    np.array(["", "a", "ä", "класс", "a much longer name than sixteen bytes", "a much longer name than sixteen bites"]),
]


def is_binary(metric: Metric) -> bool:
    """Whether the metric wants two classes."""
    return getattr(metric, "average", "") == "auto" or metric.is_of_positive_class or metric.kind == "margin"


def wants_whole_weights(metric: Metric) -> bool:
    """Whether a weight must be a number of rows."""
    return getattr(metric, "whole_weights", False) or isinstance(metric, ShapeMetric)


def labels_for(metric: Metric, rng: np.random.Generator, n: int, universe: Any = None) -> Rows:
    """Rows of labels for a metric, its facts with them."""
    w = rng.choice(WEIGHTS, n) if rng.random() < 0.5 else rng.uniform(0, 3, n)
    if wants_whole_weights(metric):
        w = rng.integers(0, 4, n).astype(float)
    if isinstance(metric, TopKAccuracy):
        classes = ["a", "b", "c", "d"]
        return Rows(rng.choice(classes, n), values(rng, "whole", (n, 4)), w, {"classes": classes})
    if isinstance(metric, ScoreMetric):
        return scores_for(metric, rng, n, w)
    if isinstance(metric, ProbabilityMetric):
        return probabilities_for(rng, n, w, universe)
    if universe is None:
        universe = UNIVERSES[rng.integers(len(UNIVERSES))]
    if is_binary(metric):
        universe = universe[:2] if universe[0] in (-1, 0) or isinstance(universe[0], str) else UNIVERSES[0]
    y = universe[rng.integers(0, len(universe), n)]
    p = np.where(rng.random(n) < rng.random(), y, universe[rng.integers(0, len(universe), n)])
    facts = {"positive": str(universe[1])} if isinstance(universe[0], str) and is_binary(metric) else {}
    if isinstance(metric, ShapeMetric):
        return Rows(values(rng, "whole", (n, 2)) + 0.125, p, w)
    if metric.kind == "margin":
        return Rows(y, values(rng, "whole", n), w, facts)
    return Rows(y, p, w, facts)


def scores_for(metric: Metric, rng: np.random.Generator, n: int, w: Any) -> Rows:
    """Rows of two classes with one score each, or of three with a score for each."""
    style = rng.choice(["plain", "whole", "whole", "traps", "any"])
    if isinstance(metric, RankMetric) and getattr(metric, "max_fpr", None) is None and rng.random() < 0.3:
        classes = ["c", "a", "b"]
        return Rows(rng.choice(classes, n), values(rng, style, (n, 3)), w, {"classes": classes})
    no, yes = [(0, 1), (-1, 1), ("no", "yes"), (7, 3)][rng.integers(4)]
    facts = {} if yes == 1 else {"positive": yes}
    return Rows(rng.choice([no, yes], n), values(rng, style, n), w, facts)


# Probabilities that are hard to tell from their neighbours, or from 0 and 1.
CHANCES = [0.0, -0.0, 5e-324, 1e-300, 1e-17, 2.0**-54, 0.1, 0.3, 0.5, 0.7, 1 - 2.0**-53, 1.0]


def probabilities_for(rng: np.random.Generator, n: int, w: Any, universe: Any = None) -> Rows:
    """Labels with probabilities or margins: of the positive class, or one column per class."""
    if universe is None:
        universe = UNIVERSES[rng.integers(len(UNIVERSES))]
        kind = rng.choice(["probability", "margin"])
        width = int(rng.integers(1, 4)) if len(universe) == 2 else 3
    else:
        kind, width = "probability", 1 if len(universe) == 2 else 3
    y = universe[rng.integers(0, len(universe), n)]
    text = isinstance(universe[0], str)
    if width == 1:
        facts = {"positive": str(universe[1])} if text else {}
        p = rng.choice(CHANCES, n) if rng.random() < 0.3 else np.round(rng.random(n), int(rng.integers(1, 17)))
        p = rng.normal(0, 10.0 ** rng.integers(0, 4), n) if kind == "margin" else p
    else:
        facts = {"classes": [str(label) if text else int(label) for label in universe]}
        p = rng.normal(0, 10.0 ** rng.integers(0, 4), (n, len(universe)))
        if kind == "probability":
            p = rng.dirichlet(np.full(len(universe), rng.choice([0.05, 1.0])), n)
    return Rows(y, p, w, facts if kind == "probability" else {**facts, "kind": kind})


def rankings_for(rng: np.random.Generator, style: str, n: int) -> Rows:
    """Rows of queries: relevances of several kinds, scores of one style, one weight per query."""
    universe = UNIVERSES[rng.integers(len(UNIVERSES))]
    codes = rng.integers(0, len(universe), n)
    grades = [[0.0, 1.0], [0.0, 0.0, 0.0, 1.0, 2.0, 3.0], [0.0, 0.25, 2.5, 700.0], [0.0]][rng.integers(4)]
    w = rng.choice(WEIGHTS, len(universe)) if rng.random() < 0.5 else rng.uniform(0, 3, len(universe))
    return Rows(rng.choice(grades, n), values(rng, style, n), w[codes], q=universe[codes])


def reads_labels(metric: Metric) -> bool:
    kinds = (LabelMetric, ClusterMetric, ProbabilityMetric, ScoreMetric, ShapeMetric, TopKAccuracy)
    return isinstance(metric, kinds)


@st.composite
def tables(draw: Any, metric: Metric, *, least: int = 1, styles: Any = ("plain", "whole", "traps", "any")) -> Rows:
    """Rows for a metric. Arrays come from a seed, since drawing every number takes Hypothesis a second a law."""
    n = draw(st.integers(least, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if reads_labels(metric):
        return labels_for(metric, rng, n)
    if isinstance(metric, RankingMetric):
        return rankings_for(rng, draw(st.sampled_from(styles)), n)
    y = values(rng, draw(st.sampled_from(styles)), n)
    p = values(rng, draw(st.sampled_from(styles)), (n, 4))
    w = rng.choice(WEIGHTS, n) if draw(st.booleans()) else rng.uniform(0, 3, n)
    return rows_for(metric, y, p, w)


def random_rows(metric: Metric, n: int, seed: int = 0, k: int = 4) -> Rows:
    """Well-behaved rows, many of them."""
    rng = np.random.default_rng(seed)
    if reads_labels(metric):
        rows = labels_for(metric, rng, n, UNIVERSES[2])
        whole = wants_whole_weights(metric)
        return rows._replace(w=rng.integers(1, 4, n).astype(float) if whole else rng.uniform(0.1, 2, n))
    if isinstance(metric, RankingMetric):
        codes = rng.integers(0, n // 20 + 1, n)
        weights = rng.uniform(0.1, 2, n // 20 + 1)
        return Rows(rng.integers(0, 4, n).astype(float), rng.normal(0, 1, n).round(1), weights[codes], q=codes)
    y = rng.normal(3, 2, n)
    return rows_for(metric, y, y[:, None] + rng.normal(0, 1, (n, k)), rng.uniform(0.1, 2, n))


def perfect(metric: Metric, rows: Rows) -> Rows:
    """The same truth with predictions that are right."""
    if isinstance(metric, ProbabilityMetric):
        sure = 800.0 if "margin" in (rows.facts.get("kind"), metric.kind) else 1.0
        classes = rows.facts.get("classes", [rows.facts.get("positive", 1)])
        right = np.squeeze(rows.y[:, None] == np.array(classes), axis=1 if len(classes) == 1 else ())
        return rows._replace(p=np.where(right, sure, 0.0 if sure == 1.0 else -sure))
    if "classes" in rows.facts and rows.p.ndim == 2:
        return rows._replace(p=(rows.y[:, None] == np.array(rows.facts["classes"])).astype(float))
    if metric.kind == "margin":
        positive = rows.facts.get("positive", 1)
        return rows._replace(p=np.where(rows.y == positive, 2.0, -2.0))
    if isinstance(metric, ScoreMetric):
        return rows._replace(p=np.where(rows.y == rows.facts.get("positive", 1), 1.0, 0.0))
    if reads_labels(metric):
        return rows._replace(p=rows.y)
    truth = np.abs(rows.y) + 1e-3 if getattr(metric, "requires", ()) else rows.y
    truth = np.where(truth == 0, truth, np.copysign(np.clip(np.abs(truth), 1e-100, None), truth))
    return rows._replace(y=truth, p=truth if rows.p.ndim == 1 else np.repeat(truth[:, None], rows.p.shape[1], axis=1))


def numbers(value: Any) -> list[float]:
    """The numbers in a value: of a list, of a dict by class, of a table."""
    if isinstance(value, (float, int)):
        return [float(value)]
    if isinstance(value, Curve):
        return np.concatenate(list(value.columns.values())).tolist()
    if isinstance(value, Confusion):
        return [float(count) for _, _, count in value.pairs()]
    if isinstance(value, ClassReport):
        every = (x for scores in (*value.scores.values(), *value.averages.values()) for x in scores)
        return [x for x in every if x is not None] + [value.accuracy]  # averages have no counts
    return [float(x) for x in (value.values() if isinstance(value, dict) else value)]


def keys(value: Any) -> list[Any]:
    """What the numbers in a value belong to."""
    if isinstance(value, Curve):
        return [*value.columns, len(value)]
    if isinstance(value, Confusion):
        return [value.classes, *((y, p) for y, p, _ in value.pairs())]
    return value.classes if isinstance(value, ClassReport) else list(value) if isinstance(value, dict) else []


def same_bits(a: Any, b: Any) -> bool:
    """Whether two values are the same to the last bit. All NaNs are one."""
    left, right = numbers(a), numbers(b)
    return type(a) is type(b) and keys(a) == keys(b) and len(left) == len(right) and all(map(_same, left, right))


def _same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or struct.pack("<d", a) == struct.pack("<d", b)


def close(a: Any, b: Any, tolerance: float = 1e-12, *, scale: float = 0.0) -> bool:
    """Whether two values agree to a relative tolerance; not-a-number agrees with itself."""
    left, right = numbers(a), numbers(b)
    return keys(a) == keys(b) and all(
        (math.isnan(x) and math.isnan(y)) or x == y or abs(x - y) <= tolerance * max(abs(x), abs(y), scale)
        for x, y in zip(left, right, strict=True)
    )
