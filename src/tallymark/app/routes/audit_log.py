"""For the organisers of a challenge: who changed what, and when."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from tallymark.app.domain import audit
from tallymark.app.http.request_context import ContextDep
from tallymark.app.pages.audit_log import AuditLogPage, log_row
from tallymark.app.pages.pagination import paginate
from tallymark.app.routes.organiser_submissions import find_organised

router = APIRouter()
PAGE_SIZE = 100


@router.get("/organise/{slug}/log")
def log(slug: str, context: ContextDep, page: int = 1) -> Response:
    """The audit log of a challenge, the newest entries first."""
    challenge, _ = find_organised(context, slug)
    with context.service.database.reading() as session:
        count = audit.count_entries(session, challenge)
        start, pages = paginate(count, page, PAGE_SIZE, f"/organise/{slug}/log", "entry")
        rows = [log_row(each, context.now) for each in audit.list_entries(session, challenge, start, PAGE_SIZE)]
    view = AuditLogPage(context.shell(f"Log of {challenge.title}"), slug, challenge.title, rows, pages)
    return context.page("audit_log.html", view)
