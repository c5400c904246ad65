"""Every exception that tallymark raises on purpose.

::

    ValueError
    └── TallymarkError
        ├── InputError              an array that was given
        │   ├── TypeOfDataError     not numbers, or not a table of them
        │   ├── ShapeError          dimensions or columns that do not fit
        │   ├── LengthError         arrays of different lengths
        │   ├── EmptyError          no rows
        │   ├── MissingValueError   NaN, infinity or null
        │   ├── WeightError         weights that are negative, not finite or not one per row
        │   └── DomainError         values for which the metric has no meaning
        ├── KindError               predictions of a kind that the metric cannot read
        ├── ParameterError          a parameter of a metric or a call
        │   └── UnknownMetricError  a name that no metric has
        ├── FormulaError            a formula of the user's own that failed
        ├── UndefinedError          a value that is undefined, where undefined="raise"
        ├── AcceptanceError         a report that does not meet its condition, where it is required to
        ├── FileError               a file that cannot be read, or that lacks what was asked for
        │   └── BoundError          a file that is larger, or unpacks to more, than it may
        ├── Rejection               a submission that is not scored, with all of its problems
        ├── StateError              states that do not fit together, or bytes that are not a state
        └── MissingPackageError     an optional package that is missing, too old or broken (also an ImportError)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "TallymarkError",
    "InputError",
    "TypeOfDataError",
    "ShapeError",
    "LengthError",
    "EmptyError",
    "MissingValueError",
    "WeightError",
    "DomainError",
    "KindError",
    "ParameterError",
    "UnknownMetricError",
    "FormulaError",
    "UndefinedError",
    "AcceptanceError",
    "FileError",
    "BoundError",
    "Rejection",
    "StateError",
    "MissingPackageError",
]


def brief(value: object) -> str:
    """A value in a message: its repr in one line, or its type where there is none."""
    try:
        text = repr(value)
    except Exception:  # raised by code of the value's own, or by an integer of thousands of digits
        text = "\n"
    if "\n" in text:
        return f"of type {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:197]}..."


class TallymarkError(ValueError):
    """The base of every error that tallymark raises on purpose."""


class InputError(TallymarkError):
    """Something is wrong with an array that was given."""


class TypeOfDataError(InputError):
    """The data are not numbers, or not a table of them."""


class ShapeError(InputError):
    """The dimensions or columns of the arrays do not fit."""


class LengthError(InputError):
    """The arrays differ in length."""


class EmptyError(InputError):
    """There are no rows."""


class MissingValueError(InputError):
    """An input holds NaN, infinity or null."""


class WeightError(InputError):
    """The weights are negative, not finite or not one per row."""


class DomainError(InputError):
    """The metric has no meaning for these values."""


class KindError(TallymarkError):
    """The metric cannot read predictions of this kind."""


class ParameterError(TallymarkError):
    """A parameter of a metric or of a call is wrong."""


class UnknownMetricError(ParameterError):
    """No metric has this name."""


class FormulaError(TallymarkError):
    """A formula of the user's own failed."""


class UndefinedError(TallymarkError):
    """The value is undefined, and the metric was told to raise."""


class AcceptanceError(TallymarkError):
    """A report does not meet the condition that it was required to."""


class FileError(TallymarkError):
    """A file cannot be read, or lacks what was asked for."""


class BoundError(FileError):
    """A file is larger, or unpacks to more, than it may; `code` and `facts` say in which way."""

    def __init__(self, message: str, code: str = "", **facts: object) -> None:
        super().__init__(message)
        self.code = code
        self.facts = facts


class Rejection(TallymarkError):  # noqa: N818 - the word for what happens to a submission
    """A submission is not scored: `problems` are the first 50 of its problems, `total` is how many there are.

    Where they were very many, reading `stopped`, and there may be more. `file` is the one that has the problems:
    "submission", "answers" or "template".
    """

    def __init__(
        self,
        message: str,
        problems: Sequence[Any] = (),
        total: int | None = None,
        stopped: bool = False,
        file: str = "submission",
    ) -> None:
        super().__init__(message)
        self.problems = list(problems)
        self.total = len(self.problems) if total is None else total
        self.stopped = stopped
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.problems, self.total, self.stopped, self.file)


class StateError(TallymarkError):
    """States do not fit together, or bytes are not a state."""


class MissingPackageError(TallymarkError, ImportError):
    """An optional package is needed and not installed, too old or broken."""
