"""The audit log: every action of organisers and operators, written in the transaction that does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, func, select, update
from sqlalchemy.orm import Session, joinedload

from tallymark.app.service import Service
from tallymark.app.store.models import AuditEntry, Challenge, User

ACTIONS = {
    "create": "created the challenge",
    "edit": "changed the challenge",
    "answers": "uploaded new answers",
    "apply": "applied a new version",
    "discard": "discarded a new version",
    "publish": "published the challenge",
    "close": "closed the challenge",
    "reopen": "reopened the challenge",
    "reveal": "revealed the private part",
    "hide": "hid the private part",
    "delete": "deleted the draft",
    "announce": "posted an announcement",
    "delete announcement": "deleted an announcement",
    "add data file": "uploaded a data file",
    "delete data file": "deleted a data file",
    "add organiser": "added a co-organiser",
    "remove organiser": "removed a co-organiser",
    "transfer": "transferred the challenge",
    "retry": "queued a failed submission again",
    "disqualify": "disqualified a submission",
    "requalify": "undid the disqualification of a submission",
    "refund": "gave back the quota of a submission",
    "make operator": "made an operator",
    "unmake operator": "ended the role of operator",
    "make organiser": "made an organiser",
    "unmake organiser": "ended the role of organiser",
    "disable account": "disabled the account",
    "enable account": "enabled the account",
    "delete account": "deleted the account",
    "create reset link": "created a link for a new password",
    "use reset link": "set a new password with a link",
    "baseline": "added a file of a baseline",
    "withdraw baseline": "withdrew a baseline",
    "restore baseline": "restored a baseline",
    "invite": "invited people",
    "revoke invitation": "revoked an invitation",
}
"""The actions that are logged, in words that follow the name of the user."""

ACCOUNT_ACTIONS = (
    "add organiser",
    "remove organiser",
    "transfer",
    "make operator",
    "unmake operator",
    "make organiser",
    "unmake organiser",
    "disable account",
    "enable account",
    "delete account",
    "create reset link",
    "use reset link",
)
"""Those whose subject is the name of an account."""


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


def list_account_entries(action: str, words: str) -> Select[Any]:
    """The entries about accounts, the newest first: of one action, and those where a name contains the words."""
    entries = select(AuditEntry).where(AuditEntry.action.in_([action] if action else ACCOUNT_ACTIONS))
    if words:
        by = AuditEntry.user_id.in_(select(User.id).where(User.name.icontains(words, autoescape=True)))
        entries = entries.where(AuditEntry.subject.icontains(words, autoescape=True) | by)
    return entries.order_by(AuditEntry.id.desc())


def replace_subject(session: Session, name: str, other: str) -> None:
    """Replace the name of an account in all entries about it."""
    about = AuditEntry.action.in_(ACCOUNT_ACTIONS) & (AuditEntry.subject == name)
    session.execute(update(AuditEntry).where(about).values(subject=other))
