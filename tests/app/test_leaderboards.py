"""Leaderboards: who is ranked, by what, and in which order."""

from __future__ import annotations

import io
import re

import pytest
from sqlalchemy import select

from tallymark.app.domain import submissions, teams
from tallymark.app.domain.errors import FormError
from tallymark.app.domain.lifecycle import take_step
from tallymark.app.store.models import LeaderboardEntry, Submission
from tests.app.stage import BOTH, ROWS, guess, table, truth

SPLIT = {"split": "column", "split_column": "part", "slug": "parted"}


def _parted(public: int = 20) -> bytes:
    """Answers whose first rows are public."""
    rows = [f"r{n:03},{each},{'public' if n < public else 'private'}\n" for n, each in enumerate(truth())]
    return "".join(["row_id,label,part\n", *rows]).encode()


def _mixed(public: int, private: int) -> list[str]:
    """So many right in each of the parts."""
    held = truth()
    right = set(range(public)) | set(range(20, 20 + private))
    return [each if n in right else "moose" for n, each in enumerate(held)]


@pytest.fixture
def parted(stage, host):
    return stage.challenge(host, _parted(), **SPLIT)


@BOTH
def test_the_best_of_each_team_is_ranked(stage, challenge):
    """A team has one place, by its best submission; the number of its scored ones stands beside it."""
    one, other = stage.team(challenge, "One"), stage.team(challenge, "Other")
    for right in (10, 30, 20):
        one.send(guess(right))
    other.send(guess(25))
    assert stage.board(challenge) == ["One", "Other"]
    assert [each.entries for each in stage.all(select(LeaderboardEntry).order_by(LeaderboardEntry.place))] == [3, 1]
    other.send(guess(32))
    assert stage.board(challenge) == ["Other", "One"]  # by score, even where the difference is not significant
    other.send(guess(40))
    assert stage.board(challenge) == ["Other", "One"]


@BOTH
def test_of_equals_the_earlier_stands_first(stage, challenge):
    """The same score sent later is listed below, also where it was scored sooner, with the same rank range."""
    names = ["Zebras", "Apes", "Moles"]
    for name in names:
        stage.team(challenge, name).send(guess(20))
        stage.clock.move(seconds=1)
    assert stage.board(challenge) == names
    assert {(each.best_rank, each.worst_rank) for each in stage.all(select(LeaderboardEntry))} == {(1, 3)}


def test_lower_is_better_where_the_metric_says_so(stage, host):
    """A smaller error stands above a larger one."""
    challenge = stage.challenge(host, table(range(ROWS)), task="numbers", metrics="mae")
    far, near = stage.team(challenge, "Far"), stage.team(challenge, "Near")
    far.send([n + 9 for n in range(ROWS)])
    near.send([n + 1 for n in range(ROWS)])
    assert stage.board(challenge) == ["Near", "Far"]


@BOTH
def test_undefined_scores_are_not_ranked(stage, host):
    """A constant has no correlation: it is scored as undefined, shown so, and stands on no leaderboard."""
    challenge = stage.challenge(host, table(range(ROWS)), task="numbers", metrics="pearson, mae")
    flat, good = stage.team(challenge, "Flat"), stage.team(challenge, "Good")
    key = flat.send([7] * ROWS)
    good.send([n + 1 for n in range(ROWS)])
    assert stage.submission(key).state == "scored"
    assert next(iter(stage.scores(key).values())) is None
    assert stage.board(challenge) == ["Good"]
    assert "undefined" in flat.client().get(f"/submissions/{key}").text


@BOTH
def test_what_is_not_scored_is_not_ranked(make_stage):
    """Neither what waits, nor what was rejected, nor what failed."""
    stage = make_stage(direct_bytes=1)
    challenge = stage.challenge(stage.person("Olga", organiser=True))
    keys = {name: stage.team(challenge, name) for name in ("Waiting", "Rejected", "Failed", "Scored")}
    keys["Scored"].send(guess(5))
    keys["Rejected"].send(b"row_id,label\nr000,a\nr000,b\n")
    failed = keys["Failed"].send(guess(6))
    stage.service.files.path(stage.submission(failed).file).unlink()
    stage.work()
    keys["Waiting"].send(guess(7))
    states = {each.state for each in stage.all(select(Submission))}
    assert states == {"queued", "rejected", "failed", "scored"}
    assert stage.board(challenge) == ["Scored"]


