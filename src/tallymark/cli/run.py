"""Runs a command: its outcome as an exit code, and an error as one sentence on standard error, in terms of options."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Sequence

import click

from tallymark.cli.group import OutputClosed, RunSettings, commands
from tallymark.errors import PYTHON, TallymarkError, Wording, nearest
from tallymark.rendering.text import list_first

FINE, NOT_ACCEPTED, BAD_INPUT, INTERRUPTED, OUTPUT_CLOSED = 0, 1, 2, 130, 141


def run(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name, and return its exit code."""
    settings = RunSettings()
    try:
        code = commands.main(_help_as_option(arguments), prog_name="tallymark", standalone_mode=False, obj=settings)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code if isinstance(code, int) else FINE
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except SystemExit as leaving:  # after shell completion
        return leaving.code if isinstance(leaving.code, int) else FINE
    except (OutputClosed, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that what is buffered is dropped
        return OUTPUT_CLOSED
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted")
        return INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return BAD_INPUT
    except Exception as error:  # whatever it was, it is reported in one sentence
        if settings.debug:
            traceback.print_exc()
        _say(_sentence(error, PYTHON if settings.command is None else CommandWording(settings.command)))
        return BAD_INPUT


def _help_as_option(arguments: Sequence[str]) -> list[str]:
    """The arguments, where `help` of a command is its option --help."""
    return [*arguments[1:2], "--help"] if arguments[:1] == ["help"] else list(arguments)


def _no_such_option(error: click.NoSuchOption) -> str:
    """The option, and the one that was meant: the same under its name in Python, the only one that begins so, or the
    nearest."""
    given, params = error.option_name, [] if error.ctx is None else error.ctx.command.params
    if given in _PARAMETERS and any(each.name == "metrics" for each in params):
        return f"No such option {given!r}. Parameters are part of the name of a metric: {_PARAMETERS[given]}."
    known = [name for each in params for name in each.opts if name.startswith("--")]
    meant = f"--{(_OPTION_NAMES | _OTHER_WORDS).get(given.lstrip('-').replace('-', '_'), '')}"
    begun = [name for name in known if name.startswith(given)]
    near = [meant] if meant in known else begun if len(begun) == 1 else nearest(given, known)
    return f"No such option {given!r}.{f' Did you mean {near[0]}?' if near else ''}"


def _columns_to_name(option: click.Parameter, ctx: click.Context) -> str:
    """The columns of the file, where the option that is missing names one."""
    from tallymark.sources.files import File

    paths = [ctx.params.get("file"), *(ctx.params.get("files") or ())]
    path = next((each for each in paths if each and os.path.isfile(each)), None)
    if path is None or option.name not in ("truth", "prediction"):
        return ""
    try:
        with File(path, separator=ctx.params.get("separator")) as file:
            return f" The columns of `{path}` are {list_first([repr(name) for name in file.names])}."
    except TallymarkError:  # which is for the command to say
        return ""


def _sentence(error: Exception, wording: Wording) -> str:
    """What went wrong, in the words of the command line."""
    if isinstance(error, click.UsageError):
        at = "tallymark" if error.ctx is None else error.ctx.command_path
        message = _no_such_option(error) if isinstance(error, click.NoSuchOption) else error.format_message()
        if isinstance(error, click.MissingParameter) and error.param is not None and error.ctx is not None:
            message += _columns_to_name(error.param, error.ctx)
        return f"{' '.join(message.split())} Try: {at} --help"
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


_OPTION_NAMES = {
    "y_true": "truth",
    "y_pred": "prediction",
    "condition": "accept",
    "models": "prediction",
    "level": "ci",
    "method": "ci_method",
}
_OTHER_WORDS = {
    "target": "truth",
    **dict.fromkeys(("group", "groups", "slice", "group_by"), "by"),
    **dict.fromkeys(("require", "assert", "fail_under"), "accept"),
    "t": "truth",
    "p": "prediction",
    "m": "metrics",
    "o": "output",
}
"""What options may be called elsewhere, beside the names that they have in Python."""
_PARAMETERS = {
    "--average": '--metrics f1_macro or --metrics "f1(average=macro)"',
    "--beta": "--metrics f2",
    "--k": "--metrics ndcg@10",
    "--threshold": '--metrics "f1(threshold=0.3)"',
}
_COMMANDS = {"list_metrics": "`tallymark metrics`"}
_KEYWORD = re.compile(r"(\w+)=([^,()]+)")


class CommandWording(Wording):
    """Writes the arguments of a call as the options of a command, where it has them.

    >>> from tallymark.errors import InputError, Text
    >>> command = click.Command("x", params=[click.Option(["--truth"]), click.Option(["--missing"])])
    >>> hint = Text('Pass {missing="drop"} to drop such rows')
    >>> InputError(argument="y_true", expected="be finite", got="nan", hint=hint).write(CommandWording(command))
    '`--truth` must be finite; got nan. Pass --missing drop to drop such rows'
    >>> command = click.Command("x", params=[click.Option(["--ci"]), click.Option(["--ci-method"])])
    >>> Text('use {ci=tm.Intervals(method="bootstrap")}').write(CommandWording(command))
    'use --ci-method bootstrap'
    """

    def __init__(self, command: click.Command) -> None:
        named = [each for each in command.params if isinstance(each, click.Option)]
        self.options = {word.removeprefix("--").replace("-", "_") for each in named for word in each.opts}
        words = [each for each in command.params if isinstance(each, click.Argument)]
        self.positional = {each.name: (each.metavar or "").strip("[].") for each in words} | {"source": "FILE"}

    def argument(self, name: str) -> str:
        """The option, or the positional argument as the usage line has it."""
        if name in self.positional:
            return self.positional[name]
        return f"`{self._option(name) or name}`"

    def setting(self, name: str, value: str) -> str:
        """The option with its value; one that is True is a flag. The keywords of `tm.Intervals` are options."""
        keywords = _KEYWORD.findall(value) if value.startswith("tm.Intervals(") else []
        if keywords and all(self._option(keyword) for keyword, _ in keywords):
            return " ".join(self.setting(*each) for each in keywords)
        option = self._option(name)
        if option is None:
            return super().setting(name, value)
        return option if value == "True" else f"{option} {value.strip(chr(34))}"

    def call(self, name: str) -> str:
        """The command that does the same, where there is one."""
        return _COMMANDS.get(name) or super().call(name)

    def _option(self, name: str) -> str | None:
        name = _OPTION_NAMES.get(name, name)
        return f"--{name.replace('_', '-')}" if name in self.options else None
