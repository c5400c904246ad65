"""Errors of the API, as problem details (RFC 9457).

An invalid field is in `errors` by its name, a rejected file has its `problems` with the codes of the reader.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from tallymark.app.domain.errors import AppError, FormError, NotFoundError, SignInRequiredError
from tallymark.app.http.errors import RequestError, status_of
from tallymark.errors import Rejection

API_PREFIX = "/api/"
MEDIA_TYPE = "application/problem+json"
_INVALID = "Some values are invalid: see errors."


def is_api(request: Request) -> bool:
    """Whether a program made the request, which gets errors as problem details."""
    return request.url.path.startswith(API_PREFIX)


def problem_response(request: Request, error: Exception) -> Response:
    """The response to a request of the API that raised an error."""
    if isinstance(error, FormError):
        named = {name: text for name, text in error.errors.items() if name}
        return _response(request, 422, error.errors.get("", _INVALID), kind="invalid-values", errors=named)
    if isinstance(error, RequestValidationError):
        errors = {str(each["loc"][-1]): str(each["msg"]) for each in error.errors()}
        return _response(request, 422, _INVALID, kind="invalid-values", errors=errors)
    if isinstance(error, Rejection):
        problems = [each.to_dict() for each in error.problems]
        facts: dict[str, Any] = {
            "file": error.file,
            "problems": problems,
            "total": error.total,
            "stopped": error.stopped,
        }
        return _response(request, 422, _rejection_sentence(error), kind="rejected-file", **facts)
    if isinstance(error, HTTPException) and error.status_code != 404:
        detail = f"{request.method} is not supported here."
        return _response(request, error.status_code, detail, headers=error.headers)
    if isinstance(error, SignInRequiredError):
        return _response(request, 401, "This needs a token.", "Send the header Authorization: Bearer TOKEN.")
    if isinstance(error, NotFoundError) or not isinstance(error, AppError):
        return _response(request, 404, "It does not exist, or you do not have access to it.")
    return _response(request, status_of(error), error.message, "" if status_of(error) == 400 else error.hint)


def _rejection_sentence(error: Rejection) -> str:
    """The first problem, and how many there are."""
    first, least = error.problems[0], "at least " * error.stopped
    more = "" if error.total == 1 else f" ({least}{error.total:,} problems in all)"
    verb = "were" if error.file == "answers" else "was"
    return f"The {error.file} {verb} rejected: {first}. {first.mend}{more}."


def internal_problem(request: Request) -> Response:
    """The response to a request that failed by our fault. The log has the details by the reference."""
    error = RequestError(500, "An internal error occurred and was logged.", "Try again later.")
    return problem_response(request, error)


def _response(
    request: Request,
    status: int,
    detail: str,
    hint: str = "",
    kind: str = "",
    headers: Mapping[str, str] | None = None,
    **members: Any,
) -> Response:
    title = HTTPStatus(status).phrase
    content = {
        "type": f"urn:tallymark:{kind or title.lower().replace(' ', '-')}",
        "title": title,
        "status": status,
        "detail": f"{detail} {hint}".strip(),
        **members,
        "reference": request.state.reference,
    }
    more = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    body = json.dumps(content).encode()  # in ASCII: a problem of a file may show characters that UTF-8 lacks
    return Response(body, status, {**(headers or {}), **more}, MEDIA_TYPE)
