"""Submissions: when they are accepted, what is stored of them, and what new versions do to them."""

from __future__ import annotations

import io
import re

import pytest
from sqlalchemy import func, select

from tallymark.app.domain import challenges, drafts
from tallymark.app.domain.errors import ConflictError
from tallymark.app.domain.lifecycle import take_step
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
    take_step(stage.service, host, challenge, "close")
    with pytest.raises(ConflictError, match="closed"):
        player.send(guess(5))
    take_step(stage.service, host, challenge, "reopen")
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


def _cards(player, key: str) -> list[str]:
    """The cards of a result."""
    page = player.client().get(f"/submissions/{key}").text
    return re.findall(r'<li class="card">.*?</li>', page, re.DOTALL)


def test_an_error_has_a_scale_only_beside_a_baseline(stage, host):
    """Errors have no worst value: the scale ends at the baseline of the organisers, or at a worse score."""
    challenge = stage.challenge(host, table(range(ROWS)), task="numbers", metrics="rmse")
    player = stage.team(challenge, "Team")
    good, bad = (player.send([n + off for n in range(ROWS)]) for off in (4, 20))
    [card] = _cards(player, good)
    assert "<svg" not in card
    assert "baseline" not in card
    stage.team(challenge, "Mean <b>", host).send([19.5] * ROWS)  # a team of an organiser is a baseline
    [card] = _cards(player, good)
    assert "baseline Mean &lt;b&gt;: 11.54" in card
    assert "<span>0</span><span>11.54</span>" in card
    assert 'class="mark" x1="100.00%"' in card
    [card] = _cards(player, bad)
    assert "<span>0</span><span>20</span>" in card
    assert 'class="mark" x1="57.70%"' in card


def test_a_baseline_is_not_compared_with_itself(stage, host):
    """The result of the baseline has no mark."""
    challenge = stage.challenge(host, table(range(ROWS)), task="numbers", metrics="rmse")
    baseline = stage.team(challenge, "Mean", host)
    [card] = _cards(baseline, baseline.send([19.5] * ROWS))
    assert "baseline" not in card


def test_a_range_that_depends_on_the_classes_is_not_drawn(stage, host):
    """A Brier score ends at 1 for two classes and at 2 for more."""
    form = {"task": "probabilities", "positive": "1", "metrics": "brier"}
    player = stage.team(stage.challenge(host, table([n % 2 for n in range(ROWS)]), **form), "Team")
    [card] = _cards(player, player.send([0.5] * ROWS))
    assert "0.25" in card
    assert "<svg" not in card


def test_cards_mark_what_the_metric_means(stage, host):
    """AUC runs from 0 to 1 with guessing at 0.5; R² from the mean prediction, or a worse score, to 1."""
    truth = [n % 2 for n in range(ROWS)]
    form = {"task": "probabilities", "positive": "1", "metrics": "auc"}
    player = stage.team(stage.challenge(host, table(truth), slug="auc", **form), "Team")
    [card] = _cards(player, player.send([0.3 + 0.4 * (n % 3 > 0) for n in range(ROWS)]))
    assert "random guessing: 0.5" in card
    assert 'class="mark" x1="50.00%"' in card
    assert "<span>0</span><span>1</span>" in card

    challenge = stage.challenge(host, table(range(ROWS)), task="numbers", metrics="r2", slug="r2")
    player = stage.team(challenge, "Other")
    [card] = _cards(player, player.send([n + n % 3 for n in range(ROWS)]))
    assert "as good as always predicting the mean of y: 0" in card
    assert 'class="mark" x1="0.00%"' in card
    [card] = _cards(player, player.send([39 - n for n in range(ROWS)]))
    assert "<span>-3</span><span>1</span>" in card
    assert 'class="mark" x1="75.00%"' in card
