"""Metrics of the order of the columns in every row, with the conventions of scikit-learn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tallymark._core import Rankings, count_above
from tallymark.data.arrays import Array
from tallymark.metrics.ranking.base import NDCG
from tallymark.sklearn.adapters.curves import precision_by_row
from tallymark.sklearn.adapters.inputs import column, positive_weights, require_bool, same_rows
from tallymark.sklearn.adapters.scores import (
    RowRanks,
    encode_among,
    is_table,
    read_indicators,
    read_negatable_scores,
    read_scores,
    running_totals,
)
from tallymark.sklearn.served import UnservedError
from tallymark.states.base import ONE, divide, exact_total

__all__ = [
    "coverage_error",
    "dcg_score",
    "label_ranking_average_precision_score",
    "label_ranking_loss",
    "ndcg_score",
    "top_k_accuracy_score",
]


_MOST_RELEVANT = 1e300


def _check_k(k: Any) -> int:
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise UnservedError("k is not a positive whole number")
    return int(k)


def top_k_accuracy_score(
    y_true: Any, y_score: Any, *, k: Any = 2, normalize: bool = True, sample_weight: Any = None, labels: Any = None
) -> Any:
    k = _check_k(k)
    require_bool(normalize, "normalize")
    names, table = column(y_true, "y_true"), read_scores(y_score, "y_score", 2 if is_table(y_score) else 1)
    same_rows(names, table)
    weights = positive_weights(sample_weight, len(names))
    classes, places = encode_among(names, labels)
    if table.ndim == 1 and len(classes) == 2 and k == 1:
        threshold = 0.5 if table.min() >= 0 and table.max() <= 1 else 0
        return _share((table > threshold) == places, weights, normalize)
    if table.ndim == 1 or not 2 < len(classes) == table.shape[1] or k >= len(classes):
        raise UnservedError("y_score does not have one column for each of more than k classes")
    hits = np.frombuffer(count_above(table, places), np.int64) < k
    found = _share(hits, weights, normalize)
    own = table[np.arange(len(table)), places]
    if not np.array_equal(hits, np.count_nonzero(table >= own[:, None], axis=1) <= k):
        raise UnservedError("which of equal scores is among the first k", ours=found)
    return found


def _share(hits: Array, weights: Array | None, normalize: bool) -> float:
    if normalize:
        return float(np.average(hits, weights=weights))
    return float(np.count_nonzero(hits) if weights is None else np.dot(hits, weights))


def _read_pair(y_true: Any, y_score: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
    """Tables of relevances and of scores, of two columns or more."""
    relevance, table = read_scores(y_true, "y_true", 2), read_negatable_scores(y_score, "y_score")
    if relevance.shape != table.shape or table.shape[1] < 2:
        raise UnservedError("y_true and y_score have different shapes or one column")
    if not max(float(relevance.max()), -float(relevance.min())) < _MOST_RELEVANT:
        raise UnservedError("y_true contains values whose totals may overflow")
    if len(relevance) > 20 and _may_be_many(relevance):
        raise UnservedError("y_true has nearly as many labels as rows")
    return relevance, table, positive_weights(sample_weight, len(table))


def _may_be_many(relevance: Array) -> bool:
    """Whether relevances may be so many whole numbers that scikit-learn warns."""
    few = float(relevance.max()) - float(relevance.min()) + 1 <= round(0.5 * len(relevance))
    return not few and (relevance.dtype.kind != "f" or bool((relevance == np.rint(relevance)).all()))


def ndcg_score(
    y_true: Any, y_score: Any, *, k: Any = None, sample_weight: Any = None, ignore_ties: bool = False
) -> Any:
    require_bool(ignore_ties, "ignore_ties")
    first = math.inf if k is None else float(_check_k(k))
    relevance, table, weights = _read_pair(y_true, y_score, sample_weight)
    if ignore_ties:
        ordered = np.sort(table, axis=1)
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            raise UnservedError("the order of equal scores")
    gains, scores = (np.ascontiguousarray(each, np.float64).ravel() for each in (relevance, table))
    each = None if weights is None else np.ascontiguousarray(weights, np.float64)
    rankings = Rankings(gains, scores, None, len(table), each, False)
    total = rankings.total(NDCG, first, False, False)
    whole = len(table) * ONE if weights is None else sum(exact_total(*part) for part in rankings.weights)
    return divide(exact_total(*total), whole)


def dcg_score(
    y_true: Any,
    y_score: Any,
    *,
    k: Any = None,
    log_base: Any = 2,
    sample_weight: Any = None,
    ignore_ties: bool = False,
) -> Any:
    require_bool(ignore_ties, "ignore_ties")
    if type(log_base) not in (int, float) or not 0 < log_base < math.inf or log_base == 1:
        raise UnservedError("log_base is not a positive number other than 1")
    first = None if k is None else _check_k(k)
    relevance, table, weights = _read_pair(y_true, y_score, sample_weight)
    ranks = RowRanks(table)
    if ranks.tied and ignore_ties:
        raise UnservedError("the order of equal scores")
    discounts = np.log(log_base) / np.log(np.arange(table.shape[1]) + 2)
    if first is not None:
        discounts[first:] = 0
    if ranks.tied:
        totals = np.concatenate(([0.0], np.cumsum(discounts)))
        discounts = (totals[ranks.end] - totals[ranks.first]) / (ranks.end - ranks.first)
        gains = (ranks.sort(relevance) * discounts).sum(axis=1)
    else:
        gains = ranks.sort(relevance) @ discounts
    return float(np.average(gains, weights=weights))


def _read_labels_and_scores(y_true: Any, y_score: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
    truth, table = read_indicators(y_true), read_negatable_scores(y_score, "y_score")
    if truth.shape != table.shape:
        raise UnservedError("y_true and y_score have different shapes")
    return truth, table, positive_weights(sample_weight, len(truth))


def coverage_error(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> Any:
    truth, table, weights = _read_labels_and_scores(y_true, y_score, sample_weight)
    lowest = np.where(truth, table, np.inf).min(axis=1)
    return float(np.average(np.count_nonzero(table >= lowest[:, None], axis=1), weights=weights))


def label_ranking_average_precision_score(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> Any:
    truth, table, weights = _read_labels_and_scores(y_true, y_score, sample_weight)
    if weights is not None and not isinstance(sample_weight, (np.ndarray, list)):
        raise UnservedError("weights of a type that scikit-learn looks up by its index")
    precision = precision_by_row(truth, table)
    precision[np.isnan(precision)] = 1.0
    return float(np.average(precision, weights=weights))


def label_ranking_loss(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> Any:
    truth, table, weights = _read_labels_and_scores(y_true, y_score, sample_weight)
    ranks = RowRanks(table)
    sorted_truth = ranks.sort(truth)
    totals = running_totals(sorted_truth)
    hits = totals[:, -1]
    wrong = np.where(sorted_truth, ranks.end - ranks.at(totals, ranks.end), 0).sum(axis=1)
    return float(np.average(wrong / np.maximum(hits * (truth.shape[1] - hits), 1), weights=weights))
