"""Metrics of numbers, with the conventions of scikit-learn.

They read exact sums of terms. scikit-learn computes in float32 where no floating array is wider, so results are rounded
to that; where its own rounding in float32 would show beyond the last digits, it answers itself.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import _regression as theirs

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.errors import InputError
from tallymark.metrics.regression.base import TRUTH, TRUTH_RANGE, TRUTH_SQUARES, TRUTH_TERMS, variance
from tallymark.metrics.regression.deviance import deviance_term
from tallymark.metrics.regression.squared_error import SQUARED_ERROR
from tallymark.metrics.regression.variance_explained import ERROR, ERROR_SQUARES
from tallymark.metrics.regression.weighted_quantile import weighted_median, weighted_quantile
from tallymark.sklearn.adapters.inputs import as_array, numbers, positive_weights, require_bool, same_rows
from tallymark.sklearn.served import UnservedError
from tallymark.states.base import divide
from tallymark.states.sums import Output, Sums, SumsOf, Term

__all__ = [
    "d2_absolute_error_score",
    "d2_pinball_score",
    "d2_tweedie_score",
    "explained_variance_score",
    "max_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_gamma_deviance",
    "mean_pinball_loss",
    "mean_poisson_deviance",
    "mean_squared_error",
    "mean_squared_log_error",
    "mean_tweedie_deviance",
    "median_absolute_error",
    "r2_score",
    "root_mean_squared_error",
    "root_mean_squared_log_error",
]

_EPSILON = sys.float_info.epsilon
_LARGEST = 1e290
_MOST_SORTED = 2_000  # of more weighted rows, scikit-learn finds quantiles faster
_SMALLEST_MEAN = 1e-9
_SMALL_LOG_ERROR = 1e-6
_CLOSE = 1e-9
_AVERAGES = ("raw_values", "uniform_average")

_ABSOLUTE_ERROR = Term("absolute_error")
_HIGHEST = Term("highest_absolute_error")
_LOG_ERROR = Term("squared_log_error")
_RELATIVE_ERROR = Term("relative_error", (_EPSILON,))


class Rows(NamedTuple):
    """Truth, predictions and weights, as numbers that scikit-learn would compute with, in this type."""

    truth: Array
    prediction: Array
    weights: Array | None
    dtype: np.dtype[Any]

    @property
    def outputs(self) -> int:
        """How many columns there are."""
        return 1 if self.truth.ndim == 1 else self.truth.shape[1]

    def column(self, output: int) -> tuple[Array, Array]:
        """Truth and prediction of one output."""
        if self.truth.ndim == 1:
            return self.truth, self.prediction
        return self.truth[:, output], self.prediction[:, output]

    def fold(self, *terms: Term) -> Sums:
        """The totals of terms."""
        try:
            return _sums_of(terms).fold(Batch(self.truth, self.prediction, self.weights))
        except InputError:
            raise UnservedError("y_true, y_pred or sample_weight contains NaN, infinity or negative weights") from None

    def means(self, term: Term) -> Array:
        """The mean of a term, of each output."""
        state = self.fold(term)
        return _finite([state.at(k).mean(term) for k in range(self.outputs)], self.dtype)


@lru_cache(maxsize=256)
def _sums_of(terms: tuple[Term, ...]) -> SumsOf:
    return SumsOf(*terms)


def _finite(values: list[float], dtype: Any) -> Array:
    """The values in the type of the result, where float64 and that type can hold them and their totals."""
    if not all(-_LARGEST < value < _LARGEST for value in values):
        raise UnservedError("a value is too large or too small for its type, or undefined")
    with np.errstate(over="ignore"):
        found = np.array(values, dtype)
    if dtype != np.float64 and not np.isfinite(found).all():
        raise UnservedError("a value is too large or too small for its type, or undefined")
    return found


def _as_numbers(values: Any, name: str) -> Array:
    """Numbers of one or more columns, of at least one row; they may still be NaN."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(values, pandas.DataFrame):
        found = as_array(values.to_numpy(), name)
    else:
        found = as_array(values, name)
    if found.dtype.kind not in "biuf":
        raise UnservedError(f"{name} contains strings")
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim not in (1, 2) or not found.size:
        raise UnservedError(f"{name} is not one or more columns of numbers")
    return found


def _require_same_shape(truth: Array, prediction: Array) -> None:
    same_rows(truth, prediction)
    if truth.shape != prediction.shape:
        raise UnservedError("y_true and y_pred have different numbers of columns")


