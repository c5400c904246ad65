"""The free check: what it says, how long a file is kept, and tokens in the wrong hands."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from alembic import command
from sqlalchemy import create_engine, func, inspect, select, text

from tallymark.app import worker
from tallymark.app.domain import checks, teams
from tallymark.app.domain.accounts import hash_secret
from tallymark.app.store.database import alembic_config
from tallymark.app.store.models import CheckedFile, Submission
from tests.app.stage import BOTH, ROWS, guess, table, token_of, truth
from tests.waiting import LIMIT, until

BROKEN = b'row_id,label\nr000,lynx\nr000,otter\nr001\nr002,"heron\n'


@pytest.fixture
def slow_check(monkeypatch):
    """A function that holds checks back until an event is set; how many have begun."""
    begun, go_on, plain = [], threading.Event(), checks.check_submission

    def held(*args, **options):
        begun.append(1)
        assert go_on.wait(LIMIT)
        return plain(*args, **options)

    monkeypatch.setattr(checks, "check_submission", held)
    yield begun, go_on
    go_on.set()


def kept(stage):
    """The names of the files that are kept for their tokens."""
    folder = stage.settings.folder / "checked"
    return sorted(each.name for each in folder.iterdir()) if folder.exists() else []


def submissions(stage):
    return stage.all(select(func.count()).select_from(Submission))[0]


@BOTH
def test_a_checked_file_is_submitted_without_a_second_upload(player):
    """The check says that nothing is wrong, the token submits the same bytes with a note, and then nothing is kept."""
    stage = player.stage
    page = player.upload(guess(30), "mine.csv")
    assert page.status_code == 200
    assert "mine.csv: no problems found, 40 rows" in page.text
    assert (player.quota_status().used, submissions(stage)) == (0, 0)
    token = token_of(page.text)
    assert kept(stage) == [hash_secret(token)]
    answer = player.confirm(token, "the first")
    held = stage.submission(answer.headers["location"].split("/")[-1])
    assert (held.state, held.file_name, held.note) == ("scored", "mine.csv", "the first")
    assert stage.service.files.read(held.file) == table(guess(30))
    assert player.quota_status().used == 1
    checks.discard_expired(stage.service)
    assert kept(stage) == []


@BOTH
def test_all_problems_are_shown_at_once_and_nothing_is_kept(player):
    """Each has its line and column; there is no token, no submission and no cost."""
    page = player.upload(BROKEN, "bad.csv")
    assert page.status_code == 422
    assert "bad.csv cannot be submitted: it has 3 problems." in page.text
    for place in ("line 3, column 1", "line 4, column 1", "line 5, column 6"):
        assert place in page.text
    assert 'name="token"' not in page.text
    assert (kept(player.stage), submissions(player.stage), player.quota_status().used) == ([], 0, 0)
    assert player.stage.all(select(CheckedFile)) == []


def test_ids_are_compared_with_the_sample(stage, host):
    """Ids that are missing or unknown show before anything is submitted; where none may be missing, they reject."""
    lax = stage.team(stage.challenge(host), "Lax")
    page = lax.upload(table(truth()[:38]) + b"other,lynx\n").text
    assert "2 missing ids: r038, r039" in page
    assert "1 extra id: other" in page
    strict = stage.team(stage.challenge(host, missing="reject", slug="strict"), "Strict")
    page = strict.upload(truth()[:38])
    assert page.status_code == 422
    assert "no row for 2 of the ids" in page.text
    assert "No matching rows found" in strict.upload(b"row_id,label\nx,lynx\n").text


@pytest.mark.parametrize(
    ("task", "form", "answers", "good", "bad"),
    [
        ("numbers", {"metrics": "mae"}, table(range(ROWS)), table([0.5] * ROWS), table(["x"] * ROWS)),
        (
            "probabilities",
            {"metrics": "logloss", "classes": "lynx, otter, heron"},
            table(truth()),
            b"row_id,lynx,otter,heron\n" + b"".join(b"r%03d,0.5,0.25,0.25\n" % n for n in range(ROWS)),
            b"row_id,lynx,otter,heron\nr000,2,0,0\n",
        ),
    ],
)
def test_each_task_is_checked_by_its_rules(stage, host, task, form, answers, good, bad):
    """Numbers and probabilities have their own rules; what passes the check is scored."""
    player = stage.team(stage.challenge(host, answers, task=task, **form), "Team")
    assert player.upload(bad).status_code == 422
    answer = player.confirm(token_of(player.upload(good).text))
    assert stage.submission(answer.headers["location"].split("/")[-1]).state == "scored"


@BOTH
def test_a_token_is_used_once(player):
    """The second time there is nothing, with a way to one's submissions, and nothing is counted twice."""
    token = token_of(player.upload(guess(30)).text)
    assert player.confirm(token).status_code == 303
    again = player.confirm(token)
    assert again.status_code == 404
    assert f"/challenges/{player.challenge.slug}/mine" in again.text
    assert (submissions(player.stage), player.quota_status().used) == (1, 1)


