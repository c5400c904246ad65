"""What stands before every route: hosts, origins, headers, cookies, and logs without what people typed."""

from __future__ import annotations

import io
import json
import logging
from collections import defaultdict

import pytest

from tallymark.app.domain import accounts
from tallymark.app.http.middleware import CONTENT_SECURITY_POLICY
from tallymark.app.http.request_context import local_path
from tallymark.app.logs import start_logs
from tallymark.app.routes import ROUTERS
from tests.app.stage import guess, table, token_of

pytestmark = pytest.mark.slow

EVERYWHERE = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
SECRETS = {"name": "Nora Night", "password": "correct horse battery", "again": "correct horse battery"}


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "a b", "localhost@evil.example"]
)
def test_other_hosts_are_refused(stage, host):
    """A name that somebody has pointed at the app is not served: nothing of it can be read through another site."""
    answer = stage.client().get("/", headers={"Host": host})
    assert answer.status_code == 403
    assert "Scores you can trust" not in answer.text


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:9", "[::1]:8000"])
def test_this_machine_is_served(stage, host):
    """The names of this machine are known, with any port."""
    assert stage.client().get("/", headers={"Host": host}).status_code == 200


def test_the_url_is_the_only_name(make_stage):
    """With a URL the app is reached by its name and no other."""
    client = make_stage(url="https://scores.example.org").client()
    assert client.get("/").status_code == 200
    assert client.get("/", headers={"Host": "localhost"}).status_code == 403


def test_bare_addresses_where_others_are_listened_to(make_stage):
    """An app that listens to others is reached by addresses, not by names that it does not know."""
    client = make_stage(host="0.0.0.0").client()
    assert client.get("/", headers={"Host": "192.168.0.7:8000"}).status_code == 200
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://["},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "http://localhost:1"},
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {},
    ],
)
def test_posts_of_other_sites_are_refused(stage, host, headers):
    """A form on another site, or a request that does not say where it is from, changes nothing."""
    client = stage.client(host, headers={})
    answer = client.post("/sign-out", headers=headers)
    assert answer.status_code == 403
    assert client.get("/account").status_code == 200


@pytest.mark.parametrize("headers", [{"Origin": "http://localhost"}, {"Sec-Fetch-Site": "same-origin"}])
def test_own_posts_are_taken(stage, host, headers):
    """A browser that says that our page has sent it is believed."""
    client = stage.client(host, headers={})
    assert client.post("/sign-out", headers=headers).status_code == 303


def _break(service):
    raise RuntimeError("the answer of r000 is lynx")


def test_headers_are_on_every_answer(stage, challenge, player, monkeypatch):
    """Pages, files, redirections, refusals and our own faults tell browsers what they may do."""
    client = player.client()
    asked = {
        200: ["/", "/health", "/static/app.css", f"/challenges/{challenge.slug}/sample", "/metrics"],
        303: ["/organise"],
        404: ["/nothing", "/submissions/x", "/static/x"],
    }
    found = [(200, client.get(path)) for path in asked[200]]
    found += [(303, stage.client().get(path)) for path in asked[303]]
    found += [(404, client.get(path)) for path in asked[404]]
    found += [(405, client.put("/")), (403, client.get("/", headers={"Host": "x"})), (403, client.get("/a%00b"))]
    monkeypatch.setattr(type(stage.service.files), "is_writable", _break)
    found.append((500, client.get("/ready")))
    for status, answer in found:
        assert answer.status_code == status, answer.url
        assert {name: answer.headers.get(name) for name in EVERYWHERE} == EVERYWHERE, answer.url
        assert "cache-control" in answer.headers
        assert "strict-transport-security" not in answer.headers
    assert "lynx" not in found[-1][1].text
    assert "An internal error occurred" in found[-1][1].text


def test_head_is_get_without_its_body(stage, challenge, player, host):
    """On every GET route, with the same status and headers; what is not found or needs a sign-in stays so."""
    client, visitor = stage.client(host), stage.client()
    key = player.send(guess(9))
    named = defaultdict(lambda: "1", slug=challenge.slug, key=key, part="public", name="app.css", step="close")
    paths = [each.path.format_map(named) for router in ROUTERS for each in router.routes if "GET" in each.methods]
    assert len(paths) > 15
    for who, path in [*((client, path) for path in paths), (client, "/nothing"), (visitor, "/account")]:
        shown, head = who.get(path), who.head(path)
        assert (head.status_code, head.content) == (shown.status_code, b""), path
        assert {**head.headers, "content-length": ""} == {**shown.headers, "content-length": ""}, path
    assert visitor.head("/account").headers["location"] == "/sign-in?next=/account"
    assert client.head("/sign-out").status_code == 405


def test_head_is_counted_and_logged_as_head(stage):
    """Under its own method and the pattern of its route."""
    client = stage.client()
    client.head("/challenges")
    assert 'method="HEAD",route="/challenges",status="200"' in client.get("/metrics").text


