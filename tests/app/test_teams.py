"""Teams: one for each user and challenge, with a name of its own."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from tallymark.app.domain import teams
from tallymark.app.domain.errors import FormError
from tallymark.app.store.models import Member
from tests.app.stage import BOTH


@BOTH
def test_nobody_can_join_two_teams(stage, challenge):
    """Nobody takes part twice, whether by a name or by a code; a wrong code is told."""
    ada, ben = stage.person("Ada"), stage.person("Ben")
    team = stage.team(challenge, "Badgers", ada).team
    other = stage.team(challenge, "Others", ben).team
    with pytest.raises(FormError, match="already"):
        teams.join_challenge(stage.service, ada, challenge, "Again", "")
    with pytest.raises(FormError, match="already"):
        teams.join_challenge(stage.service, ada, challenge, "", other.code)
    with pytest.raises(FormError, match="No team"):
        teams.join_challenge(stage.service, stage.person("Cem"), challenge, "", "nothing")
    assert len(stage.all(select(Member).where(Member.team_id == team.id))) == 1
    assert stage.all(select(func.count()).select_from(Member)) == [2]


@pytest.mark.parametrize("name", ["BADGERS", "Ｂadgers", "ᵇadgers", " Badgers  "])
@BOTH
def test_names_that_look_the_same_are_one(stage, challenge, player, name):
    """A name that differs in case, width or spaces from another is taken."""
    with pytest.raises(FormError, match="This team name is taken"):
        teams.join_challenge(stage.service, stage.person("Eve"), challenge, name, "")


def test_rules_are_accepted_before_joining(stage, host):
    """Where a challenge asks for it; the time is stored."""
    challenge = stage.challenge(host, must_accept="1", rules="Be fair.")
    ada = stage.person("Ada")
    client, path = stage.client(ada), f"/challenges/{challenge.slug}"
    assert "I have read the rules and accept them." in client.get(path).text
    page = client.post(f"{path}/join", data={"team": "Badgers"})
    assert page.status_code == 422
    assert "accept them to take part" in page.text
    assert 'value="Badgers"' in page.text
    assert client.post(f"{path}/join", data={"team": "Badgers", "accept": "1"}).status_code == 303
    assert stage.all(select(Member.accepted)) == [stage.clock()]
    with pytest.raises(FormError, match="rules"):
        stage.challenge(host, must_accept="1", slug="without-rules")
