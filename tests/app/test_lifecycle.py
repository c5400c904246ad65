"""The life of a challenge: each step where it is possible, what its page says, and what a save must not do."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from tallymark.app.domain import challenges, drafts
from tallymark.app.domain.errors import ConflictError, FormError
from tallymark.app.domain.lifecycle import STEPS, available_steps, take_step
from tallymark.app.store.models import AuditEntry, Challenge, Member, Organiser, Team, Version
from tests.app.stage import BOTH, FORM, guess, table, truth

pytestmark = pytest.mark.slow
PARTED = "".join(
    [
        "row_id,label,part\n",
        *(f"r{n:03},{each},{'public' if n < 20 else 'private'}\n" for n, each in enumerate(truth())),
    ]
).encode()
SPLIT = {"split": "column", "split_column": "part", "reveal": "organiser"}


def _held(stage, challenge):
    with stage.service.database.reading() as session:
        return session.get_one(Challenge, challenge.id)


def _steps(stage, challenge):
    with stage.service.database.reading() as session:
        return available_steps(session, session.get_one(Challenge, challenge.id), stage.clock())


def _save(stage, host, challenge, **changed):
    draft = drafts.parse_draft({**FORM, **SPLIT, "slug": challenge.slug, **changed})
    return challenges.update_challenge(stage.service, host, challenge, draft)


@BOTH
def test_a_challenge_goes_from_draft_to_reveal(stage, host):
    """Each state offers its steps, every other step is refused, and each step is in the log."""
    challenge = stage.challenge(host, PARTED, publish="", **SPLIT)
    path = (
        ("draft", "publish", {"publish", "delete"}),
        ("open", "close", {"close"}),
        ("closed", "reopen", {"reveal", "reopen"}),
        ("open", "close", {"close"}),
        ("closed", "reveal", {"reveal", "reopen"}),
        ("closed", "hide", {"hide", "reopen"}),
        ("closed", "reveal", {"reveal", "reopen"}),
        ("closed", "reopen", {"hide", "reopen"}),
        ("open", "close", {"close"}),
        ("closed", "reveal", {"reveal", "reopen"}),  # it was forgotten when the challenge was reopened
    )
    for state, step, offered in path:
        assert challenges.challenge_state(_held(stage, challenge), stage.clock()) == state
        assert set(_steps(stage, challenge)) == offered
        for other in set(STEPS) - offered | {"nonsense"}:
            with pytest.raises(ConflictError, match="changed meanwhile"):
                take_step(stage.service, host, challenge, other)
        take_step(stage.service, host, challenge, step)
    logged = stage.all(select(AuditEntry.action).order_by(AuditEntry.id))
    assert logged == ["create", *(step for _, step, _ in path)]


def test_new_challenges_are_drafts(stage, host):
    """Unless the form says that they are published at once."""
    client, answers = stage.client(host), {"answers": ("a.csv", table(truth()))}
    for publish, flash in (("", "Draft created."), ("1", "Published.")):
        form = {**FORM, "publish": publish, "slug": f"made-{publish}"}
        answer = client.post("/organise/new", data=form, files=answers)
        assert flash in client.get(answer.headers["location"]).text
        status = stage.client().get(f"/challenges/made{'-' * bool(publish)}{publish}").status_code
        assert status == (200 if publish else 303)


def test_a_draft_is_previewed_and_tried_by_its_organisers(stage, host):
    """The preview is the page of a participant; what an organiser submits is a baseline."""
    challenge = stage.challenge(host, publish="", opens="2027-04-01T00:00")
    page = stage.client(host).get(f"/organise/{challenge.slug}/preview").text
    assert "Not yet open" in page
    assert "<button disabled>Join</button>" in page
    team = stage.team(challenge, "Always lynx", host)
    assert stage.submission(team.send(guess(9))).state == "scored"
    assert _steps(stage, challenge) == ["publish"]
    with pytest.raises(ConflictError):
        take_step(stage.service, host, challenge, "delete")


@BOTH
def test_a_deleted_draft_leaves_nothing(stage, host, challenge):
    """Its versions, organisers and teams are gone, other challenges stay, and the log keeps its title."""
    draft = stage.challenge(host, publish="", slug="draft", title="Beasts")
    stage.team(draft, "Mine", host)
    stage.team(challenge, "Badgers")
    client = stage.client(host)
    assert "cannot be undone" in client.get("/organise/draft/steps/delete").text
    assert client.post("/organise/draft/steps/delete").headers["location"] == "/organise?said=deleted"
    for each in (Challenge, Version, Organiser, Team, Member):
        assert stage.all(select(func.count()).select_from(each)) == [1], each
    [entry] = stage.all(select(AuditEntry).where(AuditEntry.action == "delete"))
    assert (entry.subject, entry.challenge_id) == ("Beasts", None)
    assert client.get("/organise/draft").status_code == 404


@BOTH
def test_of_two_who_press_at_once_one_takes_the_step(stage, host):
    """The other is told that the state has changed, and the log has one entry."""
    challenge = stage.challenge(host, publish="")

    def publish(_):
        try:
            take_step(stage.service, host, challenge, "publish")
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(publish, range(4))) == [False, False, False, True]
    assert stage.all(select(func.count()).where(AuditEntry.action == "publish")) == [1]


def test_pages_say_what_a_step_changes(stage, host):
    """How many teams see what, and what is still being scored."""
    challenge = stage.challenge(host, PARTED, publish="", deadline="2027-03-09T00:00", **SPLIT)
    client, path = stage.client(host), f"/organise/{challenge.slug}/steps"
    assert "sample file with all 40 ids" in client.get(f"{path}/publish").text
    assert "at once until 9 March 2027, 00:00 UTC" in client.get(f"{path}/publish").text
    take_step(stage.service, host, challenge, "publish")
    for name in ("Badgers", "Otters", "Newts"):
        team = stage.team(challenge, name)
        if name != "Newts":
            team.send(guess(30))
    stage.team(challenge, "Always lynx", host).send(guess(14))
    page = client.get(f"{path}/close").text
    assert "3 teams can no longer submit files" in page
    assert "stays hidden until you reveal it" in page
    assert client.get(f"{path}/reveal").status_code == 404
    take_step(stage.service, host, challenge, "close")
    page = client.get(f"{path}/reveal").text
    assert "2 teams will see their private scores." in page
    assert "on 20 private rows, becomes public" in page
    stage.clock.move(days=10)
    page = client.get(f"{path}/reopen").text
    assert "Set a later one to reopen" in page
    assert "<button>Reopen" not in page
    assert client.post(f"{path}/reopen").status_code == 409


def test_closing_says_that_it_reveals_where_it_does(stage, host):
    """With "as soon as the challenge is over", closing is what publishes."""
    challenge = stage.challenge(host, PARTED, **{**SPLIT, "reveal": "closing"})
    stage.team(challenge, "Badgers").send(guess(30))
    page = stage.client(host).get(f"/organise/{challenge.slug}/steps/close").text
    assert "1 team will see their private scores." in page
    take_step(stage.service, host, challenge, "close")
    assert _steps(stage, challenge) == ["hide", "reopen"]


def test_a_draft_that_is_over_is_not_published(stage, host):
    """Its deadline must be set later first."""
    challenge = stage.challenge(host, publish="", deadline="2027-03-02T00:00")
    stage.clock.move(days=2)
    with pytest.raises(ConflictError, match="Set a later one"):
        take_step(stage.service, host, challenge, "publish")


def test_saving_reveals_nothing(stage, host):
    """Neither another rule nor another deadline shows the private part without a step."""
    challenge = stage.challenge(host, PARTED, **SPLIT)
    with pytest.raises(FormError, match="Close the challenge instead"):
        _save(stage, host, challenge, reveal="closing", deadline="2027-02-01T00:00")
    _save(stage, host, challenge, deadline="2027-02-01T00:00")
    with pytest.raises(FormError, match="in a step of its own"):
        _save(stage, host, challenge, reveal="closing", deadline="2027-02-01T00:00")
    take_step(stage.service, host, challenge, "reveal")
    _save(stage, host, challenge, reveal="organiser", deadline="2027-05-01T00:00")
    assert _held(stage, challenge).revealed is None
    take_step(stage.service, host, challenge, "close")
    assert not challenges.is_revealed(_held(stage, challenge), stage.clock())


def test_answers_of_a_draft_can_be_replaced(stage, host):
    """A draft has versions as any challenge has."""
    challenge = stage.challenge(host, publish="")
    challenges.replace_answers(stage.service, host, challenge, io.BytesIO(table(guess(3))))
    assert stage.all(select(func.count()).select_from(Version)) == [2]
