"""The pages of a long leaderboard: a hundred places each, groups that go on over their ends, and one's own page."""

from __future__ import annotations

import re
from itertools import groupby

import pytest
from sqlalchemy import select

from tallymark.app.domain.teams import join_challenge
from tallymark.app.store.models import LeaderboardEntry
from tests.app.crowd import crowd
from tests.app.stage import BOTH, ROWS, table, truth

pytestmark = pytest.mark.slow

TEAMS = 10_000


def _rows(page: str) -> list[tuple[str, str]]:
    """The places and the teams of a page."""
    return re.findall(r'data-name="Place">([^<]+)</td>\s*<th[^>]*>(?:<a[^>]*>)?(T\d+)', page)


@pytest.mark.slow
def test_ten_thousand_entries(stage, host):
    """All pages together are all entries in their order; each row shows the places of its whole group."""
    challenge = stage.challenge(host, table(truth(200)))
    values = crowd(stage, challenge, TEAMS)
    ranked = sorted(range(TEAMS), key=lambda n: (-values[n], n))
    held = stage.all(select(LeaderboardEntry).order_by(LeaderboardEntry.place))
    assert [each.place for each in held] == list(range(1, TEAMS + 1))
    ranks = {}
    for group, some in groupby(held, key=lambda each: each.group):
        few = list(some)
        places = [each.place for each in few]
        best = ranked[places[0] - 1 : places[-1]]
        assert [each.team_id - 1 for each in few] == best  # by score; of equal scores, the earlier
        ranks[group] = f"{places[0]}–{places[-1]}" if len(places) > 1 else str(places[0])
    assert len(ranks) > 3
    assert any(one.group == other.group for one, other in zip(held[99::100], held[100::100], strict=False))

    client, path = stage.client(), f"/challenges/{challenge.slug}/leaderboard"
    for number in (1, 2, 37, 99, 100):
        page = client.get(f"{path}?page={number}").text
        start = 100 * (number - 1)
        assert _rows(page) == [(ranks[each.group], f"T{each.team_id - 1:05}") for each in held[start : start + 100]]
        assert f"Entries {start + 1:,} to {start + 100:,} of 10,000" in page
        assert ('class="progress"' in page) is (number == 1)
    for number in ("0", "101", "-1", "x", "9" * 40):
        assert client.get(f"{path}?page={number}").status_code == 404

    ada = stage.person("Ada")
    join_challenge(stage.service, ada, challenge, "", f"c{held[4_321].team_id}")
    assert "You are on page 44" in stage.client(ada).get(path).text
    assert '<span class="tag own">you</span>' in stage.client(ada).get(f"{path}?page=44").text


def test_groups_are_those_of_the_library(stage, host):
    """Entries that no row tells apart share a group; one that is far better stands alone."""
    challenge = stage.challenge(host, table(truth(200)))
    best = stage.team(challenge, "Best")
    best.send(truth(200))
    for n in range(3):
        stage.team(challenge, f"Same {n}").send(["lynx"] * 200)
    page = stage.client().get(f"/challenges/{challenge.slug}/leaderboard").text
    found = re.findall(r'data-name="Place">([^<]+)</td>', page)
    assert found == ["1", "2–4", "2–4", "2–4"]


def test_a_page_without_entries(stage, challenge):
    """A challenge that nobody has sent anything to has a leaderboard that says so."""
    answer = stage.client().get(f"/challenges/{challenge.slug}/leaderboard")
    assert answer.status_code == 200
    assert "No entry has been scored yet" in answer.text


@pytest.mark.parametrize(
    ("metrics", "sent", "steps"),
    [
        ("mae", [9, 5, 7, 5, 2], ["9.000", "5.000", "2.000"]),
        ("mean_bias", [-4, 3, -3, 1, 2], ["-4.000", "3.000", "1.000"]),
        ("r2", [9, 5, 7, 5, 2], None),
    ],
)
@BOTH
def test_progress_is_the_best_so_far(stage, host, metrics, sent, steps):
    """Each step is better than all before it, whichever way is better; what is late is none."""
    form = {"task": "numbers", "metrics": metrics, "deadline": "2027-03-02T00:00", "late": "mark"}
    challenge = stage.challenge(host, table(range(ROWS)), **form)
    player = stage.team(challenge, "Badgers")
    for off in sent:
        player.send([n + off for n in range(ROWS)])
        stage.clock.move(minutes=1)
    stage.clock.move(days=1)
    late = stage.team(challenge, "Late")
    late.send(range(ROWS))
    page = stage.client().get(f"/challenges/{challenge.slug}/leaderboard").text
    told = re.findall(r"UTC: ([^<]+)</li>", page)
    assert len(told) == 3
    if steps is not None:
        assert [float(each.replace("−", "-")) for each in told] == [float(each) for each in steps]
    assert f"from {told[0]} to {told[-1]} in 3 steps" in page
