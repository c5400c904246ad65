"""CSV read with care: every field with its line and column, and every breach of the rules of quotes and characters.

What is well formed is read as Python's csv module reads it. Where something is not, the row goes on behind it, so that
one look finds all that is wrong.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tallymark.engines.streams import Raw
from tallymark.submissions.problems import Found

LONGEST_LINE = 1 << 24  # characters; a line without an end must not fill the memory
_ODD = re.compile("[\0\udc80-\udcff]")


class Record(NamedTuple):
    """A row: its fields, the line and the column in which each begins."""

    fields: list[str]
    lines: list[int]
    columns: list[int]


def tokenize(source: Any, separator: str, found: Found) -> Iterator[Record]:
    """The rows of a CSV text, without blank lines; what is wrong with them is added to `found`."""
    # Bytes that are no UTF-8 come as halves of signs, one each, so that they have a place.
    text = io.TextIOWrapper(io.BufferedReader(Raw(source)), "utf-8-sig", errors="surrogateescape", newline="")
    row = _Row()
    for number, line in enumerate(iter(lambda: text.readline(LONGEST_LINE), ""), start=1):
        body = line.rstrip("\r\n") if line.endswith(("\n", "\r")) else line
        if not body.isprintable():
            _check_characters(body, number, found)
        if len(line) >= LONGEST_LINE:
            found.note("field_too_long", number, 1, count=f"{len(line):,} or more", most=f"{LONGEST_LINE:,}")
            return
        if not body and not row.open:
            continue
        if _take(row, body, line[len(body) :], number, separator, found):
            yield row.finish()
            row = _Row()
    if row.open:
        found.note("bad_quote", row.lines[-1], row.columns[-1], what="these quotes are never closed")
        yield row.finish()


class _Row:
    """A row that is being read; `open` while the text stands between quotes."""

    def __init__(self) -> None:
        self.fields: list[str] = []
        self.lines: list[int] = []
        self.columns: list[int] = []
        self.parts: list[str] = []
        self.open = False

    def begin(self, line: int, column: int) -> None:
        self.lines.append(line)
        self.columns.append(column)

    def end(self, text: str) -> None:
        self.fields.append("".join(self.parts) + text)
        self.parts = []

    def finish(self) -> Record:
        if len(self.fields) < len(self.lines):
            self.end("")
        return Record(self.fields, self.lines, self.columns)


def _take(row: _Row, body: str, ending: str, number: int, separator: str, found: Found) -> bool:
    """Take a line; whether the row ends with it."""
    at = 0
    while True:
        if not row.open:
            row.begin(number, at + 1)
            if not body.startswith('"', at):
                at = _take_plain(row, body, at, number, separator, found)
                if at < 0:
                    return True
                continue
            row.open, at = True, at + 1
        close = body.find('"', at)
        if close < 0:
            row.parts.append(body[at:] + ending)
            return False
        row.parts.append(body[at:close])
        if body.startswith('"', close + 1):
            row.parts.append('"')
            at = close + 2
            continue
        row.open = False
        end = body.find(separator, close + 1)
        behind = body[close + 1 : end] if end >= 0 else body[close + 1 :]
        if behind:
            found.note("bad_quote", number, close + 2, what="text follows closing quotes")
        row.end(behind)
        if end < 0:
            return True
        at = end + 1


def _take_plain(row: _Row, body: str, at: int, number: int, separator: str, found: Found) -> int:
    """Take a field without quotes; where the next one begins, or −1 at the end of the row."""
    end = body.find(separator, at)
    text = body[at:end] if end >= 0 else body[at:]
    quote = text.find('"')
    if quote >= 0:
        found.note("bad_quote", number, at + quote + 1, what="a quote stands in a field without quotes around it")
    row.end(text)
    return end + 1 if end >= 0 else -1


def _check_characters(line: str, number: int, found: Found) -> None:
    if found.full:
        found.count(len(_ODD.findall(line)))
        return
    for sign in _ODD.finditer(line):
        if sign[0] == "\0":
            found.note("nul_byte", number, sign.start() + 1)
        else:
            found.note("not_utf8", number, sign.start() + 1, byte=f"{ord(sign[0]) - 0xDC00:02X}")
