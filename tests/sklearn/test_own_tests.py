"""scikit-learn's own tests of its metrics pass with tallymark in the place of its functions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MODULES = [
    *(f"sklearn.metrics.tests.test_{name}" for name in ("classification", "ranking", "regression", "common")),
    "sklearn.metrics.tests.test_score_objects",
    *(f"sklearn.metrics.cluster.tests.test_{name}" for name in ("supervised", "unsupervised", "common", "bicluster")),
]
ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_own_tests_of_scikit_learn_pass_but_for_the_expected_failures(capsys):
    options = ["-q", "-p", "tests.sklearn.own_tests_plugin", "-o", "addopts=", "-c", "/dev/null"]
    options += [f"--rootdir={ROOT}", "-p", "no:cacheprovider", "--disable-warnings"]
    command = [sys.executable, "-m", "pytest", *options, "--pyargs", *MODULES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    with capsys.disabled():
        print("\n" + "\n".join(line for line in done.stdout.splitlines() if "used a value of tallymark" in line))
    assert done.returncode == 0, done.stdout[-5000:]
