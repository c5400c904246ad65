"""What keeps an app from running well: its settings, folder, disk, database, clock and backups. Nothing is changed."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import sqlalchemy
from sqlalchemy import func, select, text
from sqlalchemy.exc import SQLAlchemyError

from tallymark import __version__
from tallymark.app.backup import last_backup
from tallymark.app.settings import AppSettings
from tallymark.app.store.database import Database
from tallymark.app.store.files import FileStore
from tallymark.app.store.models import AuditEntry, StoredFile, Submission, User

OK, WARNING, PROBLEM = "ok", "warning", "problem"
_LOCAL = ("localhost", "127.0.0.1", "::1")
_FREE_BYTES = 1_000_000_000  # below which the disk is nearly full
_CLOCK_SKEW = timedelta(minutes=1)
_BACKUP_AGE = timedelta(days=7)


class Finding(NamedTuple):
    """A finding: "ok", "warning" or "problem", what it is about, and a sentence."""

    level: str
    subject: str
    text: str


def examine(settings: AppSettings, now: datetime) -> list[Finding]:
    """All findings about an app with these settings, whether or not it runs."""
    findings = [
        Finding(OK, "versions", f"tallymark {__version__}, Python {platform.python_version()}, {_database_version()}"),
        *_examine_address(settings),
        *_examine_folder(settings),
    ]
    if settings.database or (settings.folder / "tallymark.db").is_file():
        findings += _examine_database(settings, now)
    else:
        findings.append(Finding(PROBLEM, "database", "there is none: start the app once with `tallymark serve`"))
    return findings


def _database_version() -> str:
    return f"SQLAlchemy {sqlalchemy.__version__}, SQLite {sqlite3.sqlite_version}"


def _examine_address(settings: AppSettings) -> Iterator[Finding]:
    url = urlsplit(settings.url)
    if not settings.url and settings.host in _LOCAL:
        yield Finding(OK, "address", f"{settings.address}, for this machine only")
    elif not settings.url:
        advice = "set `--url` to the address that people open, so that links are right and other hosts are refused"
        yield Finding(WARNING, "address", f"it listens at {settings.host} without a public URL: {advice}")
    elif url.path not in ("", "/"):
        yield Finding(
            PROBLEM, "address", f"`--url` has the path {url.path!r}: the app must have a host name of its own"
        )
    elif url.scheme == "http" and url.hostname not in _LOCAL:
        advice = "put a web server with HTTPS in front of it, and set `--url` to the https address"
        yield Finding(WARNING, "address", f"{settings.url} sends passwords unencrypted: {advice}")
    else:
        advice = "the web server must pass on the Host header, and accept files of the size of `--upload-bytes`"
        yield Finding(OK, "address", f"{settings.url}; {advice}")
    if settings.url and settings.host not in _LOCAL:
        advice = "unless a firewall keeps others out, listen at 127.0.0.1"
        yield Finding(
            WARNING, "address", f"{settings.host}:{settings.port} can be reached without the web server: {advice}"
        )


def _examine_folder(settings: AppSettings) -> Iterator[Finding]:
    folder = settings.folder
    if not folder.is_dir():
        yield Finding(PROBLEM, "folder", f"{folder.absolute()} does not exist")
        return
    blocked = [each.name or str(each) for each in (folder, folder / "files") if each.exists() and not _is_usable(each)]
    content = [each for each in (folder / "tallymark.db", folder / "files") if each.exists()]
    exposed = [each for each in content if _is_open(folder) and _is_open(each)]
    if blocked:
        yield Finding(
            PROBLEM, "folder", f"{blocked[0]} is not writable for this user: run the command as the app's user"
        )
    elif exposed:
        advice = f"chmod 700 {folder.absolute()}"
        yield Finding(WARNING, "folder", f"other users may read {exposed[0].name} in it, which has answers: {advice}")
    else:
        yield Finding(OK, "folder", f"{folder.absolute()}")
    free = shutil.disk_usage(folder).free
    level = OK if free >= _FREE_BYTES else WARNING if free >= 10 * settings.upload_bytes else PROBLEM
    yield Finding(level, "disk", f"{free / 1e9:,.1f} GB free")


def _is_open(path: Path) -> bool:
    """Whether other users may read it."""
    return bool(path.stat().st_mode & 0o077)


def _is_usable(folder: Path) -> bool:
    return os.access(folder, os.R_OK | os.W_OK | os.X_OK)


def _examine_database(settings: AppSettings, now: datetime) -> Iterator[Finding]:
    database = Database(settings.database_url)
    try:
        current, newest = database.versions()
        if current != newest:
            advice = "start the app once with `tallymark serve`, which migrates them; take a backup first"
            yield Finding(PROBLEM, "database", f"its tables have version {current}, not {newest}: {advice}")
            return
        yield Finding(OK, "database", f"{database.engine.dialect.name}, tables of version {current}")
        yield from _examine_rows(settings, database, now)
    except SQLAlchemyError as error:
        yield Finding(PROBLEM, "database", f"it does not answer: {str(error).splitlines()[0]}")
    finally:
        database.close()
    if not database.is_sqlite and shutil.which("pg_dump") is None:
        advice = "install it (on Debian: apt install postgresql-client)"
        yield Finding(WARNING, "backup", f"`tallymark backup` needs the program pg_dump: {advice}")


def _examine_rows(settings: AppSettings, database: Database, now: datetime) -> Iterator[Finding]:
    store = FileStore(settings.folder)
    with database.reading() as session:
        times = [session.scalar(select(func.max(each.created))) for each in (User, Submission, AuditEntry)]
        missing = [each for each in session.scalars(select(StoredFile.hash)) if not store.path(each).is_file()]
        operators = session.scalar(select(func.count()).select_from(User).where(User.operator, User.disabled.is_(None)))
        if not database.is_sqlite:
            times.append(session.scalar(text("SELECT now()")))
    newest = max((each for each in times if each is not None), default=now)
    if newest > now + _CLOCK_SKEW:
        advice = "deadlines and quotas depend on it; synchronise it with NTP"
        yield Finding(
            PROBLEM, "clock", f"it is behind the database, which has seen {newest:%Y-%m-%d %H:%M} UTC: {advice}"
        )
    else:
        yield Finding(OK, "clock", f"{now:%Y-%m-%d %H:%M} UTC")
    if missing:
        advice = "restore them from a backup"
        yield Finding(
            PROBLEM, "files", f"{len(missing):,} files of the database are missing, such as {missing[0]}: {advice}"
        )
    else:
        yield Finding(OK, "files", "all files of the database are there")
    if not operators:
        advice = "`tallymark admin make-operator NAME` makes one"
        yield Finding(WARNING, "accounts", f"there is no operator: {advice}")
    taken = last_backup(settings)
    if taken is None:
        yield Finding(WARNING, "backup", "none is known: `tallymark backup FILE` takes one while the app runs")
    else:
        level = OK if now - taken["created"] <= _BACKUP_AGE else WARNING
        yield Finding(level, "backup", f"the last one is of {taken['created'].astimezone(UTC):%Y-%m-%d %H:%M} UTC")
