"""Exports: a leaderboard, the submissions and the audit log of a challenge, as CSV for spreadsheets and as JSON.

Scores have the digits that participants see. Numbers are numbers in both forms. In CSV, a text that a spreadsheet could
run as a formula has an apostrophe in front.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from tallymark.app.domain import audit
from tallymark.app.domain.leaderboards import Leaderboard
from tallymark.app.domain.submission_list import SubmissionFilter, list_submissions
from tallymark.app.domain.versions import metrics_of
from tallymark.app.store.models import Challenge, StoredScore, Version
from tallymark.submissions.public_private import PRIVATE, PUBLIC

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_BOARD_PAGE = 1000


def board_rows(session: Session, challenge: Challenge, version: Version, part: str) -> list[dict[str, Any]]:
    """The entries of a leaderboard, with what participants see of them."""
    board, rows = Leaderboard(challenge.id, part), []
    for start in range(0, board.count(session), _BOARD_PAGE):
        for entry in board.entries(session, start, _BOARD_PAGE):
            rows.append(
                {
                    "place": entry.place,
                    "team": entry.team.name,
                    "baseline": entry.team.baseline,
                    "best_rank": entry.best_rank,
                    "worst_rank": entry.worst_rank,
                    "scores": _scores(entry.submission.scores, version, part, intervals=challenge.shows_intervals),
                    "submissions": entry.entries,
                    "submitted": entry.submission.created.isoformat(),
                    "submission": entry.submission.key,
                }
            )
    return rows


def submission_rows(session: Session, version: Version) -> list[dict[str, Any]]:
    """All submissions to the challenge of a version, the oldest first, with their scores by that version."""
    parts = [PUBLIC] if version.public is None else [PUBLIC, PRIVATE]
    rows = []
    for each in list_submissions(session, version, SubmissionFilter(sort="oldest")):
        scores = each.scores if each.state == "scored" and each.version_id == version.id else []
        rows.append(
            {
                "submission": each.key,
                "team": each.team.name,
                "baseline": each.team.baseline,
                "user": each.user.name,
                "file": each.file_name,
                "sha256": each.file,
                "note": each.note,
                "submitted": each.created.isoformat(),
                "state": each.state,
                "late": each.late,
                "final": each.final,
                "disqualified": each.disqualified,
                "quota_day": each.day,
                "scores": {part: _scores(scores, version, part, intervals=True) for part in parts},
            }
        )
    return rows


def log_rows(session: Session, challenge: Challenge) -> list[dict[str, Any]]:
    """The audit log of a challenge, the newest entries first."""
    return [
        {
            "time": each.created.isoformat(),
            "user": None if each.user is None else each.user.name,
            "action": each.action,
            "subject": each.subject,
            "details": json.dumps(each.details, ensure_ascii=False, sort_keys=True) if each.details else "",
        }
        for each in audit.list_entries(session, challenge)
    ]


def _scores(scores: Sequence[StoredScore], version: Version, part: str, *, intervals: bool) -> dict[str, Any]:
    """The scores of a part by metric; every metric is there, with None where it has no value."""
    by_name = {score.name: score for score in scores if score.part == part}
    ends = ("value", "lo", "hi") if intervals else ("value",)
    return {name: {end: getattr(by_name.get(name), end, None) for end in ends} for name in metrics_of(version)}


def to_json(challenge: Challenge, version: Version, name: str, rows: Sequence[Mapping[str, Any]], now: datetime) -> str:
    """Rows as a JSON document."""
    document = {
        "challenge": challenge.slug,
        "title": challenge.title,
        "version": version.number,
        "exported": now.isoformat(),
        name: rows,
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def to_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV. The columns of nested values are named by all of their keys.

    >>> for line in to_csv([{"team": "=1+1", "score": {"value": -0.5, "lo": None}}]).splitlines():
    ...     print(line)
    team,score value,score lo
    '=1+1,-0.5,
    """
    text = io.StringIO()
    writer, heading = csv.writer(text), True
    for row in rows:
        flat = dict(_flatten(row))
        if heading:
            writer.writerow(map(_cell, flat))
            heading = False
        writer.writerow(map(_cell, flat.values()))
    return text.getvalue()


def _flatten(row: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", value


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value
