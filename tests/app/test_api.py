"""The API: uploads that are repeated, lists in parts, errors as problem details, and no more than the pages show."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select, update

from tallymark.app.domain.lifecycle import take_step
from tallymark.app.http.uploads import MAX_PLAIN_FORM
from tallymark.app.routes.api import ROUTERS
from tallymark.app.store.models import AuditEntry, Submission, Token, User
from tests.app.stage import BOTH, FORM, guess, table, truth

pytestmark = pytest.mark.slow

ANIMALS = "/api/v1/challenges/animals"
ORGANISED = "/api/v1/organise/challenges/animals"


def _submit(client, content=None, key=None, **query):
    headers = {"Content-Type": "text/csv", **({"Idempotency-Key": key} if key else {})}
    content = table(guess(7)) if content is None else content
    return client.post(f"{ANIMALS}/submissions", content=content, headers=headers, params=query)


def _count(stage):
    [count] = stage.all(select(func.count()).select_from(Submission))
    return count


def test_a_program_takes_part_with_plain_requests(stage, challenge):
    """Join, read the sample, check, submit, read the result and the leaderboard."""
    client = stage.program(stage.person("Ada"), ["read", "submit"])
    assert client.get("/api/v1/me").json()["token"]["scopes"] == ["read", "submit"]
    assert [each["slug"] for each in client.get("/api/v1/challenges").json()["items"]] == ["animals"]
    assert client.get(ANIMALS).json()["team"] is None
    joined = client.post(f"{ANIMALS}/team", json={"team": "Newts"})
    assert (joined.status_code, joined.json()["members"]) == (201, ["Ada"])
    sample = client.get(f"{ANIMALS}/sample")
    assert sample.headers["content-type"].startswith("text/csv")
    assert client.post(f"{ANIMALS}/check", content=sample.content).json()["rows"] == 40
    files = {"submission": ("c:\\my files\\first.csv", table(guess(30)))}
    answer = client.post(f"{ANIMALS}/submissions", files=files, data={"note": "first try"})
    submitted = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"/api/v1/submissions/{submitted['key']}"
    assert (submitted["state"], submitted["file_name"], submitted["note"]) == ("scored", "first.csv", "first try")
    assert submitted["scores"]["public"][0]["value"] == 0.75
    stage.work()
    read = client.get(answer.headers["location"]).json()
    assert read["standing"] == {"place": 1, "total": 1, "best_rank": 1, "worst_rank": 1, "is_own": True}
    assert read["counts"] == {"compared": 40, "missing": 0, "extra": 0, "correct": 30, "incorrect": 10}
    assert not read["pending"]
    [entry] = client.get(f"{ANIMALS}/leaderboard").json()["items"]
    assert (entry["team"], entry["own"], entry["submission"]) == ("Newts", True, submitted["key"])
    assert client.get(ANIMALS).json()["quota"] == {"used": 1, "limit": 5}


def test_a_check_costs_nothing_and_stores_nothing(stage, player):
    """Also once the quota is used up."""
    client = stage.program(player.user)
    for _ in range(8):
        assert client.post(f"{ANIMALS}/check", content=table(guess(7, rows=30))).json()["missing"] == 10
    assert _count(stage) == 0
    assert player.quota_status().used == 0


def test_a_rejected_file_has_its_problems_with_codes_and_places(stage, player):
    """By a check and by a submission alike, and it is no submission."""
    client = stage.program(player.user)
    broken = b"row_id,label\nr000,lynx\nr000,otter\n,lynx\n"
    for answer in (client.post(f"{ANIMALS}/check", content=broken), _submit(client, broken, "k")):
        problem = answer.json()
        assert (answer.status_code, problem["type"]) == (422, "urn:tallymark:rejected-file")
        assert [(each["code"], each.get("line")) for each in problem["problems"]] == [
            ("duplicate_id", 3),
            ("empty_id", 4),
        ]
        assert (problem["total"], problem["stopped"], problem["file"]) == (2, False, "submission")
    assert _count(stage) == 0
    assert _submit(client, key="k").status_code == 201  # the key of a file that was refused is free


@BOTH
def test_a_repeated_upload_is_one_submission(stage, player):
    """Its key gives the first submission again, at the cost of one, also when nothing is left of the quota."""
    client = stage.program(player.user)
    first = _submit(client, key="one")
    assert [_submit(client, key="one").json()["key"] for _ in range(3)] == [first.json()["key"]] * 3
    assert player.quota_status().used == 1
    for n in range(4):
        assert _submit(client, table(guess(n))).status_code == 201
    assert _submit(client, key="two").status_code == 409
    assert _submit(client, key="one").json()["key"] == first.json()["key"]
    stage.clock.move(hours=47)
    assert _submit(client, key="one").json()["key"] == first.json()["key"]
    assert _count(stage) == 5


@BOTH
def test_two_uploads_at_once_with_one_key_are_one_submission(stage, player):
    """Whichever comes first stores it; the others get the same answer."""
    clients = [stage.program(player.user) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda client: _submit(client, key="one"), clients))
    assert [answer.status_code for answer in answers] == [201] * 6
    assert len({answer.json()["key"] for answer in answers}) == 1
    assert player.quota_status().used == 1
    assert _count(stage) == 1


@BOTH
def test_the_last_submission_of_the_day_can_be_repeated_at_once(make_stage):
    """The one that loses the race for the key does not lose to the quota."""
    stage = make_stage()
    player = stage.team(stage.challenge(stage.person("Olga", organiser=True), quota="1"), "Badgers")
    clients = [stage.program(player.user) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda client: _submit(client, key="one"), clients))
    assert [answer.status_code for answer in answers] == [201] * 4
    assert player.quota_status().used == 1


def test_a_key_is_of_one_file_one_note_and_one_user(stage, challenge, player):
    """With another file or note it is refused; a team mate may use the same."""
    client = stage.program(player.user)
    first = _submit(client, key="one").json()["key"]
    for answer in (_submit(client, table(guess(8)), "one"), _submit(client, key="one", note="again")):
        assert answer.status_code == 422
        assert "Use a new key" in answer.json()["errors"]["Idempotency-Key"]
    other = stage.team(challenge, "Otters")
    assert _submit(stage.program(other.user), key="one").json()["key"] != first
    assert _count(stage) == 2


@pytest.mark.parametrize("key", ["", "x" * 256, "two words", "\x01"])
def test_an_invalid_key_is_refused(stage, player, key):
    """It is 1 to 255 visible characters of ASCII."""
    answer = stage.program(player.user).post(
        f"{ANIMALS}/submissions", content=table(guess(7)), headers={"Idempotency-Key": key}
    )
    assert answer.status_code == 422
    assert set(answer.json()["errors"]) == {"Idempotency-Key"}


def _pages(client, path, limit, **query):
    """The items of a list, read in parts."""
    items, cursor = [], ""
    while cursor is not None:
        page = client.get(path, params={"limit": limit, "cursor": cursor, **query}).json()
        assert len(page["items"]) <= limit
        items += page["items"]
        cursor = page["next"]
    return items


def test_lists_are_read_in_parts(stage, host, player):
    """Every item once, in order, whatever the size of a part."""
    keys = [player.send(guess(n)) for n in range(5)]
    for n in range(4):
        stage.challenge(host, slug=f"more-{n}")
    slugs = [*(f"more-{n}" for n in (3, 2, 1, 0)), "animals"]
    client, organiser = stage.program(player.user), stage.program(host)
    for limit in (1, 2, 5, 100):
        assert [each["key"] for each in _pages(client, f"{ANIMALS}/submissions", limit)] == keys[::-1]
        assert [each["key"] for each in _pages(organiser, f"{ORGANISED}/submissions", limit)] == keys[::-1]
        assert [each["slug"] for each in _pages(client, "/api/v1/challenges", limit)] == slugs


def test_a_list_that_grows_between_its_parts_repeats_nothing(stage, challenge):
    """New submissions are before the cursor, and an entry that is overtaken is not listed twice."""
    players = [stage.team(challenge, f"Team {n}") for n in range(6)]
    for n, player in enumerate(players[:5]):
        player.send(guess(30 - n))
    client = stage.program(players[0].user)
    first = client.get(f"{ANIMALS}/leaderboard", params={"limit": 2}).json()
    players[5].send(guess(35))
    rest = client.get(f"{ANIMALS}/leaderboard", params={"limit": 100, "cursor": first["next"]}).json()
    assert [each["team"] for each in [*first["items"], *rest["items"]]] == [f"Team {n}" for n in range(5)]
    assert rest["total"] == 6
    mine = client.get(f"{ANIMALS}/submissions", params={"limit": 1}).json()
    players[0].send(guess(1))
    assert mine["next"] is None
    old = client.get(f"{ANIMALS}/submissions", params={"limit": 1}).json()
    players[0].send(guess(2))
    rest = client.get(f"{ANIMALS}/submissions", params={"cursor": old["next"]}).json()
    assert [each["key"] for each in rest["items"]] == [mine["items"][0]["key"]]


@pytest.mark.parametrize("cursor", ["x", "MQ.MQ", "é", "LTE", "MS4x", "OTk5OTk5OTk5OTk5OTk5OTk5", "=", "%00"])
def test_a_cursor_that_was_not_given_is_refused(stage, player, cursor):
    """With 422, whatever it is."""
    for path in (f"{ANIMALS}/submissions", "/api/v1/challenges"):
        answer = stage.program(player.user).get(path, params={"cursor": cursor})
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["cursor"])


@pytest.mark.parametrize("limit", ["0", "101", "-1", "x"])
def test_a_part_has_1_to_100_items(stage, player, limit):
    """Any other limit is refused."""
    answer = stage.program(player.user).get("/api/v1/challenges", params={"limit": limit})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["limit"])


def test_a_token_does_not_make_a_page_think_that_one_is_signed_in(stage, player):
    """It works under /api only."""
    assert stage.program(player.user).get("/account").status_code == 200
    assert "Sign in" in stage.program(player.user).get("/account").text


@pytest.mark.parametrize("header", ["Bearer x", "Bearer", "Basic eDp5", "", "Bearer  ", "bearer tallymark_x y"])
def test_an_invalid_token_is_told_even_where_none_is_needed(stage, challenge, header):
    """So that a program does not go on as a visitor."""
    answer = stage.program().get("/api/v1/challenges", headers={"Authorization": header})
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize("column", ["disabled", "deleted"])
def test_the_token_of_a_disabled_user_is_refused(stage, player, column):
    """From the next request on."""
    client = stage.program(player.user)
    assert client.get("/api/v1/me").status_code == 200
    with stage.service.database.writing() as session:
        session.execute(update(User).where(User.id == player.user.id).values({column: stage.clock()}))
    assert client.get("/api/v1/me").status_code == 401


def test_a_user_who_loses_a_role_loses_it_in_the_api(stage, host, challenge):
    """A token does not keep what its user had when it was created."""
    client = stage.program(host)
    with stage.service.database.writing() as session:
        session.execute(update(User).where(User.id == host.id).values(organiser=False))
    answer = client.post(
        "/api/v1/organise/challenges", data={**FORM, "slug": "more"}, files={"answers": table(truth())}
    )
    assert answer.status_code == 404


def test_an_organiser_reads_as_a_participant_unless_the_token_may_organise(stage, host):
    """A token that leaks from a laptop shows no private scores and no files of others."""
    challenge = stage.challenge(host, split="seeded", split_share="50", show_intervals="0", show_counts="0")
    player = stage.team(challenge, "Badgers")
    key = player.send(guess(30))
    board = f"{ANIMALS}/leaderboard?part=private"
    reader, organiser = stage.program(host, ["read", "submit"]), stage.program(host, ["read", "organise"])
    assert reader.get(board).status_code == reader.get(f"/api/v1/submissions/{key}").status_code == 404
    assert organiser.get(board).status_code == 200
    assert set(organiser.get(f"/api/v1/submissions/{key}").json()["scores"]) == {"public", "private"}


def test_participants_read_no_more_than_the_pages_show(stage, host):
    """Private scores, intervals, counts and classes are where the challenge shows them, and nowhere else."""
    secret = dict.fromkeys(("show_intervals", "show_counts", "show_classes"), "0")
    challenge = stage.challenge(host, split="seeded", split_share="50", **secret)
    player, rival = stage.team(challenge, "Badgers"), stage.team(challenge, "Otters")
    key = player.send(guess(30))
    stage.work()
    client, other = stage.program(player.user), stage.program(rival.user)
    paths = [f"/api/v1/submissions/{key}", f"{ANIMALS}/submissions", f"{ANIMALS}/leaderboard", ANIMALS]

    def texts():
        return "".join(client.get(path).text for path in paths)

    assert '"private"' not in texts()
    assert '"lo":0' not in texts()
    result = client.get(paths[0]).json()
    assert (result["counts"]["correct"], result["classes"]) == (None, None)
    assert client.get(f"{ANIMALS}/leaderboard?part=private").status_code == 404
    assert key not in other.get(f"{ANIMALS}/leaderboard").text
    shown = dict.fromkeys(secret, "1")
    assert stage.program(host).patch(ORGANISED, json={"fields": shown}).status_code == 200
    result = client.get(paths[0]).json()
    assert result["counts"]["correct"] is not None
    assert {each["label"] for each in result["classes"]} == {"lynx", "otter", "heron"}
    assert '"lo":0' in texts()
    take_step(stage.service, host, challenge, "close")
    stage.work()
    assert set(client.get(paths[0]).json()["scores"]) == {"public", "private"}
    assert client.get(f"{ANIMALS}/leaderboard?part=private").json()["total"] == 1
    assert other.get(paths[0]).status_code == 404


def test_an_organiser_runs_a_challenge_with_plain_requests(stage, host):
    """Create, read and change the settings, replace the answers, close, reopen; each is in the audit log."""
    client = stage.program(host)
    files = {"answers": ("answers.csv", table(truth()))}
    created = client.post("/api/v1/organise/challenges", data=FORM, files=files)
    assert (created.status_code, created.json()["slug"]) == (201, "animals")
    assert created.headers["location"] == ORGANISED
    settings = client.get(ORGANISED).json()
    assert settings == created.json()
    assert client.patch(ORGANISED, json={"fields": settings["fields"]}).json() == settings  # which changes nothing
    changed = client.patch(ORGANISED, json={"fields": {"title": "Beasts", "metrics": "f1_macro"}}).json()
    assert (changed["fields"]["title"], changed["fields"]["quota"]) == ("Beasts", "5")
    assert [each["number"] for each in changed["versions"]] == [2, 1]
    data = {"note": "corrected"}
    replaced = client.post(f"{ORGANISED}/answers", files={"answers": table(guess(39))}, data=data).json()
    assert (replaced["versions"][0]["number"], replaced["versions"][0]["note"]) == (3, "corrected")
    assert client.get(f"{ORGANISED}/answers/public").content == table(guess(39))
    assert client.get(f"{ORGANISED}/answers/private").status_code == 404
    assert client.post(f"{ORGANISED}/close").json()["state"] == "closed"
    assert client.post(f"{ORGANISED}/reopen").json()["state"] == "open"
    actions = stage.all(select(AuditEntry.action).order_by(AuditEntry.id))
    assert actions == ["create", "edit", "edit", "answers", "close", "reopen"]


def test_invalid_settings_are_errors_by_field(stage, host, challenge):
    """By the names of the form, all at once; a name that is unknown is an error too."""
    client = stage.program(host)

    def errors(**fields):
        answer = client.patch(ORGANISED, json={"fields": fields})
        assert answer.status_code == 422
        return set(answer.json()["errors"])

    assert errors(title="x", quota="0", metrics="") == {"title", "quota"}
    assert errors(titel="Beasts") == {"titel"}
    assert errors(slug="other") == {"slug"}
    assert errors(metrics="no_such_metric") == {"metrics"}
    answer = client.post("/api/v1/organise/challenges", data={"title": "x"}, files={"answers": b""})
    assert {"title", "task", "split"} <= set(answer.json()["errors"])
    answer = client.post("/api/v1/organise/challenges", data={**FORM, "slug": "b"}, files={"answers": b"row_id\nr1\n"})
    assert answer.json()["problems"][0]["code"] == "missing_column"
    assert answer.json()["file"] == "answers"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", "body"),
        (b"{", "body"),
        (b"[]", "body"),
        (b'{"team": 1}', "team"),
        (b'{"team": "a\\u0000b"}', "team"),
        (b'{"team": "\\ud800"}', "body"),
        (b'{"code": "\\u0000"}', "code"),
        (b'{"name": "Newts"}', "name"),
        (b'{"team": "N"}', "team"),
        (b'{"code": "none"}', "code"),
    ],
)
def test_a_body_that_is_not_what_is_expected_is_refused(stage, challenge, body, field):
    """With the name of what is wrong."""
    answer = stage.program(stage.person("Eve")).post(f"{ANIMALS}/team", content=body)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])


def test_bodies_and_files_have_a_limit(make_stage):
    """JSON, a file alone and a file in a form are refused once they exceed it."""
    stage = make_stage(upload_bytes=1000)
    player = stage.team(stage.challenge(stage.person("Olga", organiser=True)), "Badgers")
    client = stage.program(player.user)
    large = b"x" * 1001
    answers = [
        client.post(f"{ANIMALS}/team", content=b" " * (MAX_PLAIN_FORM + 1)),
        client.post(f"{ANIMALS}/check", content=large),
        client.post(f"{ANIMALS}/check", files={"submission": large}),
        _submit(client, large),
    ]
    assert [answer.status_code for answer in answers] == [413] * 4
    nothing = [client.post(f"{ANIMALS}/check"), client.post(f"{ANIMALS}/check", data={"note": "x"}, files={"x": b"1"})]
    assert [list(answer.json()["errors"]) for answer in nothing] == [["submission"]] * 2


def test_finals_are_selected_by_their_keys(stage, host):
    """At most as many as the challenge allows, of one's own team, and none again with an empty list."""
    challenge = stage.challenge(host, split="seeded", split_share="50")
    player = stage.team(challenge, "Badgers")
    keys = [player.send(guess(n)) for n in range(3)]
    foreign = stage.team(challenge, "Otters").send(guess(4))
    client, path = stage.program(player.user), f"{ANIMALS}/finals"

    def chosen():
        return {each["key"] for each in client.get(f"{ANIMALS}/submissions").json()["items"] if each["final"]}

    assert client.put(path, json={"submissions": keys[:2]}).json() == {"submissions": keys[:2]}
    assert chosen() == set(keys[:2])
    for wrong in (keys, [foreign], ["none"]):
        assert list(client.put(path, json={"submissions": wrong}).json()["errors"]) == ["submissions"]
    assert chosen() == set(keys[:2])
    client.put(path, json={"submissions": []})
    assert chosen() == set()


