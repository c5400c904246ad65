"""Data files of a challenge, such as train and test: versioned by title, and downloaded by participants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from sqlalchemy import exists, func, or_, select
from sqlalchemy.orm import Session

from tallymark.app.domain import audit
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.domain.versions import lock_challenge, record_file
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, DataFile, User, Version

DATA_FOR = ("everyone", "members")  # who may download: all who see the challenge, or those who have joined it
_MAX_FILES = 200  # versions of all files of a challenge
_MAX_TITLE = 60


def list_data_files(session: Session, challenge: Challenge) -> Sequence[DataFile]:
    """The files of a challenge by title, the newest version of each first."""
    own = select(DataFile).where(DataFile.challenge_id == challenge.id)
    return session.scalars(own.order_by(DataFile.title, DataFile.number.desc())).all()


def find_data_file(session: Session, challenge: Challenge, data_file_id: int) -> DataFile:
    """A file of a challenge."""
    data_file = session.get(DataFile, data_file_id)
    if data_file is None or data_file.challenge_id != challenge.id:
        raise NotFoundError()
    return data_file


def add_data_file(
    service: Service, user: User, challenge: Challenge, title: str, stream: BinaryIO, file_name: str
) -> DataFile:
    """Add a file, or a new version of the file with this title. The answers of the challenge are refused."""
    title = " ".join(title.split())
    if not 1 <= len(title) <= _MAX_TITLE:
        raise FormError({"title": f"Use 1 to {_MAX_TITLE} characters; this has {len(title)}."})
    content = service.files.store_stream(stream)
    with service.database.writing() as session:
        lock_challenge(session, challenge.id)
        is_secret = or_(Version.answers == content.hash, Version.public == content.hash)
        if session.scalar(select(exists().where(Version.challenge_id == challenge.id, is_secret))):
            raise FormError({"data": "This is the file of answers. Participants must not have it."})
        own = DataFile.challenge_id == challenge.id
        if (session.scalar(select(func.count()).where(own)) or 0) >= _MAX_FILES:
            raise FormError({"data": f"A challenge has at most {_MAX_FILES} files. Delete an old version first."})
        last = session.scalar(select(func.max(DataFile.number)).where(own, DataFile.title == title)) or 0
        record_file(session, content, service.now())
        data_file = DataFile(
            challenge_id=challenge.id,
            title=title,
            number=last + 1,
            file=content.hash,
            file_name=file_name,
            size=content.size,
            user_id=user.id,
            created=service.now(),
        )
        session.add(data_file)
        session.flush()
        audit.record(session, service, user, "add data file", challenge, f"{title}, version {last + 1}")
        return data_file


def delete_data_file(service: Service, user: User, challenge: Challenge, data_file_id: int) -> None:
    """Delete a version of a file, so that nobody can download it any more."""
    with service.database.writing() as session:
        data_file = find_data_file(session, challenge, data_file_id)
        subject = f"{data_file.title}, version {data_file.number}"
        audit.record(session, service, user, "delete data file", challenge, subject)
        session.delete(data_file)
