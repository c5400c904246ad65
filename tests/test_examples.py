"""The examples run, and are what their sources say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_example_runs():
    """And the pieces add up to the whole."""
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "deliveries.py"], capture_output=True, text=True, check=True
    )
    assert "equal to the last bit: yes" in done.stdout
    assert "3 dropped for missing values" in done.stdout


def test_the_example_data_are_what_the_script_makes(tmp_path):
    """So that anyone can see where they come from."""
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        import make_deliveries
    finally:
        sys.path.pop(0)
    make_deliveries.make(tmp_path / "deliveries.csv")
    assert (tmp_path / "deliveries.csv").read_bytes() == make_deliveries.FILE.read_bytes()