def test_a_large_file_is_polled(waiting):
    """It waits for the worker, and its state says so."""
    client = waiting.stage.program(waiting.user)
    first, second = _submit(client).json(), _submit(client, table(guess(3))).json()
    assert [(each["state"], each["pending"], each["ahead"]) for each in (first, second)] == [("queued", True, 0)] * 2
    waiting.stage.work()
    done = client.get(f"/api/v1/submissions/{first['key']}").json()
    assert (done["state"], done["pending"]) == ("scored", False)


def test_a_submission_that_scoring_rejects_has_its_problems(stage, player):
    """As one whose check was passed before the answers changed."""
    key = player.send(b"row_id,label\nr000,\n")
    read = stage.program(player.user).get(f"/api/v1/submissions/{key}").json()
    assert (read["state"], read["scores"], read["total_problems"]) == ("rejected", {}, 1)
    assert read["problems"][0]["code"] == "empty_field"


@pytest.mark.parametrize("content", [b"row_id,label\n\xff,lynx\n\xff,lynx\n", b"\x89PNG\r\n\x1a\n", b"\xff\xfe\n1\n"])
def test_a_file_that_is_no_text_is_refused_like_any_other(stage, player, content):
    """Also where a problem shows what is not valid UTF-8: while checking, and as the problems of a submission."""
    client = stage.program(player.user)
    for answer in (client.post(f"{ANIMALS}/check", files={"submission": content}), _submit(client, content)):
        assert (answer.status_code, answer.json()["file"]) == (422, "submission")
        assert answer.json()["detail"].startswith("The submission was rejected: ")
    read = client.get(f"/api/v1/submissions/{player.send(content)}")
    assert (read.status_code, read.json()["state"]) == (200, "rejected")


