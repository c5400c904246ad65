"""Runs a command: its outcome as an exit code, and what goes wrong as one sentence on standard error."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import click

from tallymark.cli.group import NoReader, RunSettings, commands
from tallymark.cli.wording import Options
from tallymark.errors import PYTHON, TallymarkError, Wording

FINE, NOT_ACCEPTED, BAD_INPUT, INTERRUPTED, UNREAD = 0, 1, 2, 130, 141


def run(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name; the answer is its exit code."""
    settings = RunSettings()
    try:
        code = commands.main(list(arguments), prog_name="tallymark", standalone_mode=False, obj=settings)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code if isinstance(code, int) else FINE
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except SystemExit as leaving:  # a shell was given words that complete what is typed
        return leaving.code if isinstance(leaving.code, int) else FINE
    except (NoReader, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still held is for nobody
        return UNREAD
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted")
        return INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return BAD_INPUT
    except Exception as error:  # whatever it was, it is told in one sentence
        if settings.debug:
            traceback.print_exc()
        _say(_sentence(error, PYTHON if settings.command is None else Options(settings.command)))
        return BAD_INPUT


def _sentence(error: Exception, wording: Wording) -> str:
    """What went wrong, in the words of the command line."""
    if isinstance(error, click.UsageError):
        at = "tallymark" if error.ctx is None else error.ctx.command_path
        return f"{' '.join(error.format_message().split())} Try: {at} --help"
    if isinstance(error, TallymarkError):
        return error.write(wording)
    if isinstance(error, MemoryError):
        return "there is not enough memory for these rows"
    if isinstance(error, OSError) and error.strerror:
        name = f"`{error.filename}`: " if error.filename else ""
        return f"{name}{error.strerror}"
    return f"this should not have happened: {type(error).__name__}: {error}. With --debug it says where"


def _say(sentence: str) -> None:
    click.echo(f"tallymark: {sentence}", err=True)
