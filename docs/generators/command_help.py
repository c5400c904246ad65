"""docs/how-to/command-line.md: what `tallymark --help` prints, put between the marks in the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from tallymark.cli.group import commands

PAGE = "how-to/command-line.md"
WIDTH = 90
MARKED = re.compile(
    r"(?P<begin><!-- help of (?P<name>[a-z -]+) -->\n)(?P<old>.*?)(?P<end><!-- end of help -->)", re.DOTALL
)


def pages() -> Iterator[tuple[str, str]]:
    """The one page, by its path below docs/."""
    text = (Path(__file__).parents[1] / PAGE).read_text()
    yield PAGE, MARKED.sub(lambda found: f"{found['begin']}\n{shown(found['name'])}\n{found['end']}", text)


def shown(name: str) -> str:
    """The help of a command, or of all of them, as a block of text."""
    context = _context(commands, "tallymark", None)
    for word in [] if name == "tallymark" else name.split():
        group = context.command
        command = group.get_command(context, word) if isinstance(group, click.Group) else None
        if command is None:
            raise ValueError(f"there is no command {name}")
        context = _context(command, word, context)
    return f"```text\n{context.get_help()}\n```\n"


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(command, parent, name, **{**command.context_settings, "terminal_width": WIDTH})
