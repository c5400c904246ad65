"""Paths as callers give them."""

from __future__ import annotations

import os

from tallymark.arrays import describe
from tallymark.errors import ParameterError


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
        raise ParameterError(argument=name, expected="be text that a file name can hold", got=repr(found)) from None
    return found