def _read(y_true: Any, y_pred: Any, sample_weight: Any, *, single: bool = False, precise: bool = False) -> Rows:
    """Rows of floats, and the type of the result. `single` refuses several outputs, `precise` float32."""
    given = (y_true, y_pred, sample_weight)
    floats = [each.dtype for each in given if hasattr(each, "dtype") and each.dtype in (np.float32, np.float64)]
    dtype = np.result_type(*floats) if floats else np.dtype(np.float64)
    truth, prediction = _as_numbers(y_true, "y_true"), _as_numbers(y_pred, "y_pred")
    weights = None if sample_weight is None else numbers(sample_weight, "sample_weight")
    _require_same_shape(truth, prediction)
    if weights is not None and weights.shape != (len(truth),):
        raise UnservedError("sample_weight is not one number per row")
    if single and truth.ndim == 2:
        raise UnservedError("several outputs")
    if dtype == np.float32:
        if precise:
            raise UnservedError("logarithms in float32")
        if truth.ndim == 2:  # which scikit-learn adds up one row after the other, with large rounding errors
            raise UnservedError("several columns of float32")
    weights = None if weights is None else _in_type(weights, dtype)
    return Rows(_in_type(truth, dtype), _in_type(prediction, dtype), weights, dtype)


def _in_type(values: Array, dtype: Any) -> Array:
    """The numbers as scikit-learn rounds them; the core reads those that are not rounded in place."""
    if values.dtype.itemsize < 8 and np.can_cast(values.dtype, dtype, "safe"):
        return values
    return values.astype(dtype, copy=False)


def _combine(values: Array, multioutput: Any) -> Any:
    """The values of the outputs, or their mean."""
    weights = _check_outputs(multioutput, len(values), _AVERAGES)
    if isinstance(weights, str):
        if weights == "raw_values":
            return values
        return float(values[0]) if len(values) == 1 else float(values.mean())
    return float(np.average(values, weights=weights))


def _check_outputs(multioutput: Any, outputs: int, names: tuple[str | None, ...]) -> Any:
    """How to combine outputs: a name, or one weight for each."""
    if multioutput is None or isinstance(multioutput, str):
        if multioutput not in names:
            raise UnservedError("multioutput is not one of those there are")
        return multioutput
    weights = numbers(multioutput, "multioutput")
    if outputs == 1 or weights.shape != (outputs,):
        raise UnservedError("multioutput is not one weight per output")
    return weights


def mean_absolute_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    return _combine(_read(y_true, y_pred, sample_weight).means(_ABSOLUTE_ERROR), multioutput)


def mean_squared_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    return _combine(_read(y_true, y_pred, sample_weight).means(SQUARED_ERROR), multioutput)


def root_mean_squared_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    return _combine(np.sqrt(_read(y_true, y_pred, sample_weight).means(SQUARED_ERROR)), multioutput)


def mean_absolute_percentage_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    return _combine(_read(y_true, y_pred, sample_weight).means(_RELATIVE_ERROR), multioutput)


def mean_pinball_loss(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, alpha: Any = 0.5, multioutput: Any = "uniform_average"
) -> Any:
    if not _is_real(alpha) or not 0 <= alpha <= 1:
        raise UnservedError("alpha is not a number from 0 to 1")
    return _combine(_read(y_true, y_pred, sample_weight).means(Term("pinball", (float(alpha),))), multioutput)


def mean_squared_log_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    return _combine(_log_errors(y_true, y_pred, sample_weight), multioutput)


def root_mean_squared_log_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    return _combine(np.sqrt(_log_errors(y_true, y_pred, sample_weight)), multioutput)


def _log_errors(y_true: Any, y_pred: Any, sample_weight: Any) -> Array:
    rows = _read(y_true, y_pred, sample_weight, precise=True)
    _require_domain(rows.truth.min() > -1 and rows.prediction.min() > -1)
    found = rows.means(_LOG_ERROR)
    if not ((found == 0) | (found > _SMALL_LOG_ERROR)).all():
        raise UnservedError("logarithms that differ by little more than their rounding")
    return found


def _is_real(value: Any) -> bool:
    """Whether it is a number that does not widen arrays of float32, as those of NumPy do."""
    return type(value) in (int, float)


def _require_domain(holds: Any) -> None:
    if not holds:
        raise UnservedError("y_true or y_pred is outside of where the metric is defined")


def max_error(y_true: Any, y_pred: Any) -> Any:
    rows = _as_given(y_true, y_pred, None)
    if rows.outputs > 1:
        raise UnservedError("several outputs")
    dtype = rows.dtype if rows.dtype.kind == "f" else np.float64
    return float(_finite([rows.fold(_HIGHEST).at(0).highest(_HIGHEST)], dtype)[0])


