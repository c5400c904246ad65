"""Middleware around every route: checks of host and origin, security headers, logs and metrics, and the page of errors.

Every request gets a reference, which is on error pages and in the log. HEAD is answered as GET, without the body.
"""

from __future__ import annotations

import ipaddress
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tallymark.app.http.errors import RequestError
from tallymark.app.http.problem_details import API_PREFIX, problem_response
from tallymark.app.prometheus import PrometheusMetrics
from tallymark.app.settings import AppSettings

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_METHODS = (*_SAFE_METHODS, "POST", "PUT", "PATCH", "DELETE")
_PROBE_PATHS = ("/health", "/ready", "/metrics")  # machines request these by IP address
_LOCALHOST = ("localhost", "127.0.0.1", "::1")
_LOG = logging.getLogger("tallymark.app")
_HOST = re.compile(r"(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::[0-9]{1,5})?", re.ASCII)


ErrorHandler = Callable[[Request, Exception], Awaitable[Response]]  # answers a request that raised


class RequestMiddleware:
    """Refuses requests for other hosts and from other sites, and adds security headers to every response."""

    def __init__(
        self, app: ASGIApp, settings: AppSettings, prometheus: PrometheusMetrics, on_error: ErrorHandler
    ) -> None:
        self._app = app
        self._settings = settings
        self._prometheus = prometheus
        self._on_error = on_error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status, response_started = time.perf_counter(), 500, False
        scope.setdefault("state", {})["reference"] = reference = secrets.token_hex(6)
        method = scope["method"]
        if method == "HEAD":
            scope = {**scope, "method": "GET"}  # a copy: the server reads its own to know that no body follows

        async def send_with_headers(message: Message) -> None:
            nonlocal status, response_started
            if message["type"] == "http.response.start":
                status, response_started = message["status"], True
                self._add_headers(MutableHeaders(scope=message))
            elif method == "HEAD":
                message = {**message, "body": b""}
            await send(message)

        refusal = self._refusal(method, scope["path"], Headers(scope=scope))
        try:
            await (_refuse(scope, refusal) if refusal else self._app)(scope, receive, send_with_headers)
        except Exception as error:
            if response_started:
                raise
            response = await self._on_error(Request(scope, receive), error)
            await response(scope, receive, send_with_headers)
        finally:
            self._record(method, scope, status, time.perf_counter() - start, reference)

    def _refusal(self, method: str, path: str, headers: Headers) -> str:
        """Why a request is refused; empty if it is not."""
        host = headers.get("host", "").lower()
        if "\0" in path:
            return "Invalid URL.\n"
        if path not in _PROBE_PATHS and (not _HOST.fullmatch(host) or not self._is_own_host(_host_name(host))):
            return "Unknown host. The operator can set `--url`.\n"
        # No cookie counts under /api, so another site cannot act there for its visitors.
        checks_origin = method not in _SAFE_METHODS and not path.startswith(API_PREFIX)
        if checks_origin and not self._is_same_origin(host, headers):
            return "Cross-site request refused. Open the page itself and try again.\n"
        return ""

    def _is_own_host(self, name: str) -> bool:
        """Whether a host name is that of the app's URL; without one, localhost, or any IP address if the app listens to
        other machines. A foreign name that resolves to this machine is refused (DNS rebinding)."""
        if self._settings.url:
            return name == urlsplit(self._settings.url).hostname
        if name in _LOCALHOST or name == self._settings.host.lower():
            return True
        return self._settings.host not in _LOCALHOST and _is_ip_address(name)

    def _is_same_origin(self, host: str, headers: Headers) -> bool:
        """Whether the headers say that one of our own pages sent the request; without such headers it is refused."""
        origin = headers.get("origin")
        if origin is not None:
            own = self._settings.address if self._settings.url else f"{origin.partition('://')[0]}://{host}"
            return origin.lower() == own.lower()
        return headers.get("sec-fetch-site") == "same-origin"

    def _add_headers(self, headers: MutableHeaders) -> None:
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Referrer-Policy"] = "same-origin"
        headers["Cross-Origin-Opener-Policy"] = "same-origin"
        headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        headers.setdefault("Cache-Control", "no-store")
        if self._settings.url.startswith("https://"):
            headers["Strict-Transport-Security"] = "max-age=31536000"

    def _record(self, method: str, scope: Scope, status: int, seconds: float, reference: str) -> None:
        """Count and log a request by the pattern of its path, without anything that people typed."""
        route = getattr(scope.get("route"), "path", None) or "none"
        method = method if method in _METHODS else "?"
        self._prometheus.requests.labels(method, route, status).inc()
        self._prometheus.request_seconds.labels(route).observe(seconds)
        facts: dict[str, Any] = {
            "method": method,
            "route": route,
            "status": status,
            "ms": round(1000 * seconds, 1),
            "reference": reference,
        }
        _LOG.info("answered", extra={"facts": facts})


def _refuse(scope: Scope, refusal: str) -> Response:
    if scope["path"].startswith(API_PREFIX):
        return problem_response(Request(scope), RequestError(403, refusal.strip()))
    return PlainTextResponse(refusal, 403)


def _host_name(host: str) -> str:
    """The host of a Host header without its port."""
    return host[1 : host.index("]")] if host.startswith("[") else host.partition(":")[0]


def _is_ip_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
