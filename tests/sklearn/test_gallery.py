"""Scripts in the style of scikit-learn's examples print the same with tallymark in the place of its functions."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import matplotlib as mpl
import pytest

import tallymark as tm

SCRIPTS = sorted((Path(__file__).parent / "gallery").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_prints_the_same_patched_and_not(script, capsys):
    mpl.use("agg")
    warnings.simplefilter("ignore")
    runpy.run_path(str(script), run_name="__main__")
    before = capsys.readouterr().out
    tm.sklearn.status(reset=True)
    with tm.sklearn.patch():
        runpy.run_path(str(script), run_name="__main__")
    after = capsys.readouterr().out
    assert len(before) > 100
    assert after == before
    assert tm.sklearn.status().served


def test_there_are_twenty_scripts():
    assert len(SCRIPTS) == 20
