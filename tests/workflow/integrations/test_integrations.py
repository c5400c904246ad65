"""What holds for every integration: nothing is loaded before it is asked for, and what is lacking is named."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
import tomllib

import pytest

from tallymark.errors import MissingPackageError
from tallymark.workflow import integrations
from tests.docs.pages import ROOT

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
FRAMEWORKS = sorted({found.name for found in pkgutil.iter_modules(integrations.__path__)} & set(EXTRAS))


def test_no_framework_is_loaded_before_it_is_asked_for():
    """Neither by tallymark nor by its workflow nor by the package of the integrations."""
    code = "import sys, tallymark.workflow.integrations; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(FRAMEWORKS) & set(done.stdout.split())


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_missing_framework_says_which_extra_to_install(framework, monkeypatch):
    """By the name that the extra has."""
    monkeypatch.setitem(sys.modules, framework, None)
    monkeypatch.delitem(sys.modules, f"tallymark.workflow.integrations.{framework}", raising=False)
    with pytest.raises(MissingPackageError, match=rf'needs the package .*pip install "tallymark\[{framework}\]"'):
        importlib.import_module(f"tallymark.workflow.integrations.{framework}")


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_examples_in_docstrings_hold(framework):
    """Which are not collected with the others, since that would load every framework."""
    module = importlib.import_module(f"tallymark.workflow.integrations.{framework}")
    assert doctest.testmod(module).failed == 0
