"""The command line as a process, and small files for it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Where the tests run in the background, interrupts are ignored, and children would ignore them too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROWS = """minutes,predicted,other,late,p,city,orders
31.5,30,28,1,0.9,Köln,3
12,14.5,12,0,0.2,Bonn,1
45,40,44,1,0.7,Köln,2
22.5,25,22,0,0.4,Bonn,1
18,18.5,21,0,0.6,Köln,2
52,47,50,1,0.8,Bonn,4
"""


def environment(**more):
    """That of the tests, less what would change how things look."""
    kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    return {**kept, "TERM": "xterm-256color", **more}


@pytest.fixture
def rows(tmp_path):
    """A small file of predictions."""
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def tallymark(tmp_path):
    """Runs the command in a process of its own: its exit code, standard output and standard error."""

    def run(*args, stdin=None, **more):
        command = [sys.executable, "-m", "tallymark", *map(str, args)]
        return subprocess.run(
            command, capture_output=True, text=True, input=stdin, env=environment(**more), cwd=tmp_path, timeout=120
        )

    return run


def without_baselines(text):
    """The JSON of a report without baselines, which only rows in memory have."""
    return re.sub(r'\n  "baselines": \{.*?\n  \},', "", text, flags=re.DOTALL)
