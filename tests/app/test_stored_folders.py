"""Data folders of earlier releases: their tables are migrated, and everything in them works."""

from __future__ import annotations

import json
import shutil

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import select, update

from tallymark.app.domain import accounts
from tallymark.app.http.request_context import SESSION_COOKIE
from tallymark.app.store.models import Base, Challenge, Member, Submission, Team, User
from tests.app.stage import ROWS, Player, Stage
from tests.app.stored_folders import PASSWORD, STORED, boards, revisions, scores

FOLDERS = pytest.mark.parametrize("path", sorted(STORED.glob("*.zip")), ids=lambda path: path.stem)


@pytest.fixture
def opened(path, tmp_path):
    """The app on a stored folder, and what the folder must show."""
    shutil.unpack_archive(path, tmp_path / "data")
    stage = Stage(tmp_path / "data")
    yield stage, json.loads(path.with_suffix(".json").read_text())
    stage.close()


@FOLDERS
def test_scores_and_leaderboards_are_as_they_were(opened):
    """The tables are those of today, and a file that waited is scored."""
    stage, expected = opened
    with stage.service.database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    assert scores(stage) == expected["scores"]
    assert stage.submission(expected["pending"]).state == "queued"
    stage.work()
    assert boards(stage) == expected["boards"]
    assert stage.scores(expected["pending"])["accuracy"] == 1
    assert {key: found for key, found in scores(stage).items() if key != expected["pending"]} == expected["scores"]


@FOLDERS
def test_people_sign_in_and_take_part(opened):
    """Passwords and sign-ins are valid, pages show what was sent, and a better file leads."""
    stage, expected = opened
    stage.work()
    assert accounts.sign_in(stage.service, "Ada", PASSWORD)
    client = stage.client(cookies={SESSION_COOKIE: expected["session"]})
    [challenge] = stage.all(select(Challenge).where(Challenge.slug == "numbers"))
    [team] = stage.all(select(Team).where(Team.name == "Far"))
    for page in ("/challenges/animals", "/challenges/animals/leaderboard", "/challenges/animals/mine"):
        assert client.get(page).status_code == 200, page
    [own] = stage.all(select(Submission.key).where(Submission.note == "30 right"))
    for page in (f"/submissions/{own}", f"/submissions/{own}/report"):
        assert "accuracy" in client.get(page).text, page
    assert stage.client().get(f"/submissions/{own}").status_code != 200
    [member] = stage.all(select(User).join(Member, Member.user_id == User.id).where(Member.team_id == team.id))
    Player(stage, challenge, team, member).send(list(range(ROWS)))
    assert stage.board(challenge) == ["Far", "Near"]
    assert expected["boards"]["numbers"]["public"] == ["Near", "Far"]


@pytest.mark.parametrize("path", [STORED / "0.1.0-0004.zip"])
def test_challenges_from_before_drafts_show_their_private_part_when_they_are_over(opened):
    """They are published, and closing reveals, as it did."""
    stage, _ = opened
    stage.work()
    board = "/challenges/animals/leaderboard?part=private"
    assert stage.client().get(board).status_code == 404
    with stage.service.database.writing() as session:
        session.execute(update(Challenge).where(Challenge.slug == "animals").values(closed=stage.clock()))
    assert stage.client().get(board).status_code == 200


def test_each_version_of_the_tables_is_stored():
    """Add the newest with: python -m tests.app.stored_folders."""
    assert {path.stem.rpartition("-")[2] for path in STORED.glob("*.zip")} == set(revisions())
