"""Target and Batch: the one place where input is validated.

A `Target` says what the predictions are. A `Batch` is rows of truth, prediction and weight that have been checked for
type, shape and length. That every number is finite is found out by the core while it reads them, since a pass of its
own would cost as much as most metrics; `Batch.fault` then finds the culprit.
"""

from __future__ import annotations

import numpy as np

from tallymark.arrays import Array, as_numbers
from tallymark.errors import (
    EmptyError,
    InputError,
    LengthError,
    MissingValueError,
    ParameterError,
    ShapeError,
    WeightError,
)

KINDS = ("value", "label", "probability", "margin", "score")
MISSING = ("error", "drop")


class Target:
    """What the predictions are: settled once per call, shared by every metric.

    `kind` is one of value, label, probability, margin and score, or None where it follows from the metric.
    """

    __slots__ = ("kind",)

    def __init__(self, kind: str | None = None) -> None:
        if kind is not None and kind not in KINDS:
            raise ParameterError(f"`kind` must be one of {', '.join(KINDS)}; it was {kind!r}")
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and self.kind == other.kind

    def __hash__(self) -> int:
        return hash(self.kind)

    def __repr__(self) -> str:
        return f"Target(kind={self.kind!r})"


ANY_TARGET = Target()


class Batch:
    """Checked rows: truth and prediction of one or more columns, and weights or None."""

    __slots__ = ("dropped", "n", "prediction", "prediction_columns", "truth", "truth_columns", "weights")

    def __init__(
        self,
        y_true: object,
        y_pred: object,
        weights: object = None,
        *,
        missing: str = "error",
    ) -> None:
        truth = as_numbers(y_true, "y_true")
        prediction = as_numbers(y_pred, "y_pred")
        n = len(truth)
        if len(prediction) != n:
            raise LengthError(
                f"`y_true` and `y_pred` must have the same length; they had {n} and {len(prediction)} rows"
            )
        self.truth = truth
        self.prediction = prediction
        self.n = n
        self.weights = None if weights is None else _read_weights(weights, n)
        self.truth_columns = 1 if truth.ndim == 1 else truth.shape[1]
        self.prediction_columns = 1 if prediction.ndim == 1 else prediction.shape[1]
        self.dropped = 0
        if self.truth_columns == 0 or self.prediction_columns == 0:
            empty = "y_true" if self.truth_columns == 0 else "y_pred"
            raise ShapeError(f"`{empty}` must have at least one column; it had none")
        if missing != "error":
            check_missing(missing)
            self._drop()

    def require_rows(self) -> None:
        """Refuse an empty batch: in a single call it is a mistake, not an answer."""
        if self.n == 0:
            if self.dropped:
                raise EmptyError(f"`y_true` has no rows left: all {self.dropped} had a missing value and were dropped")
            raise EmptyError("`y_true` has no rows")

    def require_finite(self) -> None:
        """Refuse NaN, infinity and bad weights."""
        if not all(np.isfinite(array).all() for array in (self.truth, self.prediction)):
            raise self.fault()
        if self.weights is not None and not (np.isfinite(self.weights) & (self.weights >= 0)).all():
            raise self.fault()

    def fault(self) -> InputError:
        """The error for the first input that is not finite, or the first bad weight."""
        for name, array in (("y_true", self.truth), ("y_pred", self.prediction)):
            fault = _missing_value(name, array)
            if fault is not None:
                return fault
        bad_weight = None if self.weights is None else _bad_weight(self.weights)
        return bad_weight or InputError("the input changed while it was being read")

    def _drop(self) -> None:
        keep = _finite_rows(self.truth) & _finite_rows(self.prediction)
        kept = int(np.count_nonzero(keep))
        if kept == self.n:
            return
        if self.weights is not None:
            fault = _bad_weight(self.weights)
            if fault is not None:
                raise fault
            self.weights = self.weights[keep]
        self.truth = self.truth[keep]
        self.prediction = self.prediction[keep]
        self.dropped = self.n - kept
        self.n = kept


def check_missing(missing: str) -> None:
    """Refuse an unknown way to treat missing values."""
    if missing not in MISSING:
        raise ParameterError(f"`missing` must be one of {', '.join(MISSING)}; it was {missing!r}")


def _read_weights(source: object, n: int) -> Array | None:
    weights = as_numbers(source, "weights")
    if weights.ndim == 2 and weights.shape[1] == 1:
        weights = weights[:, 0]
    if weights.ndim != 1:
        raise WeightError(f"`weights` must be one number per row; it had the shape {weights.shape}")
    if len(weights) == n:
        return weights if n else None
    if len(weights) == 0:
        return None  # an empty sequence means unweighted
    raise WeightError(f"`weights` must be one number per row; there were {len(weights)} for {n} rows of `y_true`")


def _finite_rows(array: Array) -> Array:
    finite = np.isfinite(array)
    return finite if finite.ndim == 1 else np.asarray(finite.all(axis=1))


def _missing_value(name: str, array: Array) -> MissingValueError | None:
    bad = ~_finite_rows(array)
    count = int(np.count_nonzero(bad))
    if count == 0:
        return None
    row = int(bad.argmax())
    place, value = f"row {row}", array[row]
    if array.ndim == 2:
        column = int((~np.isfinite(array[row])).argmax())
        place, value = f"row {row}, column {column}", array[row, column]
    rows = "1 row has" if count == 1 else f"{count} rows have"
    return MissingValueError(
        f'`{name}` must be finite; {rows} NaN or infinity, the first at {place} ({float(value)}). Pass missing="drop" '
        "to leave such rows out"
    )


def _bad_weight(weights: Array) -> WeightError | None:
    bad = ~(np.isfinite(weights) & (weights >= 0))
    count = int(np.count_nonzero(bad))
    if count == 0:
        return None
    row = int(bad.argmax())
    more = "" if count == 1 else f" (and {count - 1} more)"
    return WeightError(f"`weights` must be finite and not negative; row {row} has {float(weights[row])}{more}")
