"""Metrics of probabilities and margins, with the conventions of scikit-learn."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from tallymark._core import Tasks, read_probabilities
from tallymark.data.arrays import Array
from tallymark.data.labels import Label
from tallymark.sklearn.adapters.inputs import column, positive_weights, require_bool, same_rows
from tallymark.sklearn.adapters.scores import (
    encode,
    encode_among,
    find_label,
    is_table,
    read_indicators,
    read_scores,
)
from tallymark.sklearn.served import UnservedError
from tallymark.states.base import ONE, divide, exact_total, to_float
from tallymark.states.probabilities.reading import BRIER, hinge_losses
from tallymark.states.sums import CODES

__all__ = ["brier_score_loss", "d2_brier_score", "d2_log_loss_score", "hinge_loss", "log_loss"]

_WITHIN = 0.9
"""The share of scikit-learn's tolerance of sums of probabilities that needs no second look."""

_NOTHING = 1e-9  # a mean cost that is a matter of rounding


@cache
def _tasks(name: str, parameter: float, columns: int) -> Tasks:
    return Tasks([(CODES[name], parameter, k, k) for k in range(columns)])


class Total:
    """The exact weighted total of what each row costs."""

    def __init__(self, name: str, truth: Array, prediction: Array, weights: Array | None, clip: float = 0.0) -> None:
        columns = 1 if truth.ndim == 1 else truth.shape[1]
        found = _tasks(name, clip, columns).run(truth, prediction, weights, 0)
        if found is None or any(entry[2] or entry[3] or entry[4] for entry in found):
            raise UnservedError("y_proba, or a weight, is not finite")
        self.exact = sum(exact_total(*entry[:2]) for entry in found[:columns])
        self._weight = len(truth) * ONE if weights is None else exact_total(*found[-1][:2])

    @property
    def mean(self) -> float:
        return divide(self.exact, self._weight)


def _read_probabilities(y_proba: Any) -> Array:
    """One probability per row, or a table of them, as scikit-learn's float type."""
    found = read_scores(y_proba, "y_proba", 2 if is_table(y_proba) else 1)
    if found.dtype.kind != "f":
        found = found.astype(np.float64)
    if found.min() < 0 or found.max() > 1:
        raise UnservedError("y_proba is not between 0 and 1")
    return found


def _read_classes(y_true: Any, labels: Any) -> tuple[list[Label], Array]:
    """The classes, and the place of that of each row, which may be the one column that is 1."""
    if not is_table(y_true) or labels is not None:
        return encode_among(column(y_true, "y_true"), labels)
    truth = read_indicators(y_true)
    if not bool((np.count_nonzero(truth, axis=1) == 1).all()):
        raise UnservedError("y_true contains rows without a class or with several")
    return list(range(truth.shape[1])), truth.argmax(axis=1)


class ClassProbabilities:
    """The class of each row, and the probabilities of all classes; of two, in one column or two."""

    def __init__(self, y_true: Any, table: Array, sample_weight: Any, labels: Any) -> None:
        self.classes, self.places = _read_classes(y_true, labels)
        self.table = table
        same_rows(self.places, self.table)
        self.weights = positive_weights(sample_weight, len(self.places))
        several = self.table.ndim == 2 and self.table.shape[1] > 1
        if not 1 < len(self.classes) == (self.table.shape[1] if several else 2):
            raise UnservedError("y_proba does not have one column for each of two or more classes")
        if several:
            tolerance = _WITHIN * math.sqrt(np.finfo(self.table.dtype).eps)
            sums = self.table @ np.ones(self.table.shape[1], self.table.dtype)
            if max(sums.max() - 1, 1 - sums.min()) > tolerance:
                raise UnservedError("y_proba does not sum to 1")
        else:
            self.table = self.table.ravel()

    def happened(self) -> Array:
        """The probability of what happened, as scikit-learn rounds it."""
        if self.table.ndim == 1:
            return np.where(self.places == 1, self.table, 1 - self.table)
        return np.asarray(self.table[np.arange(len(self.table)), self.places])

    def log_losses(self) -> Total:
        return log_losses(self.happened(), self.weights)

    def log_losses_of_shares(self) -> Total:
        """Those of the share of every class as its probability in all rows."""
        return log_losses(self.shares()[self.places], self.weights)

    def squares(self) -> Total:
        """The squared distances over all classes."""
        return self._squares(self.table)

    def squares_of_shares(self) -> Total:
        """Those of the share of every class as its probability in all rows."""
        shares = self.shares()
        return self._squares(np.broadcast_to(shares[1] if self.table.ndim == 1 else shares, self.table.shape))

    def _squares(self, table: Array) -> Total:
        if table.ndim == 1:
            return squares_of_two(self.places == 1, table, self.weights)
        if table.shape[1] == 2:
            truth = np.stack([self.places == 0, self.places == 1]).T
            return Total("squared_error", truth, table, self.weights)
        costs = np.empty((1, len(table)))
        if read_probabilities(table, self.places, False, False, 0, [BRIER], costs):
            raise UnservedError("y_proba does not sum to 1")
        return Total("exact_prediction", np.zeros(len(table), bool), costs[0], self.weights)

    def shares(self) -> Array:
        """The share of every class."""
        totals = np.bincount(self.places, self.weights, len(self.classes))
        return np.asarray(totals / totals.sum())


def log_losses(happened: Array, weights: Array | None) -> Total:
    """What the probability of what happened costs, clipped as its type says."""
    return Total("log_loss", np.ones(len(happened), bool), happened, weights, float(np.finfo(happened.dtype).eps))


