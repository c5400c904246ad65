"""Backups: one file with the database and all files that it refers to, taken while the app runs.

The database is copied first, from one snapshot. Files are stored under their hashes and never change, so those that the
copy refers to can be read afterwards. `manifest.json` has the hash of every part, and is written last.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from sqlalchemy import create_engine, inspect, make_url, select, text
from sqlalchemy.engine import URL

from tallymark import __version__
from tallymark.app.settings import AppSettings
from tallymark.app.store.database import Database
from tallymark.app.store.files import FileStore
from tallymark.app.store.models import StoredFile
from tallymark.errors import FileError, ParameterError

FORMAT = "tallymark backup 1"
_MANIFEST = "manifest.json"
_LAST = "backup.json"  # in the data folder: when the last backup was taken
_DATABASE = {"sqlite": "database.db", "postgresql": "database.dump"}
_RESTORED = ".restored"  # in the data folder: a database that is not complete yet
_CHUNK = 1 << 20  # bytes
_PART = re.compile(r"files/[0-9a-f]{2}/[0-9a-f]{62}|database\.(db|dump)")


class Backup(NamedTuple):
    """A backup that was taken or restored: how many files it has, its size, and the hashes of files that it lacks."""

    files: int
    size: int
    missing: list[str]


def take_backup(settings: AppSettings, path: Path, now: datetime) -> Backup:
    """Write a backup to a new file, which is complete or absent."""
    if path.exists():
        raise FileError(f"`{path}` exists already; a backup does not overwrite it")
    database, store = Database(settings.database_url), FileStore(settings.folder)
    try:
        with _new_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            kind = database.engine.dialect.name
            with _copy_of(database, settings, path.absolute().parent) as (copied, hashes, version):
                parts = {_DATABASE[kind]: _add(archive, _DATABASE[kind], copied)}
            missing = []
            for each in hashes:
                name = f"files/{each[:2]}/{each[2:]}"
                try:
                    found = _add(archive, name, store.path(each))
                except FileNotFoundError:
                    missing.append(each)
                    continue
                parts[name] = found
                if found["sha256"] != each:
                    missing.append(each)
            about = {"format": FORMAT, "tallymark": __version__, "database": kind, "tables": version}
            manifest = {**about, "created": now.isoformat(timespec="seconds"), "missing": missing, "parts": parts}
            archive.writestr(_MANIFEST, json.dumps(manifest, indent=1))
    finally:
        database.close()
    last = {"created": manifest["created"], "file": str(path.absolute()), "size": path.stat().st_size}
    (settings.folder / _LAST).write_text(json.dumps(last))
    return Backup(len(parts) - 1, path.stat().st_size, missing)


def last_backup(settings: AppSettings) -> dict[str, Any] | None:
    """When the last backup of this folder was taken, its path and its size; None where none is known."""
    try:
        found = json.loads((settings.folder / _LAST).read_text())
        return {"created": datetime.fromisoformat(found["created"]), "file": found["file"], "size": found["size"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """A file that only its owner can read, and that has its name once it is complete."""
    handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def _copy_of(database: Database, settings: AppSettings, folder: Path) -> Iterator[tuple[Path, list[str], str]]:
    """A copy of the database, the hashes of the files that it refers to, and the version of its tables."""
    hashes, version = select(StoredFile.hash).order_by(StoredFile.hash), text("SELECT version_num FROM alembic_version")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".tallymark-backup-") as place:
        copied = Path(place) / "database"
        if database.is_sqlite:
            with (
                closing(sqlite3.connect(_sqlite_path(settings))) as source,
                closing(sqlite3.connect(copied)) as target,
            ):
                source.backup(target)
                target.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
            engine = create_engine(f"sqlite:///{copied}")
            try:
                with engine.connect() as connection:
                    yield copied, list(connection.scalars(hashes)), connection.execute(version).scalar_one()
            finally:
                engine.dispose()
            return
        reader = database.engine.execution_options(isolation_level="REPEATABLE READ")
        with reader.connect() as connection:
            snapshot = connection.execute(text("SELECT pg_export_snapshot()")).scalar_one()
            url = make_url(settings.database_url)
            words = ["--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}", f"--file={copied}"]
            _run("pg_dump", url, *words)
            yield copied, list(connection.scalars(hashes)), connection.execute(version).scalar_one()


def _sqlite_path(settings: AppSettings) -> str:
    return make_url(settings.database_url).database or ""


def _run(program: str, url: URL, *words: str) -> None:
    """Run a program of PostgreSQL on a database; its password is not on the command line."""
    if shutil.which(program) is None:
        raise ParameterError(
            f"a PostgreSQL database needs the program {program}; install it (on Debian: apt install postgresql-client)"
        )
    shown = url.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
    environment = {**os.environ, **({} if url.password is None else {"PGPASSWORD": str(url.password)})}
    done = subprocess.run([program, *words, f"--dbname={shown}"], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise ParameterError(f"{program} failed: {' '.join(done.stderr.split())}")


def _add(archive: zipfile.ZipFile, name: str, path: Path) -> dict[str, Any]:
    """Add a file; its hash and size as they were written."""
    with path.open("rb") as source, archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as target:
        return _copy(source.read, target.write)


def _copy(read: Callable[[int], bytes], write: Callable[[bytes], object]) -> dict[str, Any]:
    digest, size = hashlib.sha256(), 0
    while chunk := read(_CHUNK):
        digest.update(chunk)
        size += len(chunk)
        write(chunk)
    return {"sha256": digest.hexdigest(), "size": size}


def restore_backup(settings: AppSettings, path: Path) -> Backup:
    """Restore a backup into an empty folder and, where it is PostgreSQL, an empty database.

    Every part is compared with its hash before the database, which makes the folder an app's, is put in its place.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _read_manifest(archive, path)
            _require_same_kind(settings, manifest)
            _require_empty(settings)
            settings.folder.mkdir(0o700, parents=True, exist_ok=True)
            try:
                return _restore(settings, archive, manifest, path)
            except BaseException:  # the folder was empty, so that another attempt can be made
                shutil.rmtree(settings.folder / "files", ignore_errors=True)
                (settings.folder / _RESTORED).unlink(missing_ok=True)
                raise
    except (zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, why: str) -> FileError:
    return FileError(f"`{path}` is not a complete backup: {why}")


