"""Tables for a terminal, in colours; the package rich is loaded only here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tallymark.errors import MissingPackageError
from tallymark.report.table import Table, show_cell
from tallymark.report.text import line_up, printable

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table as RichTable

_COLOURS = {"good": "green", "fair": "yellow", "poor": "red"}
_WIDE = 100  # columns, where there is no terminal to ask


def renderable(tables: Sequence[Table]) -> Group:
    """The tables as something that a rich console prints."""
    rich = _rich()
    parts: list[Any] = []
    for table in tables:
        parts += [rich.Text("")] * bool(parts)
        parts += [rich.Text(printable(table.title), "bold"), rich.Text("")] if table.title else []
        parts.append(_table(rich, table))
        parts += [rich.Text("")] * bool(table.notes)
        parts += [_note(rich, note) for note in table.notes]
    return rich.Group(*parts)  # type: ignore[no-any-return]


def to_terminal(tables: Sequence[Table], *, colour: bool = True, width: int | None = None) -> str:
    """The tables as text with the codes of colours, or without; NO_COLOR in the environment asks for none."""
    import io

    rich = _rich()
    out = io.StringIO()
    system = {"color_system": "standard", "force_terminal": True} if colour else {"color_system": None}
    rich.Console(file=out, width=width or _WIDE, **system).print(renderable(tables))
    return out.getvalue()


def _table(rich: Any, table: Table) -> RichTable:
    out = rich.Table(box=rich.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_edge=False)
    columns = []
    for k, heading in enumerate(table.headings):
        number = heading in table.numbers
        shown = [printable(show_cell(row[k])) for row in table.rows]
        columns.append(line_up(shown) if number else shown)
        out.add_column(
            rich.Text(printable(heading)),
            justify="right" if number else "left",
            no_wrap=number,
            overflow="fold",
            style="bold" if k == 0 else "",
        )
    for place, row in enumerate(table.rows):
        cells = (column[place] for column in columns)
        out.add_row(*(rich.Text(text, _COLOURS.get(getattr(value, "band", ""), "")) for text, value in zip(cells, row, strict=True)))
    return out  # type: ignore[no-any-return]


def _note(rich: Any, note: str) -> Any:
    out = rich.Table.grid(padding=(0, 1))
    out.add_row(rich.Text("·", "dim"), rich.Text(printable(note), "dim", overflow="fold"))
    return out


def _rich() -> Any:
    try:
        from types import SimpleNamespace

        from rich.box import SIMPLE_HEAD
        from rich.console import Console, Group
        from rich.table import Table as RichTable
        from rich.text import Text
    except ImportError as error:
        raise MissingPackageError(
            'colours in a terminal need the package rich; install it with: pip install "tallymark[cli]"'
        ) from error
    return SimpleNamespace(SIMPLE_HEAD=SIMPLE_HEAD, Console=Console, Group=Group, Table=RichTable, Text=Text)