def _as_given(y_true: Any, y_pred: Any, sample_weight: Any) -> Rows:
    """Rows in the types that they came in, whose errors no integer type wraps around."""
    truth, prediction = _as_numbers(y_true, "y_true"), _as_numbers(y_pred, "y_pred")
    _require_same_shape(truth, prediction)
    dtype = np.result_type(truth, prediction)
    if dtype.kind != "f":
        if dtype.kind != "i":
            raise UnservedError("errors of truth values or unsigned integers")
        limit = np.iinfo(dtype).max // 2
        if any(each.max() > limit or each.min() < -limit for each in (truth, prediction)):
            raise UnservedError("integers whose errors may not fit into their type")
    weights = positive_weights(sample_weight, len(truth))
    return Rows(truth, prediction, weights, dtype)


def median_absolute_error(
    y_true: Any, y_pred: Any, *, multioutput: Any = "uniform_average", sample_weight: Any = None
) -> Any:
    rows = _as_given(y_true, y_pred, sample_weight)
    if rows.weights is not None and rows.dtype == np.float32:
        raise UnservedError("running totals of weights in float32")
    _require_few(rows)
    found = []
    for truth, prediction in map(rows.column, range(rows.outputs)):
        with np.errstate(all="ignore"):
            errors = prediction - truth
        np.abs(errors, out=errors)
        if not math.isfinite(errors.max()):
            raise UnservedError("y_true or y_pred contains NaN or infinity")
        median = weighted_median(errors, rows.weights)
        if rows.weights is not None:
            _require_clear_median(errors, rows.weights, median)
        found.append(median)
    return _combine(_finite(found, rows.dtype if rows.dtype.kind == "f" else np.float64), multioutput)


def _require_few(rows: Rows) -> None:
    if rows.weights is not None and len(rows.truth) > _MOST_SORTED:
        raise UnservedError("quantiles of many weighted rows")


def _require_clear_median(errors: Array, weights: Array, median: float) -> None:
    """Refuse weights whose running totals come so close to half of the total that their rounding would decide."""
    if weights.dtype.kind != "f" or (weights == np.floor(weights)).all():
        return
    total = weights.sum()
    below, reached = weights[errors < median].sum(), weights[errors <= median].sum()
    if not below < (0.5 - _CLOSE) * total or not reached > (0.5 + _CLOSE) * total:
        raise UnservedError("the median depends on how totals of weights are rounded")


def r2_score(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
) -> Any:
    rows = _read(y_true, y_pred, sample_weight)
    if len(rows.truth) < 2:
        raise UnservedError("fewer than two rows")
    state = rows.fold(SQUARED_ERROR, *TRUTH_TERMS)
    return _explained(rows, state, lambda s: s.mean(SQUARED_ERROR), multioutput, force_finite)


def explained_variance_score(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
) -> Any:
    if multioutput is None:
        raise UnservedError("multioutput is not one of those there are")
    rows = _read(y_true, y_pred, sample_weight)
    state = rows.fold(ERROR, ERROR_SQUARES, _HIGHEST, *TRUTH_TERMS)
    blur = 1e-8 if rows.dtype == np.float64 else 1e-3

    def error_variance(s: Output) -> float:
        found = _variance(s, ERROR_SQUARES, ERROR)
        if found < blur * s.highest(_HIGHEST) ** 2:
            raise UnservedError("the errors vary too little for their size")
        return found

    return _explained(rows, state, error_variance, multioutput, force_finite)


def _variance(s: Output, squares: Term, values: Term) -> float:
    found = variance(s.weight, s.exact(squares), s.exact(values))
    return math.nan if found is None or s.lost(squares) else divide(found, s.weight * s.weight)


def _explained(
    rows: Rows, state: Sums, numerator_of: Callable[[Output], float], multioutput: Any, force_finite: Any
) -> Any:
    """What scikit-learn makes of the variance that is left and that of the truth."""
    require_bool(force_finite, "force_finite")
    names = (*_AVERAGES, "variance_weighted", None)
    blur = _EPSILON if rows.dtype == np.float64 else 1e-3
    above, below = [], []
    for s in map(state.at, range(rows.outputs)):
        spread, numerator = _variance(s, TRUTH_SQUARES, TRUTH), numerator_of(s)
        largest = max(abs(s.lowest(TRUTH_RANGE)), abs(s.highest(TRUTH_RANGE)))
        if spread == 0:
            whole = largest.is_integer() and largest * len(rows.truth) < 1 / np.finfo(rows.dtype).eps
            if rows.weights is not None or not whole or ERROR in state.reads.terms:
                raise UnservedError("the truth is constant")
        elif spread < blur * largest * largest:
            raise UnservedError("the truth varies too little for its size")
        above.append(numerator)
        below.append(spread)
    return _assemble(rows, above, below, _check_outputs(multioutput, rows.outputs, names), force_finite)


