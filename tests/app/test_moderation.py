"""What organisers do with one submission: retry, disqualify and undo, give quota back once; by two at once, too."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from tallymark.app.domain import moderation, scoring, teams
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.store.models import AuditEntry, Submission
from tests.app.stage import BOTH, guess, table, truth


def log(stage):
    """The actions in the audit log, with their subjects, after the challenge was created."""
    entries = stage.all(select(AuditEntry).order_by(AuditEntry.id))
    return [(each.action, each.subject) for each in entries if each.action != "create"]


@BOTH
def test_a_disqualified_submission_is_not_ranked_until_that_is_undone(stage, host, challenge, player):
    """The next best of the team takes its place; the team reads the reason; undoing it restores the board."""
    best, next_best = player.send(guess(30)), player.send(guess(20))
    stage.team(challenge, "Otters").send(guess(25))
    assert stage.board(challenge) == ["Badgers", "Otters"]
    moderation.disqualify(stage.service, host, challenge, best, " two\n accounts ")
    assert stage.board(challenge) == ["Otters", "Badgers"]
    page = player.client().get(f"/submissions/{best}").text
    assert "Disqualified" in page
    assert "Reason: two accounts" in page
    assert 'class="standing"' not in page
    assert "Disqualified: two accounts" in player.client().get(f"/challenges/{challenge.slug}/mine").text
    assert "two accounts" in player.client().get(f"/submissions/{best}/report").text
    assert "two accounts" not in player.client().get(f"/submissions/{next_best}").text
    moderation.requalify(stage.service, host, challenge, best)
    assert stage.board(challenge) == ["Badgers", "Otters"]
    assert "Disqualified" not in player.client().get(f"/submissions/{best}").text
    assert log(stage) == [(each, "mine.csv of Badgers") for each in ("disqualify", "requalify")]


@BOTH
def test_what_is_disqualified_while_it_waits_is_scored_and_not_ranked(waiting):
    """Neither scoring nor a disqualification overwrites the other."""
    stage, challenge = waiting.stage, waiting.challenge
    key = waiting.send(guess(9))
    moderation.disqualify(stage.service, waiting.user, challenge, key, "two accounts")
    stage.work()
    assert (stage.submission(key).state, stage.submission(key).disqualified) == ("scored", "two accounts")
    assert stage.board(challenge) == []


@BOTH
def test_what_is_disqualified_while_it_is_scored_is_not_ranked(waiting, monkeypatch):
    """The reason stays although scores are stored a moment later."""
    stage, plain = waiting.stage, scoring.score_parts
    key = waiting.send(guess(9))

    def slowly(*given, **options):
        moderation.disqualify(stage.service, waiting.user, waiting.challenge, key, "two accounts")
        return plain(*given, **options)

    monkeypatch.setattr(scoring, "score_parts", slowly)
    stage.work()
    assert (stage.submission(key).state, stage.submission(key).disqualified) == ("scored", "two accounts")
    assert stage.board(waiting.challenge) == []


@pytest.mark.parametrize("reason", ["", "  x ", "y" * 301])
def test_a_disqualification_needs_a_reason(stage, host, challenge, player, reason):
    """The reason that was typed stays in its field."""
    key = player.send(guess(9))
    with pytest.raises(FormError, match="3 to 300 characters"):
        moderation.disqualify(stage.service, host, challenge, key, reason)
    path = f"/organise/{challenge.slug}/submissions/{key}"
    answer = stage.client(host).post(path, data={"action": "disqualify", "reason": reason})
    assert (answer.status_code, f'value="{reason}"' in answer.text) == (422, True)
    assert stage.submission(key).disqualified is None
    assert log(stage) == []


def test_a_disqualified_submission_cannot_be_selected_and_frees_its_slot(stage, host):
    """The team selects another instead, which stays selected when the disqualification is undone."""
    challenge = stage.challenge(host, split="seeded", split_share="50", finals="1")
    player = stage.team(challenge, "Badgers")
    first, second = player.send(guess(30)), player.send(guess(10))
    teams.choose_finals(stage.service, challenge, player.team.id, [first])
    moderation.disqualify(stage.service, host, challenge, first, "two accounts")
    assert "0 are selected" in player.client().get(f"/challenges/{challenge.slug}/mine").text
    with pytest.raises(FormError, match="before the deadline"):
        teams.choose_finals(stage.service, challenge, player.team.id, [first])
    teams.choose_finals(stage.service, challenge, player.team.id, [second])
    moderation.requalify(stage.service, host, challenge, first)
    assert [each.key for each in stage.all(select(Submission).where(Submission.final))] == [second]


def test_a_selection_is_restored_with_its_submission(stage, host):
    """A disqualification by mistake costs the team nothing."""
    challenge = stage.challenge(host, split="seeded", split_share="50", finals="1")
    player = stage.team(challenge, "Badgers")
    key = player.send(guess(30))
    teams.choose_finals(stage.service, challenge, player.team.id, [key])
    moderation.disqualify(stage.service, host, challenge, key, "a mistake")
    moderation.requalify(stage.service, host, challenge, key)
    assert stage.submission(key).final


@BOTH
def test_a_failed_submission_is_retried(make_stage):
    """It has all its attempts again, keeps its time, and costs nothing, as its failure gave the quota back."""
    stage = make_stage(direct_bytes=1)
    host = stage.person("Olga", organiser=True)
    challenge = stage.challenge(host)
    player = stage.team(challenge, "Badgers")
    key = player.send(guess(30))
    path = stage.service.files.path(stage.submission(key).file)
    content = path.read_bytes()
    path.unlink()
    stage.work()
    failed = stage.submission(key)
    assert failed.state == "failed"
    path.write_bytes(content)
    stage.clock.move(hours=1)
    client, page = stage.client(host), f"/organise/{challenge.slug}/submissions/{key}"
    assert "Retry" in client.get(page).text
    answer = client.post(page, data={"action": "retry"})
    assert answer.headers["location"] == f"{page}?said=retried"
    assert (stage.submission(key).state, stage.submission(key).attempts) == ("queued", 0)
    stage.work()
    retried = stage.submission(key)
    assert (retried.state, retried.created) == ("scored", failed.created)
    assert stage.board(challenge) == ["Badgers"]
    assert player.quota_status().used == 0
    assert log(stage) == [("retry", "mine.csv of Badgers")]


@pytest.mark.parametrize(
    ("act", "why"), [("retry", "Only failed submissions"), ("requalify", "not disqualified"), ("dance", "")]
)
def test_what_cannot_be_done_is_explained(stage, host, challenge, player, act, why):
    """And nothing is logged."""
    key = player.send(guess(9))
    answer = stage.client(host).post(f"/organise/{challenge.slug}/submissions/{key}", data={"action": act})
    assert answer.status_code == (422 if why else 400)
    assert why in answer.text
    assert log(stage) == []


@BOTH
def test_quota_is_given_back_once(stage, host, challenge, player):
    """On the day on which it was taken, by whoever is first; the result stays."""
    keys = [player.send(guess(n)) for n in range(2)]
    moderation.refund(stage.service, host, challenge, keys[0])
    assert player.quota_status().used == 1
    with pytest.raises(FormError, match="nothing to give back"):
        moderation.refund(stage.service, host, challenge, keys[0])
    assert player.quota_status().used == 1
    stage.clock.move(days=1)
    player.send(guess(7))
    moderation.refund(stage.service, host, challenge, keys[1])
    assert player.quota_status().used == 1
    stage.clock.move(days=-1)
    assert player.quota_status().used == 0
    assert stage.submission(keys[1]).state == "scored"
    assert [each[0] for each in log(stage)] == ["refund", "refund"]


@BOTH
def test_what_is_given_back_before_a_rejection_is_not_given_back_again(waiting):
    """A rejection gives back what is left, which is nothing."""
    stage, challenge = waiting.stage, waiting.challenge
    waiting.send(guess(9))
    key = waiting.send(b"row_id,label\nr000,a\nr000,b\n")
    moderation.refund(stage.service, waiting.user, challenge, key)
    stage.work()
    assert stage.submission(key).state == "rejected"
    assert waiting.quota_status().used == 1


@pytest.mark.slow
@BOTH
def test_of_two_organisers_at_once_one_acts(make_stage):
    """Each action happens once and is logged once, in one process or two; the other organiser is told."""
    stages = [make_stage(), make_stage()]
    stage = stages[0]
    host = stage.person("Olga", organiser=True)
    challenge = stage.challenge(host, quota="50")
    player = stage.team(challenge, "Badgers")
    keys = [player.send(guess(n)) for n in range(8)]

    def act(n):
        service, key = stages[n % 2].service, keys[n // 2 % 8]
        done = []
        for change, given in ((moderation.refund, ()), (moderation.disqualify, (f"reason {n}",))):
            try:
                change(service, host, challenge, key, *given)
                done.append(change)
            except FormError:
                continue
        return done

    with ThreadPoolExecutor(8) as pool:
        done = [each for found in pool.map(act, range(16)) for each in found]
    assert done.count(moderation.refund) == done.count(moderation.disqualify) == 8
    assert player.quota_status().used == 0
    assert len(log(stage)) == 16
    stage.work()
    assert stage.board(challenge) == []


def test_a_submission_of_another_challenge_is_not_found(stage, host, challenge, player):
    """Not even by one who organises both: the address names the challenge whose organisers may see it."""
    rival = stage.person("Rita", organiser=True)
    theirs = stage.challenge(rival, slug="theirs")
    key = player.send(guess(9))
    client = stage.client(rival)
    for path in (f"/organise/{theirs.slug}/submissions/{key}", f"/organise/{theirs.slug}/submissions/{key}/file"):
        assert client.get(path).status_code == 404
    answer = client.post(f"/organise/theirs/submissions/{key}", data={"action": "disqualify", "reason": "envy"})
    assert answer.status_code == 404
    with pytest.raises(NotFoundError):
        moderation.refund(stage.service, rival, theirs, key)
    assert stage.submission(key).disqualified is None


def test_the_file_comes_back_as_it_was_sent(stage, host, challenge, player):
    """Byte for byte, under its name, and never as a page of the app."""
    content = table(truth())
    key = player.send(content, 'a "<b>.html')
    answer = stage.client(host).get(f"/organise/{challenge.slug}/submissions/{key}/file")
    assert answer.content == content
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment; ")
    assert answer.headers["x-content-type-options"] == "nosniff"
    stage.service.files.path(stage.submission(key).file).unlink()
    missing = stage.client(host).get(f"/organise/{challenge.slug}/submissions/{key}/file")
    assert (missing.status_code, "missing on the server" in missing.text) == (404, True)