def squares_of_two(truth: Array, probability: Array, weights: Array | None) -> Total:
    """The squared distances over a class and its opposite."""
    return Total("squared_error", np.stack([~truth, truth]).T, np.stack([1 - probability, probability]).T, weights)


def log_loss(
    y_true: Any,
    y_proba: Any = None,
    *,
    normalize: bool = True,
    sample_weight: Any = None,
    labels: Any = None,
    y_pred: Any = "deprecated",
) -> Any:
    require_bool(normalize, "normalize")
    _check_renamed(y_pred)
    total = ClassProbabilities(y_true, _read_probabilities(y_proba), sample_weight, labels).log_losses()
    return total.mean if normalize else to_float(total.exact)


def _check_renamed(y_pred: Any) -> None:
    if not isinstance(y_pred, str) or y_pred != "deprecated":
        raise UnservedError("y_pred is deprecated")


def _find_positive(pos_label: Any, labels: list[Label]) -> int:
    """The place of the positive label; behind them all where no row has it."""
    if pos_label is not None:
        return labels.index(find_label(pos_label, labels))
    if isinstance(labels[0], str):
        raise UnservedError("pos_label is needed for these labels")
    plain = set(labels) <= {0, 1} or set(labels) <= {-1, 1}
    return labels.index(1) if 1 in labels and plain else len(labels) - (not plain)


class BinaryProbabilities:
    """The probability of the positive class, and which rows are of it."""

    def __init__(self, y_true: Any, probability: Array, sample_weight: Any, pos_label: Any) -> None:
        names = column(y_true, "y_true")
        self.probability = probability
        same_rows(names, self.probability)
        self.weights = positive_weights(sample_weight, len(names))
        labels, places = encode(names)
        if len(labels) > 2:
            raise UnservedError("y_true contains more than two labels")
        self.truth = places == _find_positive(pos_label, labels)

    def squares(self) -> Total:
        return squares_of_two(self.truth, self.probability, self.weights)

    def squares_of_shares(self) -> Total:
        share = np.average(self.truth, weights=self.weights)
        return squares_of_two(self.truth, np.full(len(self.truth), share), self.weights)


def _read(
    y_true: Any, y_proba: Any, sample_weight: Any, pos_label: Any, labels: Any
) -> ClassProbabilities | BinaryProbabilities:
    """Two classes of a probability in one column, which pos_label decides on, or one column for each class."""
    table = _read_probabilities(y_proba)
    if labels is not None and not isinstance(labels, (list, tuple, np.ndarray)):
        raise UnservedError(f"labels are of type {type(labels).__name__}")
    if table.ndim == 1 or table.shape[1] == 1:
        return BinaryProbabilities(y_true, table.ravel(), sample_weight, pos_label)
    if pos_label is not None and not isinstance(pos_label, (int, float, str)):
        raise UnservedError("pos_label is not a label")
    return ClassProbabilities(y_true, table, sample_weight, labels)


def brier_score_loss(
    y_true: Any,
    y_proba: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    scale_by_half: Any = "auto",
) -> Any:
    if not (isinstance(scale_by_half, str) and scale_by_half == "auto"):
        require_bool(scale_by_half, "scale_by_half")
    rows = _read(y_true, y_proba, sample_weight, pos_label, labels)
    mean = rows.squares().mean
    two = isinstance(rows, BinaryProbabilities) or len(rows.classes) == 2
    return mean / 2 if (two if scale_by_half == "auto" else scale_by_half) else mean


def d2_brier_score(
    y_true: Any, y_proba: Any, *, sample_weight: Any = None, pos_label: Any = None, labels: Any = None
) -> Any:
    _check_two_rows(y_true)
    rows = _read(y_true, y_proba, sample_weight, pos_label, labels)
    return _improvement(rows.squares(), rows.squares_of_shares())


def _check_two_rows(y_true: Any) -> None:
    if len(y_true) < 2:
        raise UnservedError("one row has nothing to compare with")


def _improvement(model: Total, shares: Total) -> float:
    """How much less the probabilities cost than the shares of the classes."""
    if not shares.mean > _NOTHING:
        raise UnservedError("y_true contains one class only")
    return 1 - divide(model.exact, shares.exact)


def d2_log_loss_score(
    y_true: Any, y_proba: Any = None, *, sample_weight: Any = None, labels: Any = None, y_pred: Any = "deprecated"
) -> Any:
    _check_renamed(y_pred)
    _check_two_rows(y_true)
    rows = ClassProbabilities(y_true, _read_probabilities(y_proba), sample_weight, labels)
    return _improvement(rows.log_losses(), rows.log_losses_of_shares())


def hinge_loss(y_true: Any, pred_decision: Any, *, labels: Any = None, sample_weight: Any = None) -> Any:
    names = column(y_true, "y_true")
    margins = read_scores(pred_decision, "pred_decision", 2 if is_table(pred_decision) else 1)
    same_rows(names, margins)
    weights = positive_weights(sample_weight, len(names))
    if margins.dtype == np.int64:
        margins = margins.astype(np.float64)
    if margins.dtype.kind != "f":
        raise UnservedError(f"pred_decision has dtype {margins.dtype}")
    classes, places = encode_among(names, labels)
    if margins.ndim == 1:
        if len(classes) != 2 or (labels is not None and len(encode(names)[0]) != 2):
            raise UnservedError("one column of margins is not for two classes")
        margins = margins.astype(np.float64)
    elif not 2 < len(classes) == margins.shape[1]:
        raise UnservedError("pred_decision does not have one column for each of three or more classes")
    return float(np.average(hinge_losses(margins, places), weights=weights))
