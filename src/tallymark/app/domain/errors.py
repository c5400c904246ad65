"""Errors that users see, with their messages. `http/errors.py` gives each its status."""

from __future__ import annotations

from collections.abc import Mapping

from tallymark.errors import TallymarkError, Wording

_LABELS = {
    "classes": "Classes",
    "id": "Id column",
    "label": "Answer column",
    "metrics": "Metrics",
    "positive": "Positive class",
    "query": "Query column",
    "share": "Public share (percent)",
    "task": "Task",
}


class AppError(Exception):
    """A refused request: the reason, how to go on, and a link as its text and path."""

    def __init__(self, message: str, hint: str = "", link: tuple[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.link = link


class SignInRequiredError(AppError):
    """Only signed-in users may do this."""


class ForbiddenError(AppError):
    """The user may know that the page exists, but may not use it."""


class NotFoundError(AppError):
    """The page does not exist, or this user may not know that it does: both look the same."""

    def __init__(
        self,
        message: str = "This page does not exist, or you do not have access to it.",
        hint: str = "Check the address, or start from the list of challenges.",
        link: tuple[str, str] | None = None,
    ) -> None:
        super().__init__(message, hint, link)


class ConflictError(AppError):
    """Not possible now: the challenge is closed, or the quota is used up."""


class FormError(Exception):
    """An invalid form: a message for each invalid field, and under "" one for the whole form."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(errors.values()))
        self.errors = dict(errors)


class FormWording(Wording):
    """Names arguments of a call by the labels of their form fields."""

    def argument(self, name: str) -> str:
        """The label in quotes."""
        return f"“{_LABELS[name]}”" if name in _LABELS else super().argument(name)


def field_errors(error: TallymarkError, fields: Mapping[str, str], default: str) -> dict[str, str]:
    """The message of an error by form field, for a `FormError`."""
    named = (field for argument, field in fields.items() if error.names(argument))
    return {next(named, default): error.write(FormWording())}