def test_errors_of_the_whole_app_are_problem_details_under_api(stage, player, monkeypatch):
    """Unknown paths, methods and hosts, and our own faults, which tell nothing but a reference."""
    client = stage.program(player.user, raise_server_exceptions=False)
    found = {
        404: client.get("/api/v2"),
        405: client.delete("/api/v1/challenges"),
        403: client.get("/api/v1/me", headers={"Host": "evil.example"}),
    }
    monkeypatch.setattr("tallymark.app.routes.api.challenges.find_challenge", lambda *_: 1 / 0)
    found[500] = client.get(ANIMALS)
    for status, answer in found.items():
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
        assert answer.json()["status"] == status
    assert found[405].headers["allow"] == "GET"
    assert client.options(ORGANISED).headers["allow"] == "GET, PATCH"
    assert "zero" not in found[500].text


def test_a_post_of_another_site_is_a_visitor(stage, player):
    """The browser's cookie has no meaning, so such a request needs no refusal of its own."""
    client = player.client()
    headers = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert client.post(f"{ANIMALS}/team", json={"team": "Newts"}, headers=headers).status_code == 401


def test_the_last_use_of_a_token_is_listed(stage, player):
    """By the request that used it."""
    stage.program(player.user).get("/api/v1/challenges")
    assert stage.all(select(Token.used)) == [stage.clock()]


def test_the_description_has_every_route(stage):
    """With its errors, one name for each, and without what only pages have."""
    document = stage.program().get("/api/v1/openapi.json").json()
    described = {(method.upper(), path) for path, each in document["paths"].items() for method in each}
    routes = {(method, each.path) for router in ROUTERS for each in router.routes for method in each.methods}
    assert described == routes - {("GET", "/api/v1/openapi.json")}
    operations = [each for path in document["paths"].values() for each in path.values()]
    assert len({each["operationId"] for each in operations}) == len(operations)
    assert all(each["description"] for each in operations)
    assert all("application/problem+json" in each["responses"]["401"]["content"] for each in operations)
    assert "HTTPValidationError" not in json.dumps(document)
