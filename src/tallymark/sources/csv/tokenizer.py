"""The tokenizer of CSV, which locates errors: every field with its line and column, and every breach of a rule.

Well-formed text is read as Python's csv module reads it. After an error the row goes on, so that one pass finds all
problems, of tables and of submissions alike. Only a file in which the fast reader (`reader.py`) noticed an error comes
here.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

from tallymark.sources.problems import MAX_COUNTED, ProblemList
from tallymark.sources.streams import ReadableStream

LONGEST_LINE = 1 << 24  # characters; a line without an end must not fill the memory
_LONGEST_PLAIN = 1 << 16  # characters of a line that is split without counting its fields first
_BLOCK = 1 << 14  # characters; larger ones keep the collector busy with the rows in them
_NO_FIELDS: list[str] = []
_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++")
_QUOTED_TEXT = re.compile('(?:[^"]++|"")*+')
_INVALID = re.compile("[\0\udc80-\udcff]")


class Record(NamedTuple):
    """A row: its fields, the line and the column in which each begins."""

    fields: list[str]
    lines: list[int]
    columns: list[int]


class PlainLines(NamedTuple):
    """Lines that are one row each and have no error; a blank one has no fields. The first is line `number`."""

    number: int
    lines: list[str]
    rows: list[list[str]]


class RowLimits(NamedTuple):
    """How much is read of a row: so many fields and one that holds the rest, and so many characters in quotes."""

    fields: int = LONGEST_LINE
    characters: int = LONGEST_LINE


def tokenize(source: Any, separator: str, found: ProblemList, limits: RowLimits | None = None) -> Iterator[Record]:
    """The rows of a CSV text, without blank lines; what is wrong with them is added to `found`."""
    for piece in scan(source, separator, found, limits):
        if isinstance(piece, Record):
            yield piece
        else:
            lines = enumerate(piece.lines, start=piece.number)
            yield from (locate_fields(line, number, separator) for number, line in lines if line)


def locate_fields(line: str, number: int, separator: str) -> Record:
    """A line that is a row for itself, with the places of its fields."""
    row = _OpenRow()
    _add_fields(row, line, "", number, separator, ProblemList(), len(line) + 1)
    return row.finish()


def scan(
    source: Any, separator: str, found: ProblemList, limits: RowLimits | None = None
) -> Iterator[Record | PlainLines]:
    """The rows, in larger pieces where nothing can be wrong, until the maximum number of problems is counted."""
    # Invalid bytes are decoded as lone surrogates, one each, so that they have a place.
    text = io.TextIOWrapper(
        io.BufferedReader(ReadableStream(source)), "utf-8-sig", errors="surrogateescape", newline=""
    )
    most = limits or RowLimits()
    row, first = _OpenRow(), 1
    while block := text.read(_BLOCK):
        block += text.readline(LONGEST_LINE)
        if _reached_maximum(found):
            return
        lines = None if row.open else _plain_lines(block, separator)
        if lines is not None:
            yield PlainLines(first, lines, _fields(lines, separator, quoted='"' in block))
            first += len(lines)
            continue
        for line in _LINE.finditer(block):
            if _add_line(row, line[0], first, separator, found, most.fields):
                yield row.finish()
                row = _OpenRow()
            elif row.length > most.characters:
                _abandon_row(row, block.find('"', line.end()) >= 0 or _has_quote(text), found, most)
            if _reached_maximum(found):
                return
            first += 1
    if row.open:
        found.note("bad_quote", row.lines[-1], row.columns[-1], what="unclosed quote")
        yield row.finish()


def rows_of_width(
    source: Any, separator: str, found: ProblemList, limits: RowLimits | None = None
) -> Iterator[list[list[str]]]:
    """The rows below the header that have as many fields as it, some at a time; what is wrong is added to `found`."""
    width, most = -1, limits or RowLimits()
    for piece in scan(source, separator, found, most):
        rows = (
            [list(map(_replace_invalid, piece.fields))]
            if isinstance(piece, Record)
            else [row for row in piece.rows if row]
        )
        if width < 0 and rows:
            width = len(rows.pop(0))
        if any(len(row) != width for row in rows):
            _note_ragged(piece, width, found, most)
            rows = [row for row in rows if len(row) == width]
        if rows:
            yield rows


def _replace_invalid(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()  # its invalid bytes are noted


def _note_ragged(piece: Record | PlainLines, width: int, found: ProblemList, most: RowLimits) -> None:
    if isinstance(piece, Record):
        counts = [(piece.lines[0], len(piece.fields))]
    else:
        counts = [(number, len(row)) for number, row in enumerate(piece.rows, start=piece.number) if row]
    for number, count in counts:
        if count == width:
            continue
        more = " or more" if count > most.fields else ""
        counted = f"{min(count, most.fields + 1):,}{more} field{'s' * (count != 1)}"
        found.note("ragged_row", number, 1, count=counted, expected=f"{width:,}")


def find_rows(
    source: Any, separator: str, rows: Collection[int], width: int, limits: RowLimits | None = None
) -> dict[int, Record]:
    """Some of the rows that `rows_of_width` gives, with their places; `width` is the number of fields of the header."""
    places: dict[int, Record] = {}
    row, last = -1, max(rows, default=-1)
    for piece in scan(source, separator, ProblemList(), limits):
        if isinstance(piece, Record):
            if len(piece.fields) == width:
                if row in rows:
                    places[row] = piece
                row += 1
        else:
            for k, fields in enumerate(piece.rows):
                if len(fields) == width:
                    if row in rows:
                        places[row] = locate_fields(piece.lines[k], piece.number + k, separator)
                    row += 1
        if row > last:
            break
    return places


def _plain_lines(block: str, separator: str) -> list[str] | None:
    """The lines without their ends, where each is a row, no character is invalid, and none is very long."""
    if "\0" in block or not (block.isascii() or _INVALID.search(block) is None):
        return None
    if '"' in block and _complete_lines(separator).fullmatch(block) is None:
        return None
    lines = block.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    return lines if max(map(len, lines)) <= _LONGEST_PLAIN else None


def _fields(lines: list[str], separator: str, *, quoted: bool) -> list[list[str]]:
    """The fields of each line. All blank ones share a list, since there may be millions of them."""
    if quoted:
        return [fields or _NO_FIELDS for fields in csv.reader(lines, delimiter=separator)]
    return [line.split(separator) if line else _NO_FIELDS for line in lines]


@cache
def _complete_lines(separator: str) -> re.Pattern[str]:
    """Matches lines in which every quote is in its place, and which all end outside of quotes."""
    mark = re.escape(separator)
    field = rf'(?:"(?:[^"\r\n]++|"")*+"|[^"\r\n{mark}]*+)'
    return re.compile(rf"{field}(?:[\r\n{mark}]{field})*+")


def _reached_maximum(found: ProblemList) -> bool:
    if found.total >= MAX_COUNTED:
        found.stop()
    return found.stopped


def _has_quote(text: io.TextIOWrapper) -> bool:
    return any('"' in block for block in iter(partial(text.read, _BLOCK), ""))


class _OpenRow:
    """A row that is being read; `open` between quotes, `length` characters of it so far."""

    def __init__(self) -> None:
        self.fields: list[str] = []
        self.lines: list[int] = []
        self.columns: list[int] = []
        self.parts: list[str] = []
        self.open = False
        self.length = 0

    def begin(self, line: int, column: int) -> None:
        self.lines.append(line)
        self.columns.append(column)
        self.length = 0

    def add(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def end(self, text: str) -> None:
        self.fields.append("".join(self.parts) + text)
        self.parts = []

    def finish(self) -> Record:
        if len(self.fields) < len(self.lines):
            self.end("")
        return Record(self.fields, self.lines, self.columns)


def _add_line(row: _OpenRow, line: str, number: int, separator: str, found: ProblemList, most: int) -> bool:
    """Add a line to a row; whether the row ends with it."""
    body = line.rstrip("\r\n") if line.endswith(("\n", "\r")) else line
    if not body.isprintable():
        _check_characters(body, number, found)
    if len(line) >= LONGEST_LINE:
        found.note("field_too_long", number, 1, count=f"{len(line):,} or more", most=f"{LONGEST_LINE:,}")
        found.stop()
        return False
    return bool(body or row.open) and _add_fields(row, body, line[len(body) :], number, separator, found, most)


def _add_fields(
    row: _OpenRow, body: str, ending: str, number: int, separator: str, found: ProblemList, most: int
) -> bool:
    at = 0
    while True:
        if not row.open:
            row.begin(number, at + 1)
            if len(row.lines) > most:  # nobody reads what follows
                row.end("")
                return True
            if not body.startswith('"', at):
                at = _add_unquoted_field(row, body, at, number, separator, found)
                if at < 0:
                    return True
                continue
            row.open, at = True, at + 1
        inside = _QUOTED_TEXT.match(body, at)
        close = at if inside is None else inside.end()
        row.add(body[at:close].replace('""', '"'))
        if close == len(body):
            row.add(ending)
            return False
        row.open = False
        end = body.find(separator, close + 1)
        behind = body[close + 1 : end] if end >= 0 else body[close + 1 :]
        if behind:
            found.note("bad_quote", number, close + 2, what="text after the closing quote")
        row.end(behind)
        if end < 0:
            return True
        at = end + 1


def _add_unquoted_field(row: _OpenRow, body: str, at: int, number: int, separator: str, found: ProblemList) -> int:
    """Add a field without quotes; where the next one begins, or −1 at the end of the row."""
    end = body.find(separator, at)
    text = body[at:end] if end >= 0 else body[at:]
    quote = text.find('"')
    if quote >= 0:
        found.note("bad_quote", number, at + quote + 1, what="quote inside an unquoted field")
    row.end(text)
    return end + 1 if end >= 0 else -1


def _abandon_row(row: _OpenRow, closed: bool, found: ProblemList, most: RowLimits) -> None:
    """Stop in quotes that hold more than a field may; `closed` where a quote follows."""
    place = row.lines[-1], row.columns[-1]
    if closed:
        found.note("field_too_long", *place, count=f"{row.length:,} or more", most=f"{most.characters:,}")
    else:
        found.note("bad_quote", *place, what="unclosed quote")
    found.stop()


def _check_characters(line: str, number: int, found: ProblemList) -> None:
    for sign in _INVALID.finditer(line):
        if found.full:
            rest = line[sign.start() :]
            found.count(rest.count("\0") + len(rest) - len(rest.encode("utf-8", "ignore").decode()))
            return
        if sign[0] == "\0":
            found.note("nul_byte", number, sign.start() + 1)
        else:
            found.note("not_utf8", number, sign.start() + 1, byte=f"{ord(sign[0]) - 0xDC00:02X}")
