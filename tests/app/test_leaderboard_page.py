"""The pages of a long leaderboard: a hundred places each, rank ranges, and one's own page."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select

from tallymark.app.domain.teams import join_challenge
from tallymark.app.store.models import LeaderboardEntry
from tests.app.crowd import crowd
from tests.app.stage import BOTH, ROWS, guess, table, truth

pytestmark = pytest.mark.slow

TEAMS = 10_000


def _rows(page: str) -> list[tuple[str, str]]:
    """The places and the teams of a page."""
    return re.findall(r'data-name="Place">([^<]+)</td>\s*<th[^>]*>(?:<a[^>]*>)?(T\d+)', page)


def _ranges(page: str) -> list[str]:
    """The rank ranges of a page."""
    return re.findall(r'data-name="Rank range"><span>([^<]+)</span>', page)


@pytest.mark.slow
def test_ten_thousand_entries_are_paged_in_order(stage, host):
    """All pages together are all entries in the order of their scores; each row shows its place and its rank range."""
    challenge = stage.challenge(host, table(truth(200)))
    values = crowd(stage, challenge, TEAMS)
    ranked = sorted(range(TEAMS), key=lambda n: (-values[n], n))
    held = stage.all(select(LeaderboardEntry).order_by(LeaderboardEntry.place))
    assert [each.place for each in held] == list(range(1, TEAMS + 1))
    assert [each.team_id - 1 for each in held] == ranked  # by score; of equal scores, the earlier
    assert all(1 <= each.best_rank <= each.place <= each.worst_rank <= TEAMS for each in held)
    assert held[0].worst_rank < held[-1].best_rank

    client, path = stage.client(), f"/challenges/{challenge.slug}/leaderboard"
    for number in (1, 2, 37, 99, 100):
        page = client.get(f"{path}?page={number}").text
        start = 100 * (number - 1)
        shown = held[start : start + 100]
        assert _rows(page) == [(f"{each.place:,}", f"T{each.team_id - 1:05}") for each in shown]
        assert _ranges(page) == [f"{each.best_rank:,}–{each.worst_rank:,}" for each in shown]
        assert f"Entries {start + 1:,} to {start + 100:,} of 10,000" in page
        assert ('class="progress"' in page) is (number == 1)
    for number in ("0", "101", "-1", "x", "9" * 40):
        assert client.get(f"{path}?page={number}").status_code == 404

    ada = stage.person("Ada")
    join_challenge(stage.service, ada, challenge, "", f"c{held[4_321].team_id}")
    assert "You are on page 44" in stage.client(ada).get(path).text
    assert '<span class="tag own">you</span>' in stage.client(ada).get(f"{path}?page=44").text


def test_ranges_are_those_of_the_library(stage, host):
    """Equal entries share a rank range; one that is far better has a rank of its own."""
    challenge = stage.challenge(host, table(truth(200)))
    best = stage.team(challenge, "Best")
    best.send(truth(200))
    for n in range(3):
        stage.team(challenge, f"Same {n}").send(["lynx"] * 200)
    page = stage.client().get(f"/challenges/{challenge.slug}/leaderboard").text
    assert re.findall(r'data-name="Place">([^<]+)</td>', page) == ["1", "2", "3", "4"]
    assert _ranges(page) == ["1", "2–4", "2–4", "2–4"]


def test_an_empty_leaderboard_says_so(stage, challenge):
    """A challenge that nobody has sent anything to has a leaderboard that says so."""
    answer = stage.client().get(f"/challenges/{challenge.slug}/leaderboard")
    assert answer.status_code == 200
    assert "There are no entries yet" in answer.text


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


def _bars(page: str) -> list[tuple[str, ...]]:
    """The places of the ends of each bar and of its value, which is empty where it is not drawn."""
    bars = re.findall(r'<svg class="scale".*?</td>', page, re.DOTALL)
    parts = r'(?:class="span" x1="([^%]+)%" x2="([^%]+)%"|class="dot" cx="([^%]+)%"|class="track")'
    return [tuple(map("".join, zip(*re.findall(parts, bar), strict=True))) for bar in bars]


def test_a_hopeless_entry_does_not_squash_the_leaders(stage, host):
    """Bars are scaled to the leading entries; one that is far behind has an arrow, and words for it."""
    rows = 400
    challenge = stage.challenge(host, table(truth(rows)))
    for right in (380, 376, 372, 350, 4):
        stage.team(challenge, f"Right {right}").send(guess(right, rows))
    page = stage.client().get(f"/challenges/{challenge.slug}/leaderboard").text
    *shown, (lo, hi, dot) = _bars(page)
    assert (lo, hi, dot) == ("", "", "")
    widths = [float(hi) - float(lo) for lo, hi, _ in shown]
    assert all(width > 100 / 6 for width in widths)
    assert max(float(hi) for _, hi, _ in shown) == 100
    assert all(float(lo) < float(dot) < float(hi) for lo, hi, dot in shown)
    assert page.count('class="beyond"') == 1
    assert '<span class="unseen"> (beyond the scale)</span>' in page
    assert "to fit the leading entries; an arrow marks an interval that goes on beyond." in page


@pytest.mark.parametrize(("metrics", "side"), [("rmse", "right"), ("r2", "left"), ("mean_bias", "right")])
def test_bars_are_clipped_on_the_worse_side(stage, host, metrics, side):
    """Errors on the right, gains on the left, and what should be near a value where it is far from it."""
    challenge = stage.challenge(host, table(range(ROWS)), task="numbers", metrics=metrics)
    for off in (1, 1.1, 500):
        noise = [off * (1 + (n % 5) / 10) for n in range(ROWS)]
        stage.team(challenge, f"Off {off}").send([n + by for n, by in enumerate(noise)])
    stage.work()
    page = stage.client().get(f"/challenges/{challenge.slug}/leaderboard").text
    *_, (lo, hi, dot) = _bars(page)
    assert (lo, hi, dot) == ("", "", "")
    assert page.count('<svg x="100%" overflow="visible"><path class="beyond"') == (side == "right")
    assert page.count('class="beyond"') == 1


def test_bars_of_entries_that_are_near_each_other_are_not_clipped(stage, host):
    """The scale then ends where the last interval does, and says so."""
    challenge = stage.challenge(host)
    for right in (36, 34, 30):
        stage.team(challenge, f"Right {right}").send(guess(right))
    page = stage.client().get(f"/challenges/{challenge.slug}/leaderboard").text
    assert min(float(lo) for lo, _, _ in _bars(page)) == 0
    assert max(float(hi) for _, hi, _ in _bars(page)) == 100
    assert 'class="beyond"' not in page
    assert re.search(r"The bars are drawn from \d\d\.\d % to \d\d\.\d %\. *<", page)
