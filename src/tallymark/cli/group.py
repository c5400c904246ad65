"""The commands, each loaded when it is called: help must not wait for what it does not show."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import click

from tallymark.errors import nearest

COMMANDS = {
    "evaluate": "Evaluate the predictions in files.",
    "merge": "Add saved tallies and report on all rows.",
    "compare": "Compare models whose predictions are in one file.",
    "score": "Score a submission against the answers.",
    "check": "Check a submission without the answers.",
    "serve": "Start the web app.",
    "admin": "Manage the accounts of the app.",
    "backup": "Write the app's data to one file.",
    "restore": "Restore the app's data from a backup.",
    "doctor": "Examine the settings and data of the app.",
    "login": "Keep the server and the token of the app.",
    "submit": "Submit a file to a challenge of the app.",
    "leaderboard": "Show the leaderboard of a challenge.",
    "history": "List the submissions of one's own team.",
    "challenge": "Create and change challenges of the app.",
    "metrics": "List the metrics.",
    "explain": "Explain a metric and how to read it.",
    "choose": "Find the metrics that fit a problem.",
    "completion": "Print a shell completion script.",
    "version": "Print the installed versions.",
}
_OTHER_WORDS = {"list": "metrics", "describe": "explain", "validate": "check", "app": "serve", "web": "serve"}
EXAMPLES = """\b
Examples:
  tallymark evaluate deliveries.csv --truth minutes --prediction predicted
  tallymark score answers.csv submission.csv
  tallymark explain r2
"""


class RunSettings:
    """Settings of a run, which options set."""

    def __init__(self) -> None:
        self.debug = False
        self.command: click.Command | None = None  # which runs


def _show_traces(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and isinstance(ctx.obj, RunSettings):
        ctx.obj.debug = True


class OutputClosed(Exception):  # noqa: N818 - not an error
    """The output pipe was closed."""


@contextmanager
def _detect_closed_output() -> Iterator[None]:
    """Tell a closed output pipe from other ends, which click does not."""
    try:
        yield
    except BrokenPipeError as error:
        raise OutputClosed from error


class Command(click.Command):
    """A command that knows --debug, shows examples as they are, and takes -h."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["context_settings"] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
        super().__init__(*args, **kwargs)
        debug = click.Option(
            ["--debug"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_show_traces,
            help="Show the traceback of an error.",
        )
        self.params.append(debug)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and keep it so that errors name its options."""
        if isinstance(ctx.obj, RunSettings):
            ctx.obj.command = self
        return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Raise for two output formats at once, of which click would take the last."""
        options = (each for each in self.params if isinstance(each, click.Option) and isinstance(each.flag_value, str))
        formats = {name for each in options for name in each.opts}
        given = [word for word in dict.fromkeys(args) if word in formats]
        if len(given) > 1:
            raise click.UsageError(f"Only one of {' and '.join(given)} can be given.", ctx)
        several = {
            name for each in self.params if isinstance(each, click.Option) and each.multiple for name in each.opts
        }
        for option, value, word in zip(args, args[1:], args[2:], strict=False):
            if option in several and word.isidentifier() and not os.path.exists(word):
                raise click.UsageError(f"Separate names with commas: {option} {value},{word}.", ctx)
        for option, word in pairwise(args):
            if option in formats and word.endswith((".json", ".csv", ".md")) and not os.path.exists(word):
                raise click.UsageError(f"{option} takes no file. To write one: --output {word}.", ctx)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # which names the command whose help to read
            raise


class Group(click.Group):
    """A command with commands of its own."""

    command_class = Command

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["context_settings"] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
        super().__init__(*args, **kwargs)


class Commands(click.Group):
    """The group of commands, which loads one when it is named."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named, or an error with the one that was meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            word = args[0]
            near = [_OTHER_WORDS[word]] if word in _OTHER_WORDS else nearest(word, COMMANDS)
            if not near or word in COMMANDS:
                raise
            raise click.UsageError(f"No such command {word!r}. Did you mean {near[0]}?", ctx) from error

    def list_commands(self, _: click.Context) -> list[str]:
        """The names of all commands, in the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """The command of this name."""
        if name not in COMMANDS:
            return None
        found = importlib.import_module(f"tallymark.cli.{name}").command
        return found if isinstance(found, click.Command) else None

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the options, among them those that print and leave."""
        with _detect_closed_output():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named."""
        with _detect_closed_output():
            return super().invoke(ctx)

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """The names with a sentence each, from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from tallymark import __version__

        click.echo(f"tallymark {__version__}")
        ctx.exit()


@click.group(
    cls=Commands,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=f"Measure how good models are, from files of predictions.\n\n{EXAMPLES}",
    epilog="Exit codes: 0 success, 1 refused, 2 wrong usage or input, 130 interrupted. NO_COLOR disables colours.",
)
@click.option(
    "--version", "-V", is_flag=True, expose_value=False, is_eager=True, callback=_show_version, help="Show the version."
)
@click.pass_context
def commands(ctx: click.Context) -> None:
    """All commands; help, where none is named."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(2)
