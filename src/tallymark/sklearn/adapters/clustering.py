"""Metrics of clusterings, with the conventions of scikit-learn: of two of them, and of one and its points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse as sp  # type: ignore[import-untyped]
from sklearn.metrics.cluster import _supervised as theirs
from sklearn.utils import check_random_state

from tallymark._core import centroid_spread
from tallymark._core import silhouette as silhouettes
from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.metrics.clustering.base import Information, is_trivial, normalizer
from tallymark.metrics.clustering.information import AdjustedMutualInformation
from tallymark.metrics.clustering.pair_counting import adjusted_rand, fowlkes_mallows, pair_totals, rand_index
from tallymark.metrics.clustering.separation import calinski_harabasz, davies_bouldin
from tallymark.sklearn.adapters.inputs import as_array, column, is_finite, require_bool, same_rows
from tallymark.sklearn.served import UnservedError
from tallymark.states.labels.counts import LABELS
from tallymark.states.labels.encoding import CountedPairs, Labels, count_label_pairs
from tallymark.states.labels.pairs import Pairs, PairsOf
from tallymark.states.points import PointsOf

__all__ = [
    "adjusted_mutual_info_score",
    "adjusted_rand_score",
    "calinski_harabasz_score",
    "completeness_score",
    "contingency_matrix",
    "davies_bouldin_score",
    "fowlkes_mallows_score",
    "homogeneity_completeness_v_measure",
    "homogeneity_score",
    "mutual_info_score",
    "normalized_mutual_info_score",
    "pair_confusion_matrix",
    "rand_score",
    "silhouette_samples",
    "silhouette_score",
    "v_measure_score",
]

_CLUSTERS = PairsOf(clusters=True)
_POINTS = PointsOf()
_NORMS = {"arithmetic": "sum", "geometric": "sqrt", "max": "max", "min": "min"}
_MOST_COLUMNS = 50  # of more, scikit-learn's products of matrices are faster
_MOST_CLUSTERS = 500
_NEAR_ZERO = 1e-7  # scikit-learn reads distances below 1e-8 as none
_BLUR = 1e-3  # squares that are so much smaller than those of the coordinates lose digits in scikit-learn


def _count(labels_true: Any, labels_pred: Any, *, fractions: bool = False) -> Pairs:
    """How often clusters of both sides meet."""
    truth, predicted = column(labels_true, "labels_true"), column(labels_pred, "labels_pred")
    same_rows(truth, predicted)
    found = count_label_pairs(truth, predicted, None, fractions, None)
    if found is None or isinstance(found, list):
        raise UnservedError("labels_true or labels_pred contains values that are not labels")
    return _pairs(found)


def _pairs(found: CountedPairs) -> Pairs:
    return Pairs(_CLUSTERS, (1, 1), LABELS, found.rows, found)


def contingency_matrix(
    labels_true: Any, labels_pred: Any, *, eps: Any = None, sparse: bool = False, dtype: Any = np.int64
) -> Any:
    require_bool(sparse, "sparse")
    if eps is not None and (sparse or not _is_real(eps) or not eps >= 0):
        raise UnservedError("eps is not a number of at least 0")
    kind = np.dtype(dtype)
    if kind not in (np.int64, np.float64):
        raise UnservedError("dtype is not int64 or float64")
    pairs = _count(labels_true, labels_pred, fractions=True)
    shape = tuple(map(len, pairs.labels))
    values = np.asarray(pairs.values, kind)
    if sparse:
        table = theirs._align_api_if_sparse(sp.coo_array((values, pairs.cells), shape=shape, dtype=dtype)).tocsr()
        table.sum_duplicates()
        return table
    table = np.zeros(shape, kind)
    table[pairs.cells] = values
    return table if eps is None else table + eps


def _is_real(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def pair_confusion_matrix(labels_true: Any, labels_pred: Any) -> Any:
    both, truth, predicted, everything = pair_totals(_count(labels_true, labels_pred))
    apart = everything - truth - predicted + both
    return np.array([[2 * apart, 2 * (predicted - both)], [2 * (truth - both), 2 * both]], np.int64)


def rand_score(labels_true: Any, labels_pred: Any) -> Any:
    return rand_index.formula_value(_count(labels_true, labels_pred))


def adjusted_rand_score(labels_true: Any, labels_pred: Any) -> Any:
    return adjusted_rand.formula_value(_count(labels_true, labels_pred))


def fowlkes_mallows_score(labels_true: Any, labels_pred: Any) -> Any:
    pairs = _count(labels_true, labels_pred)
    value = fowlkes_mallows.formula_value(pairs)
    if value == 1 and len(pairs.labels[0]) == pairs.n:
        raise UnservedError("every row is a cluster of its own", ours=value)
    return value


def mutual_info_score(labels_true: Any, labels_pred: Any, *, contingency: Any = None) -> Any:
    return _mutual(_count(labels_true, labels_pred) if contingency is None else _read_table(contingency))


def _mutual(pairs: Pairs) -> float:
    return 0.0 if is_trivial(pairs) else max(Information(pairs).mutual, 0.0)


def _read_table(table: Any) -> Pairs:
    """The pairs that a contingency table counts."""
    if sp.issparse(table) and table.format in ("csr", "csc", "coo"):
        cells = table.tocoo(copy=True)
        cells.sum_duplicates()
        rows, columns, values = cells.row, cells.col, cells.data
    elif type(table) is np.ndarray:
        rows, columns = np.nonzero(table)
        values = table[rows, columns]
    else:
        raise UnservedError(f"contingency is of type {type(table).__name__}")
    if values.dtype not in (np.int64, np.int32) or table.ndim != 2 or not len(values) or not values.min() > 0:
        raise UnservedError("contingency is not a table of counts")
    if len(np.unique(rows)) < table.shape[0] or len(np.unique(columns)) < table.shape[1]:
        raise UnservedError("contingency contains empty rows or columns")
    labels: Labels = (list(range(table.shape[0])), list(range(table.shape[1])))
    places = (np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(columns, np.int64))
    return _pairs(CountedPairs(labels, places, np.asarray(values, np.int64), rows=int(values.sum())))


def normalized_mutual_info_score(labels_true: Any, labels_pred: Any, *, average_method: Any = "arithmetic") -> Any:
    norm = _norm(average_method)
    pairs = _count(labels_true, labels_pred)
    if is_trivial(pairs):
        return float(len(pairs.labels[0]) == len(pairs.labels[1]))
    info = Information(pairs)
    return max(info.mutual, 0.0) / normalizer(info, norm)


def _norm(average_method: Any) -> str:
    if not isinstance(average_method, str) or average_method not in _NORMS:
        raise UnservedError("average_method is not one of those there are")
    return _NORMS[average_method]


def adjusted_mutual_info_score(labels_true: Any, labels_pred: Any, *, average_method: Any = "arithmetic") -> Any:
    metric = AdjustedMutualInformation(norm=_norm(average_method))
    pairs = _count(labels_true, labels_pred)
    value = float(metric.formula_value(pairs))
    if pairs.n in map(len, pairs.labels) and not is_trivial(pairs):
        raise UnservedError("every row is a cluster of its own", ours=value)
    return value


def homogeneity_completeness_v_measure(labels_true: Any, labels_pred: Any, *, beta: Any = 1.0) -> Any:
    if not _is_real(beta) or not beta >= 0:
        raise UnservedError("beta is not a number of at least 0")
    pairs = _count(labels_true, labels_pred)
    info = Information(pairs)
    mutual, truth, prediction = _mutual(pairs), info.truth, info.prediction
    homogeneity = mutual / truth if truth else 1.0
    completeness = mutual / prediction if prediction else 1.0
    if homogeneity + completeness == 0.0:
        return homogeneity, completeness, 0.0
    above, below = (1 + beta) * homogeneity * completeness, beta * homogeneity + completeness
    return homogeneity, completeness, above / below


def homogeneity_score(labels_true: Any, labels_pred: Any) -> Any:
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[0]


def completeness_score(labels_true: Any, labels_pred: Any) -> Any:
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[1]


def v_measure_score(labels_true: Any, labels_pred: Any, *, beta: Any = 1.0) -> Any:
    return homogeneity_completeness_v_measure(labels_true, labels_pred, beta=beta)[2]


def _read_points(points: Any, labels: Any) -> tuple[Array, Array]:
    """Points and the labels of their clusters, as arrays."""
    frame = hasattr(points, "iloc")
    table = as_array(points.to_numpy() if frame else points, "X")
    found = column(labels, "labels")
    if table.ndim != 2 or not table.size or table.dtype.kind not in "biuf":
        raise UnservedError("X is not a table of numbers")
    if table.dtype == np.float32:
        raise UnservedError("coordinates in float32")
    if table.shape[1] > _MOST_COLUMNS:
        raise UnservedError("many columns")
    if not is_finite(table):
        raise UnservedError("X contains NaN or infinity")
    same_rows(table, found)
    return table, found


def _clusters(table: Array, labels: Array) -> tuple[Array, Array, int]:
    """Points, clusters from 0 on, and how many there are: 2 at least, and fewer than points."""
    points, codes, _, count = _POINTS.fold(Batch(table, labels)).arrays()
    if not 1 < count < len(points):
        raise UnservedError("the clusters are one, or as many as the points")
    return points, codes, count


def silhouette_samples(X: Any, labels: Any, *, metric: Any = "euclidean", **kwds: Any) -> Any:  # noqa: N803
    _require_euclidean(metric, kwds)
    return _silhouettes(*_read_points(X, labels))


def _require_euclidean(metric: Any, kwds: dict[str, Any]) -> None:
    if not isinstance(metric, str) or metric not in ("euclidean", "l2") or kwds:
        raise UnservedError("metric is not 'euclidean'")


def _silhouettes(table: Array, labels: Array) -> Array:
    points, codes, count = _clusters(table, labels)
    if table.dtype.kind == "f" and not (np.abs(points).max() < 2**20 and (points == np.floor(points)).all()):
        _require_wide(points, centroid_spread(points, codes, None, count))
        ordered = points[np.lexsort(points.T)]
        if (ordered[1:] == ordered[:-1]).all(axis=1).any():
            raise UnservedError("points that coincide")
    return silhouettes(points, codes, None, count)


def _require_wide(points: Array, spread: Any) -> float:
    """Refuse clusters so narrow that the distances in them lose digits in scikit-learn, which subtracts products of
    coordinates; return the largest such product."""
    sizes, squares, exponent = spread[4], spread[6], spread[7]
    largest = float(np.einsum("ij,ij->i", points, points).max())
    several = sizes > 1
    if (np.ldexp(squares[several] / sizes[several], 2 * exponent) < _BLUR * largest).any():
        raise UnservedError("clusters that are narrow for their coordinates")
    return largest


def silhouette_score(
    X: Any,  # noqa: N803
    labels: Any,
    *,
    metric: Any = "euclidean",
    sample_size: Any = None,
    random_state: Any = None,
    **kwds: Any,
) -> Any:
    _require_euclidean(metric, kwds)
    table, found = _read_points(X, labels)
    if sample_size is not None:
        if type(sample_size) is not int or sample_size < 1:
            raise UnservedError("sample_size is not a number of rows")
        if type(random_state) is not int:  # to draw from any other would change it
            raise UnservedError("random_state is not a whole number")
        drawn = check_random_state(random_state).permutation(len(table))[:sample_size]
        table, found = table[drawn], found[drawn]
    return float(np.mean(_silhouettes(table, found)))


def calinski_harabasz_score(X: Any, labels: Any) -> Any:  # noqa: N803
    points, codes, count = _clusters(*_read_points(X, labels))
    found = centroid_spread(points, codes, None, count)
    value = _require_value(calinski_harabasz.spread_value(found, count))
    between = value * math.ldexp(found[6].sum(), 2 * found[7]) * (count - 1) / (len(points) - count)
    if between < _BLUR**2 * len(points) * float(np.square(points).max()):
        raise UnservedError("centres that are close together for their coordinates")
    return value


def davies_bouldin_score(X: Any, labels: Any) -> Any:  # noqa: N803
    points, codes, count = _clusters(*_read_points(X, labels))
    found = centroid_spread(points, codes, None, count)
    centres, sizes, distances, exponent = found[0], found[4], found[5], found[7]
    largest = _require_wide(points, found)
    if sizes.min() < 2:
        raise UnservedError("a cluster of one point")
    if not np.ldexp(distances / sizes, exponent).max() > _NEAR_ZERO:
        raise UnservedError("clusters of almost no size")
    if count > _MOST_CLUSTERS:
        raise UnservedError("many clusters")
    apart = np.square(centres[:, None] - centres).sum(axis=2)[~np.eye(count, dtype=bool)]
    if np.ldexp(apart.min(), 2 * exponent) < _BLUR * largest:
        raise UnservedError("centres that are close together for their coordinates")
    return _require_value(davies_bouldin.spread_value(found, count))


def _require_value(value: Any) -> float:
    if not isinstance(value, float) or not math.isfinite(value):
        raise UnservedError(getattr(value, "reason", "the value is not finite"))
    return value
