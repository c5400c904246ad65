"""What the commands that talk to an app have in common: the options of the server, and exit code 1 where it refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from tallymark.cli.group import Command
from tallymark.cli.run import NOT_ACCEPTED
from tallymark.client import RefusedError

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class ServerCommand(Command):
    """A command that asks a server, whose refusal is exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and print why the server refuses."""
        try:
            return super().invoke(ctx)
        except RefusedError as error:
            login = " Then run: tallymark login" if error.status == 401 else ""
            click.echo(f"tallymark: {error}{login}", err=True)
            return NOT_ACCEPTED


def server_options() -> _Decorator:
    """--server and --token."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        token = "A token. Other users of this machine can see it; rather use TALLYMARK_TOKEN or tallymark login."
        server = "Address of the app. Also TALLYMARK_SERVER, else that of tallymark login."
        command = click.option("--token", metavar="TEXT", help=token)(command)
        return click.option("--server", metavar="URL", help=server)(command)

    return add


def score_text(score: Mapping[str, Any]) -> str:
    """A score with its interval."""
    value, lo, hi = (score[name] for name in ("value", "lo", "hi"))
    if value is None:
        return "undefined"
    return f"{value:g}" if lo is None or hi is None else f"{value:g} ({lo:g} to {hi:g})"


def time_text(time: str) -> str:
    """A time of an answer, to the minute."""
    return f"{time[:16].replace('T', ' ')} UTC"
