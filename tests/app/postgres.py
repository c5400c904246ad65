"""A PostgreSQL server of the tests' own: in a folder that is thrown away, reached by a socket and no port."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.waiting import LIMIT

_FAST = ("fsync=off", "full_page_writes=off", "max_connections=200", "listen_addresses=")


def _programs() -> Path:
    """Where the server's programs are; a test that needs them is skipped, and says so, but CI must have them."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda each: int(each.parts[-3]))
    plain = shutil.which("initdb")
    if found or plain:
        return found[-1].parent if found else Path(plain).parent
    if os.environ.get("CI"):
        pytest.fail("these tests need PostgreSQL, which CI must have (on Debian: apt install postgresql)")
    pytest.skip("these tests need PostgreSQL: install it (on Debian: apt install postgresql)")


@contextmanager
def running_postgres() -> Iterator[str]:
    """The URL of a server, with the name of the database left out at its end."""
    programs = _programs()
    root = os.getuid() == 0  # whom the server refuses
    folder = Path(tempfile.mkdtemp(prefix="tallymark-pg-", dir="/tmp"))  # sockets must have short names
    if root:
        shutil.chown(folder, "postgres")

    def run(*words: str) -> None:
        allowed = ("runuser", "-u", "postgres", "--") if root else ()
        done = subprocess.run([*allowed, *words], cwd=folder, capture_output=True, text=True, timeout=2 * LIMIT)
        assert done.returncode == 0, done.stderr

    data = str(folder / "data")
    try:
        run(str(programs / "initdb"), "-D", data, "-U", "tester", "-A", "trust", "--no-sync", "-E", "UTF8")
        options = " ".join(f"-c {each}" for each in (*_FAST, f"unix_socket_directories={folder}"))
        control = str(programs / "pg_ctl")
        run(control, "-D", data, "-w", "-t", str(LIMIT), "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql://tester@/{{}}?host={quote(str(folder), safe='')}"
        finally:
            run(control, "-D", data, "-m", "immediate", "-w", "-t", str(LIMIT), "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