def test_pages_are_not_kept_and_files_are(stage):
    """Pages may show what only one reader may see; styles are the same for all."""
    client = stage.client()
    assert client.get("/").headers["cache-control"] == "no-store"
    assert "immutable" in client.get("/static/app.css?v=1").headers["cache-control"]


@pytest.mark.parametrize(
    ("url", "secure"), [("https://scores.example.org", True), ("http://scores.example.org", False)]
)
def test_the_session_cookie_is_same_site_http_only_and_secure(make_stage, url, secure):
    """The cookie is for this site alone, out of reach of scripts, and never sent in the open where there is https."""
    client = make_stage(url=url, sign_up="open").client()
    answer = client.post("/sign-up", data=SECRETS)
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "path=/" in cookie
    assert "domain" not in cookie
    assert ("secure" in cookie) is secure
    assert ("strict-transport-security" in answer.headers) is secure


@pytest.mark.parametrize(
    "there",
    ["https://evil.example", "//evil.example", "/\\evil.example", "evil", "javascript:alert(1)", "/\t/evil", ""],
)
def test_nobody_is_sent_elsewhere(make_stage, there):
    """After a sign-in one is where one wanted to go, if that is here."""
    assert local_path(there) == "/"
    stage = make_stage(sign_up="open")
    client = stage.client()
    client.post("/sign-up", data=SECRETS)
    answer = client.post("/sign-in", data={**SECRETS, "next": there})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert client.get("/sign-in", params={"next": there}).text.count("evil") == 0


def test_one_comes_back_after_the_sign_in(stage):
    """A page that needs a sign-in is gone to after it."""
    answer = stage.client().get("/account")
    assert answer.headers["location"] == "/sign-in?next=/account"
    assert local_path("/challenges/a?page=2") == "/challenges/a?page=2"


@pytest.mark.parametrize(
    ("path", "referer", "back"),
    [
        ("submit", "http://localhost/challenges/animals/submit?page=2", "/challenges/animals/submit"),
        ("join", "http://localhost/challenges/animals", "/challenges/animals"),
        ("submit", None, "/challenges/animals/submit"),
        ("submit", "http://[", "/challenges/animals/submit"),
    ],
)
def test_an_expired_session_has_a_link_to_sign_in_and_back(make_stage, path, referer, back):
    """A form that is sent too late says that nothing was saved, and the sign-in leads to its page."""
    stage = make_stage(sign_up="open")
    challenge = stage.challenge(stage.person("Olga", organiser=True))
    assert challenge.slug == "animals"
    client = stage.client()
    headers = {} if referer is None else {"Referer": referer}
    answer = client.post(f"/challenges/animals/{path}", data={"team": "Late"}, headers=headers)
    assert answer.status_code == 401
    assert "Nothing was saved." in answer.text
    assert f'<a class="button" href="/sign-in?next={back}">Sign in</a>' in answer.text
    client.post("/sign-up", data=SECRETS)
    assert client.post("/sign-in", data={**SECRETS, "next": back}).headers["location"] == back


def test_logs_do_not_tell(stage, challenge, player, host, monkeypatch):
    """Lines tell patterns of addresses, methods and times: no labels, names, queries, secrets or values of errors."""
    stream = io.StringIO()
    loggers = [logging.getLogger(name) for name in ("tallymark.app", "uvicorn", "asyncio")]
    before = [(each.handlers[:], each.propagate, each.level) for each in loggers]
    start_logs(stream)
    try:
        client = player.client()
        secret = accounts.create_invitation(stage.service, host, organiser=False)
        client.get(f"/sign-up?invitation={secret}")
        client.get("/challenges/no-such-slug?q=private-query")
        files = {"submission": ("secret-name.csv", table(guess(3, wrong="wolverine")))}
        page = client.post(f"/challenges/{challenge.slug}/submit", files=files).text
        token = token_of(page)
        answer = client.post(f"/challenges/{challenge.slug}/submit", data={"token": token})
        key = answer.headers["location"].split("/")[-1]
        client.get(f"/submissions/{key}")
        client.request("SECRETMETHOD", "/")
        client.post("/sign-in", data={"name": "Ada", "password": "a typed password"})
        monkeypatch.setattr(type(stage.service.files), "is_writable", _break)
        client.get("/ready")
        try:
            raise ValueError("the answer of r000 is lynx")
        except ValueError:
            logging.getLogger("uvicorn.error").exception("Exception in ASGI application")
    finally:
        for each, (handlers, propagate, level) in zip(loggers, before, strict=True):
            each.handlers[:], each.propagate = handlers, propagate
            each.setLevel(level)
    text = stream.getvalue()
    lines = [json.loads(line) for line in text.splitlines()]
    assert {line.get("route") for line in lines} >= {"/submissions/{key}", "/challenges/{slug}/submit", "/sign-up"}
    assert {"RuntimeError", "ValueError"} <= {line.get("error") for line in lines}
    private = [
        secret,
        key,
        "private-query",
        "no-such-slug",
        "secret-name",
        "wolverine",
        "lynx",
        "Ada",
        "typed",
        "SECRETM",
    ]
    assert [word for word in private if word in text] == []