def test_a_baseline_is_marked_on_the_leaderboard(stage, challenge, host):
    """The entry of a baseline says so on the page."""
    with stage.service.database.writing() as session:
        team = teams.create_team(session, stage.service, challenge, "Always lynx", baseline=True)
    stream = io.BytesIO(table(["lynx"] * ROWS))
    submissions.submit_file(stage.service, host, challenge, team.id, stream, "x.csv", "")
    page = stage.client().get(f"/challenges/{challenge.slug}/leaderboard").text
    assert "baseline" in page.split("Always lynx", 1)[1].split("</tr>", 1)[0]


@BOTH
def test_the_private_part_ranks_what_was_chosen(stage, parted):
    """A team that has chosen is ranked by its choice, one that has not by its best in public."""
    careless, careful = stage.team(parted, "Careless"), stage.team(parted, "Careful")
    careless.send(_mixed(20, 2))
    careless.send(_mixed(10, 20))
    careful.send(_mixed(19, 3))
    stage.clock.move(seconds=1)
    wise = careful.send(_mixed(12, 18))
    assert stage.board(parted, "public") == ["Careless", "Careful"]
    assert stage.board(parted, "private") == ["Careful", "Careless"]
    teams.choose_finals(stage.service, parted, careful.team.id, [wise])
    chosen = stage.all(
        select(LeaderboardEntry.submission_id)
        .where(LeaderboardEntry.part == "private")
        .order_by(LeaderboardEntry.place)
    )
    assert chosen[0] == stage.submission(wise).id
    assert stage.board(parted, "private") == ["Careful", "Careless"]
    assert stage.board(parted, "public") == ["Careless", "Careful"]


def _mine(player) -> tuple[str, list[str], list[list[str]]]:
    """The words of a team's own submissions, the headings of the scores, and of each row its final and its scores."""
    page = player.client().get(f"/challenges/{player.challenge.slug}/mine").text
    heads = re.findall(r'<th scope="col"[^>]*class="number"><bdi[^>]*>([^<]*)', page)
    rows = re.findall(r"<tr role=\"row\".*?</tr>", page, re.DOTALL)[1:]
    cells = [re.findall(r'data-name="(?:Final|[^"]*[↑↓][^"]*)">\s*(?:<span[^>]*>)?([^<]*)', row) for row in rows]
    return page, heads, cells


def test_once_it_is_revealed_own_submissions_have_private_scores_and_the_final_rank(stage, host):
    """Not before, for organisers either; then nothing is left to select or to submit, and the entry is marked."""
    parted = stage.challenge(host, _parted(), **SPLIT, reveal="organiser")
    team, other = stage.team(parted, "Careful"), stage.team(parted, "Other")
    team.send(_mixed(19, 2))
    stage.clock.move(seconds=1)
    team.send(_mixed(12, 18))
    other.send(_mixed(20, 20))
    page, heads, cells = _mine(team)
    assert "Select up to 2 submissions" in page
    assert "submissions used today" in page
    assert not any("private" in head for head in heads)
    assert "Final ranking" not in page

    take_step(stage.service, host, parted, "close")
    page, heads, cells = _mine(team)
    assert "the final ranking is not published yet" in page
    assert not any("private" in head for head in heads)
    assert "Final ranking" not in page

    take_step(stage.service, host, parted, "reveal")
    page, heads, cells = _mine(team)
    assert not re.search("Select|used today|Save selection|Submit a file", page)
    assert "This challenge is closed and accepts no submissions." in page
    assert "You selected no submission, so your best public one counted." in page
    assert [each.rpartition(" (")[2] for each in heads[:2]] == ["public)", "private)"]
    assert [each[:3] for each in cells] == [["", "60.0 %", "90.0 %"], ["ranked", "95.0 %", "10.0 %"]]
    assert re.search(r"Place <strong>2</strong> <span[^>]*>of 2 entries", page)
    assert f'href="/challenges/{parted.slug}/leaderboard?part=private">Go to the final ranking' in page


def test_own_submissions_mark_the_selected_one_that_counted(stage, parted):
    """Of several selected, the one with the best private score is ranked."""
    team = stage.team(parted, "Careful")
    keys = []
    for right in ((19, 2), (12, 18), (11, 3)):
        keys.append(team.send(_mixed(*right)))
        stage.clock.move(seconds=1)
    teams.choose_finals(stage.service, parted, team.team.id, keys[1:])
    take_step(stage.service, stage.person("Olaf"), parted, "close")
    page, _, cells = _mine(team)
    assert "Of the 2 submissions that you selected, the best private one counted." in page
    assert [each[0].strip() for each in cells] == ["selected", "ranked", ""]


