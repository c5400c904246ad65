"""Tables as text for a terminal."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence

from tallymark.rendering.table import Table, show_cell

_MOST_NAMES = 5  # in a row


def list_first(names: Sequence[str], joint: str = ", ") -> str:
    """The first names, and how many more there are.

    >>> list_first(["a", "b", "c", "d", "e", "f", "g"])
    'a, b, c, d, e, and 2 more'
    """
    more = len(names) - _MOST_NAMES
    return joint.join([*names[:_MOST_NAMES], *([f"and {more:,} more"] if more > 0 else [])])


_MOST_ROWS, _MOST_IN_CELL, _MOST_IN_NOTE = 1000, 200, 2000  # what is printed must have an end


PRINT_WIDTH = 100  # characters, without a terminal


def print_width() -> int:
    """The width of the terminal that standard output is."""
    try:
        return os.get_terminal_size().columns or PRINT_WIDTH  # some terminals do not know theirs
    except OSError:
        return PRINT_WIDTH


def to_text(table: Table, width: int | None = None) -> str:
    """The table with aligned columns, a rule under the headings, and its notes below. A table wider than `width` is
    broken into blocks of columns, each with the names of the rows."""
    left_out = max(len(table.rows) - _MOST_ROWS, 0)
    rows = [*table.rows[: _MOST_ROWS // 2], *table.rows[-_MOST_ROWS // 2 :]] if left_out else table.rows
    cells = [[_shorten(show_cell(value)) for value in row] for row in rows]
    if left_out:
        cells.insert(_MOST_ROWS // 2, [f"… {left_out:,} more rows", *[""] * (len(table.headings) - 1)])
    columns = []
    for k, heading in enumerate(table.headings):
        column, shown = [row[k] for row in cells], _shorten(heading)
        columns.append(align_decimals(shown, column) if heading in table.numbers else _pad(shown, column))
    lines = [_shorten(table.title, _MOST_IN_NOTE), ""] if table.title else []
    widths = [text_width(column[0]) + len(_BETWEEN) for column in columns]
    most = width if width is not None and widths[0] <= width / 2 else sum(widths)  # long names leave no room for blocks
    for k, places in enumerate(columns_that_fit(table, widths, most + len(_BETWEEN))):
        lines += [""] if k else []
        lines += (_BETWEEN.join(row).rstrip() for row in zip(*(columns[place] for place in places), strict=True))
    if table.notes:
        lines.extend(["", *(f"· {_shorten(note, _MOST_IN_NOTE)}" for note in table.notes)])
    return "\n".join(lines)


_BETWEEN = "  "  # columns


def columns_that_fit(table: Table, widths: Sequence[int], width: int) -> list[list[int]]:
    """Places of columns that fit beside each other; the names of the rows, which come first, are in each block."""
    first = next((k for k, heading in enumerate(table.headings) if heading in table.numbers), 1)
    names = list(range(table.repeated or max(first, 1)))
    room = width - sum(widths[k] for k in names)
    blocks: list[list[int]] = [[]]
    for columns in _inseparable_columns(table, len(names)):
        if blocks[-1] and sum(widths[k] for k in (*blocks[-1], *columns)) > room:
            blocks.append([])
        blocks[-1] += columns
    return [names + columns for columns in blocks]


def _inseparable_columns(table: Table, first: int) -> list[list[int]]:
    """Columns that must not be parted: a value and its interval."""
    out: list[list[int]] = []
    for k in range(first, len(table.headings)):
        if out and table.headings[k].endswith(" interval"):
            out[-1].append(k)
        else:
            out.append([k])
    return out


def _shorten(text: str, most: int = _MOST_IN_CELL) -> str:
    return printable(text if len(text) <= most else text[: most - 1] + "…")


def _pad(heading: str, cells: list[str]) -> list[str]:
    """Heading, rule and cells of one width, on the left."""
    width = max(map(text_width, [heading, *cells]))
    return [text + " " * (width - text_width(text)) for text in (heading, "─" * width, *cells)]


def align_decimals(heading: str, cells: list[str]) -> list[str]:
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