@BOTH
def test_a_token_sent_many_times_at_once_is_used_once(player):
    """Of ten requests at the same time one submits the file, and the others find nothing."""
    token = token_of(player.upload(guess(30)).text)
    clients = [player.client() for _ in range(10)]
    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(each.post, player.submit_page, data={"token": token}) for each in clients]
        found = sorted(each.result().status_code for each in asked)
    assert found == [303] + [404] * 9
    assert (submissions(player.stage), player.quota_status().used) == (1, 1)


@BOTH
def test_a_token_of_somebody_else_is_nothing(stage, challenge, player):
    """Neither another team nor a member of the same team can use it; the answer is that to a token that never was."""
    mate = stage.person("Ben")
    teams.join_challenge(stage.service, mate, challenge, "", player.team.code)
    other = stage.team(challenge, "Otters")
    token = token_of(player.upload(guess(30)).text)

    def words(user, given):
        answer = stage.client(user).post(player.submit_page, data={"token": given})
        assert answer.status_code == 404
        return answer.text.partition("support: <code>")[0]

    for user in (mate, other.user):
        assert words(user, token) == words(user, "never-was-a-token")
    assert submissions(stage) == 0
    assert player.confirm(token).status_code == 303


def test_a_token_belongs_to_one_challenge(stage, host, player):
    """A file that was checked for one challenge is not submitted to another."""
    second = stage.challenge(host, slug="second")
    teams.join_challenge(stage.service, player.user, second, "Badgers", "")
    token = token_of(player.upload(guess(30)).text)
    assert player.client().post("/challenges/second/submit", data={"token": token}).status_code == 404
    assert player.confirm(token).status_code == 303


@BOTH
def test_a_token_expires_after_an_hour(player):
    """Up to the last second it submits; then it is nothing, and the worker's thread deletes the file."""
    stage = player.stage
    token = token_of(player.upload(guess(30)).text)
    stage.clock.move(minutes=59, seconds=59)
    checks.discard_expired(stage.service)
    assert kept(stage) == [hash_secret(token)]
    stage.clock.move(seconds=1)
    assert player.confirm(token).status_code == 404
    checks.discard_expired(stage.service)
    assert (kept(stage), stage.all(select(CheckedFile))) == ([], [])


def test_the_worker_discards_what_has_expired(stage, player, monkeypatch):
    """It does so by itself, whatever else fails in its thread."""
    monkeypatch.setattr(worker, "_RENEWAL_INTERVAL", 0.01)
    monkeypatch.setattr(worker.Worker, "_renew_claims", lambda _: 1 / 0)
    player.upload(guess(30))
    stage.clock.move(hours=2)
    with stage.client():
        until(lambda: not kept(stage))


