"""The quota of a day: never more than it says, whoever sends at the same time, and nothing for what is not scored."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from tallymark.app.domain import submissions
from tallymark.app.domain.errors import ConflictError
from tallymark.app.store.models import Submission
from tests.app.stage import BOTH, guess, table

pytestmark = pytest.mark.slow

BROKEN = b"row_id,label\nr000,lynx\nr000,otter\n"


def _sent(service, player, content):
    """Whether a file was taken."""
    stream = io.BytesIO(content)
    try:
        submissions.submit_file(service, player.user, player.challenge, player.team.id, stream, "x.csv", "")
    except ConflictError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("apps", [1, 2])
@BOTH
def test_twenty_at_once_and_five_count(make_stage, apps):
    """Of twenty that are sent at the same time, to one process or to two, exactly the quota is taken and scored."""
    stages = [make_stage(scorers=4) for _ in range(apps)]
    stage = stages[0]
    player = stage.team(stage.challenge(stage.person("Olga", organiser=True)), "Badgers")
    files = [table(guess(n)) for n in range(20)]
    with ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(_sent, stages[n % apps].service, player, content) for n, content in enumerate(files)]
        taken = [each.result() for each in asked]
    assert sum(taken) == 5
    assert player.quota_status().used == 5
    assert stage.all(select(func.count()).select_from(Submission)) == [5]
    assert {each.state for each in stage.all(select(Submission))} == {"scored"}


@BOTH
def test_the_last_is_refused_with_the_hour(player):
    """One more than the quota is refused in words, and nothing of it is kept."""
    for n in range(5):
        player.send(guess(n))
    before = player.stage.all(select(func.count()).select_from(Submission))
    with pytest.raises(ConflictError, match=r"used all 5 submissions of today\. The quota resets at 00:00 UTC"):
        player.send(guess(9))
    assert player.stage.all(select(func.count()).select_from(Submission)) == before
    assert str(player.quota_status()) == "5 of 5 submissions used today; resets at 00:00 UTC"


@BOTH
def test_rejected_files_cost_nothing(player):
    """A file with problems is given back, also the sixth."""
    for _ in range(6):
        key = player.send(BROKEN)
        assert player.stage.submission(key).state == "rejected"
    assert player.quota_status().used == 0


def test_rejected_files_are_not_endless(player):
    """A hundred rejected files in a day are enough; the next day begins anew."""
    first = player.stage.submission(player.send(BROKEN))
    with player.stage.service.database.writing() as session:
        for n in range(99):
            columns = {each.name: getattr(first, each.name) for each in Submission.__table__.columns}
            session.add(Submission(**{**columns, "id": None, "key": f"copy{n}"}))
    with pytest.raises(ConflictError, match="100 files were rejected within 24 hours"):
        player.send(guess(5))
    player.stage.clock.move(days=1)
    player.send(guess(5))


@BOTH
def test_the_day_ends_at_midnight_utc(player):
    """What was sent a second before midnight does not count a second after it."""
    clock = player.stage.clock
    clock.move(hours=11, minutes=59, seconds=59)
    for n in range(5):
        player.send(guess(n))
    with pytest.raises(ConflictError):
        player.send(guess(6))
    clock.move(seconds=1)
    assert player.quota_status().used == 0
    player.send(guess(6))
    assert player.quota_status().used == 1


@BOTH
def test_a_failure_gives_back_to_its_own_day(make_stage):
    """What failed on the next day is given back to the day on which it was sent."""
    stage = make_stage(direct_bytes=1)
    player = stage.team(stage.challenge(stage.person("Olga", organiser=True)), "Badgers")
    key = player.send(guess(3))
    assert player.quota_status().used == 1
    stage.service.files.path(stage.submission(key).file).unlink()
    stage.clock.move(days=1)
    stage.work()
    assert stage.submission(key).state == "failed"
    assert player.quota_status().used == 0
    stage.clock.move(days=-1)
    assert player.quota_status().used == 0


def test_a_smaller_quota_counts_at_once(stage, player):
    """What was used already counts when the organiser sets a smaller number."""
    for n in range(3):
        player.send(guess(n))
    with stage.service.database.writing() as session:
        held = session.get_one(type(player.challenge), player.challenge.id)
        held.quota = 2
    with pytest.raises(ConflictError, match="used all 2 submissions"):
        player.send(guess(4))
    assert player.quota_status().remaining == 0


@BOTH
def test_each_team_has_its_own(stage, challenge):
    """The quota is that of a team: its members share it, others do not."""
    ada, ben = stage.person("Ada"), stage.person("Ben")
    badgers, otters = stage.team(challenge, "Badgers", ada, ben), stage.team(challenge, "Otters")
    for user in (ada, ben, ada, ben, ada):
        stream = io.BytesIO(table(guess(2)))
        submissions.submit_file(stage.service, user, challenge, badgers.team.id, stream, "x.csv", "")
    assert not _sent(stage.service, badgers, table(guess(3)))
    assert _sent(stage.service, otters, table(guess(3)))


@BOTH
def test_a_total_quota_counts_all_days(stage, host):
    """Beside the daily one; rejected files cost nothing, and a submission that is given back can be used again."""
    challenge = stage.challenge(host, quota="2", total_quota="3")
    player = stage.team(challenge, "Badgers")
    player.send(guess(1))
    player.send(guess(2))
    with pytest.raises(ConflictError, match="all 2 submissions of today"):
        player.send(guess(3))
    stage.clock.move(days=1)
    assert str(player.quota_status()) == "0 of 2 submissions used today; resets at 00:00 UTC; 2 of 3 used in all"
    player.send(b"row_id,label\nr000,a\nr000,b\n")
    player.send(guess(4))
    with pytest.raises(ConflictError, match="all 3 submissions of this challenge"):
        player.send(guess(5))
    stage.clock.move(days=1)
    assert player.quota_status().remaining == 0
    assert "used all 3 submissions of this challenge" in player.client().get(player.submit_page).text


@BOTH
def test_of_many_at_once_no_more_than_the_total_are_taken(stage, host):
    """The last one is taken once."""
    challenge = stage.challenge(host, quota="50", total_quota="3")
    player = stage.team(challenge, "Badgers")

    def send(number):
        try:
            player.send(guess(number))
        except ConflictError:
            return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(send, range(8))) == 3
