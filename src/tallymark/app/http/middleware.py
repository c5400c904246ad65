"""What stands before every route: hosts, origins, headers, a number for each request, logs and measures."""

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

from tallymark.app.prometheus import PrometheusMetrics
from tallymark.app.settings import AppSettings

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_SAFE = ("GET", "HEAD", "OPTIONS")
_METHODS = (*_SAFE, "POST", "PUT", "PATCH", "DELETE")
_PROBES = ("/health", "/ready", "/metrics")  # which machines ask for by address
_LOCAL = ("localhost", "127.0.0.1", "::1")
_LOG = logging.getLogger("tallymark.app")
_HOST = re.compile(r"(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::[0-9]{1,5})?", re.ASCII)


Failed = Callable[[Request, Exception], Awaitable[Response]]  # the page of a request that raised


class RequestMiddleware:
    """Refuses requests for other hosts and from other sites, and tells browsers what pages may do."""

    def __init__(self, app: ASGIApp, settings: AppSettings, prometheus: PrometheusMetrics, failed: Failed) -> None:
        self._app = app
        self._failed = failed
        self._settings = settings
        self._measures = prometheus

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status, begun = time.perf_counter(), 500, False
        scope.setdefault("state", {})["reference"] = reference = secrets.token_hex(6)

        async def sent(message: Message) -> None:
            nonlocal status, begun
            if message["type"] == "http.response.start":
                status, begun = message["status"], True
                self._mark(MutableHeaders(scope=message))
            await send(message)

        refused = self._refused(scope["method"], scope["path"], Headers(scope=scope))
        try:
            await (PlainTextResponse(refused, 403) if refused else self._app)(scope, receive, sent)
        except Exception as error:
            if begun:
                raise
            answer = await self._failed(Request(scope, receive), error)
            await answer(scope, receive, sent)
        finally:
            self._note(scope, status, time.perf_counter() - started, reference)

    def _refused(self, method: str, path: str, headers: Headers) -> str:
        host = headers.get("host", "").lower()
        if "\0" in path:
            return "This is no address.\n"
        if path not in _PROBES and (not _HOST.fullmatch(host) or not self._knows(_name(host))):
            return "This app is not reached by this name. Its organiser can set `--url`.\n"
        if method not in _SAFE and not self._same_site(host, headers):
            return "This came from another site. Go to the page itself, and try again.\n"
        return ""

    def _knows(self, name: str) -> bool:
        """Names of this app: that of its URL; without one, those of this machine, and bare addresses if it listens to
        others. A name that somebody else has pointed here is none of them."""
        if self._settings.url:
            return name == urlsplit(self._settings.url).hostname
        if name in _LOCAL or name == self._settings.host.lower():
            return True
        return self._settings.host not in _LOCAL and _is_address(name)

    def _same_site(self, host: str, headers: Headers) -> bool:
        """Whether a browser says that one of our pages sent it. What says nothing is refused."""
        origin = headers.get("origin")
        if origin is not None:
            own = self._settings.address if self._settings.url else f"{origin.partition('://')[0]}://{host}"
            return origin.lower() == own.lower()
        return headers.get("sec-fetch-site") == "same-origin"

    def _mark(self, headers: MutableHeaders) -> None:
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Referrer-Policy"] = "same-origin"
        headers["Cross-Origin-Opener-Policy"] = "same-origin"
        headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        headers.setdefault("Cache-Control", "no-store")
        if self._settings.url.startswith("https://"):
            headers["Strict-Transport-Security"] = "max-age=31536000"

    def _note(self, scope: Scope, status: int, seconds: float, reference: str) -> None:
        """A line without what people typed: the pattern of the address, not the address."""
        route = getattr(scope.get("route"), "path", None) or "none"
        method = scope["method"] if scope["method"] in _METHODS else "?"
        self._measures.requests.labels(method, route, status).inc()
        self._measures.seconds.labels(route).observe(seconds)
        facts: dict[str, Any] = {
            "method": method,
            "route": route,
            "status": status,
            "ms": round(1000 * seconds, 1),
            "reference": reference,
        }
        _LOG.info("answered", extra={"facts": facts})


def _name(host: str) -> str:
    return host[1 : host.index("]")] if host.startswith("[") else host.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
