"""The submissions of a challenge as its organisers find them: searched, filtered, sorted, a page at a time."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select

from tallymark.app.domain import moderation
from tallymark.app.domain.errors import FormError
from tallymark.app.domain.submission_list import parse_filter
from tallymark.app.routes import organiser_submissions
from tallymark.app.store.models import Submission, Team
from tests.app.stage import BOTH, guess


@pytest.fixture
def listed(stage, host):
    """A function that lists the files that match a query, in their order."""
    challenge = stage.challenge(host, deadline="2027-03-01T14:00", late="mark")
    badgers, otters = stage.team(challenge, "Ünder_wood"), stage.team(challenge, "Otters", stage.person("100% Zoë"))
    keys = {}
    for player, right, name in ((badgers, 10, "b-10.csv"), (otters, 30, "A_30.csv"), (badgers, 20, "c20.csv")):
        keys[name] = player.send(guess(right), name)
        stage.clock.move(minutes=30)
    badgers.send(b"row_id,label\nr000,a\nr000,b\n", "broken.csv")
    stage.clock.move(minutes=30)
    otters.send(guess(40), "late.csv")
    moderation.disqualify(stage.service, host, challenge, keys["c20.csv"], "two accounts")
    client = stage.client(host)

    def find(**query):
        answer = client.get(f"/organise/{challenge.slug}/submissions", params=query)
        assert answer.status_code == 200
        return re.findall(r'rowheader" dir="auto"><a [^>]*>([^<]*)</a>', answer.text)

    return find


ALL = ["late.csv", "broken.csv", "c20.csv", "A_30.csv", "b-10.csv"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ALL),
        ({"q": "üNDER"}, ["broken.csv", "c20.csv", "b-10.csv"]),
        ({"q": "0%"}, ["late.csv", "A_30.csv"]),
        ({"q": "zoë"}, ["late.csv", "A_30.csv"]),
        ({"q": "a_3"}, ["A_30.csv"]),
        ({"q": "_"}, ["broken.csv", "c20.csv", "A_30.csv", "b-10.csv"]),
        ({"q": "' OR 1=1 --"}, []),
        ({"state": "rejected"}, ["broken.csv"]),
        ({"mark": "late"}, ["late.csv"]),
        ({"mark": "disqualified"}, ["c20.csv"]),
        ({"mark": "final"}, []),
        ({"since": "2027-03-01T12:30", "until": "2027-03-01T13:30"}, ["c20.csv", "A_30.csv"]),
        ({"sort": "oldest"}, ALL[::-1]),
        ({"sort": "best"}, ["late.csv", "A_30.csv", "c20.csv", "b-10.csv", "broken.csv"]),
        ({"sort": "worst"}, ["b-10.csv", "c20.csv", "A_30.csv", "late.csv", "broken.csv"]),
        ({"sort": "file"}, ["A_30.csv", "b-10.csv", "broken.csv", "c20.csv", "late.csv"]),
        ({"sort": "team"}, ["late.csv", "A_30.csv", "broken.csv", "c20.csv", "b-10.csv"]),
        ({"q": "csv", "state": "scored", "sort": "best", "mark": "late"}, ["late.csv"]),
    ],
)
@BOTH
def test_a_query_finds_what_matches(listed, query, found):
    """By parts of names in any case, literally; by state, mark and time; in the asked order."""
    assert listed(**query) == found


def test_a_team_is_a_filter(stage, listed):
    """By its number, as the form sends it."""
    [team] = stage.all(select(Team).where(Team.name == "Otters"))
    assert listed(team=str(team.id)) == ["late.csv", "A_30.csv"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"state": "lost"}, "state"),
        ({"mark": "x"}, "mark"),
        ({"sort": "x"}, "sort"),
        ({"team": "-1"}, "team"),
        ({"team": "9" * 30}, "team"),
        ({"since": "yesterday"}, "since"),
        ({"since": "0001-01-01T00:00+14:00"}, "since"),
        ({"since": "2027-03-02T00:00", "until": "2027-03-01T00:00"}, "until"),
    ],
)
def test_an_invalid_filter_is_explained_beside_its_field(stage, host, challenge, query, field):
    """The page keeps what was asked for."""
    with pytest.raises(FormError) as caught:
        parse_filter(query)
    assert list(caught.value.errors) == [field]
    answer = stage.client(host).get(f"/organise/{challenge.slug}/submissions", params=query)
    assert answer.status_code == 422
    assert f'id="{field}-error"' in answer.text


def test_pages_keep_the_filter(stage, host, challenge, player, monkeypatch):
    """Every submission is on one page, and each link asks for the same."""
    monkeypatch.setattr(organiser_submissions, "PAGE_SIZE", 2)
    keys = {player.send(guess(n), f"file & more {n}.csv") for n in range(5)}
    client, path = stage.client(host), f"/organise/{challenge.slug}/submissions"
    found = []
    for page in (1, 2, 3):
        text = client.get(path, params={"page": page, "q": "file & more", "sort": "oldest"}).text
        assert "page=1&amp;q=file+%26+more&amp;sort=oldest" in text
        found += re.findall(r"/submissions/([\w-]{16})/file", text)
    assert len(found) == 5
    assert set(found) == keys
    for page in ("0", "4", "9" * 30, "x"):
        assert client.get(path, params={"page": page}).status_code == 404
    assert client.get(path, params={"q": "\0"}).status_code == 404


def test_nothing_of_another_challenge_is_listed(stage, host, challenge, player):
    """Two challenges of one organiser have their own lists."""
    player.send(guess(3), "mine.csv")
    stage.challenge(host, slug="second")
    assert "mine.csv" not in stage.client(host).get("/organise/second/submissions").text
    assert stage.all(select(Submission.file_name)) == ["mine.csv"]
