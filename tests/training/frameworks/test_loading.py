"""What holds for every framework."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

from tallymark.training import frameworks


def test_no_framework_is_loaded_before_it_is_asked_for():
    """Neither by tallymark nor by tallymark.training nor by the package of frameworks."""
    names = {found.name for found in pkgutil.iter_modules(frameworks.__path__)}
    code = "import sys, tallymark.training.frameworks; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"torch", "xgboost"} <= names
    assert not names & set(done.stdout.split())
