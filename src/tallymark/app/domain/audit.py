"""The audit log: every action of organisers and operators, written in the transaction that does it."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from tallymark.app.service import Service
from tallymark.app.store.models import AuditEntry, Challenge, User

ACTIONS = {
    "create": "created the challenge",
    "edit": "changed the challenge",
    "answers": "replaced the answers",
    "close": "closed the challenge",
    "reopen": "reopened the challenge",
    "add organiser": "added a co-organiser",
    "remove organiser": "removed a co-organiser",
    "transfer": "transferred the challenge",
    "invite": "invited people",
    "revoke invitation": "revoked an invitation",
}
"""The actions that are logged, in words that follow the name of the user."""


def record(
    session: Session,
    service: Service,
    by: User | None,
    action: str,
    challenge: Challenge | None = None,
    subject: str = "",
    **details: Any,
) -> None:
    """Add an entry to the log. Without a user, the action came from the command line."""
    if action not in ACTIONS:
        raise ValueError(f"{action!r} is not in ACTIONS")
    entry = AuditEntry(
        created=service.now(),
        user_id=None if by is None else by.id,
        action=action,
        challenge_id=None if challenge is None else challenge.id,
        subject=subject,
        details=details,
    )
    session.add(entry)
