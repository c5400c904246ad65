"""How well clusters are separated, by the points themselves: no truth is needed."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from tallymark._core import centroid_spread
from tallymark._core import silhouette as silhouettes
from tallymark.data.batch import Batch
from tallymark.errors import ShapeError, Text, WeightError
from tallymark.metrics.answer import Undefined
from tallymark.metrics.base import Metric
from tallymark.metrics.clustering.base import fractional_weight
from tallymark.states.base import MOST_ROWS
from tallymark.states.points import Points, PointsOf

__all__ = [
    "CalinskiHarabasz",
    "DaviesBouldin",
    "ShapeMetric",
    "Silhouette",
    "calinski_harabasz",
    "davies_bouldin",
    "silhouette",
]


_CELLS = 1 << 16
_ROUNDING = 2.0**-50


class ShapeMetric(Metric, abstract=True):
    """A metric of points and their clusters: called with an n × d table in the place of the truth.

    A subclass writes `shape_value(points, clusters, weights, count)`. Distances are euclidean.
    """

    arguments = ("points", "labels")
    family: ClassVar[str] = "clustering"
    kind: ClassVar[str] = "label"
    takes: ClassVar[str] = "points and labels of clusters"
    better = "higher"
    when_undefined = "There is only one cluster, or every row is its own cluster."

    @property
    def reads(self) -> PointsOf:
        return PointsOf()

    def check_columns(self, truth_columns: int, prediction_columns: int) -> None:
        if prediction_columns != 1:
            raise ShapeError(
                argument="y_pred",
                expected=Text("be the cluster of each row for {}, and {y_true} the points", self),
                got=f"{prediction_columns} columns",
            )

    def check_values(self, state: Points, batch: Batch | None) -> None:
        if not state.has_whole_weights():
            raise fractional_weight(self, batch)

    def formula_value(self, state: Points) -> float | Undefined:
        table, clusters, weights, count = state.arrays()
        if count < 2:
            return Undefined("there is one cluster only")
        total = len(table) if weights is None else math.fsum(weights.tolist())
        if total >= MOST_ROWS:
            raise WeightError(
                Text("{weights} must add up to less than 2**53 for {}; they added up to {}", self, f"{total:.0f}"),
                argument="weights",
            )
        if count >= total:
            return Undefined("every row is a cluster of its own")
        return self.shape_value(table, clusters, weights, count)

    def shape_value(self, table: Any, clusters: Any, weights: Any, count: int) -> float | Undefined:
        """The value of points with clusters from 0 on and positive whole weights or None."""
        raise NotImplementedError(f"{type(self).__name__} must define `shape_value`")


class Silhouette(ShapeMetric):
    """How much nearer points are to their own cluster than to the next one, on average.

    >>> silhouette([[0, 0], [0, 1], [5, 5], [5, 6]], ["a", "a", "b", "b"]) > 0.8
    True
    """

    aliases = {"silhouette_score": {}}
    range = (-1.0, 1.0)
    formula = "mean of (b − a) / max(a, b): mean distance to the nearest other cluster, and to the own"
    reading = "1: far apart and compact. 0: on the border. Below 0: nearer to another cluster."
    outliers = "low: a row counts between −1 and 1, however far away it lies."
    landmarks = (
        (1.0, "compact clusters, far apart"),
        (0.0, "rows lie on the border between clusters"),
    )
    pitfalls = (
        "It takes time with the square of the rows.",
        "It favours round clusters, and depends on the scale of the columns.",
    )

    def shape_value(self, table: Any, clusters: Any, weights: Any, count: int) -> float:
        # In the order of the coordinates, the order of the rows cannot show in the last bits.
        order = np.lexsort(table.T if weights is None else (weights, *table.T))
        table, clusters = table[order], clusters[order]
        weights = None if weights is None else weights[order]
        each = silhouettes(table, clusters, weights, count)
        if weights is None:
            return math.fsum(each.tolist()) / len(each)
        return math.fsum((each * weights).tolist()) / math.fsum(weights.tolist())


def _between(centres: Any, rests: Any, others: Any, other_rests: Any) -> Any:
    """How far centres are from others. All come with what rounding to float64 left out of them, which has errors of
    its own: a difference of no more than those is none."""
    found = (centres - others) + (rests - other_rests)
    return np.where(np.abs(found) <= _ROUNDING * (np.abs(rests) + np.abs(other_rests)), 0.0, found)


class DaviesBouldin(ShapeMetric):
    """How much clusters overlap with the one that is most like them, on average; low is good.

    >>> davies_bouldin([[0, 0], [0, 2], [8, 0], [8, 2]], [0, 0, 1, 1])
    0.25
    """

    display = "Davies–Bouldin index"
    aliases = {"davies_bouldin_score": {}}
    better = "lower"
    range = (0.0, math.inf)
    formula = "mean over clusters i of max over j of (s_i + s_j) / d_ij: mean distance to the centre, centres apart"
    reading = "0 is best; below 1, clusters are further apart than they are wide."
    outliers = "high: a distant point moves the centre of its cluster and widens it."
    landmarks = ((0.0, "every cluster is a single point"), (1.0, "clusters as wide as they are apart"))
    pitfalls = ("It favours round clusters, and depends on the scale of the columns.",)

    def shape_value(self, table: Any, clusters: Any, weights: Any, count: int) -> float | Undefined:
        return self.spread_value(centroid_spread(table, clusters, weights, count), count)

    def spread_value(self, found: Any, count: int) -> float | Undefined:
        """The value by what the core says of the centroids."""
        centres, rests, _, _, sizes, distances, _, _ = found
        spread = distances / sizes
        worst = np.empty(count)
        step = max(1, _CELLS // centres.size)  # clusters at a time: no table of all by all
        for first in range(0, count, step):
            part = slice(first, first + step)
            apart = np.sqrt((_between(centres[part, None], rests[part, None], centres, rests) ** 2).sum(axis=2))
            wide = spread[part, None] + spread
            with np.errstate(divide="ignore", invalid="ignore"):
                overlap = np.where(wide > 0, wide / apart, 0.0)
            overlap[np.arange(len(overlap)), np.arange(first, first + len(overlap))] = -np.inf
            worst[part] = overlap.max(axis=1)
        if np.isinf(worst).any():
            return Undefined("two clusters have the same centre")
        return math.fsum(worst.tolist()) / count


class CalinskiHarabasz(ShapeMetric):
    """The spread between clusters relative to the spread within them.

    >>> calinski_harabasz([[0, 0], [0, 2], [8, 0], [8, 2]], [0, 0, 1, 1])
    32.0
    """

    display = "Calinski–Harabasz index"
    aliases = {"calinski_harabasz_score": {}, "variance_ratio": {}}
    range = (0.0, math.inf)
    formula = "(Σ n_k |c_k − c|² / (K − 1)) / (Σ |x − c_k|² / (n − K))"
    reading = "Higher is better; only values on the same points compare."
    outliers = "high: distances are squared."
    landmarks = ((0.0, "all centres are in one place"),)
    when_undefined = "There is only one cluster, every row is its own cluster, or all clusters are single points."
    pitfalls = ("It grows with the number of rows.", "It favours round clusters of similar size.")

    def shape_value(self, table: Any, clusters: Any, weights: Any, count: int) -> float | Undefined:
        return self.spread_value(centroid_spread(table, clusters, weights, count), count)

    def spread_value(self, found: Any, count: int) -> float | Undefined:
        """The value by what the core says of the centroids."""
        centres, rests, centre, rest, sizes, _, squares, _ = found
        within = math.fsum(squares.tolist())
        if not within:
            return Undefined("the points of every cluster coincide")
        apart = _between(centres, rests, centre, rest)
        between = math.fsum((sizes[:, None] * (apart * apart)).ravel().tolist())
        return between * (math.fsum(sizes.tolist()) - count) / (within * (count - 1))


silhouette = Silhouette()
davies_bouldin = DaviesBouldin()
calinski_harabasz = CalinskiHarabasz()
