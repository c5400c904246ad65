"""The database: its tables are the models on SQLite and PostgreSQL, and SQLite holds what it promises."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from tallymark.app.settings import AppSettings
from tallymark.app.store.database import Database
from tallymark.app.store.files import FileStore
from tallymark.app.store.models import Base, Member, StoredFile, UtcDateTime
from tallymark.errors import ParameterError
from tests.app.stage import BOTH, Stage


@BOTH
def test_migrations_give_the_models(stage):
    """Nothing is in the models that is not in the database, and the other way round; to migrate twice is fine."""
    stage.service.database.migrate()
    with stage.service.database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, Base.metadata) == []
    assert stage.service.database.is_available()


@BOTH
def test_foreign_keys_are_enforced(stage, host):
    """A member of a team that is not there is refused."""
    with pytest.raises(IntegrityError), stage.service.database.writing() as session:
        session.add(Member(team_id=99, user_id=host.id, challenge_id=99))


@BOTH
def test_failed_transactions_leave_nothing(stage):
    """What was written before an error is not there afterwards."""
    with suppress(RuntimeError), stage.service.database.writing() as session:
        session.add(StoredFile(hash="a" * 64, size=1, created=stage.clock()))
        session.flush()
        raise RuntimeError
    with stage.service.database.reading() as session:
        assert session.get(StoredFile, "a" * 64) is None


@BOTH
def test_moments_keep_their_time(stage):
    """A moment comes back in UTC to the microsecond; one without a time zone is refused."""
    at = stage.clock().replace(microsecond=123456)
    with stage.service.database.writing() as session:
        session.add(StoredFile(hash="b" * 64, size=1, created=at))
    with stage.service.database.reading() as session:
        assert session.get_one(StoredFile, "b" * 64).created == at
    with pytest.raises(ValueError, match="time zone"):
        UtcDateTime().process_bind_param(at.replace(tzinfo=None), stage.service.database.engine.dialect)


def test_sqlite_connections_write_ahead_and_sync(stage):
    """Every connection writes ahead, waits for the disk, and waits for other writers."""
    with stage.service.database.engine.connect() as connection:
        found = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30_000}


@pytest.mark.slow
def test_two_starts_migrate_once(postgres):
    """Servers that start on an empty PostgreSQL at the same time wait for each other."""
    url = AppSettings(database=postgres()).database_url
    databases = [Database(url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(Database.migrate, databases))
    assert all(each.is_available() for each in databases)
    for each in databases:
        each.close()


@pytest.mark.parametrize("url", ["mysql://x/y", "no url at all"])
def test_other_databases_are_refused(url):
    """A database that the app does not know is told by the name of the setting."""
    with pytest.raises(ParameterError, match="`database` must be a URL"):
        Database(url)


def test_files_are_kept_once(tmp_path):
    """The same content has one place, whatever pieces it came in, and is there whole."""
    files = FileStore(tmp_path)
    one, other = files.store([b"ab", b"c"]), files.store([b"abc"])
    assert one == other
    assert one.size == 3
    assert files.read(one.hash) == b"abc"
    assert len([each for each in (tmp_path / "files").rglob("*") if each.is_file()]) == 1


def test_half_a_file_is_none(tmp_path):
    """A stream that breaks leaves nothing behind."""

    def breaks():
        yield b"half"
        raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        FileStore(tmp_path).store(breaks())
    assert list((tmp_path / "files").rglob("*")) == []


@pytest.mark.parametrize("name", ["../../etc/passwd", "A" * 64, "a" * 63, "a" * 62 + "/."])
def test_files_have_no_other_names(tmp_path, name):
    """What is no hash names no file."""
    with pytest.raises(ValueError, match="hash"):
        FileStore(tmp_path).path(name)


def test_a_second_app_sees_what_the_first_wrote(make_stage):
    """Two services on one folder share its data."""
    first, second = make_stage(), make_stage()
    assert isinstance(second, Stage)
    made = first.person("Ada")
    with second.service.database.reading() as session:
        assert session.get_one(type(made), made.id).name == "Ada"


def test_a_folder_that_exists_keeps_its_mode(tmp_path):
    """One that the app creates, and whatever it puts into either, is for its user only."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o755)
    for name, mode in (("shared", 0o755), ("own", 0o700)):
        stage = Stage(tmp_path / name)
        stage.person("Ada")
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == mode
        assert {stat.S_IMODE(each.stat().st_mode) & 0o077 for each in (tmp_path / name).iterdir()} == {0}
        stage.close()
