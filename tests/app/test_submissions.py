"""Submissions: when they are accepted, what is stored of them, and what new versions do to them."""

from __future__ import annotations

import io

import pytest
from sqlalchemy import func, select

from tallymark.app.domain import challenges, drafts
from tallymark.app.domain.errors import ConflictError
from tallymark.app.store.models import Challenge, StoredFile, StoredScore, Submission, Version
from tests.app.stage import BOTH, FORM, ROWS, guess, table, truth


def _now(stage, challenge):
    """The challenge as it is in the database."""
    with stage.service.database.reading() as session:
        return session.get_one(Challenge, challenge.id)


@BOTH
def test_before_it_opens_nothing_is_taken(stage, host):
    """A challenge takes files from the moment that it opens."""
    challenge = stage.challenge(host, opens="2027-03-01T12:01")
    player = stage.team(challenge, "Early")
    with pytest.raises(ConflictError, match="not open yet"):
        player.send(guess(5))
    stage.clock.move(minutes=1)
    player.send(guess(5))


@BOTH
def test_after_the_deadline_nothing_is_taken(stage, host):
    """The deadline itself is too late."""
    challenge = stage.challenge(host, deadline="2027-03-01T13:00")
    player = stage.team(challenge, "Slow")
    stage.clock.move(minutes=59, seconds=59)
    player.send(guess(5))
    stage.clock.move(seconds=1)
    with pytest.raises(ConflictError, match="closed"):
        player.send(guess(6))


@BOTH
def test_late_files_are_marked_and_not_ranked(stage, host):
    """Where late files are taken they are scored and marked, but they change no place."""
    challenge = stage.challenge(host, deadline="2027-03-01T13:00", late="mark")
    one, other = stage.team(challenge, "In time"), stage.team(challenge, "Late")
    one.send(guess(5))
    stage.clock.move(hours=1)
    keys = [one.send(guess(30)), other.send(guess(40))]
    assert [(stage.submission(key).state, stage.submission(key).late) for key in keys] == [("scored", True)] * 2
    assert stage.board(challenge) == ["In time"]
    page = other.client().get(f"/submissions/{keys[1]}").text
    assert "after the deadline and is not ranked" in page


@BOTH
def test_a_closed_challenge_takes_nothing_until_it_is_reopened(stage, host):
    """A closed challenge takes nothing, not even late files; opened again, it does."""
    challenge = stage.challenge(host, late="mark")
    player = stage.team(challenge, "Team")
    challenges.set_closed(stage.service, host, challenge, closed=True)
    with pytest.raises(ConflictError, match="closed"):
        player.send(guess(5))
    challenges.set_closed(stage.service, host, challenge, closed=False)
    assert stage.submission(player.send(guess(5))).late is False


@BOTH
def test_a_new_version_scores_everything_again(stage, challenge, player, host):
    """Other answers are a new version: once it is applied its scores rank, and those of the old one stay."""
    other = stage.team(challenge, "Otters")
    keys = [player.send(guess(28)), other.send(guess(20))]
    before = [stage.scores(key)["accuracy"] for key in keys]
    turned = guess(20)  # what the second team has said
    challenges.replace_answers(stage.service, host, challenge, io.BytesIO(table(turned)), "a mistake")
    for path in ("", "/leaderboard"):  # while they wait
        assert stage.client().get(f"/challenges/{challenge.slug}{path}").status_code == 200
    assert player.client().get(f"/submissions/{keys[0]}").status_code == 200
    assert stage.board(challenge) == ["Badgers", "Otters"]
    stage.apply(challenge, host)
    versions = stage.all(select(Version).order_by(Version.number))
    assert [(each.number, each.note) for each in versions] == [(1, ""), (2, "a mistake")]
    assert versions[0].answers != versions[1].answers
    assert stage.board(challenge) == ["Otters", "Badgers"]
    for key, old in zip(keys, before, strict=True):
        held = stage.submission(key)
        assert held.version_id == versions[1].id
        mine = (StoredScore.submission_id == held.id) & (StoredScore.name == "accuracy")
        found = {each.version_id: each.value for each in stage.all(select(StoredScore).where(mine))}
        assert found[versions[0].id] == old
        assert found[versions[1].id] != old
        page = stage.client(host).get(f"/submissions/{key}").text
        assert "version 2" in page


@BOTH
def test_failed_files_are_tried_again_by_a_new_version(make_stage):
    """What failed by our fault is scored by the next version."""
    stage = make_stage()
    host = stage.person("Olga", organiser=True)
    challenge = stage.challenge(host)
    player = stage.team(challenge, "Team")
    key = player.send(guess(10))
    with stage.service.database.writing() as session:
        session.get_one(Submission, stage.submission(key).id).state = "failed"
    challenges.replace_answers(stage.service, host, challenge, io.BytesIO(table(truth())))
    stage.apply(challenge, host)
    assert stage.submission(key).state == "scored"


@BOTH
def test_other_metrics_are_a_new_version(stage, challenge, player, host):
    """Metrics change by a version; texts do not, and neither does what is saved unchanged."""
    key = player.send(guess(30))
    form = {**FORM, "slug": challenge.slug, "title": "Other words"}
    assert not challenges.update_challenge(stage.service, host, challenge, drafts.parse_draft(form))
    metrics = {**form, "metrics": "fscore(beta=2, average=macro), accuracy"}
    assert challenges.update_challenge(stage.service, host, challenge, drafts.parse_draft(metrics))
    assert stage.client().get(f"/challenges/{challenge.slug}/leaderboard").status_code == 200
    stage.apply(challenge, host)
    assert list(stage.scores(key))[1] == "accuracy"
    assert len(stage.scores(key)) == 2
    assert stage.all(select(func.count()).select_from(Version)) == [2]
    assert _now(stage, challenge).title == "Other words"


@BOTH
def test_a_file_that_the_new_version_rejects_is_not_ranked(stage, host):
    """What was right before and is not any more is told as rejected, and costs nothing."""
    challenge = stage.challenge(host, missing="reject")
    player = stage.team(challenge, "Team")
    key = player.send(guess(30))
    challenges.replace_answers(stage.service, host, challenge, io.BytesIO(table(truth(ROWS + 1))))
    assert (stage.submission(key).state, player.quota_status().used) == ("scored", 1)
    stage.apply(challenge, host)
    assert stage.submission(key).state == "rejected"
    assert stage.board(challenge) == []
    assert player.quota_status().used == 0


@BOTH
def test_the_same_file_of_two_teams_is_stored_once(stage, challenge):
    """Two teams may send the same bytes, at the same time, too."""
    players = [stage.team(challenge, f"Team {n}") for n in range(2)]
    files = stage.all(select(func.count()).select_from(StoredFile))[0]
    keys = [each.send(guess(9)) for each in players]
    assert stage.all(select(func.count()).select_from(StoredFile)) == [files + 1]
    assert len({stage.submission(key).file for key in keys}) == 1


@pytest.mark.parametrize(
    ("name", "shown"),
    [("../../etc/passwd", "passwd"), ("C:\\files\\a.csv", "a.csv"), ("", "submission"), ("x" * 500, "x" * 120)],
)
def test_file_names_are_their_last_part(player, name, shown):
    """Whatever a client calls its file, a plain name is shown, and no path is made of it."""
    assert player.stage.submission(player.send(guess(1), name)).file_name == shown
