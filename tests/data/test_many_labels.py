"""Many labels: those that are made to collide, and the memory that they take."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tallymark as tm


@pytest.mark.slow
def test_labels_that_would_collide_in_a_naive_table():
    """Multiples of powers of two, and texts of one prefix or suffix."""
    n = 200_000
    k = np.arange(n)
    for labels in (
        k << 32,
        (k << 40).astype(np.uint64),
        np.ldexp(k.astype(float), 40),
        (k << 32).tolist(),
        np.array([f"{'x' * 40}{i:06}" for i in range(n)]),
        np.array([f"{i:06}{'x' * 40}" for i in range(n)]),
        [2**64 * i for i in range(0, n, 4)],
    ):
        assert tm.adjusted_rand(labels, labels) == 1.0


ROOT = Path(__file__).resolve().parents[2]
MEASURE = """
import json, sys
import numpy as np, tallymark as tm
from tests.memory import most_memory
tm.set_threads(2)
kind = sys.argv[1]
rng = np.random.default_rng(1)
if kind == "few":
    y, p = rng.integers(0, 10, 10**7, dtype=np.int8), rng.integers(0, 10, 10**7, dtype=np.int8)
else:
    y, p = rng.permutation(10**6), rng.permutation(10**6) + 10**6
    if kind == "texts":
        y, p = y.astype("U8"), p.astype("U8")
tm.accuracy(y[:200_000] if kind == "few" else [1, 2], p[:200_000] if kind == "few" else [1, 2])
before = most_memory()
value = tm.accuracy(y, p) if kind == "few" else tm.homogeneity(y, p)
print(json.dumps([value, most_memory() - before]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "most"), [("integers", 600), ("texts", 900), ("few", 8)])
def test_memory_goes_with_the_pairs(kind, most):
    """A million labels on each side take some hundred bytes each; ten million rows of ten classes next to nothing."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, kind], capture_output=True, text=True, env=os.environ, cwd=ROOT, check=True
    )
    value, megabytes = json.loads(done.stdout)
    assert abs(value - (0.1 if kind == "few" else 1.0)) < 0.001
    assert megabytes < most
