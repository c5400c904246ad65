"""Writes the stories as notebooks, with what they show, and the pictures that they make into docs/images.

A story is a script whose cells begin with `# %%`, or `# %% [markdown]` for text. It is the source: change it, and run
this. It needs nbformat, nbclient and ipykernel beside what the stories need.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

HERE = Path(__file__).parent
STORIES = ("quantiles", "churn", "digits")
PICTURES = HERE.parent / "docs" / "images"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook_of(script: str) -> nbformat.NotebookNode:
    """The cells of a script, not run yet."""
    cells = []
    for number, part in enumerate(re.split(r"^# %%", script, flags=re.MULTILINE)[1:], start=1):
        heading, _, body = part.partition("\n")
        name = {"id": f"cell-{number}"}
        if heading.strip() == "[markdown]":
            cells.append(new_markdown_cell(re.sub(r"^# ?", "", body.strip(), flags=re.MULTILINE), **name))
        else:
            cells.append(new_code_cell(body.strip(), **name))
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL, "language_info": {"name": "python"}})


def run(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """The notebook with its output; pictures go into the folder."""
    patience = dict.fromkeys(("timeout", "startup_timeout", "iopub_timeout"), 300)  # else output that is late is lost
    where = {"metadata": {"path": str(folder)}}
    # one text a cell: a kernel sends what it has every now and then, so that a slow machine would part it
    client = NotebookClient(notebook, **patience, coalesce_streams=True, record_timing=False, resources=where)
    done = client.execute()
    done.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}  # not the versions of this machine
    return done


def main(stories: tuple[str, ...] = STORIES) -> None:
    for story in stories:
        notebook = run(notebook_of((HERE / f"{story}.py").read_text()), PICTURES)
        nbformat.write(notebook, HERE / f"{story}.ipynb")
        print(f"examples/{story}.ipynb")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or STORIES)
