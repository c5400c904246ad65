"""docs/how-to/run-the-app.md: the settings of the app, put between the marks in the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from tallymark.app.settings import AppSettings

PAGE = "how-to/run-the-app.md"
MARKED = re.compile(r"(?P<begin><!-- settings -->\n)(?P<old>.*?)(?P<end><!-- end of settings -->)", re.DOTALL)


def pages() -> Iterator[tuple[str, str]]:
    """The one page, by its path below docs/."""
    text = (Path(__file__).parents[1] / PAGE).read_text()
    lines = ["| option | default | what it is |", "|---|---|---|"]
    for each in fields(AppSettings):
        default = f"`{each.default}`" if each.default != "" else ""
        lines.append(f"| `--{each.name.replace('_', '-')}` | {default} | {each.metadata['description']} |")
    table = "\n".join(lines)
    yield PAGE, MARKED.sub(lambda found: f"{found['begin']}\n{table}\n\n{found['end']}", text)