def test_files_that_nothing_belongs_to_are_discarded(stage, player):
    """Those that a process left behind, and links, but not what they point to; a checked file stays."""
    outside = stage.settings.folder.parent / "outside"
    outside.write_text("precious")
    token = token_of(player.upload(guess(30)).text)
    folder = stage.settings.folder / "checked"
    (folder / ("0" * 64)).write_text("left")
    (folder / ("1" * 64)).symlink_to(outside)
    (folder / "a folder").mkdir()
    checks.discard_expired(stage.service)
    assert kept(stage) == sorted([hash_secret(token), "a folder"])
    assert outside.read_text() == "precious"


def test_a_link_in_the_place_of_a_checked_file_is_not_followed(stage, player):
    """Whoever can write into the folder does not get other files submitted."""
    outside = stage.settings.folder.parent / "outside"
    outside.write_bytes(table(truth()))
    token = token_of(player.upload(guess(30)).text)
    place = stage.settings.folder / "checked" / hash_secret(token)
    place.unlink()
    place.symlink_to(outside)
    assert player.confirm(token).status_code == 404
    assert submissions(stage) == 0


@pytest.mark.parametrize(
    "token", ["../../tallymark.db", "/etc/passwd", "..%2f..", "a" * 100_000, "", " ", "é", "%", "' OR 1=1 --"]
)
def test_made_up_tokens_find_nothing(player, token):
    """Whatever is in them, no path and no statement is made of it."""
    player.upload(guess(30))
    assert player.confirm(token).status_code == 404
    assert submissions(player.stage) == 0


def test_the_hash_in_the_folder_is_not_the_token(player):
    """Reading the folder or the database does not give a token that submits."""
    token = token_of(player.upload(guess(30)).text)
    assert len(token) >= 43
    [name] = kept(player.stage)
    assert player.confirm(name).status_code == 404
    assert token not in str([each.__dict__ for each in player.stage.all(select(CheckedFile))])


@BOTH
def test_an_account_has_one_check_at_a_time(make_stage, database, slow_check):
    """While a file is checked another one of the same account is refused, also by another process; others go on."""
    begun, go_on = slow_check
    first, second = make_stage(), make_stage()
    challenge = first.challenge(first.person("Olga", organiser=True))
    one, other = first.team(challenge, "Badgers"), first.team(challenge, "Otters")
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(one.upload, guess(30))
        until(lambda: begun)
        for stage in (first, second):
            files = {"submission": ("b.csv", table(guess(20)))}
            answer = stage.client(one.user).post(one.submit_page, files=files)
            assert answer.status_code == 409
            assert "Another file of yours is being checked." in answer.text
        beside = pool.submit(other.upload, guess(10))
        until(lambda: len(begun) == 2)
        go_on.set()
        assert beside.result().status_code == slow.result().status_code == 200
    assert one.confirm(token_of(slow.result().text)).status_code == 303
    assert one.upload(guess(20)).status_code == 200


def test_a_file_that_is_being_checked_cannot_be_submitted(player, slow_check, monkeypatch):
    """Its token is worth nothing before the check has ended."""
    begun, go_on = slow_check
    monkeypatch.setattr(checks, "secrets", SimpleNamespace(token_urlsafe=lambda _: "known"))
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(player.upload, guess(30))
        until(lambda: begun)
        assert player.confirm("known").status_code == 404
        go_on.set()
        assert slow.result().status_code == 200


def test_a_check_that_broke_off_does_not_block_for_ever(player, monkeypatch):
    """One that fails is over at once; one whose process died, after ten minutes."""

    def dies(*_, **__):
        raise OSError("no more memory")

    with monkeypatch.context() as patch:
        patch.setattr(checks, "check_submission", dies)
        assert player.upload(guess(30)).status_code == 500
    assert (kept(player.stage), player.stage.all(select(CheckedFile))) == ([], [])
    checks._start_check(player.stage.service, player.user, player.challenge, "0" * 64, "a.csv")
    assert player.upload(guess(30)).status_code == 409
    player.stage.clock.move(minutes=10)
    assert player.upload(guess(30)).status_code == 200


