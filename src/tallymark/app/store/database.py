"""The database: how it is opened, brought to the newest form, read and written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.orm import Session, sessionmaker

from tallymark.errors import ParameterError
from tallymark.optional_packages import needed

_WAIT = 30  # seconds for another writer
_MIGRATIONS = Path(__file__).with_name("migrations")
_LOCK = 0x7A11  # of PostgreSQL, so that of several servers that start one migrates


class Database:
    """A SQLite or PostgreSQL database. Writing transactions take their lock when they begin: check, then insert."""

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)
        reader = self.engine if self.is_sqlite else self.engine.execution_options(isolation_level="REPEATABLE READ")
        self._sessions = sessionmaker(reader, expire_on_commit=False)
        self._writers = sessionmaker(self.engine.execution_options(writes=True), expire_on_commit=False)

    @property
    def is_sqlite(self) -> bool:
        """Whether this is SQLite, which one process at a time should serve."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A transaction that only reads, and sees one state of everything."""
        with self._sessions() as session:
            yield session  # closing it leaves what was read as it is

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A transaction that is committed at its end, or leaves nothing behind."""
        with self._writers.begin() as session:
            yield session

    def migrate(self) -> None:
        """Bring the tables to their newest form."""
        with self.engine.execution_options(writes=True).connect() as connection, connection.begin():
            if not self.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            command.upgrade(alembic_config(connection), "head")

    def works(self) -> bool:
        """Whether the database answers."""
        try:
            with self.reading() as session:
                session.execute(text("SELECT 1 FROM users LIMIT 1"))
        except SQLAlchemyError:
            return False
        return True

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def dialect_insert(session: Session) -> Any:
    """The `insert` of the session's database, which knows what to do where a row is there already."""
    return (postgresql if session.get_bind().dialect.name == "postgresql" else sqlite).insert


def alembic_config(connection: Connection) -> Config:
    """What alembic needs to know to work on a connection."""
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise ParameterError(argument="database", expected="be a URL such as postgresql://name@host/database") from None
    backend = parsed.get_backend_name()
    if backend not in ("sqlite", "postgresql"):
        raise ParameterError(argument="database", expected="be a URL of PostgreSQL or SQLite", got=f"one of {backend}")
    if backend == "postgresql":
        with needed("a PostgreSQL database", "psycopg", extra="postgres"):
            return create_engine(parsed, pool_pre_ping=True, pool_size=10, max_overflow=20)
    engine = create_engine(parsed, connect_args={"timeout": _WAIT, "check_same_thread": False})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _: object) -> None:
    """SQLite that loses nothing at a power cut, and lets others read while one writes."""
    connection.isolation_level = None  # transactions begin where we say so
    cursor = connection.cursor()
    for line in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", f"busy_timeout={1000 * _WAIT}"):
        cursor.execute(f"PRAGMA {line}")
    cursor.close()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
