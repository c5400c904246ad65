"""Tables as text for a terminal."""

from __future__ import annotations

import unicodedata

from tallymark.report.table import Table, show_cell


def to_text(table: Table) -> str:
    """The table with aligned columns, a rule under the headings, and its notes below."""
    cells = [[printable(show_cell(value)) for value in row] for row in table.rows]
    columns = []
    for k, heading in enumerate(table.headings):
        column, shown = [row[k] for row in cells], printable(heading)
        columns.append(_line_up(shown, column) if heading in table.numbers else _pad(shown, column))
    lines = [printable(table.title), ""] if table.title else []
    for row in zip(*columns, strict=True):
        lines.append("  ".join(row).rstrip())
    if table.notes:
        lines.extend(["", *(f"· {printable(note)}" for note in table.notes)])
    return "\n".join(lines)


def _pad(heading: str, cells: list[str]) -> list[str]:
    """Heading, rule and cells of one width, on the left."""
    width = max(map(text_width, [heading, *cells]))
    return [text + " " * (width - text_width(text)) for text in (heading, "─" * width, *cells)]


def _line_up(heading: str, cells: list[str]) -> list[str]:
    """The same with the decimal points one below the other; words stand on the right."""
    tails = [text_width(cell) - text_width(cell.partition(".")[0]) if _is_number(cell) else 0 for cell in cells]
    longest = max(tails, default=0)
    aligned = [
        cell + " " * (longest - tail) if _is_number(cell) else cell for cell, tail in zip(cells, tails, strict=True)
    ]
    width = max(map(text_width, [heading, *aligned]))
    return [" " * (width - text_width(text)) + text for text in (heading, "─" * width, *aligned)]


def _is_number(cell: str) -> bool:
    return cell.lstrip("-")[:1].isdigit() and " " not in cell


def text_width(text: str) -> int:
    """How many terminal cells a text takes: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def printable(text: str) -> str:
    """No control characters: a name must not be able to move the cursor."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "�" for c in text)
