"""Options that take several values at once: --prediction a b c."""

from __future__ import annotations

import os
import re
from typing import Any

import click

from tallymark.cli.group import Command
from tallymark.cli.output import check_places

_NEGATIVE = re.compile(r"-[0-9.]")


class Several(click.Option):
    """An option that takes all values up to the next option, and may be given again."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "multiple": True})


class FileCommand(Command):
    """A command on a file, with options that take several values."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each of its values, as click wants it."""
        return super().parse_args(ctx, self._spread(args))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, unless it would lose the file."""
        check_places(ctx.params)
        return super().invoke(ctx)

    @property
    def _many(self) -> bool:
        """Whether it takes several files."""
        return any(isinstance(each, click.Argument) and each.nargs == -1 for each in self.params)

    def _spread(self, args: list[str]) -> list[str]:
        several = {name for each in self.params if isinstance(each, Several) for name in each.opts}
        single = {
            name
            for each in self.params
            if isinstance(each, click.Option) and not each.is_flag and not isinstance(each, Several)
            for name in each.opts
        }
        options: list[str] = []
        files: list[str] = []
        ends: list[int] = []
        place = 0
        while place < len(args):
            word = args[place]
            place += 1
            if word == "--":
                files += args[place:]
                break
            if word in several:
                run = _values(args, place)
                place += len(run)
                ends += [] if len(run) < 2 else [len(options) + 2 * len(run) - 2]
                options += [part for value in run for part in (word, value)] or [word]
            elif word in single:
                options += [word, *args[place : place + 1]]
                place += 1
            elif word.startswith("-") and word != "-":
                options.append(word)
            else:
                files.append(word)
        behind = [end for end in ends if os.path.isfile(options[end + 1])]
        if not files and behind:  # it stood behind the values of an option
            end = start = behind[-1]
            while (
                self._many and options[start - 4 : start - 3] == [options[end]] and os.path.isfile(options[start - 1])
            ):
                start -= 2
            files = options[start + 1 : end + 2 : 2]
            del options[start : end + 2]
        return [*options, "--", *files] if files else options


def _values(args: list[str], place: int) -> list[str]:
    """The words from a place on up to the next option; one that is - is a file."""
    found = []
    for word in args[place:]:
        if word.startswith("-") and not _NEGATIVE.match(word):
            break
        found.append(word)
    return found
