"""The app as its organisers start it: a process of its own, with a folder of its own."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from tests.waiting import LIMIT, free_port

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "data"
ANSWERS, GOOD, MEDIOCRE, BROKEN = (
    EXAMPLE / f"{name}.csv" for name in ("answers", "submission-good", "submission-mediocre", "submission-broken")
)
CHALLENGE = "/challenges/animals-on-photographs"
MOST = 100_000  # bytes of a file
PASSWORD = "four plain words here"


class Server(NamedTuple):
    """Where the app is, the link that it has printed for its first organiser, and where its data is."""

    url: str
    first_link: str
    data: Path

    def kept(self) -> tuple[dict[str, int], list[str]]:
        """How many rows each table has, and the files that are kept."""
        with closing(sqlite3.connect(self.data / "tallymark.db")) as database:
            tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
            rows = {name: database.execute(f'select count(*) from "{name}"').fetchone()[0] for name in tables}
        return rows, sorted(str(each) for each in (self.data / "files").rglob("*"))

    def rows(self, asked: str, *values: Any) -> list[tuple[Any, ...]]:
        """What the database has written down."""
        with closing(sqlite3.connect(self.data / "tallymark.db")) as database:
            return database.execute(asked, values).fetchall()


class Host:
    """The organiser of a server, who works without a browser."""

    def __init__(self, server: Server) -> None:
        about = {"headers": {"Origin": server.url}, "follow_redirects": True, "timeout": LIMIT}
        anew = httpx.Limits(max_keepalive_connections=0)  # the server may hang up just when an old one is used again
        self._web = httpx.Client(base_url=server.url, limits=anew, **about)
        _, _, secret = server.first_link.partition("invitation=")
        self._post("/sign-up", name="Host", password=PASSWORD, again=PASSWORD, invitation=secret)

    def _post(self, path: str, **fields: str) -> str:
        answer = self._web.post(path, data=fields)
        assert answer.status_code == 200, answer.text
        return answer.text

    def invite(self, role: str = "participant") -> str:
        """A link for somebody."""
        page = self._post("/account", action="invite", role=role)
        return re.search(r"http://[^<]+invitation=[^<]+", page)[0]  # type: ignore[index]

    def close(self) -> None:
        """Go."""
        self._web.close()


@contextmanager
def started(folder: Path, *options: str) -> Iterator[Server]:
    """The app with the example in it, while it answers."""
    data = folder / "data"
    command = [sys.executable, "-m", "tallymark", "serve", "--data", str(data)]
    command += ["--example", str(EXAMPLE), "--upload-bytes", str(MOST), *options]
    with (folder / "log").open("w") as log, free_port() as port:
        process = subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.PIPE, stderr=log, text=True)
        assert process.stdout is not None
        try:
            told = ""
            while "Ctrl-C" not in told:
                line = process.stdout.readline()
                assert line, (folder / "log").read_text()
                told += line
            yield Server(f"http://127.0.0.1:{port}", re.search(r"once: (\S+)", told)[1], data)  # type: ignore[index]
        finally:
            process.terminate()
            try:
                process.wait(2)
            except subprocess.TimeoutExpired:  # it ends what it has begun first
                process.kill()
                process.wait()
            process.stdout.close()