def test_a_new_check_replaces_the_one_before(player):
    """An account has one file kept, however often it checks; only the last can be submitted."""
    tokens = [token_of(player.upload(guess(n)).text) for n in range(4)]
    checks.discard_expired(player.stage.service)
    assert kept(player.stage) == [hash_secret(tokens[-1])]
    assert [player.confirm(token).status_code for token in tokens] == [404, 404, 404, 303]


@BOTH
def test_a_check_costs_nothing_and_a_token_does_not_beat_the_quota(player):
    """Checks are not counted; once the day is used up a token is refused, kept, and no file is checked either."""
    for n in range(10):
        assert player.upload(guess(n)).status_code == 200
    assert player.quota_status().used == 0
    token = token_of(player.upload(guess(30)).text)
    for n in range(5):
        player.send(guess(n))
    answer = player.confirm(token)
    assert answer.status_code == 409
    assert "Your team has used all 5 submissions of today" in answer.text
    assert player.upload(guess(3)).status_code == 409
    assert (submissions(player.stage), player.quota_status().used) == (5, 5)
    player.stage.clock.move(minutes=30)
    with player.stage.service.database.writing() as session:
        session.get_one(type(player.challenge), player.challenge.id).quota = 6
    assert player.confirm(token).status_code == 303


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {}])
def test_other_sites_neither_check_nor_submit(stage, player, headers):
    """A form on another site gets no check, and cannot submit a checked file."""
    token = token_of(player.upload(guess(30)).text)
    client = stage.client(player.user, headers={})
    files = {"submission": ("a.csv", table(guess(3)))}
    assert client.post(player.submit_page, files=files, headers=headers).status_code == 403
    assert client.post(player.submit_page, data={"token": token}, headers=headers).status_code == 403
    assert submissions(stage) == 0
    assert player.confirm(token).status_code == 303


def test_the_limits_are_those_of_submissions(make_stage):
    """Bytes and rows; nothing of a file that is too large is kept."""
    stage = make_stage(upload_bytes=1000, rows=20)
    challenge = stage.challenge(stage.person("Olga", organiser=True), table(truth(10)))
    player = stage.team(challenge, "Badgers")
    assert player.upload(guess(10, 10)).status_code == 200
    assert player.upload(b"x" * 1001).status_code == 413
    page = player.upload(table(guess(10, 30)))
    assert page.status_code == 422
    assert "the number of rows exceeds the limit of 20" in page.text


def test_names_of_files_are_shown_as_text(player):
    """Whatever a client calls its file."""
    page = player.upload(guess(3), "../<script>alert(1)</script>\u202e.csv").text
    assert "<script>alert" not in page
    assert "\u202e" not in page


def test_the_check_of_a_closed_challenge_is_refused(stage, host):
    """Nothing is checked that could not be submitted."""
    player = stage.team(stage.challenge(host, deadline="2027-03-01T13:00"), "Slow")
    stage.clock.move(minutes=59, seconds=59)
    token = token_of(player.upload(guess(3)).text)
    stage.clock.move(seconds=1)
    assert player.upload(guess(3)).status_code == 409
    assert player.confirm(token).status_code == 409


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_a_database_of_the_first_form_gets_the_table_and_keeps_its_rows(kind, tmp_path, request):
    """The second migration adds a table and touches no other."""
    url = f"sqlite:///{tmp_path / 'old.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("postgres")().replace("postgresql://", "postgresql+psycopg://")
    engine = create_engine(url)
    with engine.begin() as connection:
        command.upgrade(alembic_config(connection), "0001")
        assert "checked_files" not in inspect(connection).get_table_names()
        values = "(7, 'Ada', 'ada', false, '2027-03-01 12:00:00')"
        connection.execute(text(f"INSERT INTO users (id, name, key, organiser, created) VALUES {values}"))
    with engine.begin() as connection:
        command.upgrade(alembic_config(connection), "head")
        assert "checked_files" in inspect(connection).get_table_names()
        assert connection.scalar(text("SELECT name FROM users WHERE id = 7")) == "Ada"
    engine.dispose()
