"""An app on SQLite, or on each database that it works with; the PostgreSQL server is the tests' own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from sqlalchemy import create_engine, make_url, text

from tallymark.app.domain import accounts
from tallymark.app.settings import AppSettings
from tallymark.app.store.database import Database
from tallymark.app.store.models import Challenge, User
from tests.app.mail_server import MailServer, running_mail_server
from tests.app.postgres import running_postgres
from tests.app.stage import Player, Stage
from tests.waiting import until

_NUMBERS = count()
_VISITORS = text("SELECT count(*) FROM pg_stat_activity WHERE datname = :name")  # who keep a database from being copied


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[..., str]]:
    """A function that makes a database, empty or like another, and gives its URL."""
    with running_postgres() as url:
        engine = create_engine(AppSettings(database=url.format("postgres")).database_url, isolation_level="AUTOCOMMIT")

        def make(template: str | None = "template1") -> str:
            name = f"made{next(_NUMBERS)}"
            with engine.connect() as connection:
                until(lambda: not connection.scalar(_VISITORS, {"name": template}))
                connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
            return url.format(name)

        yield make
        engine.dispose()


@pytest.fixture(scope="session")
def postgres_with_tables(postgres: Callable[[], str]) -> Callable[[], str]:
    """A function that makes a database with all tables in it, by a copy."""
    first = postgres()
    _migrate(AppSettings(database=first).database_url)
    return lambda: postgres(make_url(first).database)


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite database with all tables in it, to be copied: to make them takes a while."""
    place = tmp_path_factory.mktemp("tables") / "tallymark.db"
    _migrate(f"sqlite:///{place}")
    return place


def _migrate(url: str) -> None:
    database = Database(url)
    database.migrate()
    database.close()


@pytest.fixture(scope="session", autouse=True)
def quick_hashes() -> Iterator[None]:
    """Hashes that take no time: how long they take is no matter of these tests."""
    quick = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "_HASHER", quick)
        patch.setattr(accounts, "_DUMMY_HASH", quick.hash("nobody has this password"))
        yield


@pytest.fixture
def database(request: pytest.FixtureRequest) -> str:
    """SQLite, unless the test asks for both by `BOTH`."""
    both = getattr(request, "param", "sqlite") == "postgresql"
    return request.getfixturevalue("postgres_with_tables")() if both else ""


@pytest.fixture
def make_stage(tmp_path: Path, database: str, tables: Path) -> Iterator[Callable[..., Stage]]:
    """A function that starts an app on the data of this test; a second one shares them."""
    (tmp_path / "data").mkdir()
    shutil.copy(tables, tmp_path / "data")
    with ExitStack() as stack:

        def make(**settings: Any) -> Stage:
            stage = Stage(tmp_path / "data", database, **settings)
            stack.callback(stage.close)
            return stage

        yield make


@pytest.fixture
def mail_server() -> Iterator[MailServer]:
    """A mail server on this machine."""
    with running_mail_server() as server:
        yield server


@pytest.fixture
def post(make_stage: Callable[..., Stage], mail_server: MailServer) -> Stage:
    """An app that sends mails."""
    return make_stage(smtp_url=f"smtp://127.0.0.1:{mail_server.port}", mail_from="scores@example.org")


@pytest.fixture
def stage(make_stage: Callable[..., Stage]) -> Stage:
    return make_stage()


@pytest.fixture
def host(stage: Stage) -> User:
    """An organiser."""
    return stage.person("Olga", organiser=True)


@pytest.fixture
def challenge(stage: Stage, host: User) -> Challenge:
    """A challenge with forty rows of three animals."""
    return stage.challenge(host)


@pytest.fixture
def player(stage: Stage, challenge: Challenge) -> Player:
    """A team that takes part in it."""
    return stage.team(challenge, "Badgers", stage.person("Ada"))


@pytest.fixture
def waiting(make_stage: Callable[..., Stage]) -> Player:
    """A team whose files all wait for the worker."""
    stage = make_stage(direct_bytes=1)
    return stage.team(stage.challenge(stage.person("Olga", organiser=True)), "Badgers")
