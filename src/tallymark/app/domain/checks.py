"""Checks: a file is checked for free, kept for an hour under a token, and submitted by it without a second upload."""

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
from tallymark.app.domain.versions import scoring_of
from tallymark.app.http.errors import RequestError
from tallymark.app.service import Service
from tallymark.app.store.database import insert_of
from tallymark.app.store.models import Challenge, CheckedFile, User, Version
from tallymark.submissions.check import SubmissionCheck, check_submission
from tallymark.submissions.settings import Limits

_KEPT = timedelta(hours=1)
_LONGEST = timedelta(minutes=10)  # after which a check that has not ended counts as broken off
_LOG = logging.getLogger("tallymark.app")


class Busy(Exception):  # noqa: N818 - no fault of ours
    """Another file of the same account is being checked."""


class Passed(NamedTuple):
    """A file without problems: the token that submits it, and what the check found."""

    token: str
    found: SubmissionCheck


class Opened(NamedTuple):
    """A checked file on its way to be submitted."""

    secret: str
    stream: BinaryIO
    file_name: str


def check_file(
    service: Service, user: User, challenge: Challenge, version: Version, stream: BinaryIO, name: str
) -> Passed:
    """Check a file against the public sample; raises its `Rejection`, or `Busy` while another one is checked.

    An account has one checked file at a time: a new check replaces the one before.
    """
    token = secrets.token_urlsafe(32)
    secret = hash_secret(token)
    _begin(service, user, challenge, secret, name)
    try:
        with service.scoring, service.files.path(version.sample).open("rb") as sample:
            found = check_submission(stream, sample, **_settings(service, version))
        _write(_path(service, secret), stream)
    except BaseException:
        with service.database.writing() as session:
            session.execute(delete(CheckedFile).where(CheckedFile.secret == secret))
        _path(service, secret).unlink(missing_ok=True)
        raise
    with service.database.writing() as session:
        values = {"rows": found.rows, "expires": service.now() + _KEPT}
        session.execute(update(CheckedFile).where(CheckedFile.secret == secret).values(**values))
    return Passed(token, found)


def _settings(service: Service, version: Version) -> dict[str, Any]:
    told = scoring_of(version).told()
    limits = Limits(bytes=service.settings.upload_bytes, rows=service.settings.rows)
    return {**{name: told[name] for name in ("id", "label", "task", "classes", "missing")}, "limits": limits}


def _begin(service: Service, user: User, challenge: Challenge, secret: str, name: str) -> None:
    """Record that a check runs, in one statement: of two at once, one is refused."""
    now = service.now()
    values = {
        "secret": secret,
        "challenge_id": challenge.id,
        "file_name": name,
        "rows": None,
        "expires": now + _LONGEST,
    }
    free = or_(CheckedFile.rows.is_not(None), CheckedFile.expires <= now)
    with service.database.writing() as session:
        added = insert_of(session)(CheckedFile).values(user_id=user.id, **values)
        begun = added.on_conflict_do_update(index_elements=[CheckedFile.user_id], set_=values, where=free)
        if session.execute(begun.returning(CheckedFile.secret)).first() is None:
            raise Busy


@contextmanager
def open_checked(service: Service, user: User, challenge: Challenge, token: str) -> Iterator[Opened]:
    """The file of a token. One that is foreign, used, expired or made up gets the same answer."""
    with service.database.reading() as session:
        held = session.scalar(select(CheckedFile).where(_usable(service, user, challenge, hash_secret(token))))
    if held is None:
        raise gone(challenge)
    try:
        handle = os.open(_path(service, held.secret), os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        _LOG.warning("a checked file could not be opened", exc_info=True)
        raise gone(challenge) from None
    with os.fdopen(handle, "rb") as stream:
        yield Opened(held.secret, stream, held.file_name)


def use(session: Session, service: Service, user: User, challenge: Challenge, secret: str) -> bool:
    """Use up a token in the transaction that submits its file; whether it was still there."""
    used = delete(CheckedFile).where(_usable(service, user, challenge, secret)).returning(CheckedFile.secret)
    return session.scalar(used) is not None


def _usable(service: Service, user: User, challenge: Challenge, secret: str) -> ColumnElement[bool]:
    return (
        (CheckedFile.secret == secret)
        & (CheckedFile.user_id == user.id)
        & (CheckedFile.challenge_id == challenge.id)
        & CheckedFile.rows.is_not(None)
        & (CheckedFile.expires > service.now())
    )


def gone(challenge: Challenge) -> RequestError:
    """The answer to a token that submits nothing."""
    mend = "A checked file is kept for an hour and can be submitted once. Look whether it has been, or check it again."
    where = ("My submissions", f"/challenges/{challenge.slug}/mine")
    return RequestError(404, "There is no such checked file.", mend, where)


def discard(service: Service) -> None:
    """Delete checks that have expired, and files that no check belongs to any more."""
    folder = _folder(service)
    # A file is written after its row: one that is listed here and has no row below was used, replaced or has expired.
    names = {each.name for each in os.scandir(folder) if not each.is_dir(follow_symlinks=False)}
    with service.database.writing() as session:
        session.execute(delete(CheckedFile).where(CheckedFile.expires <= service.now()))
        left = set(session.scalars(select(CheckedFile.secret)))
    for name in names - left:
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
