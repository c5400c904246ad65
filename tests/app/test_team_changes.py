"""Changes of teams: names, links, leaving and merging; nobody gains submissions by them."""

from __future__ import annotations

import io
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select, update

from tallymark.app.domain import submissions, team_changes, teams
from tallymark.app.domain.errors import AppError, FormError
from tallymark.app.store.models import Challenge, Member, Quota, Submission, Team, TeamMerge
from tests.app.stage import BOTH, FORM, guess, table

pytestmark = pytest.mark.slow


def post(player, **form):
    return player.client().post(f"/challenges/{player.challenge.slug}/team", data=form)


def link_of(player):
    page = player.client().get(f"/challenges/{player.challenge.slug}/team").text
    return re.search(r"/challenges/[\w-]+/join/[\w-]+", page)[0]


def names(stage, team):
    with stage.service.database.reading() as session:
        return teams.member_names(session, team.id)


def merge(first, second):
    """The first team asks, and the second accepts."""
    service, challenge = first.stage.service, first.challenge
    team_changes.request_merge(service, first.user, challenge, second.team.name)
    team_changes.accept_merge(service, second.user, challenge, first.team.id)


@pytest.fixture
def pair(stage, challenge, player):
    return player, stage.team(challenge, "Otters", stage.person("Ben"), stage.person("Cem"))


def test_a_link_leads_to_a_page_that_asks(stage, player):
    """Who opens it and presses the button is a member; a visitor signs in first and comes back."""
    link = link_of(player)
    visitor = stage.client().get(link)
    assert visitor.headers["location"] == f"/sign-in?next={link}"
    eve = stage.client(stage.person("Eve"))
    page = eve.get(link).text
    assert "Badgers" in page
    assert names(stage, player.team) == ["Ada"]
    assert eve.post(link, data={"accept": ""}).status_code == 303
    assert names(stage, player.team) == ["Ada", "Eve"]
    assert eve.post(link, data={"accept": ""}).status_code == 422


def test_a_replaced_link_ends(stage, player):
    """The code too; a new one works."""
    link = link_of(player)
    assert post(player, action="renew").status_code == 303
    eve = stage.client(stage.person("Eve"))
    assert eve.get(link).status_code == 404
    assert eve.post(link, data={"accept": ""}).status_code == 404
    assert eve.post(link_of(player), data={"accept": ""}).status_code == 303


def test_a_link_of_another_challenge_joins_nothing(stage, host, player):
    """A code belongs to its challenge."""
    stage.challenge(host, slug="other")
    code = link_of(player).rpartition("/")[2]
    eve = stage.client(stage.person("Eve"))
    assert eve.get(f"/challenges/other/join/{code}").status_code == 404
    assert eve.post(f"/challenges/other/join/{code}", data={"accept": ""}).status_code == 404


def test_teams_merge_while_another_version_waits(stage, host):
    """Their submissions are scored by it and ranked as one team; the used quota is added up."""
    challenge = stage.challenge(host)
    first, second = (stage.team(challenge, name) for name in ("Badgers", "Otters"))
    for player, right in ((first, 20), (second, 30)):
        player.send(guess(right))
    form = {**FORM, "slug": challenge.slug, "metrics": "error_rate", "action": "save"}
    assert stage.client(host).post(f"/organise/{challenge.slug}", data=form).status_code == 303
    merge(first, second)
    assert second.quota_status().used == 2
    stage.apply(challenge, host)
    assert stage.board(challenge) == ["Otters"]
    assert len(stage.all(select(Submission).where(Submission.team_id == second.team.id))) == 2


def test_who_joins_by_a_link_accepts_the_rules_too(stage, host):
    """The page of the link has the checkbox, and the time is stored."""
    challenge = stage.challenge(host, publish="1", rules="Be kind.", must_accept="1")
    ada, eve = stage.person("Ada"), stage.person("Eve")
    team = teams.join_challenge(stage.service, ada, challenge, "Badgers", "", accepted=True)
    client, link = stage.client(eve), f"/challenges/{challenge.slug}/join/{team.code}"
    assert 'name="accept"' in client.get(link).text
    refused = client.post(link, data={"accept": ""})
    assert (refused.status_code, "Read the rules and accept them" in refused.text) == (422, True)
    assert client.post(link, data={"accept": "1"}).status_code == 303
    assert stage.all(select(Member.accepted).where(Member.user_id == eve.id)) == [stage.clock()]


def test_a_link_to_a_team_does_not_reveal_a_draft(stage, host):
    """It looks like one to a challenge that does not exist."""
    draft = stage.challenge(host, publish="")
    team = teams.join_challenge(stage.service, host, draft, "Olgas", "")
    eve, link = stage.client(stage.person("Eve")), f"/challenges/{draft.slug}/join/{team.code}"
    assert eve.get(link).status_code == eve.post(link, data={"accept": "1"}).status_code == 404


