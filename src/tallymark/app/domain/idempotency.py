"""Idempotency keys: an upload that is repeated after a lost answer is one submission.

The client chooses a key. The transaction that stores the submission also stores the key: of two uploads with the same
key at once, one waits for the other and finds its submission.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import BinaryIO, NamedTuple

from sqlalchemy import delete
from sqlalchemy.orm import Session

from tallymark.app.domain.errors import FormError
from tallymark.app.service import Service
from tallymark.app.store.database import dialect_insert
from tallymark.app.store.models import Challenge, IdempotencyKey, User

_RETENTION = timedelta(days=2)
_CHUNK = 1 << 20  # bytes


class Upload(NamedTuple):
    """An upload that may be repeated: its key, and a fingerprint of the challenge, the file and the note."""

    key: str
    fingerprint: str


def identify_upload(key: str, challenge: Challenge, stream: BinaryIO, note: str) -> Upload:
    """An upload with the key that its client chose."""
    digest = hashlib.sha256(f"{challenge.id} {note.strip()}\n".encode())
    stream.seek(0)
    for chunk in iter(lambda: stream.read(_CHUNK), b""):
        digest.update(chunk)
    stream.seek(0)
    return Upload(key, digest.hexdigest())


def find_submission(session: Session, user: User, upload: Upload) -> str | None:
    """The key of the submission that an earlier upload with the same key made; raises `FormError` if it differs."""
    earlier = session.get(IdempotencyKey, (user.id, upload.key))
    if earlier is None:
        return None
    if earlier.fingerprint != upload.fingerprint:
        message = "This key was used for another file, challenge or note. Use a new key for each submission."
        raise FormError({"Idempotency-Key": message})
    return earlier.submission


def claim_key(session: Session, service: Service, user: User, upload: Upload, submission: str) -> bool:
    """Store a key for the submission that this transaction stores; False if an earlier upload has stored it."""
    now = service.now()
    session.execute(delete(IdempotencyKey).where(IdempotencyKey.created < now - _RETENTION))
    values = {"user_id": user.id, **upload._asdict(), "submission": submission, "created": now}
    claim = dialect_insert(session)(IdempotencyKey).values(**values).on_conflict_do_nothing()
    return session.execute(claim.returning(IdempotencyKey.key)).first() is not None
