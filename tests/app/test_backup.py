"""Backups: taken while files are uploaded, compared by their hashes, and restored to the same leaderboards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import zipfile
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from tallymark.app.backup import last_backup, restore_backup, take_backup
from tallymark.app.settings import AppSettings
from tallymark.app.store.models import LeaderboardEntry, StoredFile, StoredScore, Submission, Team
from tallymark.errors import FileError, ParameterError
from tests.app.stage import BOTH, Stage, guess
from tests.waiting import LIMIT, until

pytestmark = pytest.mark.slow
NOW = datetime(2027, 3, 1, 12, tzinfo=UTC)


def content(stage):
    """Each submission with its file, and its scores to the last bit; each leaderboard."""
    submissions = {(each.key, each.file, each.state, each.note) for each in stage.all(select(Submission))}
    scores = {
        (each.submission_id, each.part, each.name, float(each.value).hex()) for each in stage.all(select(StoredScore))
    }
    board = [
        (each.part, each.place, each.best_rank, each.worst_rank, each.team_id, each.submission_id)
        for each in stage.all(select(LeaderboardEntry).order_by(LeaderboardEntry.part, LeaderboardEntry.place))
    ]
    return submissions, scores, board


@pytest.fixture
def empty_database(request, database):
    """Where a backup is restored to: an empty database of the same kind."""
    return request.getfixturevalue("postgres")() if database else ""


@BOTH
def test_a_backup_during_uploads_restores_the_same_board(stage, challenge, database, empty_database, tmp_path):
    """It has a moment of the uploads: every submission in it with its file, and the scores that the app gave it."""
    players = [stage.team(challenge, f"Team {name}") for name in "ABC"]
    stop, sent = threading.Event(), []

    def upload(player, first):
        for right in range(first, 40):
            if stop.is_set():
                return
            sent.append(player.send(guess(right), note=f"{right} right"))
            stage.clock.move(days=1)  # another quota

    threads = [threading.Thread(target=upload, args=(player, k)) for k, player in enumerate(players)]
    for thread in threads:
        thread.start()
    until(lambda: len(sent) >= 3)
    path = tmp_path / "backup.zip"
    backup = take_backup(stage.settings, path, NOW)
    stop.set()
    for thread in threads:
        thread.join()
    stage.work()
    assert backup.missing == []
    assert path.stat().st_mode & 0o777 == 0o600
    assert last_backup(stage.settings) == {"created": NOW, "file": str(path), "size": path.stat().st_size}

    restored = AppSettings(data=str(tmp_path / "restored"), database=empty_database)
    assert restore_backup(restored, path).files == backup.files
    other = Stage(restored.folder, empty_database, stage.clock)
    other.work()
    files = other.all(select(StoredFile.hash))
    assert [each for each in files if not other.service.files.path(each).is_file()] == []
    copied, whole = content(other), content(stage)
    assert copied[0] <= whole[0]
    assert copied[1] <= whole[1]
    assert {each.state for each in other.all(select(Submission))} == {"scored"}
    assert len(other.board(challenge)) >= 1
    second = tmp_path / "second.zip"
    take_backup(stage.settings, second, NOW)
    other.close()
    if not database:
        again = AppSettings(data=str(tmp_path / "again"))
        restore_backup(again, second)
        last = Stage(again.folder)
        assert content(last) == whole
        last.close()


@BOTH
def test_a_backup_restores_the_same_data(stage, player, database, empty_database, tmp_path):
    """Hash for hash; and never into what holds data already."""
    for right in (20, 30):
        player.send(guess(right))
    path = tmp_path / "backup.zip"
    take_backup(stage.settings, path, NOW)
    settings = AppSettings(data=str(tmp_path / "restored"), database=empty_database)
    restore_backup(settings, path)
    assert settings.folder.stat().st_mode & 0o777 == 0o700
    other = Stage(settings.folder, empty_database, stage.clock)
    assert content(other) == content(stage)
    assert [each.code for each in other.all(select(Team))] == [player.team.code]
    other.close()
    with pytest.raises(ParameterError, match="`data` must be an empty or new folder"):
        restore_backup(settings, path)
    if database:
        elsewhere = AppSettings(data=str(tmp_path / "third"), database=empty_database)
        with pytest.raises(ParameterError, match="`database` must be an empty database"):
            restore_backup(elsewhere, path)
        with pytest.raises(ParameterError, match="backup of a postgresql database"):
            restore_backup(AppSettings(data=str(tmp_path / "third")), path)


def test_a_damaged_backup_is_refused_and_leaves_nothing(stage, player, tmp_path):
    """A changed part, a manifest with other names, a file that is cut off, and one that is no backup."""
    player.send(guess(20))
    path = tmp_path / "backup.zip"
    take_backup(stage.settings, path, NOW)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(parts["manifest.json"])
    one = next(name for name in parts if name.startswith("files/"))

    def refused(why, **changed):
        bad = tmp_path / "bad.zip"
        with zipfile.ZipFile(bad, "w") as archive:
            for name, part in {**parts, **changed}.items():
                if part is not None:
                    archive.writestr(name, part)
        check(bad, why)

    def check(bad, why):
        settings = AppSettings(data=str(tmp_path / "restored"))
        with pytest.raises(FileError, match=why):
            restore_backup(settings, bad)
        assert not settings.folder.exists() or list(settings.folder.iterdir()) == []

    refused("differs from its hash", **{one: b"other"})
    refused("differs from its hash", **{"database.db": parts["database.db"][:-1]})
    refused("is missing", **{one: None})
    refused("has no valid manifest", **{"manifest.json": None})
    outside = {**manifest["parts"], "../outside": manifest["parts"][one]}
    refused("names other files", **{"manifest.json": json.dumps({**manifest, "parts": outside}), "../outside": b"x"})
    refused("has the format", **{"manifest.json": json.dumps({**manifest, "format": "tallymark backup 2"})})
    (tmp_path / "cut.zip").write_bytes(path.read_bytes()[:-100])
    check(tmp_path / "cut.zip", "is not a complete backup")
    assert not (tmp_path / "outside").exists()


def test_the_command_line_reports_missing_files(stage, player, tmp_path):
    """The rest is in the backup; an existing file is never overwritten."""
    key = player.send(guess(20))
    stage.service.files.path(stage.submission(key).file).unlink()
    os.chmod(stage.settings.folder, 0o750)

    def run(*words):
        command = [sys.executable, "-m", "tallymark", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, cwd=tmp_path)

    taken = run("backup", "one.zip", "--data", str(stage.settings.folder))
    assert taken.returncode == 1
    assert "is missing or damaged" in taken.stderr
    assert taken.stdout.startswith("one.zip: the database and ")
    again = run("backup", "one.zip", "--data", str(stage.settings.folder))
    assert (again.returncode, "exists already" in again.stderr) == (2, True)
    restored = run("restore", "one.zip", "--data", "new")
    assert restored.returncode == 1
    assert "the backup lacks the file" in restored.stderr
    assert run("admin", "list", "--data", "new").returncode == 0
    assert stage.settings.folder.stat().st_mode & 0o777 == 0o750  # as it was
    assert run("restore", "none.zip", "--data", "x").returncode == 2


def test_a_backup_is_taken_before_an_upgrade(stage, tmp_path):
    """Of tables that this version would migrate; what is no database and what does not answer is told in a sentence."""

    def run(*words):
        command = [sys.executable, "-m", "tallymark", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, cwd=tmp_path)

    with stage.service.database.writing() as session:
        session.connection().exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    data = ("--data", str(stage.settings.folder))
    assert run("backup", "old.zip", *data).returncode == 0
    assert "the tables have version 0001" in run("admin", "list", *data).stderr
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "tallymark.db").touch()
    for words in (("--data", "empty"), (*data, "--database", "postgresql://nobody@127.0.0.1:1/none")):
        refused = run("backup", "none.zip", *words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith("tallymark: the database does not answer: ")
        assert len(refused.stderr.splitlines()) == 1
    assert [each.name for each in tmp_path.glob("*.zip")] == ["old.zip"]