def test_a_new_name_does_not_look_like_that_of_another_team(stage, pair):
    """As when a team is made."""
    answer = post(pair[0], action="rename", name="0tters")
    assert (answer.status_code, "does not look like another" in answer.text) == (422, True)


@BOTH
def test_a_team_never_exceeds_its_size(stage, host):
    """Of eight who open the link at the same time, three join a team of four."""
    player = stage.team(stage.challenge(host, team_size="4"), "Badgers", stage.person("Ada"))
    people = [stage.person(f"Person {n}") for n in range(8)]

    def join(user):
        try:
            teams.join_challenge(stage.service, user, player.challenge, "", player.team.code)
        except FormError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(join, people))
    assert found.count("") == 3
    assert len(names(stage, player.team)) == 4
    assert "A team in this challenge may have at most 4; this would be 5." in found


def test_organisers_and_participants_share_no_team(stage, host, challenge, player):
    """Organisers know the answers."""
    with pytest.raises(FormError, match="cannot be in the same team"):
        teams.join_challenge(stage.service, host, challenge, "", player.team.code)
    baseline = stage.team(challenge, "Baseline", host)
    with pytest.raises(FormError, match="cannot be in the same team"):
        teams.join_challenge(stage.service, stage.person("Eve"), challenge, "", baseline.team.code)


@BOTH
def test_a_team_is_renamed_until_it_submits(stage, challenge, pair):
    """By any member; a name that is taken is refused."""
    player, _ = pair
    assert post(player, action="rename", name="Moles").status_code == 303
    assert post(player, action="rename", name="OTTERS").status_code == 422
    assert post(player, action="rename", name="x").status_code == 422
    player.send(b"no,file\n")
    assert post(player, action="rename", name="Voles").status_code == 422
    assert stage.all(select(Team.name).order_by(Team.id)) == ["Moles", "Otters"]


@BOTH
def test_members_leave_until_the_team_submits(stage, challenge, pair):
    """The last one takes the team away; after a submission they stay."""
    player, other = pair
    assert post(player, action="leave").headers["location"] == "/challenges/animals?said=left"
    assert stage.all(select(Team.name)) == ["Otters"]
    assert post(player, action="leave").status_code == 404
    teams.join_challenge(stage.service, player.user, challenge, "", other.team.code)
    other.send(guess(3))
    with pytest.raises(FormError, match="has submitted"):
        team_changes.leave_team(stage.service, player.user, challenge)
    assert names(stage, other.team) == ["Ada", "Ben", "Cem"]


@BOTH
def test_leaving_and_submitting_at_once_never_gives_a_second_team(stage, challenge, player):
    """Either the file is refused, or the member stays."""
    service = stage.service

    def leave():
        try:
            team_changes.leave_team(service, player.user, challenge)
        except FormError:
            return False
        return True

    def send():
        try:
            player.send(guess(3))
        except AppError:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        left, sent = pool.submit(leave), pool.submit(send)
        assert left.result() != sent.result()
    assert len(stage.all(select(Submission))) == len(stage.all(select(Team)))


@BOTH
def test_two_teams_merge_when_both_agree(stage, challenge, pair):
    """Members, submissions and used quota add up; the name is that of the team that accepts."""
    player, other = pair
    for _ in range(2):
        player.send(guess(30))
    other.send(guess(20))
    stage.clock.move(days=1)
    player.send(guess(10))
    for _ in range(3):
        other.send(guess(5))
    assert post(player, action="merge", merge=" otters ").status_code == 303
    assert "asks to join yours" in other.client().get("/challenges/animals/team").text
    assert names(stage, other.team) == ["Ben", "Cem"]
    assert post(other, action="accept", team=str(player.team.id)).status_code == 303
    assert names(stage, other.team) == ["Ada", "Ben", "Cem"]
    assert stage.all(select(Team.name)) == ["Otters"]
    assert stage.board(challenge) == ["Otters"]
    assert stage.all(select(func.count()).select_from(Submission).where(Submission.team_id == other.team.id)) == [7]
    assert stage.all(select(Quota.used).order_by(Quota.day)) == [3, 4]
    assert other.quota_status().remaining == 1
    other.send(guess(6))
    with pytest.raises(AppError, match="used all 5"):
        submissions.submit_file(
            stage.service, player.user, challenge, other.team.id, io.BytesIO(table(guess(7))), "x.csv", ""
        )


@BOTH
def test_merged_teams_have_no_more_than_one_quota(stage, challenge, pair):
    """Where both used more than one team has, nothing is left today; tomorrow there is one quota."""
    player, other = pair
    for _ in range(4):
        player.send(guess(3))
        other.send(guess(4))
    merge(player, other)
    assert (other.quota_status().used, other.quota_status().remaining) == (8, 0)
    with pytest.raises(AppError, match="used all 5"):
        other.send(guess(5))
    stage.clock.move(days=1)
    assert other.quota_status().remaining == 5


