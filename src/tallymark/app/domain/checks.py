"""Free checks: a file without problems is kept for an hour under a token, and submitted without a second upload.

A file is checked against the public sample, never against the answers. It is stored under the hash of its random token;
the row of the token is deleted in the transaction that takes the quota. An account has one row, which is also the claim
of the check that runs. The row is written before the file, so the worker can delete every file without a row.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from sqlalchemy import ColumnElement, delete, or_, select, update
from sqlalchemy.orm import Session

from tallymark.app.domain.accounts import hash_secret
from tallymark.app.domain.errors import NotFoundError
from tallymark.app.domain.versions import scoring_config_of
from tallymark.app.service import Service
from tallymark.app.store.database import dialect_insert
from tallymark.app.store.models import Challenge, CheckedFile, User, Version
from tallymark.submissions.check import SubmissionCheck, check_submission
from tallymark.submissions.settings import Limits

_RETENTION = timedelta(hours=1)
_TIMEOUT = timedelta(minutes=10)  # a check that takes longer has crashed
_LOG = logging.getLogger("tallymark.app")


class CheckInProgress(Exception):  # noqa: N818 - a state, not a fault
    """Another file of the same account is being checked."""


class PassedCheck(NamedTuple):
    """A file without problems: the token that submits it, and the notes of the check."""

    token: str
    check: SubmissionCheck


class OpenedFile(NamedTuple):
    """The content of a checked file, with the hash of its token."""

    secret: str
    stream: BinaryIO
    file_name: str


def check_and_keep(
    service: Service, user: User, challenge: Challenge, version: Version, stream: BinaryIO, name: str
) -> PassedCheck:
    """Check a file against the public sample; raises its `Rejection`, or `Busy` while another one is checked.

    An account has one checked file at a time: a new check replaces the one before.
    """
    token = secrets.token_urlsafe(32)
    secret = hash_secret(token)
    _start_check(service, user, challenge, secret, name)
    try:
        check = check_file(service, version, stream)
        _write(_path(service, secret), stream)
    except BaseException:
        with service.database.writing() as session:
            session.execute(delete(CheckedFile).where(CheckedFile.secret == secret))
        _path(service, secret).unlink(missing_ok=True)
        raise
    with service.database.writing() as session:
        values = {"rows": check.rows, "expires": service.now() + _RETENTION}
        session.execute(update(CheckedFile).where(CheckedFile.secret == secret).values(**values))
    return PassedCheck(token, check)


def check_file(service: Service, version: Version, stream: BinaryIO) -> SubmissionCheck:
    """Check a file against the public sample; raises its `Rejection`."""
    with service.scoring_slots, service.files.path(version.sample).open("rb") as sample:
        return check_submission(stream, sample, **_arguments(service, version))


def _arguments(service: Service, version: Version) -> dict[str, Any]:
    scoring = scoring_config_of(version).as_arguments()
    limits = Limits(bytes=service.settings.upload_bytes, rows=service.settings.rows)
    return {**{name: scoring[name] for name in ("id", "label", "task", "classes", "missing")}, "limits": limits}


def _start_check(service: Service, user: User, challenge: Challenge, secret: str, name: str) -> None:
    """Claim the row of an account for a check, in one statement: of two at once, one is refused."""
    now = service.now()
    values = {
        "secret": secret,
        "challenge_id": challenge.id,
        "file_name": name,
        "rows": None,
        "expires": now + _TIMEOUT,
    }
    free = or_(CheckedFile.rows.is_not(None), CheckedFile.expires <= now)
    with service.database.writing() as session:
        insert = dialect_insert(session)(CheckedFile).values(user_id=user.id, **values)
        claim = insert.on_conflict_do_update(index_elements=[CheckedFile.user_id], set_=values, where=free)
        if session.execute(claim.returning(CheckedFile.secret)).first() is None:
            raise CheckInProgress


@contextmanager
def open_checked(service: Service, user: User, challenge: Challenge, token: str) -> Iterator[OpenedFile]:
    """The file of a token. A token of another user, used, expired or made up raises the same error."""
    with service.database.reading() as session:
        row = session.scalar(select(CheckedFile).where(_is_valid(service, user, challenge, hash_secret(token))))
    if row is None:
        raise token_not_found(challenge)
    try:
        handle = os.open(_path(service, row.secret), os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        _LOG.warning("a checked file could not be opened", exc_info=True)
        raise token_not_found(challenge) from None
    with os.fdopen(handle, "rb") as stream:
        yield OpenedFile(row.secret, stream, row.file_name)


def consume_token(session: Session, service: Service, user: User, challenge: Challenge, secret: str) -> bool:
    """Delete a token in the transaction that submits its file; whether it was still valid."""
    deleted = delete(CheckedFile).where(_is_valid(service, user, challenge, secret)).returning(CheckedFile.secret)
    return session.scalar(deleted) is not None


def _is_valid(service: Service, user: User, challenge: Challenge, secret: str) -> ColumnElement[bool]:
    return (
        (CheckedFile.secret == secret)
        & (CheckedFile.user_id == user.id)
        & (CheckedFile.challenge_id == challenge.id)
        & CheckedFile.rows.is_not(None)
        & (CheckedFile.expires > service.now())
    )


def token_not_found(challenge: Challenge) -> NotFoundError:
    """The error for a token without a file."""
    hint = (
        "A checked file is kept for an hour and can be submitted once. See whether it was submitted, or check it again."
    )
    link = ("My submissions", f"/challenges/{challenge.slug}/mine")
    return NotFoundError("Checked file not found.", hint, link)


def discard_expired(service: Service) -> None:
    """Delete expired rows, and files without a row."""
    folder = _folder(service)
    # A file is written after its row: one that is listed here and has no row below was used, replaced or has expired.
    names = {file.name for file in os.scandir(folder) if not file.is_dir(follow_symlinks=False)}
    with service.database.writing() as session:
        session.execute(delete(CheckedFile).where(CheckedFile.expires <= service.now()))
        current = set(session.scalars(select(CheckedFile.secret)))
    for name in names - current:
        (folder / name).unlink(missing_ok=True)


def _folder(service: Service) -> Path:
    folder = service.settings.folder / "checked"
    folder.mkdir(exist_ok=True)
    return folder


def _path(service: Service, secret: str) -> Path:
    return _folder(service) / secret


def _write(path: Path, stream: BinaryIO) -> None:
    stream.seek(0)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file:
        shutil.copyfileobj(stream, file, 1 << 20)
        file.flush()
        os.fsync(file.fileno())
