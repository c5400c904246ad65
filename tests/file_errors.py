"""Calls that raise the errors of files, whose wording is kept in messages.txt."""

from __future__ import annotations

import io
from unittest import mock

from tallymark.engines.files import read_columns


def read(content, **wanted):
    """Columns of a file that comes as standard input."""
    with mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(content))):
        return read_columns("-", wanted or {"y": "auto"})


CASES = {
    "no such file": lambda: read_columns("absent/rows.csv", ["y"]),
    "a folder": lambda: read_columns("/", ["y"]),
    "an empty file": lambda: read(b""),
    "no such column": lambda: read(b"a,b\n1,2\n"),
    "a similar column": lambda: read(b"yy,b\n1,2\n"),
    "another separator": lambda: read(b"y;b\n1;2\n"),
    "a column twice": lambda: read(b"y,y\n1,2\n"),
    "text in a column of numbers": lambda: read(b"y,b\n1,2\nx,2\n", y="number"),
    "an unknown way to read": lambda: read(b"y\n1\n", y="date"),
    "a short row": lambda: read(b"y,b\n1,2\n3\n"),
    "a quote that is never closed": lambda: read(b'y,b\n1,"2\n'),
    "a quote out of place": lambda: read(b'y,b\n1,5"\n'),
    "not UTF-8": lambda: read(b"y\n\xe9\n"),
    "UTF-16": lambda: read(b"\xff\xfey\0"),
    "a NUL": lambda: read(b"y\n\0\n"),
    "a spreadsheet": lambda: read(b"PK\x03\x04"),
    "an encrypted file": lambda: read(b"PARE"),
    "a bad separator": lambda: read_columns("-", ["y"], separator="::"),
}