def test_without_a_private_part_the_final_ranking_is_the_public_one(stage, challenge):
    """A team that has no ranked submission is told so."""
    team, idle = stage.team(challenge, "Team"), stage.team(challenge, "Idle")
    team.send(truth())
    idle.send(b"no table")
    take_step(stage.service, stage.person("Olaf"), challenge, "close")
    page, heads, _ = _mine(team)
    assert "Your best submission counted." in page
    assert f'href="/challenges/{challenge.slug}/leaderboard">Go to the final ranking' in page
    assert not any("(public)" in head for head in heads)
    page, *_ = _mine(idle)
    assert "No submission of your team is ranked." in page
    assert "Final ranking" not in page


@BOTH
def test_of_several_chosen_the_best_in_private_counts(stage, parted):
    """Two choices are one place, by the better of them."""
    team = stage.team(parted, "Two")
    keys = [team.send(_mixed(20, 5)), team.send(_mixed(5, 15)), team.send(_mixed(1, 20))]
    teams.choose_finals(stage.service, parted, team.team.id, keys[:2])
    [place] = stage.all(select(LeaderboardEntry).where(LeaderboardEntry.part == "private"))
    assert place.submission_id == stage.submission(keys[1]).id


@BOTH
def test_a_choice_that_is_undefined_in_public_is_ranked_in_private(stage, host):
    """A final that has a score on the private part only does not stop the leaderboards."""
    rows = [f"r{n:03},{n},{'public' if n < 20 else 'private'}\n" for n in range(ROWS)]
    answers = "".join(["row_id,label,part\n", *rows]).encode()
    challenge = stage.challenge(host, answers, task="numbers", metrics="pearson", **SPLIT)
    odd, plain = stage.team(challenge, "Odd"), stage.team(challenge, "Plain")
    plain.send([n + n % 3 for n in range(ROWS)])
    key = odd.send([3 if n < 20 else n for n in range(ROWS)])
    teams.choose_finals(stage.service, challenge, odd.team.id, [key])
    assert stage.board(challenge, "public") == ["Plain"]
    assert stage.board(challenge, "private") == ["Odd", "Plain"]
    assert [each.entries for each in stage.all(select(LeaderboardEntry).where(LeaderboardEntry.part == "private"))] == [
        1,
        1,
    ]


@BOTH
def test_a_team_cannot_choose_too_many_or_unscored_submissions(stage, parted):
    """Not more than may be chosen, none of others, none that is not scored, none after the end."""
    team, other = stage.team(parted, "Team"), stage.team(parted, "Other")
    keys = [team.send(_mixed(n, n)) for n in range(3)]
    foreign, broken = other.send(_mixed(9, 9)), team.send(b"row_id,label\nr000,a\nr000,b\n")

    def choose(*wanted):
        return teams.choose_finals(stage.service, parted, team.team.id, wanted)

    assert choose(keys[0], keys[0], keys[1]) == 2
    for wanted, told in (
        (keys, "Select at most 2"),
        ([foreign], "before the deadline"),
        ([broken], "before the deadline"),
        (["nothing"], "before the deadline"),
    ):
        with pytest.raises(FormError, match=told):
            choose(*wanted)
    assert {each.key for each in stage.all(select(Submission).where(Submission.final))} == set(keys[:2])
    assert choose() == 0
    assert stage.all(select(Submission).where(Submission.final)) == []
    take_step(stage.service, stage.person("Olaf"), parted, "close")
    with pytest.raises(FormError, match="over"):
        choose(keys[0])


def test_late_files_cannot_be_chosen(stage, host):
    """What came after the deadline is no final."""
    challenge = stage.challenge(host, _parted(), deadline="2027-03-02T00:00", late="mark", **SPLIT)
    team = stage.team(challenge, "Late")
    stage.clock.move(days=1)
    key = team.send(_mixed(20, 20))
    with stage.service.database.writing() as session:
        session.get_one(type(challenge), challenge.id).deadline = None  # prolonged by its organiser
    with pytest.raises(FormError, match="before the deadline"):
        teams.choose_finals(stage.service, challenge, team.team.id, [key])
