"""The database: connections, migrations, and transactions that read or write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.orm import Session, sessionmaker

from tallymark.errors import ParameterError
from tallymark.optional_packages import needed

_BUSY_TIMEOUT = 30  # seconds to wait for another writer
_MIGRATIONS = Path(__file__).with_name("migrations")
_MIGRATION_LOCK = 0x7A11  # in PostgreSQL: of several servers that start together, one migrates
_ACCOUNTS_LOCK = 0x7A12  # in PostgreSQL: of several changes that depend on all accounts, one is made at a time


class Database:
    """A SQLite or PostgreSQL database, for the same code.

    On SQLite, a writing transaction takes the lock of the database when it begins. On PostgreSQL, transactions lock the
    rows that they decide on. Either way, code that checks and then inserts is safe.
    """

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)
        reader = self.engine if self.is_sqlite else self.engine.execution_options(isolation_level="REPEATABLE READ")
        self._sessions = sessionmaker(reader, expire_on_commit=False)
        self._writers = sessionmaker(self.engine.execution_options(writes=True), expire_on_commit=False)

    @property
    def is_sqlite(self) -> bool:
        """Whether this is SQLite, which one process at a time should use."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A transaction that only reads, from one snapshot."""
        with self._sessions() as session:
            yield session  # objects stay readable after it is closed

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A transaction that is committed at its end, or leaves nothing behind."""
        with self._writers.begin() as session:
            yield session

    def migrate(self) -> None:
        """Migrate the tables to the newest version."""
        with self.engine.execution_options(writes=True).connect() as connection, connection.begin():
            if not self.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
            command.upgrade(alembic_config(connection), "head")

    def versions(self) -> tuple[str | None, str | None]:
        """The version of the tables, None where there are none, and the newest version."""
        with self.engine.connect() as connection:
            current = MigrationContext.configure(connection).get_current_revision()
            return current, ScriptDirectory.from_config(alembic_config(connection)).get_current_head()

    def is_available(self) -> bool:
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
    """The `insert` of the session's database, which has `on_conflict_do_update`."""
    return (postgresql if session.get_bind().dialect.name == "postgresql" else sqlite).insert


def lock_accounts(session: Session) -> None:
    """Let no other transaction that calls this go on until this one ends: for rules about all accounts, such as which
    names are free. On SQLite, writing transactions have the database to themselves."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ACCOUNTS_LOCK})


def alembic_config(connection: Connection) -> Config:
    """The configuration of alembic for a connection."""
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
    engine = create_engine(parsed, connect_args={"timeout": _BUSY_TIMEOUT, "check_same_thread": False})
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_transaction)
    return engine


def _configure_sqlite(connection: Any, _: object) -> None:
    """Make SQLite durable across power cuts, and let others read while one writes."""
    connection.isolation_level = None  # `_begin_transaction` begins transactions
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", f"busy_timeout={1000 * _BUSY_TIMEOUT}"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_transaction(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
