"""For the organisers of a challenge: its leaderboards, submissions and audit log as files."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from tallymark.app.domain import exports
from tallymark.app.domain.errors import NotFoundError
from tallymark.app.http.request_context import ContextDep
from tallymark.app.routes.organiser_submissions import find_organised
from tallymark.submissions.public_private import PRIVATE, PUBLIC

router = APIRouter()


@router.get("/organise/{slug}/export/{file}")
def export(slug: str, file: str, context: ContextDep) -> Response:
    """`submissions`, `public-leaderboard`, `private-leaderboard` or `log`, as `.csv` or `.json`."""
    challenge, version = find_organised(context, slug)
    table, _, form = file.rpartition(".")
    parts = [PUBLIC] if version.public is None else [PUBLIC, PRIVATE]
    boards = {f"{part}-leaderboard": part for part in parts}
    if form not in ("csv", "json") or table not in ("submissions", "log", *boards):
        raise NotFoundError()
    with context.service.database.reading() as session:
        if table in boards:
            rows, member = exports.board_rows(session, challenge, version, boards[table]), "entries"
        elif table == "log":
            rows, member = exports.log_rows(session, challenge), "entries"
        else:
            rows, member = exports.submission_rows(session, version), "submissions"
    headers = {"Content-Disposition": f'attachment; filename="{slug}-{table}.{form}"'}
    if form == "csv":
        return Response(exports.to_csv(rows), media_type="text/csv", headers=headers)
    content = exports.to_json(challenge, version, member, rows, context.now)
    return Response(content, media_type="application/json", headers=headers)
