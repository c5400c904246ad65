"""The page about the command line: its sessions run, and everything that there is to type stands in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tallymark.cli import run
from tallymark.cli.group import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "command-line.md").read_text()
SESSIONS = [tuple(block.split("\n", 1)) for block in re.findall(r"```console\n\$ (.*?)```", PAGE, re.DOTALL)]


@pytest.mark.parametrize(("line", "shown"), SESSIONS, ids=[line[:60] for line, _ in SESSIONS])
def test_the_sessions_run(line, shown):
    """What is typed gives what stands below it, errors after the rest."""
    script = f'tallymark() {{ "{sys.executable}" -m tallymark "$@"; }}; {line}'
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.stdout + done.stderr == shown


def test_every_command_has_its_help():
    """One section each; what stands in it is checked with all generated pages."""
    assert sorted(re.findall(r"<!-- help of ([a-z]+) -->", PAGE)) == sorted(["tallymark", *COMMANDS])


def test_every_exit_code_is_explained():
    """Those that the command line has, and no others."""
    codes = [run.FINE, run.NOT_ACCEPTED, run.BAD_INPUT, run.INTERRUPTED, run.UNREAD]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)] == codes
