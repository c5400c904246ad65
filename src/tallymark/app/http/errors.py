"""The HTTP status of each domain error, and errors in the request itself."""

from __future__ import annotations

from tallymark.app.domain.errors import AppError, ConflictError, ForbiddenError, NotFoundError, SignInRequiredError

_STATUS = {SignInRequiredError: 401, ForbiddenError: 403, NotFoundError: 404, ConflictError: 409}


class RequestError(AppError):
    """A malformed or too large request."""

    def __init__(self, status: int, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.status = status


def invalid_form() -> RequestError:
    """The error for a form that is malformed or has an unknown action."""
    return RequestError(400, "The form could not be read.", "Go back and try again.")


def status_of(error: AppError) -> int:
    """The HTTP status of an error."""
    return error.status if isinstance(error, RequestError) else _STATUS[type(error)]
