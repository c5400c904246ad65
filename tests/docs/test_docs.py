"""The documentation cannot lie: its code runs, its links lead somewhere, its reference is what the definitions say."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tallymark as tm
from tallymark.metrics import registry

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md")]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_the_code_runs(path):
    """Every example gives the output that stands below it; the examples of a page share their names."""
    code = "\n".join(re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL))
    names = {"tm": tm} if "reference" in path.parts else {}
    example = doctest.DocTestParser().get_doctest(code, names, named(path), str(path), 0)
    known = set(registry.classes), set(registry.functions)
    try:
        result = doctest.DocTestRunner().run(example)
    finally:
        for table, before in zip((registry.classes, registry.functions), known, strict=True):
            for name in set(table) - before:
                del table[name]
    assert result.failed == 0


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_the_links_lead_somewhere(path):
    """Files that are linked exist."""
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text()):
        assert (path.parent / target).exists(), target


def test_the_reference_is_up_to_date(tmp_path):
    """Write it anew with: make docs."""
    subprocess.run([sys.executable, ROOT / "docs" / "generate.py", tmp_path], check=True)
    for page in tmp_path.glob("*.md"):
        assert page.read_text() == (ROOT / "docs" / "reference" / page.name).read_text()


def test_every_public_name_is_documented():
    """Has a docstring; every metric stands in the reference and in the changelog."""
    reference = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    changelog = (ROOT / "CHANGELOG.md").read_text()
    for name, value in vars(tm).items():
        if not name.startswith("_") and (isinstance(value, type) or callable(value)):
            assert (value.__doc__ or "").strip(), name
    for name, cls in registry.classes.items():
        if getattr(tm, cls.__name__, None) is cls:
            assert f"## {name}\n" in reference
            assert f"`{name}`" in changelog


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


@pytest.mark.slow
def test_the_pictures_of_plots_are_there(tmp_path):
    """Written anew with: python docs/draw.py. Fonts and libraries move points, so only the names are compared."""
    subprocess.run([sys.executable, ROOT / "docs" / "draw.py", tmp_path], check=True)
    kept = ROOT / "docs" / "images" / "plots"
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in kept.iterdir()}
    page = (ROOT / "docs" / "how-to" / "plot.md").read_text()
    assert all(path.name in page for path in kept.iterdir())
