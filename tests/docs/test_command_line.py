"""The page about the command line: everything that there is to type stands in it."""

from __future__ import annotations

import re
from pathlib import Path

import click

from tallymark.cli import run
from tallymark.cli.group import COMMANDS, commands

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "command-line.md").read_text()


def test_every_command_has_its_help():
    """One section each, and one for each command of a group; what stands in it is checked with all generated pages."""
    groups = {name: found for name in COMMANDS if isinstance(found := commands.get_command(None, name), click.Group)}
    inner = [f"{name} {each}" for name, group in groups.items() for each in group.commands]
    assert sorted(re.findall(r"<!-- help of ([a-z -]+) -->", PAGE)) == sorted(["tallymark", *COMMANDS, *inner])


def test_every_exit_code_is_explained():
    """Those that the command line has, and no others."""
    codes = [run.FINE, run.NOT_ACCEPTED, run.BAD_INPUT, run.INTERRUPTED, run.OUTPUT_CLOSED]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)] == codes
