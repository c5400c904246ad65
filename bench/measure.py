"""How the benchmarks measure: the best of many calls, in bursts taken in turns, so that noise hits all sides alike."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import count
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def best_of(calls: dict[str, Callable[[], object]], *, seconds: float = 1.5, least: int = 5) -> dict[str, float]:
    """Seconds per call: the best of many, in bursts of 50 ms or two calls, the sides taking turns.

    The first call of a burst finds the caches full of what the side before it left there, and its threads still waiting
    for more work. Calls of a second and more outlast that: one is a burst.
    """
    best = dict.fromkeys(calls, float("inf"))
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < least or time.perf_counter() < end:
        for name, call in calls.items():
            burst = time.perf_counter() + 0.05
            for call_of_burst in count(1):
                start = time.perf_counter()
                call()
                now = time.perf_counter()
                best[name] = min(best[name], now - start)
                if now > burst and (call_of_burst > 1 or now - start > 1.0):
                    break
        rounds += 1
    return best


def show_time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def machine(*packages: str) -> str:
    """The processor, cores and versions of Python and packages, for the head of a result table."""
    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.processor(),
    )
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return f"{model}, {len(os.sched_getaffinity(0))} cores; Python {platform.python_version()}, {versions}"


def run_python(code: str, *, path: str | None = None) -> str:
    """What a fresh interpreter prints. With a path, only packages on it are seen, as an ordinary install has them."""
    flags = ["-S"] if path else []
    env = {**os.environ, "PYTHONPATH": path or ""}
    done = subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True, check=True, env=env)
    return done.stdout.strip()


MEMORY = """
import numpy as np, tallymark as tm
rng = np.random.default_rng(1)
{rows}
def memory(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key))
open("/proc/self/clear_refs", "w").write("5")  # forget the peak so far
before = memory("VmRSS")
{call}
print(memory("VmHWM") - before)
"""


def memory_of(call: str, rows: str) -> int:
    """Bytes that a call takes beyond its inputs, in a fresh interpreter where `rows` made them and called it once."""
    return int(run_python(MEMORY.format(call=call, rows=rows))) * 1024


def table(headings: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(headings) + " |", "|---" + "|---:" * (len(headings) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
