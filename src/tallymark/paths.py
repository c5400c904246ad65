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
        raise ParameterError(f"`{name}` must be a path, as a string or a pathlib.Path; it was {describe(path)}")
    if "\0" in found:
        raise ParameterError(f"`{name}` must not contain a NUL character; it was {found!r}")
    try:
        os.fsencode(found)
    except UnicodeEncodeError:
        raise ParameterError(f"`{name}` must be text that a file name can hold; it was {found!r}") from None
    return found
