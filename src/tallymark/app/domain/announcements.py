"""Announcements of organisers, on the page of a challenge."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from tallymark.app.domain import audit
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.service import Service
from tallymark.app.store.models import Announcement, Challenge, User

MAX_LENGTH = 5_000  # characters
_MAX_ANNOUNCEMENTS = 200


def list_announcements(session: Session, challenge: Challenge) -> Sequence[Announcement]:
    """The announcements of a challenge, the newest first."""
    own = select(Announcement).where(Announcement.challenge_id == challenge.id)
    return session.scalars(own.order_by(Announcement.created.desc(), Announcement.id.desc())).all()


def post_announcement(service: Service, user: User, challenge: Challenge, text: str) -> None:
    """Post an announcement, in Markdown."""
    text = text.strip()
    if not 1 <= len(text) <= MAX_LENGTH:
        raise FormError({"text": f"Use 1 to {MAX_LENGTH:,} characters; this has {len(text):,}."})
    with service.database.writing() as session:
        if len(list_announcements(session, challenge)) >= _MAX_ANNOUNCEMENTS:
            raise FormError({"text": f"A challenge has at most {_MAX_ANNOUNCEMENTS} announcements. Delete an old one."})
        session.add(Announcement(challenge_id=challenge.id, user_id=user.id, created=service.now(), text=text))
        audit.record(session, service, user, "announce", challenge, text[:80])


def delete_announcement(service: Service, user: User, challenge: Challenge, announcement_id: int) -> None:
    """Delete an announcement."""
    with service.database.writing() as session:
        announcement = session.get(Announcement, announcement_id)
        if announcement is None or announcement.challenge_id != challenge.id:
            raise NotFoundError()
        audit.record(session, service, user, "delete announcement", challenge, announcement.text[:80])
        session.delete(announcement)
