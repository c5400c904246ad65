"""One source, several instruction sets, the same bits."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-std=c++20", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-pthread", f"-I{ROOT / 'core'}"]
# As the extension is built, with the best clone picked at load; and pinned to one set, at two levels of optimisation.
BUILDS = {
    "clones": ["-O3"],
    "baseline": ["-O1", "-DTM_NO_CLONES"],
    "avx2": ["-O3", "-DTM_NO_CLONES", "-march=x86-64-v3"],
    "avx512": ["-O3", "-DTM_NO_CLONES", "-march=x86-64-v4"],
}
NEEDS = {"avx2": "avx2", "avx512": "avx512f"}


def supported() -> list[str]:
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    return [name for name in BUILDS if NEEDS.get(name, "") in flags]


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the clones are for x86-64")
def test_every_instruction_set_gives_the_same_bits(tmp_path):
    """Every term, weighted and not, over blocks and a tail."""
    compiler = shutil.which(os.environ.get("CXX", "g++")) or "g++"
    printed = {}
    for name in supported():
        program = tmp_path / name
        source = str(ROOT / "tests" / "core" / "print_totals.cpp")
        subprocess.run([compiler, *FLAGS, *BUILDS[name], source, "-o", str(program)], check=True)
        printed[name] = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert len(printed["clones"].splitlines()) > 200
    assert set(printed.values()) == {printed["clones"]}
