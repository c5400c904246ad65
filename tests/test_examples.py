"""The examples run, and are what their sources say."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES, PICTURES = ROOT / "examples", ROOT / "docs" / "images"
STORIES = [script.stem for script in sorted(EXAMPLES.glob("*.py")) if "# %%" in script.read_text().split("\n")[0]]


@pytest.fixture
def example_modules(monkeypatch):
    """What stands beside the examples can be imported."""
    monkeypatch.syspath_prepend(str(EXAMPLES))


def test_the_example_adds_its_pieces_to_the_whole():
    """And the pieces add up to the whole."""
    done = subprocess.run([sys.executable, EXAMPLES / "deliveries.py"], capture_output=True, text=True, check=True)
    assert "equal to the last bit: yes" in done.stdout
    assert "3 dropped for missing values" in done.stdout


def test_the_example_data_are_what_the_script_makes(tmp_path, example_modules):
    """So that anyone can see where they come from."""
    import make_deliveries

    make_deliveries.make(tmp_path / "deliveries.csv")
    assert (tmp_path / "deliveries.csv").read_bytes() == make_deliveries.FILE.read_bytes()


def test_the_submissions_are_what_the_script_makes(tmp_path, example_modules):
    """The answers, and a good, a mediocre and a broken file."""
    import make_submissions

    make_submissions.make(tmp_path)
    for name in make_submissions.FILES:
        assert (tmp_path / name).read_bytes() == (make_submissions.FOLDER / name).read_bytes()


@pytest.mark.parametrize("story", STORIES)
def test_the_notebook_is_that_of_the_script(story, example_modules):
    """Write it anew with: python examples/make_notebooks.py."""
    nbformat = importlib.import_module("nbformat")
    make_notebooks = importlib.import_module("make_notebooks")
    stored = nbformat.read(EXAMPLES / f"{story}.ipynb", as_version=4)
    fresh = make_notebooks.notebook_of((EXAMPLES / f"{story}.py").read_text())
    assert story in make_notebooks.STORIES
    assert [(cell.cell_type, cell.source) for cell in stored.cells] == [
        (cell.cell_type, cell.source) for cell in fresh.cells
    ]
    assert all(cell.outputs for cell in stored.cells if cell.get("source", "").rstrip().endswith("picture"))


@pytest.mark.slow
@pytest.mark.parametrize("story", STORIES)
def test_the_story_runs_and_makes_the_pictures_of_the_docs(story, tmp_path):
    """As a script: the words and numbers in the pictures are those in docs/images."""
    done = subprocess.run([sys.executable, EXAMPLES / f"{story}.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    made = {picture.name for picture in tmp_path.glob("*.svg")}
    assert made == {picture.name for picture in PICTURES.glob(f"{story}-*.svg")} != set()
    for name in made:
        assert words(tmp_path / name) == words(PICTURES / name), name


@pytest.mark.slow
@pytest.mark.parametrize("story", STORIES)
def test_the_notebook_prints_its_stored_output(story, tmp_path):
    """In a kernel of its own; what it prints is what is stored; anew with python examples/make_notebooks.py."""
    stored = importlib.import_module("nbformat").read(EXAMPLES / f"{story}.ipynb", as_version=4)
    fresh = run_as_notebook((EXAMPLES / f"{story}.py").read_text(), tmp_path)
    assert printed(fresh) == printed(stored) != []


@pytest.mark.slow
def test_what_a_slow_cell_prints_is_one_text(tmp_path):
    """A kernel sends it in parts, and the notebook would depend on the speed of the machine."""
    fresh = run_as_notebook('# %%\nimport time\nprint("one")\ntime.sleep(0.6)\nprint("two")\n', tmp_path)
    assert printed(fresh) == ["one\ntwo\n"]


def run_as_notebook(script: str, folder: Path):
    """The notebook of a script with its output, made by a process of its own: a kernel leaves threads behind."""
    (folder / "story.py").write_text(script)
    code = (
        f"import sys; sys.path.insert(0, {str(EXAMPLES)!r})\n"
        "import nbformat, pathlib, make_notebooks as m\n"
        "fresh = m.run(m.notebook_of(pathlib.Path('story.py').read_text()), pathlib.Path('.').resolve())\n"
        "nbformat.write(fresh, 'fresh.ipynb')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return importlib.import_module("nbformat").read(folder / "fresh.ipynb", as_version=4)


def printed(notebook) -> list[str]:
    """What its cells wrote to stdout; progress and warnings go elsewhere."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output.text for output in outputs if output.get("name") == "stdout"]


def words(picture: Path) -> list[str]:
    """What can be read in a picture."""
    return re.findall(r"<(?:text|title|desc)[^>]*>([^<]*)<", picture.read_text())
