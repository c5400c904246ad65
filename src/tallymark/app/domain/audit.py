"""The audit log: every action of organisers and operators, written in the transaction that does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from tallymark.app.service import Service
from tallymark.app.store.models import AuditEntry, Challenge, User

ACTIONS = {
    "create": "created the challenge",
    "edit": "changed the challenge",
    "answers": "uploaded new answers",
    "apply": "applied a new version",
    "discard": "discarded a new version",
    "close": "closed the challenge",
    "reopen": "reopened the challenge",
    "add organiser": "added a co-organiser",
    "remove organiser": "removed a co-organiser",
    "transfer": "transferred the challenge",
    "retry": "queued a failed submission again",
    "disqualify": "disqualified a submission",
    "requalify": "undid the disqualification of a submission",
    "refund": "gave back the quota of a submission",
    "baseline": "added a file of a baseline",
    "withdraw baseline": "withdrew a baseline",
    "restore baseline": "restored a baseline",
}
"""The actions that are logged, in words that follow the name of the user."""


def count_entries(session: Session, challenge: Challenge) -> int:
    """How many entries the log of a challenge has."""
    query = select(func.count()).select_from(AuditEntry).where(AuditEntry.challenge_id == challenge.id)
    return session.scalar(query) or 0


def list_entries(
    session: Session, challenge: Challenge, start: int = 0, size: int | None = None
) -> Sequence[AuditEntry]:
    """The log of a challenge, the newest entries first."""
    query = select(AuditEntry).where(AuditEntry.challenge_id == challenge.id).order_by(AuditEntry.id.desc())
    return session.scalars(query.offset(start).limit(size).options(joinedload(AuditEntry.user))).all()


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
