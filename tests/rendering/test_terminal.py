"""Tables for a terminal: coloured bands, no number cut at any width, no control character."""

from __future__ import annotations

import importlib
import io
import re
import sys

import pytest
from rich.console import Console

import tallymark as tm
from tallymark.rendering.table import BandedNumber, Table
from tallymark.rendering.terminal import TerminalTables, to_terminal

WIDE = Table(
    "wide",
    ("name", *(f"m{k}" for k in range(12))),
    [(f"row {r}", *(r + k / 1024 for k in range(12))) for r in range(3)],
    ["a note"],
    numbers=tuple(f"m{k}" for k in range(12)),
)


def words(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_bands_are_green_yellow_and_red():
    """Green, yellow and red; other numbers have none."""
    rows = [(band, BandedNumber(0.5, band)) for band in ("good", "fair", "poor")] + [("none", 0.25)]
    lines = to_terminal([Table("", ("band", "value"), rows, numbers=("value",))]).splitlines()
    for line, colour in zip(lines[2:], (32, 33, 31), strict=False):
        assert f"\x1b[{colour}m 0.5 " in line
    assert re.search(r"0\.25", lines[5])
    assert "\x1b[3" not in lines[5]


def test_no_colour_when_asked(monkeypatch):
    """By argument no codes at all; by the environment no colours."""
    table = Table("t", ("a", "b"), [("x", BandedNumber(0.9, "good"))], numbers=("b",))
    assert "\x1b" not in to_terminal([table], colour=False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[32m" not in to_terminal([table])


@pytest.mark.parametrize("width", [40, 60, 100, 200])
def test_no_number_is_cut(width):
    """Columns that have no room stand below, beside the names of their rows; no line is too long."""
    text = words(to_terminal([WIDE], width=width))
    assert max(map(len, text.splitlines())) <= width
    for _, *values in WIDE.rows:
        for value in values:
            assert f"{value:.4g}" in text.split()
    parts = text.count("─\n") or 1
    assert text.count("row 2") == parts


def test_a_value_and_its_interval_stay_together():
    """Where a table is cut in parts."""
    headings = ("name", "a", "95 % interval", "b", "95 % interval")
    table = Table("", headings, [("x", 1.5, "1.25 to 1.75", 2.5, "2.25 to 2.75")], numbers=("a", "b"))
    lines = words(to_terminal([table], width=36)).splitlines()
    assert [line.split()[1] for line in lines if line.startswith("x")] == ["1.5", "2.5"]
    assert all(line.count("to") == 1 for line in lines if line.startswith("x"))


def test_long_cells_and_notes_wrap():
    """A long cell and a long note are shown whole."""
    long = "word " * 60
    text = words(to_terminal([Table("t", ("a", "b"), [("x", long)], [long])], width=50))
    assert text.count("word") == 120
    assert max(map(len, text.splitlines())) <= 50


def test_a_name_cannot_move_the_cursor_or_be_markup():
    """Control characters are replaced, and brackets are brackets."""
    table = Table("[red]t[/red]", ("[bold]a", "b"), [("\x1b[2J[link=x]y[/link]", 1)], ["\x07[blue]n"])
    text = to_terminal([table], colour=False)
    assert "\x1b" not in text
    assert "\x07" not in text
    for kept in ("[red]t[/red]", "[bold]a", "[link=x]y[/link]", "[blue]n"):
        assert kept in text


def test_a_rich_console_prints_a_report():
    """In the width that it has."""
    out = io.StringIO()
    report = tm.evaluate([1, 0, 1], [1, 0, 0], ["accuracy", "recall"])
    Console(file=out, width=60, no_color=True).print(report)
    assert "accuracy" in out.getvalue()
    assert "0.6667" in out.getvalue()
    assert isinstance(report.__rich__(), TerminalTables)
    assert "\x1b[1m" in report.to_terminal()


def test_the_error_without_rich_says_what_to_install(monkeypatch):
    """The error says what to install, and print needs nothing."""
    report = tm.evaluate([1, 0], [1, 0], ["accuracy"])
    monkeypatch.setitem(sys.modules, "rich.box", None)
    monkeypatch.delitem(sys.modules, "tallymark.rendering.terminal")
    with pytest.raises(tm.MissingPackageError, match=r'pip install "tallymark\[cli\]"'):
        report.to_terminal()
    assert "accuracy" in str(report)
    monkeypatch.undo()
    importlib.import_module("tallymark.rendering.terminal")
