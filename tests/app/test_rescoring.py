"""Re-scoring: a new version is scored beside the current one, previewed, and applied in one step or discarded."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from tallymark.app.domain import challenges, drafts, leaderboards, moderation, rescoring, scoring, versions
from tallymark.app.domain.errors import FormError
from tallymark.app.pages import rescoring as rescoring_page
from tallymark.app.store.models import (
    AuditEntry,
    LeaderboardEntry,
    Rescoring,
    StoredOutcome,
    StoredScore,
    Submission,
    Version,
)
from tallymark.app.worker import CLAIM_LEASE, claim_next_rescoring
from tests.app.stage import BOTH, FORM, ROWS, guess, table, truth

pytestmark = pytest.mark.slow


def replace(stage, host, challenge, answers):
    """Upload new answers; the number of their version."""
    return challenges.replace_answers(stage.service, host, challenge, io.BytesIO(table(answers))).number


def preview(stage, challenge):
    """What the waiting version would change: for each team of the public board, its places and scores."""
    with stage.service.database.reading() as session:
        current, candidate = (
            find(session, challenge) for find in (versions.current_version, versions.candidate_version)
        )
        return rescoring.preview(session, current, candidate)


def changes(found, part="public"):
    """The entries of a preview as plain values."""
    return [
        (each.team.name, each.before and tuple(each.before), each.after and tuple(each.after))
        for each in found.entries[part]
    ]


@pytest.fixture
def rivals(stage, challenge):
    """Two teams, with the file of the second right by the answers that it turns to."""
    badgers, otters = stage.team(challenge, "Badgers"), stage.team(challenge, "Otters")
    return badgers.send(guess(28)), otters.send(guess(20))


@BOTH
def test_the_board_stays_until_the_new_version_is_applied(stage, host, challenge, rivals, monkeypatch):
    """It is never empty: the transaction that applies a version has its leaderboard, with all that came meanwhile."""
    number = replace(stage, host, challenge, guess(20))
    before = [stage.scores(key) for key in rivals]
    assert stage.board(challenge) == ["Badgers", "Otters"]
    late = stage.team(challenge, "Newts")
    key = late.send(guess(24))
    assert stage.board(challenge) == ["Badgers", "Newts", "Otters"]
    assert stage.scores(key)["accuracy"] == 0.6
    stage.work()
    assert [stage.scores(key) for key in rivals] == before
    assert stage.board(challenge) == ["Badgers", "Newts", "Otters"]
    found = preview(stage, challenge)
    assert changes(found) == [
        ("Otters", (3, 0.5), (1, 1.0)),
        ("Newts", (2, 0.6), (2, 0.9)),
        ("Badgers", (1, 0.7), (3, 0.8)),
    ]
    assert (found.changed_scores, found.undefined, found.totals) == (3, 0, {"public": 3})
    update, seen = leaderboards.update_leaderboards, []

    def after_the_transaction(service, challenge_id):
        seen.append(stage.board(challenge))
        update(service, challenge_id)

    monkeypatch.setattr(leaderboards, "update_leaderboards", after_the_transaction)
    rescoring.apply_candidate(stage.service, host, challenge, number)
    assert seen == [["Otters", "Newts", "Badgers"]]
    assert stage.board(challenge) == seen[0]
    assert [stage.scores(key)["accuracy"] for key in rivals] == [0.8, 1.0]
    assert [(each.number, each.state) for each in stage.all(select(Version).order_by(Version.number))] == [
        (1, "past"),
        (2, "current"),
    ]
    assert stage.all(select(Rescoring)) == []
    assert late.quota_status().used == 1
    actions = [(each.action, each.subject) for each in stage.all(select(AuditEntry).order_by(AuditEntry.id))]
    assert actions == [("create", ""), ("answers", ""), ("apply", "version 2")]


@BOTH
def test_paired_tests_follow_the_version(stage, host, challenge, rivals):
    """Rank ranges are those that the new answers give to anybody."""
    fresh = stage.challenge(host, table(guess(24)), slug="fresh")
    for name, right in (("Badgers", 28), ("Otters", 20)):
        stage.team(fresh, name, stage.person(f"{name} again")).send(guess(right))

    def ranges(of):
        entries = (
            select(LeaderboardEntry).where(LeaderboardEntry.challenge_id == of.id).order_by(LeaderboardEntry.place)
        )
        return [(each.best_rank, each.worst_rank) for each in stage.all(entries)]

    assert ranges(challenge) != ranges(fresh)
    replace(stage, host, challenge, guess(24))
    stage.apply(challenge, host)
    assert ranges(challenge) == ranges(fresh)


@BOTH
def test_what_is_discarded_leaves_nothing(stage, host, challenge, rivals):
    """Places, scores, quotas and files are as before; the number is not used again."""
    board, scores = stage.board(challenge), [stage.scores(key) for key in rivals]
    counts = [stage.all(select(func.count()).select_from(each)) for each in (StoredScore, StoredOutcome)]
    number = replace(stage, host, challenge, guess(20))
    stage.work()
    rescoring.discard_candidate(stage.service, host, challenge, number)
    stage.work()
    assert stage.board(challenge) == board
    assert [stage.scores(key) for key in rivals] == scores
    assert [stage.all(select(func.count()).select_from(each)) for each in (StoredScore, StoredOutcome)] == counts
    assert stage.all(select(Rescoring)) == []
    assert replace(stage, host, challenge, guess(21)) == number + 1
    stage.apply(challenge, host)
    assert stage.board(challenge) == ["Otters", "Badgers"]


@BOTH
def test_a_version_is_applied_once_everything_is_scored_by_it(stage, host, challenge, rivals):
    """What comes between the preview and the switch is scored first; nothing is switched before."""
    number = replace(stage, host, challenge, guess(20))
    with pytest.raises(FormError, match="pending: 2"):
        rescoring.apply_candidate(stage.service, host, challenge, number)
    stage.work()
    stage.team(challenge, "Newts").send(guess(24))
    with pytest.raises(FormError, match="pending: 1"):
        rescoring.apply_candidate(stage.service, host, challenge, number)
    assert stage.board(challenge) == ["Badgers", "Newts", "Otters"]
    stage.work()
    rescoring.apply_candidate(stage.service, host, challenge, number)
    assert stage.board(challenge) == ["Otters", "Newts", "Badgers"]


@BOTH
def test_without_submissions_a_version_applies_at_once(stage, host, challenge):
    """There is nothing to preview."""
    added = challenges.replace_answers(stage.service, host, challenge, io.BytesIO(table(guess(20))))
    assert (added.number, added.state) == (2, "current")
    key = stage.team(challenge, "Otters").send(guess(20))
    assert stage.scores(key)["accuracy"] == 1.0


def test_one_version_waits_at_a_time(stage, host, challenge, rivals):
    """A second one is refused until the first is decided; texts can be changed meanwhile."""
    replace(stage, host, challenge, guess(20))
    form = {**FORM, "slug": challenge.slug, "title": "Other words"}
    assert challenges.update_challenge(stage.service, host, challenge, drafts.parse_draft(form)) is None
    for change in (
        lambda: replace(stage, host, challenge, guess(21)),
        lambda: challenges.update_challenge(
            stage.service, host, challenge, drafts.parse_draft({**form, "metrics": "mcc"})
        ),
    ):
        with pytest.raises(FormError, match="Version 2 is waiting"):
            change()
    page = stage.client(host).post(f"/organise/{challenge.slug}", data={**form, "action": "save", "metrics": "mcc"})
    assert (page.status_code, "Version 2 is waiting" in page.text) == (422, True)


@pytest.mark.parametrize("others", ["apply_candidate", "discard_candidate"])
@BOTH
def test_of_two_organisers_one_decides(make_stage, others):
    """The other is told, in one process or two, and nothing is applied halfway."""
    stages = [make_stage(), make_stage()]
    stage = stages[0]
    host = stage.person("Olga", organiser=True)
    challenge = stage.challenge(host)
    key = stage.team(challenge, "Otters").send(guess(20))
    number = replace(stage, host, challenge, guess(20))
    stage.work()

    def decide(n):
        change = rescoring.apply_candidate if n % 2 else getattr(rescoring, others)
        try:
            change(stages[n % 2].service, host, challenge, number)
        except FormError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(6) as pool:
        refused = [each for each in pool.map(decide, range(6)) if each]
    assert len(refused) == 5
    assert all("is no longer waiting" in each for each in refused)
    [version] = stage.all(select(Version).where(Version.number == number))
    assert version.state in ("current", "discarded")
    stage.work()
    assert stage.scores(key)["accuracy"] == (1.0 if version.state == "current" else 0.5)
    assert len(stage.board(challenge)) == 1
    assert len(stage.all(select(Version).where(Version.state == "current"))) == 1


@BOTH
def test_what_the_new_answers_reject_is_given_back_when_they_are_applied(stage, host):
    """And not before; a discarded version costs nobody anything."""
    challenge = stage.challenge(host, missing="reject")
    player = stage.team(challenge, "Badgers")
    key = player.send(guess(30))
    for _ in range(2):
        number = replace(stage, host, challenge, truth(ROWS + 1))
        stage.work()
        assert (stage.submission(key).state, player.quota_status().used) == ("scored", 1)
        assert changes(preview(stage, challenge)) == [("Badgers", (1, 0.75), None)]
        page = stage.client(host).get(f"/organise/{challenge.slug}/rescoring").text
        assert "Rejected by the new answers, so not ranked and given back: 1." in page
        assert "drops out" in page
        if number == 2:
            rescoring.discard_candidate(stage.service, host, challenge, number)
    rescoring.apply_candidate(stage.service, host, challenge, number)
    assert (stage.submission(key).state, player.quota_status().used) == ("rejected", 0)
    assert "41 rows" not in player.client().get(f"/submissions/{key}").text
    assert stage.board(challenge) == []


def test_undefined_scores_are_counted(stage, host):
    """A constant has no correlation, and would drop out."""
    challenge = stage.challenge(host, table(range(ROWS)), task="numbers", metrics="mae")
    stage.team(challenge, "Flat").send([7] * ROWS)
    stage.team(challenge, "Near").send([n + 1 for n in range(ROWS)])
    form = {**FORM, "slug": challenge.slug, "task": "numbers", "metrics": "pearson, mae"}
    challenges.update_challenge(stage.service, host, challenge, drafts.parse_draft(form))
    stage.work()
    found = preview(stage, challenge)
    assert (found.undefined, found.totals) == (1, {"public": 1})
    page = stage.client(host).get(f"/organise/{challenge.slug}/rescoring").text
    for text in ("Undefined, so not ranked: 1 submission.", "Pearson", "before: MAE", "drops out"):
        assert text in page


@BOTH
def test_intervals_follow_after_the_switch(stage, host):
    """The board is complete without those that need resamples, which the worker adds."""
    challenge = stage.challenge(host, table(range(ROWS)), task="numbers", metrics="mae")
    key = stage.team(challenge, "Near").send([n + n % 5 for n in range(ROWS)])
    form = {**FORM, "slug": challenge.slug, "task": "numbers", "metrics": "r2"}
    number = challenges.update_challenge(stage.service, host, challenge, drafts.parse_draft(form)).number
    stage.work()
    rescoring.apply_candidate(stage.service, host, challenge, number)
    assert (stage.submission(key).state, stage.submission(key).work) == ("scored", "intervals")
    assert stage.board(challenge) == ["Near"]
    stage.work()
    [score] = stage.all(
        select(StoredScore).join(Version, Version.id == StoredScore.version_id).where(Version.number == 2)
    )
    assert score.lo <= score.value <= score.hi


@BOTH
def test_both_parts_are_previewed(stage, host):
    """A new split moves rows between the parts; each part has its changes."""
    challenge = stage.challenge(host, split="seeded", split_share="50", split_seed="1")
    for name, right in (("Badgers", 30), ("Otters", 20)):
        stage.team(challenge, name).send(guess(right))
    form = {**FORM, "slug": challenge.slug, "split": "seeded", "split_share": "30", "split_seed": "5"}
    challenges.update_challenge(stage.service, host, challenge, drafts.parse_draft(form))
    stage.work()
    found = preview(stage, challenge)
    assert list(found.entries) == ["public", "private"]
    page = stage.client(host).get(f"/organise/{challenge.slug}/rescoring").text
    assert "Private part" in page
    stage.apply(challenge, host)
    assert len(stage.board(challenge, "private")) == 2


@BOTH
def test_a_disqualified_submission_is_in_neither_board_of_a_preview(stage, host, challenge, rivals):
    """Also where it is disqualified after it was scored again."""
    number = replace(stage, host, challenge, guess(20))
    stage.work()
    moderation.disqualify(stage.service, host, challenge, rivals[1], "two accounts")
    assert changes(preview(stage, challenge)) == [("Badgers", (1, 0.7), (1, 0.8))]
    rescoring.apply_candidate(stage.service, host, challenge, number)
    assert stage.board(challenge) == ["Badgers"]


@BOTH
def test_a_submission_that_is_rejected_on_arrival_stays_rejected(waiting):
    """Its team has sent another instead: the new answers do not bring it back."""
    stage, challenge = waiting.stage, waiting.challenge
    waiting.send(guess(9))
    stage.work()
    replace(stage, waiting.user, challenge, guess(20))
    key = waiting.send(b"row_id,label\nr000,a\nr000,b\n")
    assert len(stage.all(select(Rescoring))) == 2
    stage.work()
    assert len(stage.all(select(Rescoring))) == 1
    stage.apply(challenge, waiting.user)
    assert stage.submission(key).state == "rejected"
    assert waiting.quota_status().used == 1


@BOTH
def test_what_is_scored_by_the_old_version_while_the_new_one_is_applied_counts_by_the_new_one(waiting, monkeypatch):
    """The result of the old version is dropped."""
    stage, challenge, plain = waiting.stage, waiting.challenge, scoring.score_parts
    first = waiting.send(guess(9))
    stage.work()
    replace(stage, waiting.user, challenge, guess(20))
    key = waiting.send(guess(20))

    def slowly(*given, **options):
        monkeypatch.setattr(scoring, "score_parts", plain)
        stage.apply(challenge, waiting.user)
        return plain(*given, **options)

    monkeypatch.setattr(scoring, "score_parts", slowly)
    stage.work()
    assert stage.scores(key)["accuracy"] == 1.0
    assert stage.submission(key).state == stage.submission(first).state == "scored"
    by_old = (StoredScore.submission_id == stage.submission(key).id) & (Version.number == 1)
    assert stage.all(select(StoredScore).join(Version, Version.id == StoredScore.version_id).where(by_old)) == []
    assert waiting.quota_status().used == 2


@BOTH
def test_what_is_discarded_while_it_is_scored_is_dropped(stage, host, challenge, rivals, monkeypatch):
    """A result that comes too late is not stored."""
    number, plain = replace(stage, host, challenge, guess(20)), scoring.score_parts

    def slowly(*given, **options):
        monkeypatch.setattr(scoring, "score_parts", plain)
        rescoring.discard_candidate(stage.service, host, challenge, number)
        return plain(*given, **options)

    monkeypatch.setattr(scoring, "score_parts", slowly)
    stage.work()
    assert stage.all(select(Rescoring)) == []
    assert {each.version_id for each in stage.all(select(StoredScore))} == {stage.submission(rivals[0]).version_id}


@BOTH
def test_a_new_version_that_cannot_score_a_file_says_so(stage, host, challenge, rivals, monkeypatch):
    """After three attempts the submission has failed by the new version only, and the preview counts it."""
    replace(stage, host, challenge, guess(20))
    with monkeypatch.context() as patch:
        patch.setattr(scoring, "score_parts", lambda *_, **__: 1 / 0)
        stage.work()
    assert {(each.state, each.attempts, each.claimed_by) for each in stage.all(select(Rescoring))} == {
        ("failed", 3, None)
    }
    assert stage.board(challenge) == ["Badgers", "Otters"]
    page = stage.client(host).get(f"/organise/{challenge.slug}/rescoring").text
    assert "Failed by an internal error: 2." in page
    stage.apply(challenge, host)
    assert {each.state for each in stage.all(select(Submission))} == {"failed"}
    for key in rivals:
        moderation.retry(stage.service, host, challenge, key)
    stage.work()
    assert stage.board(challenge) == ["Otters", "Badgers"]


@BOTH
def test_a_retried_submission_is_scored_by_both_versions(waiting):
    """Also where the new version has failed on it before."""
    stage, challenge = waiting.stage, waiting.challenge
    waiting.send(guess(9))
    key = waiting.send(guess(20))
    path = stage.service.files.path(stage.submission(key).file)
    content = path.read_bytes()
    path.unlink()
    stage.work()
    replace(stage, waiting.user, challenge, guess(20))
    stage.work()
    path.write_bytes(content)
    moderation.retry(stage.service, waiting.user, challenge, key)
    stage.apply(challenge, waiting.user)
    assert (stage.submission(key).state, stage.scores(key)["accuracy"]) == ("scored", 1.0)


@BOTH
def test_an_expired_claim_of_a_rescoring_is_taken_over(stage, host, challenge, rivals, make_stage):
    """What another process scores is left to it until it has not been heard of for a minute."""
    second = make_stage()
    replace(stage, host, challenge, guess(20))
    claims = [claim_next_rescoring(each.service) for each in (stage, second, second)]
    assert claims[0] != claims[1] == claims[2]
    second.clock.at = stage.clock() + CLAIM_LEASE
    second.clock.move(seconds=1)
    second.work()
    assert {each.state for each in stage.all(select(Rescoring))} == {"scored"}
    for _ in range(5):  # a file that kills each process that scores it is given up
        with stage.service.database.writing() as session:
            for each in session.scalars(select(Rescoring)):
                each.state, each.attempts = "queued", 3
        assert claim_next_rescoring(second.service) is None
    assert {each.state for each in stage.all(select(Rescoring))} == {"failed"}


def test_participants_see_nothing_of_a_version_that_waits(stage, host, challenge, rivals):
    """The sample, the page and results are those of the current version."""
    client = stage.client()
    paths = [f"/challenges/{challenge.slug}{each}" for each in ("", "/sample", "/leaderboard")]
    before = [client.get(path).text for path in paths]
    replace(stage, host, challenge, guess(20, ROWS + 5))
    stage.work()
    assert [client.get(path).text for path in paths] == before
    assert "version 1" in stage.client(host).get(f"/submissions/{rivals[0]}").text


def test_the_page_shows_progress_then_the_preview_and_decides(stage, host, challenge, rivals, monkeypatch):
    """It reloads while submissions are scored; each button names its version."""
    client, path = stage.client(host), f"/organise/{challenge.slug}/rescoring"
    assert "No new version is waiting." in client.get(path).text
    files = {"answers": ("answers.csv", table(guess(20)))}
    data = {"action": "answers", "answers_note": "A <b>typo</b>"}
    answer = client.post(f"/organise/{challenge.slug}", data=data, files=files)
    assert answer.headers["location"] == f"{path}?said=candidate"
    page = client.get(path).text
    assert "0 of 2 submissions scored." in page
    assert 'http-equiv="refresh"' in page
    assert "Apply version" not in page
    stage.work()
    page = client.get(path).text
    for text in ("A &lt;b&gt;typo", "2 entries would change, 2 of them in place, of 2 in all.", "up 1", "100.0 %"):
        assert text in page
    monkeypatch.setattr(rescoring_page, "_MAX_ROWS", 1)
    assert "And 1 more entry." in client.get(path).text
    for data in ({"action": "apply"}, {"action": "dance", "version": "2"}, {"action": "apply", "version": "9" * 40}):
        assert client.post(path, data=data).status_code == 400
    stale = client.post(path, data={"action": "discard", "version": "7"})
    assert (stale.status_code, "Version 7 is no longer waiting" in stale.text) == (422, True)
    answer = client.post(path, data={"action": "apply", "version": "2"})
    assert answer.headers["location"] == f"{path}?said=applied"
    assert stage.board(challenge) == ["Otters", "Badgers"]
