"""Baselines: uploaded by organisers under a name, ranked and marked, withdrawn and restored."""

from __future__ import annotations

import io

import pytest
from sqlalchemy import select

from tallymark.app.domain import baselines, challenges
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.domain.lifecycle import take_step
from tallymark.app.store.models import AuditEntry, Quota, StoredFile, Submission, Team
from tallymark.errors import Rejection
from tests.app.stage import BOTH, ROWS, guess, table

BROKEN = b"row_id,label\nr000,a\nr000,b\n"


def add(stage, host, challenge, name="Always lynx", content=None):
    content = table(["lynx"] * ROWS) if content is None else content
    return baselines.add_baseline(stage.service, host, challenge, name, io.BytesIO(content), "lynx.csv")


@BOTH
def test_a_baseline_is_ranked_without_a_member_or_quota(stage, host, challenge, player):
    """It is marked, not counted as a team, and another file under its name is its second."""
    player.send(guess(30))
    key = add(stage, host, challenge)
    assert stage.board(challenge) == ["Badgers", "Always lynx"]
    assert stage.submission(key).state == "scored"
    assert {each.team_id for each in stage.all(select(Quota))} == {player.team.id}
    assert "1 team" in stage.client().get(f"/challenges/{challenge.slug}").text
    add(stage, host, challenge, " ALWAYS  lynx ", table(guess(40)))
    assert stage.board(challenge) == ["Always lynx", "Badgers"]
    assert [each.baseline for each in stage.all(select(Team).order_by(Team.id))] == [False, True]
    assert "baseline" in stage.client().get(f"/challenges/{challenge.slug}/leaderboard").text


@BOTH
def test_a_baseline_is_withdrawn_and_restored(stage, host, challenge, player):
    """All of its files leave the leaderboard and come back; each step is logged, and happens once."""
    player.send(guess(9))
    key = add(stage, host, challenge)
    add(stage, host, challenge, content=table(guess(40)))
    team = stage.submission(key).team_id
    baselines.set_withdrawn(stage.service, host, challenge, team, withdrawn=True)
    assert stage.board(challenge) == ["Badgers"]
    with pytest.raises(FormError, match="withdrawn already"):
        baselines.set_withdrawn(stage.service, host, challenge, team, withdrawn=True)
    assert "withdrawn" in stage.client(host).get(f"/organise/{challenge.slug}/submissions").text
    baselines.set_withdrawn(stage.service, host, challenge, team, withdrawn=False)
    assert stage.board(challenge) == ["Always lynx", "Badgers"]
    actions = [each.action for each in stage.all(select(AuditEntry).order_by(AuditEntry.id))]
    assert actions == ["create", "baseline", "baseline", "withdraw baseline", "restore baseline"]


def test_a_team_of_participants_is_no_baseline(stage, host, challenge, player):
    """Neither can files be added to it, nor can it be withdrawn; nor the baseline of another challenge."""
    player.send(guess(9))
    with pytest.raises(FormError, match="A team has this name"):
        add(stage, host, challenge, "badgers")
    with pytest.raises(NotFoundError):
        baselines.set_withdrawn(stage.service, host, challenge, player.team.id, withdrawn=True)
    second = stage.challenge(host, slug="second")
    team = stage.submission(add(stage, host, second)).team_id
    with pytest.raises(NotFoundError):
        baselines.set_withdrawn(stage.service, host, challenge, team, withdrawn=True)
    assert stage.board(challenge) == ["Badgers"]


@BOTH
def test_a_file_with_problems_makes_no_baseline(stage, host, challenge):
    """Its problems are on the page, with the name in its field; nothing is stored."""
    files = len(stage.all(select(StoredFile)))
    with pytest.raises(Rejection):
        add(stage, host, challenge, content=BROKEN)
    path = f"/organise/{challenge.slug}/submissions"
    data = {"action": "baseline", "baseline": "Always lynx"}
    answer = stage.client(host).post(path, data=data, files={"submission": ("x.csv", BROKEN)})
    assert answer.status_code == 422
    assert "duplicate id" in answer.text
    assert 'value="Always lynx"' in answer.text
    assert stage.all(select(Team)) == stage.all(select(Submission)) == []
    assert len(stage.all(select(StoredFile))) == files


@pytest.mark.parametrize(
    ("data", "status", "why"),
    [
        ({"action": "baseline", "baseline": "Always lynx"}, 422, "Choose a file."),
        ({"action": "withdraw", "team": "x"}, 400, "could not be read"),
        ({"action": "withdraw", "team": "999999"}, 404, "does not exist"),
        ({"action": "dance"}, 400, "could not be read"),
    ],
)
def test_what_cannot_be_done_is_explained(stage, host, challenge, data, status, why):
    """The form says what is missing."""
    answer = stage.client(host).post(f"/organise/{challenge.slug}/submissions", data=data)
    assert (answer.status_code, why in answer.text) == (status, True)


def test_a_baseline_is_uploaded_on_the_page(stage, host, challenge):
    """It leads to its submission; a name of one character is refused beside its field."""
    path = f"/organise/{challenge.slug}/submissions"
    files = {"submission": ("lynx.csv", table(guess(3)))}
    client = stage.client(host)
    answer = client.post(path, data={"action": "baseline", "baseline": "x"}, files=files)
    assert (answer.status_code, 'id="baseline-error"' in answer.text) == (422, True)
    answer = client.post(path, data={"action": "baseline", "baseline": "Always lynx"}, files=files)
    [key] = stage.all(select(Submission.key))
    assert (answer.status_code, answer.headers["location"]) == (303, f"{path}/{key}")
    assert client.get(f"{path}?mark=baseline").text.count("/file") == 1


def test_a_challenge_that_is_over_takes_no_baseline(stage, host, challenge):
    """Its leaderboards are final."""
    take_step(stage.service, host, challenge, "close")
    with pytest.raises(FormError, match="over"):
        add(stage, host, challenge)


@BOTH
def test_a_baseline_is_scored_by_a_version_that_waits(stage, host, challenge, player):
    """As every submission is."""
    player.send(guess(30))
    challenges.replace_answers(stage.service, host, challenge, io.BytesIO(table(["lynx"] * ROWS)))
    add(stage, host, challenge)
    assert stage.board(challenge) == ["Badgers", "Always lynx"]
    stage.apply(challenge, host)
    assert stage.board(challenge) == ["Always lynx", "Badgers"]
