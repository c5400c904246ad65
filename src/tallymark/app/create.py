"""create_app: the app of some settings, with its worker."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from urllib.parse import quote

from anyio import CapacityLimiter
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from tallymark.app.domain.errors import RequestError, not_found
from tallymark.app.http.middleware import RequestMiddleware
from tallymark.app.http.request_context import RequestContext, request_context
from tallymark.app.pages.shell import ErrorPage, Link
from tallymark.app.routes import ROUTERS
from tallymark.app.service import Service, utc_now
from tallymark.app.settings import AppSettings
from tallymark.app.worker import Worker

_LOG = logging.getLogger("tallymark.app")
_FORMS = 10  # that are worked on at a time; pages have threads of their own
_TITLES = {
    400: "This was not understood",
    401: "Sign in first",
    403: "Not for you",
    404: "Nothing is here",
    405: "This was not understood",
    409: "Not now",
    413: "Too large",
    415: "This was not understood",
    500: "Something went wrong",
}


def create_app(settings: AppSettings, clock: Callable[[], datetime] = utc_now) -> FastAPI:
    """An app that keeps its data where the settings say."""
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
    app.state.forms = CapacityLimiter(_FORMS)
    app.add_middleware(RequestMiddleware, settings=settings, prometheus=service.prometheus, failed=_failed)
    for router in ROUTERS:
        app.include_router(router)
    app.add_exception_handler(RequestError, _refused)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _refused)
    return app


async def _refused(request: Request, error: Exception) -> Response:
    """The page of a request that is not granted. Who is not signed in is asked to, where that is the reason."""
    if isinstance(error, RequestError):
        found = error
    elif isinstance(error, HTTPException) and error.status_code != 404:
        found = RequestError(error.status_code, "This page is not asked for in this way.", "Go back, and try again.")
    else:
        found = not_found()
    if found.status == 401 and request.method == "GET":
        return RedirectResponse(f"/sign-in?next={quote(request.url.path)}", 303)
    context = await run_in_threadpool(request_context, request)
    return _page(context, found)


def _page(context: RequestContext, found: RequestError) -> Response:
    title = _TITLES.get(found.status, "This was not understood")
    where = None if found.where is None else Link(*found.where)
    view = ErrorPage(
        context.shell(title), found.status, found.sentence, found.mend, context.request.state.reference, where
    )
    return context.page("error.html", view, found.status)


async def _failed(request: Request, error: Exception) -> Response:
    """The page of our own fault. The log knows more by the reference."""
    reference = request.state.reference
    _LOG.error("a request failed", exc_info=error, extra={"facts": {"reference": reference}})
    told = RequestError(
        500, "That is our fault, and it was written down.", "Try it again; if it stays, quote the reference."
    )
    return _page(RequestContext(request, request.app.state.service, None), told)
