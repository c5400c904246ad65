"""Health checks and metrics for monitoring, and static files."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import func, select

from tallymark.app.domain.errors import NotFoundError
from tallymark.app.pages.rendering import static_files
from tallymark.app.service import Service
from tallymark.app.store.models import Submission

router = APIRouter()
_MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@router.get("/health")
async def health() -> Response:
    """Whether the process answers."""
    return PlainTextResponse("ok\n")


@router.get("/ready")
def ready(request: Request) -> Response:
    """Whether it can do its work: the database, the files and the worker."""
    service: Service = request.app.state.service
    parts = {
        "database": service.database.is_available(),
        "files": service.files.is_writable(),
        "worker": request.app.state.worker.alive,
    }
    return JSONResponse({"ready": all(parts.values()), **parts}, 200 if all(parts.values()) else 503)


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """The metrics of Prometheus."""
    service: Service = request.app.state.service
    with service.database.reading() as session:
        by_work = select(Submission.work, func.count()).where(Submission.work.is_not(None)).group_by(Submission.work)
        pending = {row[0]: row[1] for row in session.execute(by_work)}
    for work in ("score", "intervals"):
        service.prometheus.queue.labels(work).set(pending.get(work, 0))
    return Response(generate_latest(service.prometheus.registry), media_type=CONTENT_TYPE_LATEST)


@router.get("/static/{name}")
def static(name: str, v: str = "") -> Response:
    """A style sheet, a script or a picture; with the digest of it in the address, it may be kept for ever."""
    content, media_type = static_files().get(name), _MEDIA_TYPES.get(name[name.rfind(".") :])
    if content is None or media_type is None:
        raise NotFoundError()
    caching = "public, max-age=31536000, immutable" if v else "no-cache"
    return Response(content, media_type=media_type, headers={"Cache-Control": caching})
