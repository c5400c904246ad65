"""Errors that the app raises on purpose, in the words that people read. `http/errors.py` gives each its status."""

from __future__ import annotations

from collections.abc import Mapping

from tallymark.errors import TallymarkError, Wording

_LABELS = {
    "classes": "Classes",
    "id": "Column of ids",
    "label": "Column of answers",
    "metrics": "Metrics",
    "positive": "Positive class",
    "query": "Column of queries",
    "share": "Public share",
    "task": "What is predicted",
}


class AppError(Exception):
    """A request that is refused: the reason, how to go on, and where, as the text and the path of a link."""

    def __init__(self, message: str, hint: str = "", link: tuple[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.link = link


class SignInRequiredError(AppError):
    """Only users who are signed in may do this."""


class ForbiddenError(AppError):
    """The user knows that the page exists, but may not use it yet."""


class NotFoundError(AppError):
    """There is nothing here, or nothing for this user: both look the same, so that nobody learns what exists."""

    def __init__(
        self,
        message: str = "There is nothing here.",
        hint: str = "Look at the address again, or start from the list of challenges.",
        link: tuple[str, str] | None = None,
    ) -> None:
        super().__init__(message, hint, link)


class ConflictError(AppError):
    """Not possible at present: the challenge is closed, or the quota of the day is used up."""


class FormError(Exception):
    """A form with invalid fields: a message for each of them, and under "" one for the whole form."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(errors.values()))
        self.errors = dict(errors)


class FormWording(Wording):
    """Writes arguments of a call as the labels of the fields in a form."""

    def argument(self, name: str) -> str:
        """The label in quotes."""
        return f"“{_LABELS[name]}”" if name in _LABELS else super().argument(name)


def field_errors(error: TallymarkError, fields: Mapping[str, str], default: str) -> dict[str, str]:
    """The message of an error under the field of the argument that it names, for a `FormError`."""
    named = (field for argument, field in fields.items() if error.names(argument))
    return {next(named, default): error.write(FormWording())}
