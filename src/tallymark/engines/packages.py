"""Packages that only some sources of rows need, loaded when one is read."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from tallymark.errors import FileError, TallymarkError
from tallymark.packages import needed


@cache
def load(module: str) -> Any:
    """A module of Arrow, which reads files."""
    with needed("reading files", "pyarrow", extra="files"):
        return importlib.import_module(module)


def reader_of(data: bytes) -> Any:
    """A reader for Arrow of a copy that is its own.

    Where a program ends while a thread of Arrow lets go of bytes that Python holds, it would end by a crash.
    """
    pa = load("pyarrow")
    held = pa.allocate_buffer(len(data))
    pa.FixedSizeBufferWriter(held).write(data)
    return pa.BufferReader(held)


@contextmanager
def reading_as(form: str, name: str) -> Iterator[None]:
    """What Arrow has to say while it reads a file of a form is an error of the file of this name."""
    try:
        yield
    except TallymarkError:
        raise
    except Exception as error:  # Arrow has many, and some are of no other kind
        if type(error) is MemoryError:  # Arrow's own says that the file asks for more than there is
            raise
        told = (str(error).splitlines() or [type(error).__name__])[0]
        raise FileError(f"{name} could not be read as {form}; it may be damaged: {told}") from error
