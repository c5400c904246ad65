"""Checks of plain arguments: choices, paths and lists of names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from numbers import Integral

from tallymark.errors import ParameterError, brief


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Require one of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(argument=name, expected=f"be one of {', '.join(choices)}", got=brief(value))


def describe(value: object) -> str:
    """A value as a message shows it: short, with its type."""
    if value is None:
        return "None"
    try:
        shown = repr(value)
    except Exception:  # it is only to be shown
        shown = " at 0x"
    if " at 0x" in shown or "\n" in shown:
        return f"an object of type {type(value).__name__}"
    return f"{shown if len(shown) <= 40 else shown[:37] + '...'} of type {type(value).__name__}"


def check_path(path: object, name: str = "path") -> str:
    """The path as text. A number is refused: `open` would take it for a file descriptor, and close it afterwards."""
    try:
        found = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    except Exception:  # raised by the path's own code
        found = None
    if not isinstance(found, str):
        raise ParameterError(argument=name, expected="be a path, as a string or a pathlib.Path", got=describe(path))
    if "\0" in found:
        raise ParameterError(argument=name, expected="not contain a NUL character", got=repr(found))
    try:
        os.fsencode(found)
    except UnicodeEncodeError:
        raise ParameterError(argument=name, expected="be text that is valid in a file name", got=repr(found)) from None
    return found


def split_list(texts: Iterable[str]) -> list[str]:
    """Values between commas; those in parentheses and quotes belong to the value.

    >>> split_list(("rmse,fscore(beta=2, average=macro)", "mae"))
    ['rmse', 'fscore(beta=2, average=macro)', 'mae']
    """
    found: list[str] = []
    for text in texts:
        depth, quote, start = 0, "", 0
        for place, letter in enumerate(text):
            if quote:
                quote = "" if letter == quote else quote
            elif letter in "\"'":
                quote = letter
            elif letter in "([{":
                depth += 1
            elif letter in ")]}":
                depth -= 1
            elif letter == "," and depth == 0:
                found.append(text[start:place])
                start = place + 1
        found.append(text[start:])
    return [text.strip() for text in found if text.strip()]


def check_min_rows(min_rows: object) -> int:
    """Require a positive integer as the smallest size of groups."""
    if isinstance(min_rows, bool) or not isinstance(min_rows, Integral) or min_rows < 1:
        raise ParameterError(argument="min_rows", expected="be a positive integer", got=brief(min_rows))
    return int(min_rows)
