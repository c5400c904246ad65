"""Data folders of the app, as each release leaves them on SQLite.

`python -m tests.app.stored_folders` stores one of the present version in `stored`, at each version of its tables that
has none. What a release wrote must work in all later ones.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import select

import tallymark as tm
from tallymark.app.domain import accounts, teams
from tallymark.app.store.database import Database, alembic_config
from tallymark.app.store.models import Challenge, Submission
from tests.app.stage import ROWS, Player, Stage, guess, table, truth

STORED = Path(__file__).with_name("stored")
PASSWORD = "correct horse battery"
PARTS = ("public", "private")


def fill(folder: Path) -> dict[str, Any]:
    """Make a folder with challenges, teams and submissions, of which one waits; gives what it must show later."""
    stage, waiting = Stage(folder), Stage(folder, direct_bytes=1)
    host = stage.person("Olga", organiser=True)
    invitation = accounts.create_invitation(stage.service, host, organiser=False)
    ada = accounts.sign_up(stage.service, "Ada", PASSWORD, PASSWORD, invitation)

    rows = [f"r{n:03},{each},{'public' if n < 20 else 'private'}" for n, each in enumerate(truth())]
    answers = "\n".join(["row_id,label,part", *rows, ""]).encode()
    parted = stage.challenge(host, answers, split="column", split_column="part", slug="animals")
    badgers, otters = stage.team(parted, "Badgers", ada), stage.team(parted, "Otters")
    finals = [badgers.send(guess(right), note=f"{right} right") for right in (30, 22)]
    teams.choose_finals(stage.service, parted, badgers.team.id, finals[1:])
    otters.send(guess(25))
    otters.send(b"row_id,label\nr000,lynx\nr000,otter\n")
    stage.team(parted, "Always lynx", host).send(["lynx"] * ROWS)

    numbers = stage.challenge(
        host, table(range(ROWS)), title="Numbers", slug="numbers", task="numbers", metrics="rmse\nr2"
    )
    for name, error in (("Near", 1), ("Far", 3)):
        stage.team(numbers, name).send([n + error * (-1) ** n for n in range(ROWS)])
    stage.work()

    found = {"scores": scores(stage), "boards": boards(stage), "session": accounts.create_sign_in(stage.service, ada)}
    pending = Player(waiting, parted, otters.team, otters.user).send(guess(28), note="waits")
    stage.close()
    waiting.close()
    return {**found, "pending": pending}


def scores(stage: Stage) -> dict[str, Any]:
    """The scores of every scored submission, by key and part."""
    keys = stage.all(select(Submission.key).where(Submission.state == "scored").order_by(Submission.id))
    return {key: {part: stage.scores(key, part) for part in PARTS} for key in keys}


def boards(stage: Stage) -> dict[str, Any]:
    """The teams on every leaderboard, by challenge and part."""
    return {each.slug: {part: stage.board(each, part) for part in PARTS} for each in stage.all(select(Challenge))}


def take_back(folder: Path, revision: str) -> None:
    """Give the folder the tables of an earlier revision, with the rows that they had then."""
    newest, file = folder / "newest.db", folder / "tallymark.db"
    file.rename(newest)
    database = Database(f"sqlite:///{file}")
    with database.engine.execution_options(writes=True).connect() as connection, connection.begin():
        command.upgrade(alembic_config(connection), revision)
    database.close()
    with sqlite3.connect(file) as connection:
        connection.execute("ATTACH ? AS newest", [str(newest)])
        for (name,) in connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall():
            if name != "alembic_version":
                columns = [
                    {row[1] for row in connection.execute(f"PRAGMA {schema}.table_info({name})")}
                    for schema in ("main", "newest")
                ]
                listed = ", ".join(f'"{column}"' for column in sorted(columns[0] & columns[1]))
                connection.execute(f"INSERT INTO main.{name} ({listed}) SELECT {listed} FROM newest.{name}")
    connection.close()
    newest.unlink()


def revisions() -> list[str]:
    """All versions of the tables, the newest first."""
    database = Database("sqlite://")
    with database.engine.connect() as connection:
        return [each.revision for each in ScriptDirectory.from_config(alembic_config(connection)).walk_revisions()]


if __name__ == "__main__":
    STORED.mkdir(exist_ok=True)
    for place, revision in enumerate(revisions()):
        name = f"{tm.__version__}-{revision}"
        if not list(STORED.glob(f"*-{revision}.zip")):
            with tempfile.TemporaryDirectory() as made:
                expected = fill(Path(made))
                if place:
                    take_back(Path(made), revision)
                shutil.make_archive(str(STORED / name), "zip", made)
            (STORED / f"{name}.json").write_text(json.dumps(expected, indent=2) + "\n")
