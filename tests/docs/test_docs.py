"""The documentation cannot lie: its code runs, its links lead somewhere, its generated pages are what the code says."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import tallymark as tm
from tests.docs.pages import (
    DOCS,
    PAGES,
    ROOT,
    anchors,
    blocks,
    loads_engine,
    loads_framework,
    named,
    prose,
    run_examples,
)

GENERATED = ("reference", "api")
OF_FRAMEWORKS = [
    pytest.mark.slow,
    # What frameworks do with NumPy and with each other, and advice for larger models than those of the examples.
    pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*LeafSpec.*is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*does not have many workers:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*is smaller than the logging interval:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*have no `val_dataloader`:UserWarning"),
]
RUNS = [
    pytest.param(path, marks=OF_FRAMEWORKS if loads_framework(path) else ())
    for path in PAGES
    if not loads_engine(path)  # those run in tests/sources/clusters
]


@pytest.mark.parametrize("path", RUNS, ids=named)
def test_the_code_prints_the_output_shown(path):
    """Every example gives the output that stands below it; the examples of a page share their names."""
    failed, _ = run_examples(path, {"tm": tm} if path.parent.name in GENERATED else None)
    assert failed == 0


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_the_code_is_executed(path):
    """A block of Python that has no prompt would look like an example and never run."""
    for code in blocks(path, "python", "pycon"):
        assert code.lstrip().startswith(">>>"), code


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_the_links_lead_somewhere(path):
    """Files that are linked exist, and have the heading that is named."""
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", prose(path)):
        page = (path.parent / target) if target else path
        assert page.exists(), target
        if anchor:
            assert anchor in anchors(page), f"{target}#{anchor}"


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_every_picture_has_a_text_alternative(path):
    """For who cannot see them."""
    for words in re.findall(r"!\[([^\]]*)\]\(", prose(path)):
        assert len(words) >= 10, words


@pytest.mark.slow
def test_the_generated_pages_are_up_to_date(tmp_path):
    """Write them anew with: make docs."""
    subprocess.run([sys.executable, DOCS / "generate.py", tmp_path / "docs"], check=True)
    fresh = {page.relative_to(tmp_path) for page in tmp_path.rglob("*.md")}
    for page in fresh:
        assert (tmp_path / page).read_text() == (ROOT / page).read_text(), page
    for folder in GENERATED:
        assert {page.relative_to(ROOT) for page in (DOCS / folder).glob("*.md")} <= fresh


@pytest.mark.slow
def test_the_pictures_of_plots_are_there(tmp_path):
    """Written anew with: python docs/draw.py. Fonts and libraries move points, so only the names are compared."""
    subprocess.run([sys.executable, DOCS / "draw.py", tmp_path], check=True)
    kept = DOCS / "images" / "plots"
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in kept.iterdir()}
    page = (DOCS / "how-to" / "plot.md").read_text()
    assert all(path.name in page for path in kept.iterdir())


def test_the_bytes_of_every_state_are_told():
    """Each kind of state that can be written stands in the table of sizes."""
    from tallymark.states.base import State

    def concrete(cls):
        below = [each for child in cls.__subclasses__() for each in concrete(child)]
        return below or ([cls.__name__] if cls.__module__.startswith("tallymark.") else [])

    page = (DOCS / "concepts" / "scale.md").read_text()
    ours = set(concrete(State)) - {"RankedScores"}  # which is never written
    assert ours >= {"Sums", "Scores", "Resampled"}
    assert {name for name in ours if f"| `{name}` |" not in page} == set()