@BOTH
def test_merging_while_others_submit_never_exceeds_the_quota(stage, challenge, pair):
    """Of ten files sent while two teams merge, each is counted once, and none is lost."""
    player, other = pair
    service = stage.service
    team_changes.request_merge(service, player.user, challenge, "Otters")

    def send(who):
        try:
            who.send(guess(3))
        except AppError:
            return 0
        return 1

    with ThreadPoolExecutor(6) as pool:
        sent = [pool.submit(send, who) for who in (player, other) * 4]
        team_changes.accept_merge(service, other.user, challenge, player.team.id)
        count = sum(each.result() for each in sent)
    assert stage.all(select(func.coalesce(func.sum(Quota.used), 0))) == [count]
    assert len(stage.all(select(Submission))) == count
    assert stage.all(select(Team.name)) == ["Otters"]
    assert set(stage.all(select(Submission.team_id))) <= {other.team.id}


@BOTH
def test_of_two_who_accept_at_once_one_does(stage, challenge, pair):
    """And two teams that accept each other at once become one."""
    player, other = pair
    service = stage.service
    team_changes.request_merge(service, player.user, challenge, "Otters")
    team_changes.request_merge(service, other.user, challenge, "Badgers")

    def accept(pair_of):
        try:
            team_changes.accept_merge(service, pair_of[0].user, challenge, pair_of[1].team.id)
        except (AppError, FormError):
            return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(accept, [(other, player), (player, other)] * 2)) == 1
    assert len(stage.all(select(Team))) == 1
    assert stage.all(select(func.count()).select_from(Member)) == [3]
    assert stage.all(select(TeamMerge)) == []


def test_what_cannot_merge_is_explained(stage, host, challenge, pair):
    """Its own team, a team that is not there, a baseline, too many members, and after the end."""
    player, other = pair
    stage.team(challenge, "Baseline", host)
    for name, why in (("Badgers", "your own team"), ("Nobody", "No team"), ("Baseline", "Teams of organisers")):
        page = post(player, action="merge", merge=name)
        assert page.status_code == 422
        assert why in page.text
    with stage.service.database.writing() as session:
        session.execute(update(Challenge).values(team_size=2))
    assert "at most 2; this would be 3" in post(player, action="merge", merge="Otters").text
    with stage.service.database.writing() as session:
        session.execute(update(Challenge).values(team_size=None))
    assert post(player, action="merge", merge="Otters").status_code == 303
    with stage.service.database.writing() as session:
        session.execute(update(Challenge).values(closed=stage.clock()))
    page = post(other, action="accept", team=str(player.team.id))
    assert page.status_code == 422
    assert "is over" in page.text


def test_nobody_merges_a_team_that_did_not_ask(stage, challenge, pair):
    """Nor answers for another team, nor after the request was withdrawn or declined."""
    player, other = pair
    third = stage.team(challenge, "Voles")
    accept = {"action": "accept", "team": str(player.team.id)}
    assert post(other, **accept).status_code == 409
    post(player, action="merge", merge="Otters")
    assert post(third, **accept).status_code == 409
    assert post(third, action="decline", team=str(player.team.id)).status_code == 409
    assert post(player, **accept).status_code == 409
    assert post(player, action="withdraw").status_code == 303
    assert post(other, **accept).status_code == 409
    post(player, action="merge", merge="Otters")
    assert post(other, action="decline", team=str(player.team.id)).status_code == 303
    assert post(other, **accept).status_code == 409
    assert post(other, action="accept", team="x").status_code == 400
    assert len(stage.all(select(Team))) == 3


def test_selections_stay_within_the_limit(stage, host):
    """Where both together have selected too many, those of the team that asked are dropped."""
    rows = [f"r{n:03},{each},{'public' if n < 20 else 'private'}" for n, each in enumerate(guess(40))]
    answers = "\n".join(["row_id,label,part", *rows, ""]).encode()
    challenge = stage.challenge(host, answers, split="column", split_column="part", finals="2")
    player, other = stage.team(challenge, "Badgers"), stage.team(challenge, "Otters")
    mine, theirs = [player.send(guess(n)) for n in (9, 8)], [other.send(guess(n)) for n in (7, 6)]
    teams.choose_finals(stage.service, challenge, player.team.id, mine)
    teams.choose_finals(stage.service, challenge, other.team.id, theirs)
    merge(player, other)
    assert stage.all(select(Submission.key).where(Submission.final).order_by(Submission.id)) == theirs


def test_a_merged_member_sees_all_submissions(stage, challenge, pair):
    """Those of both teams, and a stale form of the former team is refused."""
    player, other = pair
    keys = [player.send(guess(30)), other.send(guess(20))]
    merge(player, other)
    for key in keys:
        assert player.client().get(f"/submissions/{key}").status_code == 200
    with pytest.raises(AppError, match="Your team has changed"):
        player.send(guess(4))
