"""Errors and commands as they are typed on the command line."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping

import click

from tallymark.errors import Wording

_OPTIONS = {
    "y_true": "truth",
    "y_pred": "prediction",
    "condition": "accept",
    "models": "prediction",
    "level": "ci",
    "method": "ci_method",
}


_KEYWORD = re.compile(r"(\w+)=([^,()]+)")


class Options(Wording):
    """Arguments of a call as the options of a command, where it has them.

    >>> from tallymark.errors import InputError, Text
    >>> command = click.Command("x", params=[click.Option(["--truth"]), click.Option(["--missing"])])
    >>> hint = Text('Pass {missing="drop"} to leave such rows out')
    >>> InputError(argument="y_true", expected="be finite", got="nan", hint=hint).write(Options(command))
    '`--truth` must be finite; got nan. Pass --missing drop to leave such rows out'
    >>> command = click.Command("x", params=[click.Option(["--ci"]), click.Option(["--ci-method"])])
    >>> Text('use {ci=tm.Intervals(method="bootstrap")}').write(Options(command))
    'use --ci-method bootstrap'
    """

    def __init__(self, command: click.Command) -> None:
        named = [each for each in command.params if isinstance(each, click.Option)]
        self.options = {word.removeprefix("--").replace("-", "_") for each in named for word in each.opts}
        words = [each for each in command.params if isinstance(each, click.Argument)]
        self.positional = {each.name: (each.metavar or "").strip("[].") for each in words} | {"source": "FILE"}

    def argument(self, name: str) -> str:
        """The option, or the word that stands for it in the usage line."""
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

    def _option(self, name: str) -> str | None:
        name = _OPTIONS.get(name, name)
        return f"--{name.replace('_', '-')}" if name in self.options else None


def command_line(hidden: Mapping[str, str] | None = None) -> str:
    """The command as it was typed, to run it again; words that others must not see are `hidden` behind these."""
    words = [(hidden or {}).get(word, word) for word in sys.argv[1:]]
    typed = shlex.join(["tallymark", *words])
    return typed.encode("utf-8", "replace").decode()  # a name may hold bytes that are no text
