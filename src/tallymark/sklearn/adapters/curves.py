"""Metrics of scores over all thresholds, with the conventions of scikit-learn.

Two classes are two sorted sets of scores, which the core walks once. Several labels, or one class against the rest, are
two classes per column. Where a class has no rows, scikit-learn warns, and answers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from tallymark._core import class_sums, sort_columns, sort_scores
from tallymark.data.arrays import Array
from tallymark.data.labels import Label, normal_label
from tallymark.metrics.answer import Undefined
from tallymark.metrics.scores.auc import partial_area
from tallymark.sklearn.adapters.inputs import column, numbers, positive_weights, require_bool, same_rows
from tallymark.sklearn.adapters.scores import (
    RowRanks,
    check_few,
    encode_among,
    find_label,
    is_table,
    read_indicators,
    read_scores,
    running_totals,
)
from tallymark.sklearn.served import UnservedError
from tallymark.states.scores.runs import NO_RUNS, Runs, Steps, share_in_order, sum_ranks, walk_steps
from tallymark.states.scores.scores import MOST_INTEGER

__all__ = [
    "auc",
    "average_precision_score",
    "confusion_matrix_at_thresholds",
    "det_curve",
    "precision_recall_curve",
    "roc_auc_score",
    "roc_curve",
]

_AVERAGES = (None, "micro", "macro", "weighted", "samples")
_MOST_LABELS = 200  # which the core tells apart
_FAR_APART = 2.0**40  # weights that begin to vanish in a running total of others
_NOTHING = 1e-6  # near what scikit-learn takes for no weight
_SAFE_TO_SUBTRACT = 1 << 30
Measure = Callable[[Runs, Runs], float]


def _sort(truth: Array, scores: Array, weights: Array | None) -> tuple[list[Label], list[Runs] | None]:
    """The labels in order and the runs of each; no runs of more than two labels."""
    found = sort_scores(truth, scores, weights, normal_label)
    if found is None or isinstance(found, list):
        raise UnservedError("y_true contains values that are not labels")
    return found[0], found[1]  # type: ignore[return-value]


def _split(truth: Array, scores: Array, weights: Array | None) -> tuple[Runs, Runs]:
    """The scores of rows whose truth is False, and of those whose is True."""
    labels, runs = _sort(truth, scores, weights)
    by_label = dict(zip(labels, runs or (), strict=True))
    return by_label.get(0, NO_RUNS), by_label.get(1, NO_RUNS)


def _positive(pos_label: Any, labels: list[Label]) -> Label:
    if pos_label is None:
        if labels not in ([0, 1], [-1, 1]):
            raise UnservedError("pos_label is needed for these labels")
        return 1
    return find_label(pos_label, labels)


def _walk(
    y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any, *, two: bool = False
) -> tuple[Steps, np.dtype[Any], Array | None]:
    """What every distinct score does as a threshold, the type of the scores, and the weights."""
    truth, scores = column(y_true, "y_true"), read_scores(y_score, "y_score")
    same_rows(truth, scores)
    weights = positive_weights(sample_weight, len(truth))
    if weights is not None and not weights.sum() < weights.min() * _FAR_APART:
        raise UnservedError("sample_weight contains weights of very different sizes")
    labels, runs = _sort(truth, scores, weights)
    if len(labels) < 2:
        raise UnservedError("y_true contains one class only")
    positive = _positive(pos_label, labels)
    if runs is None:
        if two or len(labels) > _MOST_LABELS:
            raise UnservedError("y_true contains too many labels")
        check_few(len(labels), len(truth))
        sides = _split(truth == positive, scores, weights)
    else:
        sides = (runs[0], runs[1]) if labels[1] == positive else (runs[1], runs[0])
    return walk_steps(*sides), scores.dtype, weights


def _from_zero(column: Array, start: float = 0.0) -> Array:
    return np.concatenate(([start], column))


def confusion_matrix_at_thresholds(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None
) -> Any:
    steps, dtype, _ = _walk(y_true, y_score, pos_label, sample_weight)
    tp, fp = steps.tp.copy(), steps.fp.copy()
    return fp[-1] - fp, fp, tp[-1] - tp, tp, steps.thresholds.astype(dtype)


def roc_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: bool = True
) -> Any:
    require_bool(drop_intermediate, "drop_intermediate")
    steps, _, weights = _walk(y_true, y_score, pos_label, sample_weight)
    tp, fp, thresholds = steps.tp, steps.fp, steps.thresholds
    if drop_intermediate and len(fp) > 2:
        if weights is not None and not _are_whole(weights):
            raise UnservedError("which points lie on a line depends on the rounding of fractional weights")
        kept = np.ones(len(fp), bool)
        kept[1:-1] = _second_differences(fp) | _second_differences(tp)
        tp, fp, thresholds = tp[kept], fp[kept], thresholds[kept]
    return _from_zero(fp) / fp[-1], _from_zero(tp) / tp[-1], _from_zero(thresholds, np.inf)


def _second_differences(column: Array) -> Array:
    """Whether each inner point is off the middle of its neighbours."""
    step = np.diff(column)
    return np.asarray(step[1:] != step[:-1])


def _are_whole(weights: Array) -> bool:
    """Whether every sum of weights is exact."""
    whole = weights.dtype.kind != "f" or bool((weights == np.rint(weights)).all())
    return whole and float(weights.sum()) <= MOST_INTEGER


def _around_hits(tp: Array) -> Array:
    """The points before and after which there is a hit, and both ends."""
    rises = np.diff(tp) != 0
    kept = np.ones(len(tp), bool)
    kept[1:-1] = rises[:-1] | rises[1:]
    return kept


def precision_recall_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: bool = False
) -> Any:
    require_bool(drop_intermediate, "drop_intermediate")
    steps, dtype, _ = _walk(y_true, y_score, pos_label, sample_weight)
    tp, fp, thresholds = steps.tp, steps.fp, steps.thresholds
    if drop_intermediate and len(fp) > 2:
        kept = _around_hits(tp)
        tp, fp, thresholds = tp[kept], fp[kept], thresholds[kept]
    tp, fp = tp[::-1], fp[::-1]
    return np.append(tp / (tp + fp), 1.0), np.append(tp / tp[0], 0.0), thresholds[::-1].astype(dtype)


def det_curve(
    y_true: Any, y_score: Any, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: bool = False
) -> Any:
    require_bool(drop_intermediate, "drop_intermediate")
    steps, _, _ = _walk(y_true, y_score, pos_label, sample_weight, two=True)
    tp, fp, thresholds = _from_zero(steps.tp), _from_zero(steps.fp), _from_zero(steps.thresholds, np.inf)
    if drop_intermediate:
        kept = _around_hits(tp)
        tp, fp, thresholds = tp[kept], fp[kept], thresholds[kept]
    shown = slice(np.searchsorted(fp, 0.0, side="right") - 1, np.searchsorted(tp, tp[-1]) + 1)
    fn = tp[-1] - tp
    return fp[shown][::-1] / fp[-1], fn[shown][::-1] / tp[-1], thresholds[shown][::-1].copy()


def auc(x: Any, y: Any) -> Any:
    across, height = numbers(x, "x"), numbers(y, "y")
    if across.ndim != 1 or across.shape != height.shape or len(across) < 2:
        raise UnservedError("x and y are not two points or more")
    for each in (across, height):
        if each.dtype.kind not in "if" or (each.dtype.kind == "i" and each.itemsize < 4):
            raise UnservedError(f"x or y has dtype {each.dtype}, of which differences overflow")
        if each.dtype.kind == "i" and not -_SAFE_TO_SUBTRACT <= each.min() <= each.max() <= _SAFE_TO_SUBTRACT:
            raise UnservedError("x or y contains large integers")
    steps = np.diff(across)
    area = float((steps * (height[1:] + height[:-1])).sum() / 2.0)
    if steps.min() >= 0:
        return area
    if steps.max() > 0:
        raise UnservedError("x neither rises nor falls")
    return -area


def _area(negative: Runs, positive: Runs) -> float:
    found = sum_ranks(negative, positive, frozenset()).area
    if found is None:
        raise UnservedError("y_true contains one class only")
    return found


def _partial_area(negative: Runs, positive: Runs, *, most: float) -> float:
    found = partial_area(walk_steps(negative, positive), most)
    if isinstance(found, Undefined):
        raise UnservedError("y_true contains one class only")
    return found


def _precision_area(negative: Runs, positive: Runs) -> float:
    found = sum_ranks(negative, positive, frozenset({"steps"})).steps
    if found is None:
        raise UnservedError("a column of y_true contains no positive class")
    return found


def _average(
    measure: Measure,
    truth: Array,
    table: Array,
    weights: Array | None,
    average: str | None,
    by_row: Callable[..., Array],
) -> Any:
    """The measure of each column, or their average."""
    if average == "micro":
        repeated = None if weights is None else np.repeat(weights, truth.shape[1])
        return measure(*_split(truth.ravel(), table.ravel(), repeated))
    if average == "samples":
        return float(np.average(by_row(truth, table), weights=weights))
    values = np.array([measure(*_split(truth[:, k], table[:, k], weights)) for k in range(truth.shape[1])])
    if average is None:
        return values
    shares = None
    if average == "weighted":
        shares = np.count_nonzero(truth, axis=0) if weights is None else weights @ truth
        if not shares.sum() > _NOTHING:
            raise UnservedError("there are nearly no positive rows")
    return float(np.average(values, weights=shares))


def _areas_by_row(truth: Array, table: Array) -> Array:
    """In each row, the share of pairs of a true and a false label that are in order, half of those that tie."""
    ranks = RowRanks(table)
    sorted_truth = ranks.sort(truth)
    totals = running_totals(sorted_truth)
    hits = totals[:, -1]
    alarms = truth.shape[1] - hits
    if not hits.all() or not alarms.all():
        raise UnservedError("a row of y_true contains one class only")
    above = ranks.first - ranks.at(totals, ranks.first) + ranks.end - ranks.at(totals, ranks.end)  # twice
    return np.asarray(1 - np.where(sorted_truth, above, 0).sum(axis=1) / (2 * hits * alarms))


def precision_by_row(truth: Array, table: Array) -> Array:
    """In each row, the mean precision at its true labels; NaN where it has none."""
    ranks = RowRanks(table)
    sorted_truth = ranks.sort(truth)
    totals = running_totals(sorted_truth)
    precision = np.where(sorted_truth, ranks.at(totals, ranks.end) / ranks.end, 0.0)
    with np.errstate(invalid="ignore"):
        return np.asarray(precision.sum(axis=1) / totals[:, -1])


def _average_precision_by_row(truth: Array, table: Array) -> Array:
    found = precision_by_row(truth, table)
    if np.isnan(found).any():
        raise UnservedError("a row of y_true contains no positive class")
    return found


def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    average: Any = "macro",
    sample_weight: Any = None,
    max_fpr: Any = None,
    multi_class: Any = "raise",
    labels: Any = None,
) -> Any:
    if average not in _AVERAGES or multi_class not in ("raise", "ovr", "ovo"):
        raise UnservedError("average or multi_class is not one of those there are")
    if labels is not None and not isinstance(labels, (list, tuple, np.ndarray)):
        raise UnservedError(f"labels are of type {type(labels).__name__}")
    if max_fpr is not None and (type(max_fpr) not in (int, float) or not 0 < max_fpr <= 1):
        raise UnservedError("max_fpr is not a share")
    measure: Measure = _area if max_fpr in (None, 1) else partial(_partial_area, most=float(max_fpr))
    if is_table(y_true):
        truth, table, weights = _read_tables(y_true, y_score, sample_weight)
        if average == "samples" and measure is not _area:
            raise UnservedError("max_fpr of rows")
        return _average(measure, truth, table, weights, average, _areas_by_row)
    names = column(y_true, "y_true")
    if is_table(y_score):
        if measure is not _area:
            raise UnservedError("max_fpr of several classes")
        return _area_of_classes(names, y_score, sample_weight, average, multi_class, labels)
    scores = read_scores(y_score, "y_score")
    same_rows(names, scores)
    found, runs = _sort(names, scores, positive_weights(sample_weight, len(names)))
    if len(found) != 2 or runs is None:
        raise UnservedError("y_true does not contain two classes")
    return measure(runs[0], runs[1])


def _read_tables(y_true: Any, y_score: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
    truth, table = read_indicators(y_true), read_scores(y_score, "y_score", 2)
    if truth.shape != table.shape:
        raise UnservedError("y_true and y_score have different shapes")
    return truth, table, positive_weights(sample_weight, len(truth))


def _area_of_classes(
    names: Array, y_score: Any, sample_weight: Any, average: str | None, multi_class: str, labels: Any
) -> Any:
    table = read_scores(y_score, "y_score", 2)
    same_rows(names, table)
    weights = positive_weights(sample_weight, len(names))
    classes, places = encode_among(names, labels)
    if multi_class == "raise" or len(classes) != table.shape[1] or len(classes) < 3:
        raise UnservedError("y_score does not have one column for each of three or more classes")
    if not np.allclose(1, table @ np.ones(len(classes)), rtol=9e-6):
        raise UnservedError("y_score does not contain probabilities")
    if multi_class == "ovr":
        if average == "samples":
            raise UnservedError("average='samples' of several classes")
        return _average(_area, places[:, None] == np.arange(len(classes)), table, weights, average, _areas_by_row)
    if average not in ("macro", "weighted") or weights is not None:
        raise UnservedError("pairs of classes have neither weights nor this average")
    counts = np.bincount(places, minlength=len(classes))
    found = sort_columns(places, len(classes), table, None)
    if found is None or not counts.all():
        raise UnservedError("a class has no rows")
    areas = [[share_in_order(*sums) for sums in class_sums(column, k)] for k, column in enumerate(found[0])]
    pairs = list(combinations(range(len(classes)), 2))
    values = [(areas[i][j] + areas[j][i]) / 2 for i, j in pairs]
    return np.average(values, weights=[counts[i] + counts[j] for i, j in pairs] if average == "weighted" else None)


def average_precision_score(
    y_true: Any, y_score: Any, *, average: Any = "macro", pos_label: Any = 1, sample_weight: Any = None
) -> Any:
    if average not in _AVERAGES:
        raise UnservedError("average is not one of those there are")
    if is_table(y_true) or is_table(y_score):
        if type(pos_label) is not int or pos_label != 1:
            raise UnservedError("pos_label is 1 where there are several columns")
        if is_table(y_true):
            truth, table, weights = _read_tables(y_true, y_score, sample_weight)
        else:
            names, table = column(y_true, "y_true"), read_scores(y_score, "y_score", 2)
            same_rows(names, table)
            classes, places = encode_among(names, None)
            if len(classes) != table.shape[1] or len(classes) < 3 or type(y_score) is not np.ndarray:
                raise UnservedError("y_score does not have one column for each of three or more classes")
            truth = places[:, None] == np.arange(len(classes))
            weights = positive_weights(sample_weight, len(names))
        return _average(_precision_area, truth, table, weights, average, _average_precision_by_row)
    names, scores = column(y_true, "y_true"), read_scores(y_score, "y_score")
    same_rows(names, scores)
    labels, runs = _sort(names, scores, positive_weights(sample_weight, len(names)))
    if len(labels) != 2 or runs is None or pos_label is None:
        raise UnservedError("y_true does not contain two classes")
    positive = labels.index(_positive(pos_label, labels))
    return _precision_area(runs[1 - positive], runs[positive])
