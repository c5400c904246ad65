"""Uploads: too large is refused and not kept, whatever it says of its size; broken forms are answered."""

from __future__ import annotations

import tracemalloc

import anyio
import pytest
from sqlalchemy import func, select
from starlette.requests import Request

from tallymark.app.http.errors import RequestError
from tallymark.app.http.uploads import read_form
from tallymark.app.store.models import Submission
from tests.app.stage import guess, table, token_of

pytestmark = pytest.mark.slow

MOST = 100_000
KIND = "multipart/form-data; boundary=b"
HEAD = b'--b\r\nContent-Disposition: form-data; name="submission"; filename="a.csv"\r\n\r\n'
TAIL = b"\r\n--b--\r\n"


@pytest.fixture
def sender(make_stage):
    """A team of an app that takes small files only."""
    stage = make_stage(upload_bytes=MOST)
    return stage.team(stage.challenge(stage.person("Olga", organiser=True)), "Badgers")


def _kept(stage):
    folders = [stage.settings.folder / name for name in ("files", "checked")]
    files = [each for folder in folders for each in folder.rglob("*") if each.is_file()]
    return len(files), stage.all(select(func.count()).select_from(Submission))[0]


def _post(player, content, kind=KIND):
    headers = {"Content-Type": kind}
    return player.client().post(f"/challenges/{player.challenge.slug}/submit", content=content, headers=headers)


def _pieces(size):
    yield HEAD
    for _ in range(size // 10_000):
        yield b"x" * 10_000
    yield TAIL


@pytest.mark.parametrize("size", [MOST + 1, 3 * MOST, 50 * MOST])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_file_over_the_limit_is_refused_and_not_kept(sender, size, chunked):
    """A file over the limit is told so, with or without a length before it, and nothing of it is kept."""
    before = _kept(sender.stage)
    size = -(-size // 10_000) * 10_000
    answer = _post(sender, _pieces(size) if chunked else b"".join(_pieces(size)))
    assert answer.status_code == 413
    assert "A file may have at most 100 kB" in answer.text
    assert _kept(sender.stage) == before
    assert sender.quota_status().used == 0


def test_exactly_the_limit_is_taken(sender):
    """The limit itself is not too large."""
    content = table(guess(5))
    padded = content + b"\n" * (MOST - len(content))
    assert _post(sender, HEAD + padded + TAIL).status_code == 200
    assert _post(sender, HEAD + padded + b"\n" + TAIL).status_code == 413


def _request(pieces, kind=KIND):
    """A request whose body comes in pieces; None is a client that has gone."""
    held = iter(pieces)

    async def receive():
        piece = next(held, b"")
        if piece is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": piece != b""}

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"content-type", kind.encode())]}
    return Request(scope, receive)


def test_a_huge_body_is_not_kept_in_memory():
    """A body of gigabytes is neither kept in memory nor read to its end."""
    read = 0

    def endless():
        nonlocal read
        yield HEAD
        while True:
            read += 1
            yield b"x" * 100_000

    tracemalloc.start()
    try:
        with pytest.raises(RequestError) as caught:
            anyio.run(read_form, _request(endless()), 1, 10_000_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.status == 413
    assert read * 100_000 < 50_000_000
    assert peak < 5_000_000


@pytest.mark.parametrize("pieces", [[HEAD, b"row_id", None], [None], [HEAD[:20], None]])
def test_a_client_that_goes_away(pieces):
    """A body that breaks off is refused, and not taken for a shorter file."""
    with pytest.raises(RequestError) as caught:
        anyio.run(read_form, _request(pieces), 1, MOST)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"", KIND, 422),
        (b"nonsense", KIND, 400),
        (HEAD + b"row_id", KIND, 400),
        (HEAD + b"a" + TAIL, "multipart/form-data", 400),
        (HEAD + b"a" + TAIL, "multipart/form-data; boundary=other", 400),
        (b'--b\r\nContent-Disposition: form-data; filename="x"\r\n\r\na' + TAIL, KIND, 400),
        (b"--b\r\n" + b"X: y\r\n" * 5_000 + b"\r\na" + TAIL, KIND, 400),
        (HEAD + b"a\r\n" + HEAD + b"b" + TAIL, KIND, 400),
        (
            b"".join(b'--b\r\nContent-Disposition: form-data; name="n"\r\n\r\na\r\n' for _ in range(301)) + b"--b--",
            KIND,
            400,
        ),
        (b'--b\r\nContent-Disposition: form-data; name="note"\r\n\r\n' + b"a" * 450_000 + TAIL, KIND, 400),
        (table(guess(3)), "text/csv", 415),
        (b'{"a": 1}', "application/json", 415),
        (b"submission=row_id", "application/x-www-form-urlencoded", 422),
        (b'--b\r\nContent-Disposition: form-data; name="submission"; filename=""\r\n\r\n' + TAIL, KIND, 422),
    ],
    ids=range(14),
)
def test_malformed_forms_get_an_error_page(sender, content, kind, status):
    """Each is answered with a page, none with an error of ours, and nothing is kept."""
    before = _kept(sender.stage)
    answer = _post(sender, content, kind)
    assert answer.status_code == status
    assert "<h1" in answer.text
    assert _kept(sender.stage) == before


def test_an_empty_file_is_rejected(sender):
    """A file without a byte is reported like every other problem, and costs nothing."""
    answer = _post(sender, HEAD + TAIL)
    assert answer.status_code == 422
    assert "CSV file is empty" in answer.text
    assert sender.quota_status().used == 0


@pytest.mark.parametrize("name", ["../../x.csv", "..\\..\\x.csv", "/etc/x.csv", "%2e%2e/x.csv"])
def test_file_names_make_no_paths(sender, name):
    """A name with a path is a name, and files lie by their hash."""
    head = HEAD.replace(b"a.csv", name.encode())
    answer = sender.confirm(token_of(_post(sender, head + table(guess(3)) + TAIL).text))
    held = sender.stage.submission(answer.headers["location"].split("/")[-1])
    assert held.file_name == "x.csv"
    folder = sender.stage.settings.folder
    names = {each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()}
    assert f"files/{held.file[:2]}/{held.file[2:]}" in names
    assert not any("x.csv" in each for each in names)
    assert not (folder.parent / "x.csv").exists()


def test_uploads_without_a_session_are_refused_unread(sender):
    """Who is not signed in is refused before a byte of the file is read."""
    path, status = f"/challenges/{sender.challenge.slug}/submit", []
    headers = {"host": "localhost", "origin": "http://localhost", "content-type": KIND}
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }

    async def receive():
        raise AssertionError("the body was asked for")

    async def send(message):
        status.append(message.get("status"))

    anyio.run(sender.stage.app, scope, receive, send)
    assert status[0] == 401


def test_too_many_fields_of_a_plain_form(sender):
    """A form without files has a limit, too."""
    data = "&".join(f"a{n}=b" for n in range(100_000))
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert sender.stage.client().post("/sign-in", content=data, headers=headers).status_code == 413
