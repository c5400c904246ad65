"""The pointwise terms that the core can total, by name. The numbers are the core's and never change.

A term reads rows in one of three layouts: `paired` (column k of the predictions answers column k of the truth, one
total per output), `quantiles` (every column of the predictions answers the one column of the truth, with a parameter of
its own) and `interval` (two columns of predictions, lower and upper, answer the one column of the truth).
"""

from __future__ import annotations

from typing import NamedTuple

from tallymark.errors import ParameterError, ShapeError, Text

PAIRED = "paired"
QUANTILES = "quantiles"
INTERVAL = "interval"

CODES = {
    "squared_error": 1,
    "absolute_error": 2,
    "exact_error": 3,
    "exact_error_squares": 4,
    "exact_truth": 5,
    "exact_truth_squares": 6,
    "exact_prediction": 7,
    "exact_prediction_squares": 8,
    "exact_products": 9,
    "relative_error": 10,
    "symmetric_error": 11,
    "absolute_truth": 12,
    "huber": 13,
    "log_cosh": 14,
    "squared_log_error": 15,
    "deviance": 16,
    "pinball": 17,
    "interval": 18,
    "covered": 19,
    "small_truth": 20,
    "truth_range": 21,
    "lowest_prediction": 22,
    "highest_absolute_error": 23,
    "lowest_width": 24,
    "log_loss": 25,
    "soft_truth": 26,
}

_PLAIN = tuple(CODES)
_POWER = 64  # added to the number of a term that stands for its square, twice for its cube, and so on
_WITH_POWERS = (
    "squared_error",
    "absolute_error",
    "relative_error",
    "symmetric_error",
    "huber",
    "log_cosh",
    "squared_log_error",
    "deviance",
    "pinball",
    "interval",
    "log_loss",
)
POWERS = ("squares", "cubes")
CODES.update(
    {f"{name}_{power}": CODES[name] + k * _POWER for k, power in enumerate(POWERS, 1) for name in _WITH_POWERS}
)

SQUARES = frozenset(name for name in CODES if name.endswith(("squared_error", *POWERS)))
"""Terms that are squares or higher powers, and so sink below float64 before the values do."""

LIKE_SQUARES = frozenset({"huber", "log_cosh", "squared_log_error", "deviance"})
"""Terms that are like squares near 0, and sink as well."""

ROUNDING = frozenset(
    name for name in CODES if name.startswith(("squared_log_error", "deviance", "interval", "covered", "lowest_width"))
)
"""Terms that compare values as float64 holds them, so that integers must not be rounded before."""

TRUTH_ONLY = frozenset(
    {"exact_truth", "exact_truth_squares", "absolute_truth", "small_truth", "truth_range", "soft_truth"}
)
"""Terms that do not read the predictions."""

_PARAMETRIC = ("relative_error", "huber", "deviance", "pinball", "interval", "log_loss")
_WITH_PARAMETER = frozenset({"small_truth", *(name for name in CODES if name.startswith(_PARAMETRIC))})
_INTERVAL_TERMS = frozenset({"interval", *(f"interval_{power}" for power in POWERS), "covered", "lowest_width"})


class Term(NamedTuple):
    """A term and its parameters: none, one for all outputs, or one per column of predictions."""

    name: str
    parameters: tuple[float, ...] = ()

    @property
    def squares(self) -> Term:
        """The term whose total is that of the squares."""
        return Term(f"{self.name}_squares", self.parameters)

    @property
    def cubes(self) -> Term:
        """The term whose total is that of the cubes."""
        return Term(f"{self.name}_cubes", self.parameters)

    @property
    def layout(self) -> str:
        """How the term reads the columns."""
        if self.name in _INTERVAL_TERMS:
            return INTERVAL
        return QUANTILES if len(self.parameters) > 1 else PAIRED

    def tasks(self, truth_columns: int, prediction_columns: int) -> list[tuple[int, float, int, int]]:
        """The core's tasks for this term on tables of these widths."""
        check_layout(self.layout, truth_columns, prediction_columns, len(self.parameters))
        code = CODES[self.name]
        if self.layout == INTERVAL:
            return [(code, self.parameters[0] if self.parameters else 0.0, 0, 0)]
        if self.layout == QUANTILES:
            return [(code, parameter, 0, k) for k, parameter in enumerate(self.parameters)]
        parameter = self.parameters[0] if self.parameters else 0.0
        return [(code, parameter, k, k) for k in range(prediction_columns)]


def check_parameters(term: Term) -> None:
    """Refuse a term that does not exist, or with parameters that it does not have."""
    if term.name not in CODES:
        raise ParameterError(f"there is no term {term.name!r}; the terms are {', '.join(_PLAIN)}")
    wanted = "one parameter" if term.name in _WITH_PARAMETER else "no parameters"
    count = len(term.parameters)
    if count != (1 if term.name in _WITH_PARAMETER else 0) and not (term.name.startswith("pinball") and count > 1):
        raise ParameterError(f"the term {term.name!r} has {wanted}; got {count}")


def check_layout(layout: str, truth_columns: int, prediction_columns: int, quantiles: int) -> None:
    """Refuse tables whose widths do not fit the layout."""
    if layout == PAIRED:
        if truth_columns != prediction_columns:
            raise ShapeError(
                Text(
                    "{y_true} and {y_pred} must have the same number of columns; got {} and {}",
                    truth_columns,
                    prediction_columns,
                ),
                argument="y_true",
            )
        return
    if truth_columns != 1:
        raise ShapeError(argument="y_true", expected="have one column here", got=f"{truth_columns}")
    if layout == QUANTILES and prediction_columns != quantiles:
        raise ShapeError(
            argument="y_pred",
            expected="have one column per quantile",
            got=f"{prediction_columns} for {quantiles} alphas",
        )
    if layout == INTERVAL and prediction_columns != 2:
        raise ShapeError(
            argument="y_pred", expected="have two columns, lower and upper bound", got=f"{prediction_columns}"
        )


LOWEST = {"y_true": Term("truth_range"), "y_pred": Term("lowest_prediction"), "width": Term("lowest_width")}
"""The terms that find the lowest value of an input."""
