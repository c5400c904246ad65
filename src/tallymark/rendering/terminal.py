"""Tables for a terminal, in colours; the package rich is loaded only here."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

from tallymark.optional_packages import needed
from tallymark.rendering.table import Table, show_cell
from tallymark.rendering.text import PRINT_WIDTH, align_decimals, columns_that_fit, printable, text_width

with needed("colour in a terminal", "rich", extra="cli"):
    from rich.box import SIMPLE_HEAD
    from rich.console import Console, ConsoleOptions
    from rich.table import Table as RichTable
    from rich.text import Text

_COLOURS = {"good": "green", "fair": "yellow", "poor": "red"}
_BETWEEN = 3  # spaces from column to column
_WRAPS = 24  # characters from which on a text may wrap


class TerminalTables:
    """Tables as a rich console prints them: columns that have no room are put below, and no number is ever cut."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables = tables

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Any]:
        """Tables with their titles above and their notes below."""
        for place, table in enumerate(self._tables):
            if place:
                yield Text("")
            if table.title:
                colour = _COLOURS.get(getattr(table.title, "band", ""), "")
                yield from (Text(printable(table.title), f"bold {colour}".strip()), Text(""))
            widths = [_least_width(table, k) + _BETWEEN for k in range(len(table.headings))]
            for k, columns in enumerate(columns_that_fit(table, widths, options.max_width + _BETWEEN)):
                if k:
                    yield Text("")
                yield _rich_table(table, columns)
            if table.notes:
                yield Text("")
                yield from map(_note, table.notes)


def to_terminal(tables: Sequence[Table], *, colour: bool = True, width: int | None = None) -> str:
    """The tables as text with the codes of colours, or without; NO_COLOR in the environment asks for none."""
    out = io.StringIO()
    system: dict[str, Any] = {"color_system": "standard", "force_terminal": True} if colour else {"color_system": None}
    Console(file=out, width=width or PRINT_WIDTH, highlight=False, **system).print(TerminalTables(tables))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _least_width(table: Table, column: int) -> int:
    widest = max(map(text_width, _column_texts(table, column)))
    return widest if table.headings[column] in table.numbers else min(widest, _WRAPS)


def _column_texts(table: Table, column: int) -> list[str]:
    """The heading of a column and its cells; those of numbers are of one width, points below each other."""
    heading, cells = printable(table.headings[column]), [printable(show_cell(row[column])) for row in table.rows]
    if table.headings[column] not in table.numbers:
        return [heading, *cells]
    heading, _, *cells = align_decimals(heading, cells)
    return [heading, *cells]


def _rich_table(table: Table, columns: list[int]) -> RichTable:
    """Some columns of a table; numbers have the colour of their band."""
    out = RichTable(box=SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False, collapse_padding=True)
    shown = [_column_texts(table, k) for k in columns]
    for k, (heading, *_) in zip(columns, shown, strict=True):
        number, least = table.headings[k] in table.numbers, _least_width(table, k)
        style = "bold" if k == 0 else ""
        out.add_column(Text(heading), min_width=least, no_wrap=number, overflow="fold", style=style)
    for place, row in enumerate(table.rows, start=1):
        styles = [_COLOURS.get(getattr(row[k], "band", ""), "") for k in columns]
        out.add_row(*(Text(column[place], style) for column, style in zip(shown, styles, strict=True)))
    return out


def _note(note: str) -> RichTable:
    out = RichTable.grid(padding=(0, 1))
    out.add_row(Text("·"), Text(printable(note), overflow="fold"))
    return out
