"""The worker: it does what waits, goes on where another stopped, and gives up after three tries."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from tallymark.app.domain import challenges, scoring
from tallymark.app.store.models import StoredScore
from tallymark.app.worker import CLAIM_LEASE, claim_next
from tests.app.stage import BOTH, ROWS, guess, table, token_of
from tests.waiting import until

pytestmark = pytest.mark.slow

RESAMPLED = {"task": "numbers", "metrics": "r2, mae"}  # no formula tells how sure the first is
NEAR = [n + n % 5 for n in range(ROWS)]


@BOTH
def test_what_waits_is_scored_in_order(waiting):
    """A large file is taken, waits, says so, and is scored by the worker, the oldest first."""
    stage = waiting.stage
    keys = []
    for n in range(3):
        keys.append(waiting.send(guess(n)))
        stage.clock.move(seconds=1)
    assert [stage.submission(key).state for key in keys] == ["queued"] * 3
    assert "It is next in the queue" in waiting.client().get(f"/submissions/{keys[0]}").text
    assert "2 submissions ahead of it" in waiting.client().get(f"/submissions/{keys[2]}").text
    assert stage.app.state.worker.step()
    assert [stage.submission(key).state for key in keys] == ["scored", "queued", "queued"]
    stage.work()
    assert {stage.submission(key).state for key in keys} == {"scored"}
    assert stage.board(waiting.challenge) == ["Badgers"]


@BOTH
def test_a_claim_is_of_one_worker(waiting, make_stage):
    """Two workers never take the same submission."""
    second = make_stage(direct_bytes=1)
    for n in range(4):
        waiting.send(guess(n))
    with ThreadPoolExecutor(8) as pool:
        services = [waiting.stage.service, second.service] * 4
        taken = [each for each in pool.map(claim_next, services) if each is not None]
    assert len(taken) == len(set(taken)) == 4


@BOTH
def test_an_expired_claim_is_taken_over(waiting, make_stage):
    """What another process has claimed is left to it, until it has not been heard of for a minute."""
    stage, second = waiting.stage, make_stage(direct_bytes=1)
    key = waiting.send(guess(9))
    assert claim_next(stage.service) == stage.submission(key).id
    second.clock.at = stage.clock() + CLAIM_LEASE
    assert claim_next(second.service) is None
    second.clock.move(seconds=1)
    assert second.work() > 0
    held = stage.submission(key)
    assert (held.state, held.claimed_by, held.attempts) == ("scored", None, 0)


def test_a_start_frees_what_a_dead_process_held(waiting, make_stage):
    """On SQLite, which one process serves, the next start does not wait for claims to expire."""
    key = waiting.send(guess(9))
    claim_next(waiting.stage.service)
    second = make_stage(direct_bytes=1)
    with second.client():  # with its threads
        until(lambda: second.submission(key).state == "scored")


@BOTH
def test_a_submission_fails_after_three_attempts(waiting, monkeypatch):
    """What raises is tried three times, then told as our fault, without a word of why, and given back."""
    stage, tried = waiting.stage, []

    def breaks(*_, **__):
        tried.append(1)
        raise RuntimeError("the answer of r000 is lynx")

    monkeypatch.setattr(scoring, "score_parts", breaks)
    key = waiting.send(guess(9))
    stage.work()
    assert len(tried) == 3
    assert stage.submission(key).state == "failed"
    assert waiting.quota_status().used == 0
    page = waiting.client().get(f"/submissions/{key}").text
    assert "Scoring failed because of an internal error" in page
    assert "lynx" not in page
    assert "failed" in waiting.client().get(f"/challenges/{waiting.challenge.slug}/mine").text


@BOTH
def test_a_process_that_dies_three_times_is_the_end(waiting):
    """A file that kills every process that scores it does not stay for ever."""
    stage = waiting.stage
    key = waiting.send(guess(9))
    for name in ("first", "second", "third"):
        stage.service.instance_id = name
        assert claim_next(stage.service) is not None
        assert claim_next(stage.service) is None
        stage.clock.move(minutes=2)
    stage.service.instance_id = "fourth"
    assert claim_next(stage.service) is None
    assert stage.submission(key).state == "failed"
    assert waiting.quota_status().used == 0


@BOTH
def test_a_file_that_cannot_be_scored_at_once_is_left_to_the_worker(player, monkeypatch):
    """Its sender sees that it waits; the worker tries it again, and it is scored."""
    stage, plain = player.stage, scoring.score_parts

    def breaks(*_, **__):
        monkeypatch.setattr(scoring, "score_parts", plain)
        raise OSError("no more memory")

    monkeypatch.setattr(scoring, "score_parts", breaks)
    answer = player.confirm(token_of(player.upload(guess(9)).text))
    key = answer.headers["location"].split("/")[-1]
    assert (answer.status_code, stage.submission(key).state) == (303, "queued")
    stage.work()
    assert stage.submission(key).state == "scored"
    assert player.quota_status().used == 1


@BOTH
def test_the_worker_adds_intervals_without_changing_scores(stage, host):
    """Scores are there at once; intervals that need resamples are computed by the worker, and change no score."""
    challenge = stage.challenge(host, table(range(ROWS)), **RESAMPLED)
    player = stage.team(challenge, "Badgers")
    key = player.send(NEAR)
    held = stage.submission(key)
    assert (held.state, held.work) == ("scored", "intervals")
    assert stage.board(challenge) == ["Badgers"]
    before = stage.scores(key)
    assert "appear in a moment" in player.client().get(f"/submissions/{key}").text
    stage.work()
    after = stage.all(select(StoredScore).where(StoredScore.submission_id == held.id).order_by(StoredScore.place))
    assert stage.scores(key) == before
    assert all(each.lo <= each.value <= each.hi for each in after)
    assert (stage.submission(key).state, stage.submission(key).work) == ("scored", None)
    assert "appear in a moment" not in player.client().get(f"/submissions/{key}").text


@BOTH
def test_intervals_that_fail_leave_the_scores(stage, host, monkeypatch):
    """A score stands, also where its interval could not be had, and it has cost what it costs."""
    player = stage.team(stage.challenge(host, table(range(ROWS)), **RESAMPLED), "Badgers")
    key = player.send(NEAR)
    before = stage.scores(key)
    assert stage.submission(key).work == "intervals"

    def breaks(*_, **__):
        raise MemoryError

    monkeypatch.setattr(scoring, "score_parts", breaks)
    stage.work()
    assert (stage.submission(key).state, stage.submission(key).work) == ("scored", None)
    assert stage.scores(key) == before
    assert player.quota_status().used == 1


@BOTH
def test_what_is_scored_while_the_answers_change_is_scored_again(waiting, monkeypatch):
    """Scores by the old answers count until the new ones are applied, which score it too."""
    stage, plain, hosts = waiting.stage, scoring.score_parts, []
    key = waiting.send(guess(30))

    def slowly(*given, **told):
        found = plain(*given, **told)
        monkeypatch.setattr(scoring, "score_parts", plain)
        with stage.service.database.reading() as session:
            hosts.append(session.get_one(type(waiting.user), waiting.challenge.created_by))
        challenges.replace_answers(stage.service, hosts[0], waiting.challenge, io.BytesIO(table(guess(30))))
        return found

    monkeypatch.setattr(scoring, "score_parts", slowly)
    stage.app.state.worker.step()
    assert (stage.submission(key).state, stage.scores(key)["accuracy"]) == ("scored", 0.75)
    stage.apply(waiting.challenge, hosts[0])
    assert stage.scores(key)["accuracy"] == 1.0
