"""Documents and tables as Markdown, as GitHub and most others read it."""

from __future__ import annotations

import re

from tallymark.rendering.document import Code, Document, Folded, Notes, Part, Section
from tallymark.rendering.fact_sheet import FactSheet
from tallymark.rendering.table import BandedNumber, Table, show_cell
from tallymark.rendering.text import printable

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")


def to_markdown(document: Document) -> str:
    """The document with headings, tables and lists, without what a page shows only when asked for.

    Names in it are escaped: they cannot make links or tags.
    """
    blocks = [f"# {escape(document.title)}", escape(document.line)]
    for section in (*document.lead, *document.sections):
        if not section.folded:
            blocks += _section_markdown(section)
    return "\n\n".join(block for block in blocks if block) + "\n"


def table_to_markdown(table: Table) -> str:
    """A table of pipes, with its title above and its notes below."""
    headings = [escape(heading) for heading in table.headings]
    rules = ["---:" if heading in table.numbers else "---" for heading in table.headings]
    rows = [headings, rules, *([_cell_markdown(value) for value in row] for row in table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    title = [f"**{escape(table.title)}**", ""] if table.title else []
    notes = ["", *_list_markdown(table.notes)] if table.notes else []
    return "\n".join([*title, *lines, *notes])


def _section_markdown(section: Section) -> list[str]:
    return [f"## {escape(section.title)}", escape(section.sentence), *map(_part_markdown, section.parts)]


def _part_markdown(part: Part) -> str:
    if isinstance(part, Folded):
        return ""
    if isinstance(part, Table):
        return table_to_markdown(part)
    if isinstance(part, Code):
        return f"{escape(part.name)}:\n\n{_fenced(part.text)}"
    if isinstance(part, Notes):
        return "\n".join(_list_markdown(part.lines))
    if isinstance(part, FactSheet):
        facts = [f"- {escape(name)}: {escape(' '.join(lines))}" for name, lines in part.facts]
        heading = f"### {escape(part.title)}\n\n" if part.title else ""
        sentence = f"{escape(part.sentence)}\n\n" if part.sentence else ""
        return heading + sentence + "\n".join(facts) + (f"\n\n{_fenced(part.code)}" if part.code else "")
    return f"### {escape(part.title)}\n\n{escape(part.description)}"


def _list_markdown(lines: object) -> list[str]:
    return [f"- {escape(line)}" for line in lines]  # type: ignore[attr-defined]


def _cell_markdown(value: object) -> str:
    band = value.band if isinstance(value, BandedNumber) else ""
    return escape(show_cell(value)) + (f" ({band})" if band else "")


def _fenced(text: str) -> str:
    """Code between fences that are longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([fence, *map(printable, text.split("\n")), fence])


def escape(text: str) -> str:
    """A text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", printable(text))
