"""`tallymark serve` as a process: its first link, its end without warning, and what the next start goes on with."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from sqlalchemy import select

from tallymark.app.store.models import Version
from tests.app.stage import BOTH, Stage, guess, table, token_of
from tests.waiting import LIMIT, free_port, until, until_midnight_is_far

pytestmark = pytest.mark.slow
EXAMPLES = "examples/data"


class Served:
    """A process that serves, with what it has said so far."""

    def __init__(self, process: subprocess.Popen[str], url: str, said: str) -> None:
        self.process, self.url, self.said = process, url, said

    def kill(self) -> None:
        """End it at once, as a power cut does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def link(self) -> str | None:
        found = re.search(r"once: (\S+)", self.said)
        return found and found[1]


@contextmanager
def serve(folder, *options, database=""):
    """Start it, and wait until it answers."""
    command = [sys.executable, "-m", "tallymark", "serve", "--data", str(folder), *options]
    if database:
        command += ["--database", database]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with (
        free_port() as port,
        subprocess.Popen([*command, "--port", str(port)], start_new_session=True, **pipes) as process,
    ):
        try:
            said = ""
            while "Ctrl-C" not in said:
                line = process.stdout.readline()
                assert line, f"it has ended: {said}"
                said += line
            served = Served(process, f"http://127.0.0.1:{port}", said)
            assert httpx.get(f"{served.url}/ready", timeout=LIMIT).status_code == 200
            yield served
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(LIMIT)


@BOTH
def test_a_process_that_was_killed_loses_nothing(tmp_path, database):
    """What was being scored and what waited when the process was killed is scored by the next one, at the same cost."""
    until_midnight_is_far()
    folder = tmp_path / "data"
    stage = Stage(folder, database, direct_bytes=1)
    stage.clock.at = datetime.now(UTC)
    player = stage.team(stage.challenge(stage.person("Olga", organiser=True)), "Badgers")
    cookies = dict(player.client().cookies.items())
    [answers] = stage.all(select(Version.answers))
    place, aside = stage.service.files.path(answers), tmp_path / "aside"
    place.rename(aside)
    os.mkfifo(place)  # whoever opens it waits for ever
    keys = []
    with serve(folder, "--direct-bytes", "1", database=database) as served:
        path = f"{served.url}/challenges/{player.challenge.slug}/submit"
        for n in range(3):
            files = {"submission": ("large.csv", table(guess(30 + n)))}
            about = {"cookies": cookies, "headers": {"Origin": served.url}, "timeout": LIMIT}
            token = token_of(httpx.post(path, files=files, **about).text)
            answer = httpx.post(path, data={"token": token}, **about)
            assert answer.status_code == 303
            keys.append(answer.headers["location"].split("/")[-1])
        until(lambda: stage.submission(keys[0]).claimed_by is not None)
        served.kill()
    aside.replace(place)
    assert [stage.submission(key).state for key in keys] == ["queued"] * 3
    assert player.quota_status().used == 3
    if database:  # which others may serve, too: what the dead one held is free after a minute
        stage.clock.at = datetime.now(UTC) + timedelta(minutes=2)
        stage.work()
    else:
        with serve(folder, "--direct-bytes", "1"):
            until(lambda: all(stage.submission(key).work is None for key in keys))
    assert [stage.submission(key).state for key in keys] == ["scored"] * 3
    assert [stage.scores(key)["accuracy"] for key in keys] == [30 / 40, 31 / 40, 32 / 40]
    assert stage.board(player.challenge) == ["Badgers"]
    assert player.quota_status().used == 3
    stage.close()


def test_who_comes_before_the_app_is_ready_waits(tmp_path):
    """From the line that tells the address on, a visitor is answered and nobody else gets the port."""
    with free_port() as port:
        command = [sys.executable, "-m", "tallymark", "serve", "--port", str(port), "--data"]
        process = subprocess.Popen([*command, str(tmp_path / "one")], stdout=subprocess.PIPE, text=True)
        try:
            assert f":{port}" in process.stdout.readline()
            with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as early:
                early.sendall(b"GET /ready HTTP/1.0\r\n\r\n")
                assert early.recv(100).startswith(b"HTTP/1.1 200")
            other = subprocess.run([*command, str(tmp_path / "two")], capture_output=True, text=True, timeout=LIMIT)
            assert other.returncode == 2
            assert f"cannot listen at 127.0.0.1:{port}" in other.stderr
        finally:
            process.terminate()
            process.communicate()


def test_restarting_keeps_the_example_and_prints_the_first_link_until_used(tmp_path):
    """The first link is printed at each start until it was used, works once, and the example is not made twice."""
    folder = tmp_path / "data"
    with serve(folder, "--example", EXAMPLES) as served:
        first = served.link
    with serve(folder, "--example", EXAMPLES) as served:
        second = served.link
        assert second.split("=")[1] != first.split("=")[1]
        assert (
            "invalid, used or expired" in httpx.get(served.url + first[first.index("/sign-up") :], timeout=LIMIT).text
        )
        data = {"name": "Olga", "password": "correct horse battery", "again": "correct horse battery"}
        data["invitation"] = second.split("=")[1]
        given = {"headers": {"Origin": served.url}, "timeout": LIMIT}
        assert httpx.post(f"{served.url}/sign-up", data=data, **given).status_code == 303
        again = httpx.post(f"{served.url}/sign-up", data={**data, "name": "Eve"}, **given)
        assert again.status_code == 422
        board = httpx.get(f"{served.url}/challenges/animals-on-photographs/leaderboard", timeout=LIMIT).text
        assert board.count("Mediocre") == 1
    with serve(folder) as served:
        assert served.link is None
        assert served.process.poll() is None


def test_a_port_that_is_taken_is_told(tmp_path):
    """Nothing is made before the address is known to be free."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        command = [sys.executable, "-m", "tallymark", "serve", "--data", str(tmp_path / "data")]
        port = str(held.getsockname()[1])
        done = subprocess.run([*command, "--port", port], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode != 0
    assert "Take another `--port`" in done.stderr
    assert not (tmp_path / "data").exists()


def test_it_ends_when_it_is_asked_to(tmp_path):
    """A signal to end is followed by a clean end."""
    with serve(tmp_path / "data") as served:
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(LIMIT) in (0, -signal.SIGTERM)
