"""The API, the client and the command line against a server process: the stories of the documentation, and more."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import socketserver
import subprocess
import sys
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select

from tallymark import client as client_module
from tallymark.app.store.models import Submission
from tallymark.client import Client, RefusedError
from tallymark.errors import ParameterError, TallymarkError
from tests.app.stage import Stage, guess, table, truth
from tests.app.test_serve import serve
from tests.docs.pages import DOCS, FENCE
from tests.waiting import LIMIT, free_port, until_midnight_is_far

pytestmark = pytest.mark.slow
SLUG = "animals-on-photographs"


class World:
    """A server with a challenge, tokens of a participant and its organiser, and a shell that has `tallymark`."""

    def __init__(self, folder: Path, url: str, tokens: dict[str, str]) -> None:
        self.folder, self.url, self.tokens = folder, url, tokens

    def shell(self, lines: str, who: str = "Ada", **more: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        token = self.tokens[who]
        environment = {
            **kept,
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "SERVER": self.url,
            "TOKEN": token,
            "TALLYMARK_SERVER": self.url,
            "TALLYMARK_TOKEN": token,
            **more,
        }
        run = ["bash", "-e", "-o", "pipefail", "-c", lines]
        environment = {name: value for name, value in environment.items() if value}
        return subprocess.run(run, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300)


@contextmanager
def _world(folder: Path):
    until_midnight_is_far()
    stage = Stage(folder / "data")
    stage.clock.at = datetime.now(UTC)
    host, ada = stage.person("Olga", organiser=True), stage.person("Ada")
    stage.challenge(host, slug=SLUG)
    tokens = {"Olga": stage.token(host), "Ada": stage.token(ada, ["read", "submit"])}
    (folder / "bin").mkdir()
    for name, command in (("tallymark", "-m tallymark"), ("python3", "")):
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n')
        script.chmod(0o755)
    (folder / "answers.csv").write_bytes(table(truth()))
    (folder / "sample.csv").write_bytes(table(guess(7)))
    with serve(folder / "data") as served:
        yield World(folder, served.url, tokens), stage, ada
    stage.close()


@pytest.fixture
def world(tmp_path):
    with _world(tmp_path) as (made, *_):
        yield made


def _blocks(page: str, after: str) -> list[str]:
    """The blocks of a page that need a server, after a heading."""
    text = (DOCS / page).read_text()
    return [found["code"] for found in FENCE.finditer(text[text.index(after) :]) if found["language"] == "bash"]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_page_about_the_api_works_as_written(world):
    """Every command with curl, by a participant and then by an organiser, and the client in Python."""
    join, check, ask, organise, python = _blocks("how-to/api.md", "## Take part")
    for lines in (join, check, ask, python):
        done = world.shell(lines)
        assert done.returncode == 0, f"{lines}\n{done.stdout}{done.stderr}"
    assert '"state":"scored"' in world.shell(ask).stdout
    assert "'metric': 'accuracy'" in done.stdout
    done = world.shell(organise, "Olga")
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"quota":"10"' in done.stdout
    assert "lacks the scope" in world.shell(organise, "Ada").stdout


def test_the_page_about_the_command_line_works_as_written(world):
    """Submit, leaderboard and history by a participant, settings and answers by an organiser."""
    take_part, organise = _blocks("how-to/command-line.md", "## Challenges of the app")
    world.shell(f"""python3 -c 'import tallymark as tm; tm.client.Client().join("{SLUG}", "Newts")'""")
    done = world.shell(take_part)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "40 rows read" in done.stdout
    assert "sample.csv: scored." in done.stdout
    assert "Place 1 of 1." in done.stdout
    assert re.search(r"Newts \* +0\.175", done.stdout)
    assert "a first try" in done.stdout
    done = world.shell(organise, "Olga")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Saved.\nSaved as version 2. All submissions are being scored again.\nClosed.\nOpen again." in done.stdout
    assert f"Created. {world.url}/challenges/animals-again" in done.stdout
    exported = json.loads(world.shell(f"tallymark challenge export {SLUG}", "Olga").stdout)
    assert (exported["quota"], exported["title"]) == ("10", "Animals in the wild")


def test_refusals_are_printed_with_exit_code_1(world):
    """The reason, every problem with its place, and every invalid field; nothing is submitted."""
    (world.folder / "bad.csv").write_text("row_id,label\nr000,lynx\nr000,otter\n,lynx\n")
    client = f"""python3 -c 'import tallymark as tm; tm.client.Client().join("{SLUG}", "Newts")'"""
    found = {
        f"tallymark submit {SLUG} sample.csv": "You have not joined this challenge. Join it on its page.",
        client: "",
        f"tallymark submit {SLUG} bad.csv": "line 4, column 1: empty id. Every row needs an id.",
        f"tallymark submit {SLUG} bad.csv --check": "duplicate id 'r000' in lines 2 and 3",
        "tallymark leaderboard nothing": "It does not exist, or you do not have access to it.",
        f"tallymark leaderboard {SLUG} --part private": "It does not exist",
        f"tallymark challenge export {SLUG}": "The token lacks the scope “organise”.",
        f"TALLYMARK_TOKEN=wrong tallymark history {SLUG}": "under your account. Then run: tallymark login",
    }
    for command, reason in found.items():
        done = world.shell(command)
        assert (done.returncode, reason in done.stderr) == (1 if reason else 0, True), f"{command}\n{done.stderr}"
    assert world.shell(f"tallymark history {SLUG} --json").stdout.strip() == "[]"
    done = world.shell(f"tallymark challenge edit {SLUG} --set quota=none --set titel=x", "Olga")
    assert (done.returncode, "titel: There is no such field." in done.stderr) == (1, True)
    done = world.shell(f"tallymark challenge edit {SLUG} --set quota=none --set title=x", "Olga")
    assert "  quota: Enter a whole number from 1 to 1,000." in done.stderr
    assert "  title: Use 3 to 100 characters; this has 1." in done.stderr


def test_wrong_usage_is_exit_code_2(world):
    """And says what is right."""
    found = {
        f"tallymark submit {SLUG} none.csv": "No such file",
        f"tallymark challenge close {SLUG}": "To confirm, give --yes",
        f"tallymark challenge edit {SLUG}": "Give --set, --settings or --answers",
        f"tallymark challenge edit {SLUG} --set quota": "--set must be FIELD=VALUE",
        f"tallymark leaderboard {SLUG} --server http://scores.example.org": "must begin with https://",
        f"tallymark leaderboard {SLUG} --server scores.example.org": "must be the address of an app",
        f"tallymark leaderboard {SLUG} --server $SERVER/elsewhere": "answered 404",
        "echo '[]' > s.json; tallymark challenge create s.json answers.csv": "SETTINGS must be a JSON object",
        f"TALLYMARK_SERVER= tallymark history {SLUG}": "run tallymark login",
    }
    for command, reason in found.items():
        done = world.shell(command)
        assert (done.returncode, reason in done.stderr) == (2, True), f"{command}\n{done.stderr}"


def test_a_login_is_kept_for_its_user_and_its_server_alone(world):
    """In a file with mode 600; one that others can read is refused, and another server never gets the token."""
    nothing = {"TALLYMARK_SERVER": "", "TALLYMARK_TOKEN": ""}
    done = world.shell(f'echo "$TOKEN" | tallymark login --server {world.url}/', **nothing)
    assert done.returncode == 0, done.stderr
    assert "as Ada. Scopes: read, submit." in done.stdout
    path = world.folder / "config" / "tallymark" / "login.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    client = "python3 -c 'import tallymark as tm; print(tm.client.Client({}).me()[\"name\"])'"
    assert world.shell(client.format(""), **nothing).stdout == "Ada\n"
    other = world.url.replace("127.0.0.1", "localhost")  # the same process under a name that was not logged in to
    done = world.shell(client.format(f'"{other}"'), **nothing)
    assert "This needs a token." in done.stderr
    path.chmod(0o640)
    done = world.shell(f"tallymark history {SLUG}", **nothing)
    assert (done.returncode, "chmod 600" in done.stderr) == (2, True)
    path.chmod(0o600)
    path.write_text("{")
    done = world.shell(f"tallymark history {SLUG}", **nothing)
    assert (done.returncode, "Run tallymark login again" in done.stderr) == (2, True)
    done = world.shell(f"echo wrong | tallymark login --server {world.url}", **nothing)
    assert (done.returncode, path.read_text()) == (1, "{")


@contextmanager
def _losing(url: str, lost: int):
    """A server in between that loses the answers to its first requests: those arrive, but the client never knows."""
    target = urlsplit(url)
    seen: list[bytes] = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            request = b""
            while b"\r\n\r\n" not in request:
                request += self.request.recv(65536)
            head, _, body = request.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            while length and len(body) < int(length[1]):
                body += self.request.recv(65536)
            seen.append(head)
            with socket.create_connection((target.hostname, target.port), timeout=LIMIT) as server:
                server.sendall(head + b"\r\n\r\n" + body)
                answer = b"".join(iter(lambda: server.recv(65536), b""))
            if len(seen) > lost:
                self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{proxy.server_address[1]}", seen
        proxy.shutdown()


def test_a_file_whose_answer_is_lost_is_sent_again_and_is_one_submission(tmp_path, monkeypatch):
    """With the same key; what is not safe to repeat is not repeated."""
    monkeypatch.setattr(client_module.time, "sleep", lambda _: None)
    with _world(tmp_path) as (world, stage, _):
        Client(world.url, world.tokens["Ada"]).join(SLUG, "Newts")
        with _losing(world.url, 3) as (url, seen):
            sent = Client(url, world.tokens["Ada"]).submit(SLUG, table(guess(20)))
        assert (sent["state"], len(seen)) == ("scored", 4)
        assert len({re.search(rb"(?i)idempotency-key: (\S+)", head)[1] for head in seen}) == 1
        assert stage.all(select(Submission.key)) == [sent["key"]]
        assert Client(world.url, world.tokens["Ada"]).challenge(SLUG)["quota"]["used"] == 1
        with _losing(world.url, 1) as (url, seen), pytest.raises(TallymarkError, match="no answer from"):
            Client(url, world.tokens["Olga"]).close(SLUG)
        assert len(seen) == 1


def test_no_answer_at_all_is_told_after_some_attempts(monkeypatch):
    """With the address and the reason."""
    pauses = []
    monkeypatch.setattr(client_module.time, "sleep", pauses.append)
    with free_port() as port, pytest.raises(TallymarkError, match=f"no answer from http://127.0.0.1:{port}: .*refused"):
        Client(f"http://127.0.0.1:{port}", "").me()
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0]


def test_a_redirect_is_not_followed(tmp_path):
    """It could take the token to another server."""
    with _world(tmp_path) as (world, *_), socket.create_server(("127.0.0.1", 0)) as listening:

        def redirect() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(f"HTTP/1.1 302 Found\r\nLocation: {world.url}/api/v1/me\r\n\r\n".encode())

        threading.Thread(target=redirect, daemon=True).start()
        client = Client(f"http://127.0.0.1:{listening.getsockname()[1]}", world.tokens["Ada"])
        with pytest.raises(TallymarkError, match="answered 302 Found"):
            client.me()


@pytest.mark.parametrize(
    "server",
    [
        "http://scores.example.org",
        "http://8.8.8.8",
        "ftp://scores.example.org",
        "scores.example.org",
        "https://",
        "https://user:secret@scores.example.org",
        "https://scores.example.org?x=1",
        "",
    ],
)
def test_an_address_that_would_not_keep_the_token_is_refused(server, monkeypatch):
    """Or that is not one."""
    monkeypatch.delenv("TALLYMARK_SERVER", raising=False)
    with pytest.raises(ParameterError, match="`server` must"):
        Client(server, "token")


@pytest.mark.parametrize("server", ["https://scores.example.org/", "http://localhost:8000", "http://192.168.0.7:8000"])
def test_addresses_that_keep_the_token_are_taken(server):
    """Https, and http to this machine or within a private network."""
    assert Client(server, "token").server == server.rstrip("/")


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "ü"])
def test_a_token_is_one_word(token):
    """Anything else could not be sent, or would be another header."""
    with pytest.raises(ParameterError, match="`token` must"):
        Client("https://scores.example.org", token)


def test_an_organiser_sees_all_submissions_from_python(tmp_path):
    """And the answers; a participant gets neither."""
    with _world(tmp_path) as (world, stage, ada):
        player, organiser = Client(world.url, world.tokens["Ada"]), Client(world.url, world.tokens["Olga"])
        assert [each["slug"] for each in player.challenges()] == [SLUG]
        assert player.join(SLUG, "Newts")["members"] == [ada.name]
        sent = player.submit(SLUG, table(guess(20)), key="one")
        assert player.submit(SLUG, table(guess(20)), key="one")["key"] == sent["key"]
        assert player.wait(sent["key"])["scores"]["public"][0]["value"] == 0.5
        assert player.challenge(SLUG)["quota"] == {"used": 1, "limit": 5}
        assert [each["key"] for each in organiser.all_submissions(SLUG)] == [sent["key"]]
        assert organiser.answers(SLUG) == table(truth())
        assert player.sample(SLUG).startswith(b"row_id,label\n")
        for call in (player.all_submissions, player.answers):
            with pytest.raises(RefusedError, match="lacks the scope") as caught:
                list(call(SLUG))
            assert caught.value.status == 403
        with pytest.raises(RefusedError) as caught:
            player.submit(SLUG, b"row_id,label\nr000,\n")
        assert [each["code"] for each in caught.value.problems] == ["empty_field"]
        assert len(stage.all(select(Submission.key))) == 1
