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
    r"(?P<begin><!-- help of (?P<name>[a-z]+) -->\n)(?P<old>.*?)(?P<end><!-- end of help -->)", re.DOTALL
)


def pages() -> Iterator[tuple[str, str]]:
    """The one page, by its path below docs/."""
    text = (Path(__file__).parents[1] / PAGE).read_text()
    yield PAGE, MARKED.sub(lambda found: f"{found['begin']}\n{shown(found['name'])}\n{found['end']}", text)


def shown(name: str) -> str:
    """The help of a command, or of all of them, as a block of text."""
    context = _context(commands, "tallymark", None)
    if name != "tallymark":
        command = commands.get_command(context, name)
        if command is None:
            raise ValueError(f"there is no command {name}")
        context = _context(command, name, context)
    texts = [context.get_help()]
    if isinstance(context.command, click.Group) and name != "tallymark":
        texts += [_context(each, word, context).get_help() for word, each in context.command.commands.items()]
    text = "\n\n".join(texts)
    return f"```text\n{text}\n```\n"


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(command, parent, name, **{**command.context_settings, "terminal_width": WIDTH})
