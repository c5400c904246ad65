"""The OpenAPI description of the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel

from tallymark.app.http.problem_details import MEDIA_TYPE
from tallymark.app.routes.api.models import Problem

_ERRORS = {
    400: "The request is malformed.",
    401: "A token is needed, or the one that was sent is invalid.",
    403: "The token lacks the scope, or the user may not do this.",
    404: "It does not exist, or the user may not know that it does.",
    409: "Not possible now: the challenge is closed, or the quota is used up.",
    413: "The body is too large.",
    422: "Values are invalid, or the file was rejected.",
}
_REFERENCE = "#/components/schemas/Problem"
_BINARY = {"type": "string", "format": "binary"}


def describe(*, public: bool = False, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """What the description says of an operation beside its signature: its body, and whether it needs no token."""
    security: list[dict[str, list[str]]] = [{"token": []}, *([{}] if public else [])]
    return {"security": security, **({"requestBody": body} if body else {})}


def json_body(model: type[BaseModel]) -> dict[str, Any]:
    """A body of JSON."""
    return {"required": True, "content": {"application/json": {"schema": model.model_json_schema()}}}


def file_body(field: str, others: dict[str, str], *, alone: bool = True) -> dict[str, Any]:
    """A form with a file and other fields, by their descriptions; or the file alone."""
    properties = {field: _BINARY, **{name: {"type": "string", "description": text} for name, text in others.items()}}
    form = {"schema": {"type": "object", "properties": properties, "required": [field]}}
    content: dict[str, Any] = {"multipart/form-data": form}
    if alone:
        content |= {"text/csv": {"schema": _BINARY}, "application/octet-stream": {"schema": _BINARY}}
    return {"required": True, "content": content}


def openapi_router(routers: Sequence[APIRouter]) -> APIRouter:
    """The route that serves the description of all others."""
    router = APIRouter(prefix="/api/v1")
    routes = [route for each in routers for route in each.routes if isinstance(route, APIRoute)]
    for route in routes:
        route.unique_id = route.name  # by which generated clients call it
    document = _describe_errors(get_openapi(title="tallymark", version="1", routes=routes))

    @router.get("/openapi.json")
    def openapi() -> JSONResponse:
        """The description of the API."""
        return JSONResponse(document)

    return router


def _describe_errors(document: dict[str, Any]) -> dict[str, Any]:
    """The description with the token and with problem details for the errors of every operation."""
    components = document["components"]
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    schemas = components["schemas"]
    schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= {**schema.pop("$defs"), "Problem": schema}
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    content = {MEDIA_TYPE: {"schema": {"$ref": _REFERENCE}}}
    for operations in document["paths"].values():
        for operation in operations.values():
            operation.setdefault("security", [{"token": []}])
            for status, description in _ERRORS.items():
                operation["responses"][str(status)] = {"description": description, "content": content}
    return document
