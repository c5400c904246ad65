"""The context of a request of the API: the user and scopes of its bearer token. Cookies have no meaning there."""

from __future__ import annotations

from collections.abc import Callable
from tempfile import SpooledTemporaryFile
from typing import Annotated, Any, TypeVar

from anyio import to_thread
from fastapi import Depends, Request, UploadFile
from pydantic import BaseModel, ValidationError
from sqlalchemy.orm import Session
from starlette.requests import ClientDisconnect

from tallymark.app.domain.errors import ForbiddenError, FormError
from tallymark.app.domain.permissions import Actor, Resource, find_actor, require
from tallymark.app.domain.tokens import SCOPES, find_token
from tallymark.app.http.errors import RequestError
from tallymark.app.http.request_context import RequestContext
from tallymark.app.http.uploads import (
    MAX_PLAIN_FORM,
    ParsedForm,
    UploadTooLarge,
    limited_stream,
    read_form,
)
from tallymark.app.pages.formatting import format_bytes
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, Token

_IN_MEMORY = 1 << 20  # bytes of an upload; a larger one is kept on disk

_Result = TypeVar("_Result")
_Model = TypeVar("_Model", bound=BaseModel)


class ApiContext(RequestContext):
    """One request of the API. Without a token, it is that of a visitor."""

    def __init__(self, request: Request, service: Service, token: Token | None) -> None:
        super().__init__(request, service, None if token is None else token.user)
        self.token = token

    def require(self, action: str, session: Session | None = None, resource: Resource | None = None) -> Actor:
        """The user as an actor if they may do this; an organiser only with a token that may organise."""
        actor = self.find_actor(session, None if resource is None else resource.challenge)
        require(action, actor, resource)
        return actor

    def find_actor(self, session: Session | None, challenge: Challenge | None) -> Actor:
        """The user as an actor in a challenge."""
        actor = Actor(self.user) if session is None else find_actor(session, self.user, challenge)
        if self.token is not None and "organise" not in self.token.scopes:
            return actor._replace(organises=False, owns=False)
        return actor


class NeedsScope:
    """A dependency of a route: the context of the request, if its token has the scope or it has no token."""

    def __init__(self, scope: str) -> None:
        if scope not in SCOPES:
            raise ValueError(f"{scope!r} is not in SCOPES")
        self.scope = scope

    def __call__(self, request: Request) -> ApiContext:
        """The context; raises for a token that is invalid, or that lacks the scope."""
        service: Service = request.app.state.service
        header, token = request.headers.get("authorization"), None
        if header is not None:
            scheme, _, secret = header.partition(" ")
            token = find_token(service, secret.strip()) if scheme.lower() == "bearer" else None
            if token is None:
                raise RequestError(401, "The token is invalid, expired or revoked.", "Create one under your account.")
            if self.scope not in token.scopes:
                raise ForbiddenError(
                    f"The token lacks the scope “{self.scope}”.", "Create one that has it under your account."
                )
        return ApiContext(request, service, token)


ReadDep = Annotated[ApiContext, Depends(NeedsScope("read"))]
SubmitDep = Annotated[ApiContext, Depends(NeedsScope("submit"))]
OrganiseDep = Annotated[ApiContext, Depends(NeedsScope("organise"))]


async def read_json(request: Request, model: type[_Model]) -> _Model:
    """The body of a request as a model; raises `FormError` with all invalid members."""
    body = b""
    try:
        async for chunk in limited_stream(request, MAX_PLAIN_FORM):
            body += chunk
    except ClientDisconnect:
        raise RequestError(400, "The body is incomplete.") from None
    except UploadTooLarge:
        raise RequestError(413, f"The body may have at most {format_bytes(MAX_PLAIN_FORM)}.") from None
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        invalid = {".".join(map(str, each["loc"])) or "body": each["msg"] for each in error.errors()}
        raise FormError(invalid) from None


async def handle_upload(
    request: Request, context: ApiContext, field: str, file_name: str, handler: Callable[[ParsedForm], _Result]
) -> _Result:
    """Read a form with a file in a field, or a file that is the whole body, and run a handler in a thread."""
    form = await _read_upload(request, field, file_name, context.settings.upload_bytes)
    try:
        if field not in form.files:
            raise FormError({field: "Send a file."})
        return await to_thread.run_sync(handler, form, limiter=request.app.state.form_limiter)
    finally:
        form.close()


async def _read_upload(request: Request, field: str, file_name: str, max_bytes: int) -> ParsedForm:
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type == "multipart/form-data":
        return await read_form(request, 1, max_bytes)
    content: Any = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - the form closes it
    file = UploadFile(content, size=0, filename=file_name)
    try:
        async for chunk in limited_stream(request, max_bytes):
            await file.write(chunk)
        await file.seek(0)
    except BaseException as error:
        file.file.close()
        if isinstance(error, UploadTooLarge):
            limit = f"A file may have at most {format_bytes(max_bytes)}."
            raise RequestError(413, limit, "Remove unneeded columns.") from None
        if isinstance(error, ClientDisconnect):
            raise RequestError(400, "The file is incomplete.") from None
        raise
    if not file.size:
        file.file.close()
        return ParsedForm({}, {}, {})
    return ParsedForm({}, {}, {field: file})
