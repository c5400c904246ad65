"""The page of the audit log of a challenge."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from tallymark.app.domain.audit import ACTIONS
from tallymark.app.pages.formatting import page_time
from tallymark.app.pages.shell import PageTime, Pagination, Shell
from tallymark.app.store.models import AuditEntry


class LogRow(NamedTuple):
    """An action: who did what to what, in words."""

    time: PageTime
    user: str
    action: str
    subject: str
    details: Sequence[str]


class AuditLogPage(NamedTuple):
    """`/organise/{slug}/log` (audit_log.html)."""

    shell: Shell
    slug: str
    title: str
    rows: Sequence[LogRow]
    pages: Pagination | None = None


def log_row(entry: AuditEntry, now: datetime) -> LogRow:
    """An entry in words. `key` names a submission, which the subject does too."""
    details = {name.replace("_", " "): value for name, value in entry.details.items() if name != "key"}
    words = {True: "yes", False: "no"}
    return LogRow(
        page_time(entry.created, now),
        "The command line" if entry.user is None else entry.user.name,
        ACTIONS.get(entry.action, entry.action),
        entry.subject,
        [f"{name}: {words[value] if isinstance(value, bool) else value}" for name, value in details.items()],
    )
