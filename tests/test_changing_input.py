"""Arrays that another thread changes during a call: the value may be anything, but the interpreter survives."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.waiting import LIMIT


@pytest.mark.slow
def test_no_call_crashes_or_hangs_while_its_inputs_change():
    """Every metric and every function of the core, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.changing_input"], capture_output=True, text=True, timeout=15 * LIMIT
    )
    assert done.returncode == 0, done.stdout + done.stderr
