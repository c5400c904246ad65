"""Kept uploads: a file that was chosen in a form with errors is kept for an hour, so that it need not be chosen again.

An account has one such file: a new one replaces it. It is stored under the hash of its random token, after its row, so
the worker can delete every file without a row.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sqlalchemy import delete, select

from tallymark.app.domain.accounts import hash_secret
from tallymark.app.domain.checks import write_private_file
from tallymark.app.service import Service
from tallymark.app.store.database import dialect_insert
from tallymark.app.store.models import KeptFile, User

_RETENTION = timedelta(hours=1)


class Kept(NamedTuple):
    """A kept file: the token by which the form sends it again, and its name."""

    token: str
    file_name: str


def keep_file(service: Service, user: User, stream: BinaryIO, file_name: str) -> Kept:
    """Keep an uploaded file of an account, in place of the one before."""
    token = secrets.token_urlsafe(32)
    secret = hash_secret(token)
    values = {"secret": secret, "file_name": file_name, "expires": service.now() + _RETENTION}
    with service.database.writing() as session:
        insert = dialect_insert(session)(KeptFile).values(user_id=user.id, **values)
        session.execute(insert.on_conflict_do_update(index_elements=[KeptFile.user_id], set_=values))
    write_private_file(_folder(service) / secret, stream)
    return Kept(token, file_name)


def find_kept(service: Service, user: User, token: str) -> Kept | None:
    """The kept file of a token; None if it has expired, was replaced, or is of someone else."""
    with service.database.reading() as session:
        row = session.scalar(
            select(KeptFile).where(
                KeptFile.user_id == user.id, KeptFile.secret == hash_secret(token), KeptFile.expires > service.now()
            )
        )
    return None if row is None else Kept(token, row.file_name)


@contextmanager
def open_kept(service: Service, user: User, token: str) -> Iterator[BinaryIO | None]:
    """The content of a kept file; None if there is none."""
    path = _folder(service) / hash_secret(token)
    if find_kept(service, user, token) is None or not path.is_file():
        yield None
        return
    with path.open("rb") as stream:
        yield stream


def discard_kept(service: Service, user: User) -> None:
    """Forget the kept file of an account; the worker deletes it."""
    with service.database.writing() as session:
        session.execute(delete(KeptFile).where(KeptFile.user_id == user.id))


def discard_expired(service: Service) -> None:
    """Delete expired rows, and files without a row."""
    folder = _folder(service)
    names = {file.name for file in os.scandir(folder) if file.is_file(follow_symlinks=False)}
    with service.database.writing() as session:
        session.execute(delete(KeptFile).where(KeptFile.expires <= service.now()))
        current = set(session.scalars(select(KeptFile.secret)))
    for name in names - current:
        (folder / name).unlink(missing_ok=True)


def _folder(service: Service) -> Path:
    folder = service.settings.folder / "kept"
    folder.mkdir(exist_ok=True)
    return folder