def _read_manifest(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(archive.read(_MANIFEST))
        known, names = manifest["format"] == FORMAT, set(manifest["parts"])
        database = _DATABASE[manifest["database"]]
    except (KeyError, ValueError, TypeError) as error:
        raise _damaged(path, f"it has no valid {_MANIFEST}") from error
    if not known:
        raise FileError(f"`{path}` has the format {manifest['format']!r}; this tallymark reads {FORMAT!r}")
    if database not in names or not all(map(_PART.fullmatch, names)):
        raise _damaged(path, f"its {_MANIFEST} names other files than a backup has")
    absent = names - set(archive.namelist())
    if absent:
        raise _damaged(path, f"{min(absent)} is missing")
    return dict(manifest)


def _require_same_kind(settings: AppSettings, manifest: dict[str, Any]) -> None:
    kind = make_url(settings.database_url).get_backend_name()
    if kind != manifest["database"]:
        advice = "name a PostgreSQL database with `--database`" if kind == "sqlite" else "leave out `--database`"
        raise ParameterError(f"this is the backup of a {manifest['database']} database: {advice}")


def _require_empty(settings: AppSettings) -> None:
    held = sorted(each.name for each in settings.folder.iterdir()) if settings.folder.exists() else []
    if held:
        raise ParameterError(
            argument="data", expected="be an empty or new folder", got=f"{settings.data!r}, which has {held[0]}"
        )
    if make_url(settings.database_url).get_backend_name() == "sqlite" and not os.path.exists(_sqlite_path(settings)):
        return
    database = Database(settings.database_url)
    try:
        tables = len(inspect(database.engine).get_table_names())
    finally:
        database.close()
    if tables:
        raise ParameterError(argument="database", expected="be an empty database", got=f"one with {tables} tables")


def _restore(settings: AppSettings, archive: zipfile.ZipFile, manifest: dict[str, Any], path: Path) -> Backup:
    store, parts = FileStore(settings.folder), dict(manifest["parts"])
    database = _DATABASE[manifest["database"]]
    copied = settings.folder / _RESTORED
    for name, expected in parts.items():
        with archive.open(name) as source:
            if name == database:
                with os.fdopen(os.open(copied, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
                    found = _copy(source.read, target.write)
                    os.fsync(target.fileno())
            else:
                found = store.store(iter(lambda read=source.read: read(_CHUNK), b""))._asdict()  # type: ignore[misc]
                found["sha256"] = found.pop("hash")
        if found != expected:
            raise _damaged(path, f"{name} differs from its hash")
    if manifest["database"] == "sqlite":
        os.replace(copied, _sqlite_path(settings))
    else:
        url = make_url(settings.database_url)
        _run("pg_restore", url, "--no-owner", "--exit-on-error", "--single-transaction", str(copied))
        copied.unlink()
    return Backup(len(parts) - 1, path.stat().st_size, list(manifest["missing"]))
