"""create_app: the ASGI app with its routes, its worker, and the pages of its errors."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from urllib.parse import quote, urlsplit

from anyio import CapacityLimiter
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from tallymark.app.domain.errors import AppError, FormError, NotFoundError, SignInRequiredError
from tallymark.app.http.errors import RequestError, status_of
from tallymark.app.http.middleware import RequestMiddleware
from tallymark.app.http.problem_details import internal_problem, is_api, problem_response
from tallymark.app.http.request_context import RequestContext, request_context
from tallymark.app.pages.shell import ErrorPage, Link
from tallymark.app.routes import ROUTERS, allowed_methods
from tallymark.app.service import Service, utc_now
from tallymark.app.settings import AppSettings
from tallymark.app.worker import Worker
from tallymark.errors import Rejection

_LOG = logging.getLogger("tallymark.app")
_FORM_THREADS = 10  # for forms; pages have threads of their own
_ERROR_TITLES = {
    400: "Bad request",
    401: "Sign in first",
    403: "Not allowed",
    404: "Page not found",
    405: "Method not allowed",
    409: "Not possible now",
    413: "Too large",
    415: "Unsupported format",
    429: "Too many requests",
    500: "Something went wrong",
}


def create_app(settings: AppSettings, clock: Callable[[], datetime] = utc_now) -> FastAPI:
    """The app with these settings."""
    service = Service(settings, clock)
    service.database.migrate()
    worker = Worker(service)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        worker.start()
        yield
        await run_in_threadpool(worker.stop)
        service.close()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.service, app.state.worker = service, worker
    app.state.form_limiter = CapacityLimiter(_FORM_THREADS)
    app.add_middleware(
        RequestMiddleware, settings=settings, prometheus=service.prometheus, on_error=_handle_unexpected_error
    )
    for router in ROUTERS:
        app.include_router(router)
    for kind in (AppError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _handle_error)
    for values_error in (FormError, Rejection):  # pages show these beside their forms
        app.add_exception_handler(values_error, _handle_invalid_values)
    return app


async def _handle_error(request: Request, error: Exception) -> Response:
    """The page of a refused request; users who must sign in first are redirected."""
    if is_api(request):
        if isinstance(error, HTTPException) and error.status_code == 405:
            error.headers = {"Allow": ", ".join(allowed_methods(request.url.path))}
        return problem_response(request, error)
    shown: AppError
    if isinstance(error, AppError):
        shown = error
    elif isinstance(error, HTTPException) and error.status_code != 404:
        shown = RequestError(
            error.status_code, f"This page does not accept {request.method} requests.", "Go back and try again."
        )
    else:
        shown = NotFoundError()
    if isinstance(shown, SignInRequiredError):
        if request.method == "GET":
            return RedirectResponse(_sign_in_path(request.url.path), 303)
        shown = SignInRequiredError(
            "You are not signed in, or your session has expired. Nothing was saved.",
            "Sign in, then send the form again.",
            ("Sign in", _sign_in_path(_path_of_form(request))),
        )
    context = await run_in_threadpool(request_context, request)
    return _error_page(context, shown)


def _sign_in_path(next: str) -> str:
    return f"/sign-in?next={quote(next)}"


def _path_of_form(request: Request) -> str:
    """The path of the page with the form that was sent: some forms are sent to a path without a page."""
    try:
        page = urlsplit(request.headers.get("referer", "")).path
    except ValueError:
        page = ""
    return page or request.url.path


async def _handle_invalid_values(request: Request, error: Exception) -> Response:
    """The response of the API to values or a file that were refused."""
    if not is_api(request):
        raise error
    return problem_response(request, error)


async def _handle_unexpected_error(request: Request, error: Exception) -> Response:
    """The page of an internal error. The log has the details by the reference that the page shows."""
    reference = request.state.reference
    _LOG.error("a request failed", exc_info=error, extra={"facts": {"reference": reference}})
    if is_api(request):
        return internal_problem(request)
    shown = RequestError(
        500,
        "An internal error occurred and was logged.",
        "Try again. If it happens again, tell the organisers the reference.",
    )
    return _error_page(RequestContext(request, request.app.state.service, None), shown)


def _error_page(context: RequestContext, error: AppError) -> Response:
    status = status_of(error)
    title = _ERROR_TITLES.get(status, "Bad request")
    link = None if error.link is None else Link(*error.link)
    view = ErrorPage(context.shell(title), status, error.message, error.hint, context.request.state.reference, link)
    return context.page("error.html", view, status)
