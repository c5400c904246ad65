"""The doctor: what it finds, and that it changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from tallymark.app.backup import take_backup
from tallymark.app.doctor import examine
from tallymark.app.settings import AppSettings
from tests.app.stage import BOTH, Stage, guess
from tests.waiting import LIMIT

pytestmark = pytest.mark.slow


def found(stage, level="problem", **settings):
    """The findings of one level, as text by their subjects."""
    given = AppSettings(**{**vars(stage.settings), **settings})
    return {each.subject: each.text for each in examine(given, stage.clock()) if each.level == level}


@BOTH
def test_a_healthy_app_has_no_findings(stage, tmp_path):
    """With an operator and a backup, and a folder that nobody else may open."""
    stage.clock.at = datetime.now(UTC)  # that of the database
    opal = stage.person("Opal", operator=True)
    stage.team(stage.challenge(opal), "Badgers").send(guess(20))
    os.chmod(stage.settings.folder, 0o700)
    assert set(found(stage, "warning")) == {"backup"}
    take_backup(stage.settings, tmp_path / "one.zip", stage.clock())
    assert found(stage, "warning") == found(stage) == {}
    stage.clock.move(days=8)
    assert set(found(stage, "warning")) == {"backup"}


@pytest.mark.parametrize(
    ("settings", "level", "why"),
    [
        ({"host": "0.0.0.0"}, "warning", "without a public URL"),
        ({"url": "http://scores.example.org"}, "warning", "sends passwords unencrypted"),
        ({"url": "https://scores.example.org/scores"}, "problem", "a host name of its own"),
        ({"url": "https://scores.example.org", "host": "0.0.0.0"}, "warning", "without the web server"),
        ({"url": "https://scores.example.org"}, "ok", "must pass on the Host header"),
        ({}, "ok", "for this machine only"),
    ],
)
def test_the_address_is_examined(stage, settings, level, why):
    """With advice for the web server in front of the app."""
    assert why in found(stage, level, **settings)["address"]


def test_problems_are_found(stage, player, monkeypatch):
    """A lost file, a clock that went back, an open folder, and a disk that is full."""
    key = player.send(guess(20))
    stage.service.files.path(stage.submission(key).file).unlink()
    os.chmod(stage.settings.folder, 0o755)
    os.chmod(stage.settings.folder / "tallymark.db", 0o644)
    stage.clock.move(days=-1)
    problems, warnings = found(stage), found(stage, "warning")
    assert "1 files of the database are missing" in problems["files"]
    assert "it is behind the database" in problems["clock"]
    assert "other users may read tallymark.db" in warnings["folder"]
    assert "there is no operator" in warnings["accounts"]

    class Usage:
        free = 1_000_000

    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage)
    assert "0.0 GB free" in found(stage)["disk"]


def test_an_app_that_never_ran_or_has_old_tables_is_found(tmp_path, stage):
    """Neither is created or migrated."""
    absent = examine(AppSettings(data=str(tmp_path / "none")), stage.clock())
    assert [each.subject for each in absent if each.level == "problem"] == ["folder", "database"]
    assert not (tmp_path / "none").exists()
    with stage.service.database.writing() as session:
        session.connection().exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    assert "its tables have version 0001" in found(stage)["database"]


def test_a_database_that_does_not_answer_is_a_problem(stage):
    """In one line."""
    problems = found(stage, database="postgresql://nobody@127.0.0.1:1/none")
    assert problems["database"].startswith("it does not answer: ")
    assert "\n" not in problems["database"]


def test_the_command_exits_with_1_for_problems_only(stage):
    """Lines for people, JSON for programs."""
    stage.clock.at = datetime.now(UTC)

    def doctor(*words):
        command = [sys.executable, "-m", "tallymark", "doctor", "--data", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)

    fine = doctor(str(stage.settings.folder))
    assert fine.returncode == 0, fine.stdout
    assert "warning  backup" in fine.stdout
    bad = doctor(str(stage.settings.folder / "none"), "--json")
    assert bad.returncode == 1
    assert {"level", "subject", "text"} == set(json.loads(bad.stdout)[0])


def test_the_page_of_operators_shows_the_findings(stage, player):
    """And how many submissions wait."""
    waiting = Stage(stage.settings.folder, direct_bytes=1, clock=stage.clock)
    player.stage = waiting
    player.send(guess(20))
    page = stage.client(stage.person("Opal", operator=True)).get("/operate").text
    assert "<dt>Waiting for scores</dt><dd>1</dd>" in page
    assert "none is known: `tallymark backup FILE`" in page
    waiting.close()
