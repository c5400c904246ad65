"""The worker beside others: threads that renew claims and outlive errors, and everything at the same time."""

from __future__ import annotations

import io
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from tallymark.app import worker
from tallymark.app.domain import challenges, rescoring, scoring, submissions, teams
from tallymark.app.store.models import Submission
from tallymark.app.worker import claim_next
from tests.app.stage import BOTH, guess, table, truth
from tests.waiting import LIMIT, until

pytestmark = pytest.mark.slow


@pytest.mark.slow
@BOTH
def test_concurrent_uploads_and_workers_score_everything_with_the_newest_answers(make_stage):
    """Files, choices, new answers that are applied and two workers at the same time: all ends scored by the newest
    version, and ranked."""
    stages = [make_stage() for _ in range(6)]
    stage = stages[0]
    host = stage.person("Olga", organiser=True)
    challenge = stage.challenge(host, split="seeded", split_share="50", quota="50")
    players = [stage.team(challenge, f"Team {n}") for n in range(6)]
    same = [table(guess(n)) for n in range(4)]  # teams send the same files

    def submit(n):
        player = players[n % 6]
        stream = io.BytesIO(same[n % 4])
        service = stages[n % 2].service
        key = submissions.submit_file(service, player.user, challenge, player.team.id, stream, "x.csv", "")
        if n % 3 == 0 and stage.submission(key).state == "scored":
            try:
                teams.choose_finals(service, challenge, player.team.id, [key])
            except teams.FormError:  # scored again by now
                return

    def renew(n):
        own = stages[n + 1]  # with a worker of its own
        answers = io.BytesIO(table(truth()[n:] + truth()[:n]))
        while True:
            try:
                added = challenges.replace_answers(own.service, host, challenge, answers)
                break
            except teams.FormError:  # another was quicker
                own.work()
        while added.state == "candidate":
            own.work()
            try:
                return rescoring.apply_candidate(own.service, host, challenge, added.number)
            except teams.FormError:  # files have come meanwhile
                continue

    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(submit, n) for n in range(36)]
        asked += [pool.submit(renew, n) for n in range(1, 5)]
        asked += [pool.submit(each.work) for each in stages[:2]]
        for each in asked:
            each.result()
    stage.work()
    held = stage.all(select(Submission))
    newest = max(each.version_id for each in held)
    assert len(held) == 36
    assert {(each.state, each.work, each.version_id) for each in held} == {("scored", None, newest)}
    assert len(stage.board(challenge)) == len(stage.board(challenge, "private")) == 6
    assert [each.quota_status().used for each in players] == [6] * 6
    assert len(stage.scores(held[0].key)) > 0


def test_a_claim_is_renewed_while_it_is_worked_on(waiting, make_stage, monkeypatch):
    """A file that takes longer than a claim lasts stays with the one who scores it."""
    stage, second = waiting.stage, make_stage(direct_bytes=1)
    plain, begun, go_on = scoring.score_parts, threading.Event(), threading.Event()

    def slowly(*given, **told):
        begun.set()
        assert go_on.wait(2 * LIMIT)
        return plain(*given, **told)

    monkeypatch.setattr(scoring, "score_parts", slowly)
    monkeypatch.setattr(worker, "_RENEWAL_INTERVAL", 0.02)
    key = waiting.send(guess(9))
    with stage.client():  # with its threads
        assert begun.wait(LIMIT)
        stage.clock.move(minutes=5)
        second.clock.at = stage.clock()
        until(lambda: stage.submission(key).claimed == stage.clock())
        assert claim_next(second.service) is None
        go_on.set()
    assert stage.submission(key).state == "scored"


def test_the_worker_outlives_its_errors(stage, challenge, player, monkeypatch):
    """A database that fails for a moment does not end the thread."""
    plain, failed = worker.claim_next, threading.Event()

    def breaks(service):
        if not failed.is_set():
            failed.set()
            raise OSError("the disk is gone for a moment")
        return plain(service)

    monkeypatch.setattr(worker, "claim_next", breaks)
    with stage.client() as client:
        assert failed.wait(LIMIT)
        stage.service.work_available.set()
        assert client.get("/ready").json()["worker"] is True
