"""Information criteria: how well a model fits, less what its parameters cost."""

from __future__ import annotations

import math
from numbers import Real

from tallymark.errors import ParameterError, brief
from tallymark.intervals.settings import check_least


def aic(log_likelihood: float, parameters: int) -> float:
    """Akaike's information criterion, 2k − 2 ln L; lower is better.

    `log_likelihood` is the natural logarithm of the likelihood at its maximum, `parameters` how many were fitted.

    >>> aic(-100.0, 3)
    206.0
    """
    return 2.0 * check_least("parameters", parameters, 0) - 2.0 * _log(log_likelihood)


def bic(log_likelihood: float, parameters: int, rows: int) -> float:
    """The Bayesian information criterion, k ln n − 2 ln L, of a model fitted to n rows; lower is better.

    >>> round(bic(-100.0, 3, 1000), 6)
    220.723266
    """
    return check_least("parameters", parameters, 0) * math.log(check_least("rows", rows, 1)) - 2.0 * _log(
        log_likelihood
    )


def _log(value: object) -> float:
    if isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise ParameterError(argument="log_likelihood", expected="be a finite number", got=brief(value))
