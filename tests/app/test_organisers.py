"""Organisers: the owner decides who else organises a challenge, and nobody else gets in."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from tallymark.app.domain import audit
from tallymark.app.domain.errors import FormError
from tallymark.app.domain.organisers import add_organiser, list_organisers, remove_organiser, transfer_challenge
from tallymark.app.store.models import AuditEntry, Team
from tests.app.stage import BOTH, guess


def organisers(stage, challenge):
    """The names of the organisers, the owner first."""
    with stage.service.database.reading() as session:
        return [each.user.name for each in list_organisers(session, challenge)]


@BOTH
def test_the_owner_adds_removes_and_passes_on(stage, host, challenge):
    """Each change is in the audit log."""
    stage.person("Cora")
    assert organisers(stage, challenge) == ["Olga"]
    add_organiser(stage.service, host, challenge, " cora ")
    assert organisers(stage, challenge) == ["Olga", "Cora"]
    transfer_challenge(stage.service, host, challenge, "Cora")
    assert organisers(stage, challenge) == ["Cora", "Olga"]
    remove_organiser(stage.service, host, challenge, "Olga")
    assert organisers(stage, challenge) == ["Cora"]
    logged = [(each.action, each.subject) for each in stage.all(select(AuditEntry).order_by(AuditEntry.id))]
    changes = [("add organiser", "Cora"), ("transfer", "Cora"), ("remove organiser", "Olga")]
    assert logged == [("create", ""), *changes]


@pytest.mark.parametrize(
    ("change", "name", "why"),
    [
        (add_organiser, "Nobody", "No account has this name"),
        (add_organiser, "Olga", "organises this challenge already"),
        (add_organiser, "Ada", "takes part in this challenge"),
        (remove_organiser, "Olga", "The owner cannot be removed"),
        (remove_organiser, "Ada", "do not organise"),
        (transfer_challenge, "Ada", "do not organise"),
    ],
)
def test_what_cannot_be_done_is_explained(stage, host, challenge, player, change, name, why):
    """A participant cannot become an organiser of the challenge that they take part in."""
    with pytest.raises(FormError, match=why):
        change(stage.service, host, challenge, name)
    assert organisers(stage, challenge) == ["Olga"]


def test_an_organiser_of_another_challenge_takes_part_like_anyone(stage, challenge):
    """Their team is ranked, while the teams of the organisers of a challenge are its baselines."""
    rival = stage.person("Rita", organiser=True)
    stage.challenge(rival, slug="theirs")
    stage.team(challenge, "Rivals", rival).send(guess(20))
    assert [each.baseline for each in stage.all(select(Team))] == [False]
    assert stage.board(challenge) == ["Rivals"]


def test_a_co_organiser_finds_the_challenge(stage, host, challenge):
    """Without the right to create challenges, and no longer once they are removed."""
    cora = stage.person("Cora")
    add_organiser(stage.service, host, challenge, "Cora")
    client = stage.client(cora)
    page = client.get("/organise").text
    assert challenge.title in page
    assert "/organise/new" not in page
    remove_organiser(stage.service, host, challenge, "Cora")
    assert client.get("/organise").status_code == 404


def test_unknown_actions_are_not_logged(stage, host):
    """A typo in the name of an action fails where it is written."""
    with stage.service.database.writing() as session, pytest.raises(ValueError, match="not in ACTIONS"):
        audit.record(session, stage.service, host, "frobnicate")