def _assemble(rows: Rows, above: list[float], below: list[float], multioutput: Any, force_finite: bool) -> Any:
    return theirs._assemble_fraction_of_explained_deviance(
        numerator=_finite(above, rows.dtype),
        denominator=_finite(below, rows.dtype),
        n_outputs=rows.outputs,
        multioutput=multioutput,
        force_finite=force_finite,
        xp=np,
        device=None,
    )


def mean_tweedie_deviance(y_true: Any, y_pred: Any, *, sample_weight: Any = None, power: Any = 0) -> Any:
    rows, term = _deviance_rows(y_true, y_pred, sample_weight, power)
    return _deviance(rows, term, power)


def mean_poisson_deviance(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> Any:
    return mean_tweedie_deviance(y_true, y_pred, sample_weight=sample_weight, power=1)


def mean_gamma_deviance(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> Any:
    return mean_tweedie_deviance(y_true, y_pred, sample_weight=sample_weight, power=2)


def _deviance_rows(y_true: Any, y_pred: Any, sample_weight: Any, power: Any) -> tuple[Rows, Term]:
    if not _is_real(power) or not (power <= 0 or power >= 1) or not abs(power) <= 10:
        raise UnservedError("power is not a number up to 0, or from 1 to 10")
    rows = _read(y_true, y_pred, sample_weight, single=True, precise=power != 0)
    if power != 0:
        _require_domain(rows.prediction.min() > 0)
    if power >= 1:
        _require_domain(rows.truth.min() > 0 if power >= 2 else rows.truth.min() >= 0)
    return rows, deviance_term(float(power))


def _deviance(rows: Rows, term: Term, power: float) -> float:
    value = float(rows.means(term)[0])
    if power == 1 and rows.prediction.min() < _SMALLEST_MEAN:
        raise UnservedError("Poisson means below 1e-9", ours=value)
    return value


def d2_tweedie_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None, power: Any = 0) -> Any:
    rows, term = _deviance_rows(y_true, y_pred, sample_weight, power)
    if len(rows.truth) < 2:
        raise UnservedError("fewer than two rows")
    state = rows.fold(TRUTH, TRUTH_SQUARES, TRUTH_RANGE).at(0)
    mean = state.mean(TRUTH)
    largest = max(abs(state.lowest(TRUTH_RANGE)), abs(state.highest(TRUTH_RANGE)))
    if _variance(state, TRUTH_SQUARES, TRUTH) < 1e-3 * largest * largest:
        raise UnservedError("the truth varies too little for its size")
    if power != 0 and not mean > 0:
        raise UnservedError("the mean of the truth is not positive")
    numerator = _deviance(rows, term, power)
    constant = rows._replace(prediction=np.broadcast_to(np.float64(mean), rows.truth.shape))
    return 1 - numerator / _deviance(constant, term, power)


def d2_pinball_score(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, alpha: Any = 0.5, multioutput: Any = "uniform_average"
) -> Any:
    if not _is_real(alpha) or not 0 < alpha < 1:
        raise UnservedError("alpha is not a number between 0 and 1")
    rows = _read(y_true, y_pred, sample_weight)
    if len(rows.truth) < 2:
        raise UnservedError("fewer than two rows")
    weights = positive_weights(rows.weights, len(rows.truth))
    if weights is not None and rows.dtype == np.float32:
        raise UnservedError("running totals of weights in float32")
    _require_few(rows)
    term = Term("pinball", (float(alpha),))
    above = rows.means(term)
    quantiles = [weighted_quantile(rows.column(k)[0], weights, float(alpha)) for k in range(rows.outputs)]
    constant = np.broadcast_to(quantiles[0] if rows.truth.ndim == 1 else np.array(quantiles), rows.truth.shape)
    below = rows._replace(prediction=constant).means(term)
    return _assemble(rows, above.tolist(), below.tolist(), _check_outputs(multioutput, rows.outputs, _AVERAGES), True)


def d2_absolute_error_score(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    return d2_pinball_score(y_true, y_pred, sample_weight=sample_weight, alpha=0.5, multioutput=multioutput)
