"""docs/differences.md: the names of metrics in other libraries, put between the marks in the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import tallymark as tm
from generators.metric_pages import anchor, heading
from tallymark.metrics.names_elsewhere import NameElsewhere, names_elsewhere

PAGE = "differences.md"
MARKED = re.compile(r"(?P<begin><!-- names -->\n)(?P<old>.*?)(?P<end><!-- end of names -->)", re.DOTALL)


def pages() -> Iterator[tuple[str, str]]:
    """The one page, by its path below docs/."""
    text = (Path(__file__).parents[1] / PAGE).read_text()
    yield PAGE, MARKED.sub(lambda found: f"{found['begin']}\n{table()}\n\n{found['end']}", text)


def table() -> str:
    """The names of each library in a table of its own; names of one metric with one note in one row."""
    lines: list[str] = []
    for library, rows in groupby(names_elsewhere(), lambda row: row.library):
        lines += ["", f"### {library}", "", "| there | here | note |", "|---|---|---|"]
        by_metric: dict[tuple[str, str], list[NameElsewhere]] = {}
        for row in rows:
            by_metric.setdefault((row.here, row.note), []).append(row)
        lines += [
            f"| {', '.join(f'`{row.name}`' for row in same)} | {_linked(here)} | {_escaped(note)} |"
            for (here, note), same in by_metric.items()
        ]
    return "\n".join(lines[1:])


def _linked(here: str) -> str:
    """A metric with a link to its section."""
    if not here:
        return ""
    item = type(tm.metric(here))()
    return f"[`{here}`](reference/{item.family}.md#{anchor(heading(item))})"


def _escaped(note: str) -> str:
    return note.replace("|", "\\|")
