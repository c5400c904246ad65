"""CSV: what Arrow takes without a word, such as a quote that is never closed, is refused here, with its line."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from tallymark.engines.packages import load, reader_of
from tallymark.errors import FileError

BLOCK = 1 << 20
_LONGEST_HEADER = 1 << 20
_LONGEST_ROW = 64 << 20
_QUOTE, _NEWLINE, _RETURN = ord('"'), ord("\n"), ord("\r")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class CheckedText(io.RawIOBase):
    """Bytes on their way to the parser, which must be UTF-8 without NUL and with every quote in its place."""

    def __init__(self, source: Any, name: str, separator: str) -> None:
        super().__init__()
        self._source = source
        self._name = name
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._clean = True  # no character is cut at the end of the last block
        self._around = np.zeros(256, dtype=bool)
        self._around[[ord(separator), ord("\n"), ord("\r"), _QUOTE]] = True
        self._carry = b"\n"
        self._quotes = 0
        self._lines = 1
        self.opened = 1
        self._unread = b""
        self._at_start = True

    def readable(self) -> bool:
        """Arrow asks."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes, once they are checked."""
        if self._unread:
            block, self._unread = self._unread, b""
            return block
        block = bytes(self._source.read(BLOCK if size is None or size < 0 else size))
        if self._at_start:
            block = self._begin(block)
        if not block:
            self._finish()
            return block
        self._check_text(block)
        self._check_quotes(self._carry + block, self._lines - self._carry.count(b"\n"))
        self._lines += int(np.count_nonzero(np.frombuffer(block, np.uint8) == _NEWLINE))  # faster than block.count
        self._carry = (self._carry + block)[-2:]
        return block

    def unread(self, block: bytes) -> None:
        """Give back what belongs to the next reader."""
        self._unread = block + self._unread

    def _begin(self, block: bytes) -> bytes:
        self._at_start = False
        if block.startswith(_UTF16):
            raise FileError(f"{self._name} must be UTF-8 text; it is UTF-16. Save it as UTF-8")
        if block.startswith(codecs.BOM_UTF8):
            block = block[len(codecs.BOM_UTF8) :]
            return block or bytes(self._source.read(BLOCK))
        return block

    def _check_text(self, block: bytes) -> None:
        at = block.find(b"\0")
        if at >= 0:
            line = self._lines + block.count(b"\n", 0, at)
            raise FileError(f"{self._name} must be text; line {line:,} holds a NUL byte")
        if self._clean and block.isascii():
            return
        try:
            self._decoder.decode(block)
        except UnicodeDecodeError as error:
            self._refuse_bytes(self._lines + error.object.count(b"\n", 0, error.start), error.object[error.start])
        self._clean = self._decoder.getstate()[0] == b""

    def _refuse_bytes(self, line: int, byte: int) -> NoReturn:
        raise FileError(
            f"{self._name} must be UTF-8; line {line:,} holds the byte 0x{byte:02X}, which is none of it. If it is "
            "Latin-1, convert it with: iconv -f latin1 -t utf-8"
        )

    def _check_quotes(self, window: bytes, line: int) -> None:
        """Every quote opens a field, closes one or is doubled. Those at the ends wait for their neighbours."""
        if b'"' not in window:
            return
        data = np.frombuffer(window, dtype=np.uint8)
        at = np.flatnonzero(data == _QUOTE)
        at = at[(at > 0) & (at < len(data) - 1)]
        opening = (np.arange(len(at)) + self._quotes) % 2 == 0
        fine = self._around[np.where(opening, data[at - 1], data[at + 1])]
        if not fine.all():
            where = line + window.count(b"\n", 0, int(at[fine.argmin()]))
            raise FileError(
                f"{self._name} has a quote out of place in line {where:,}: a field with quotes in it must stand in "
                "quotes, and they must be doubled"
            )
        if opening.any():
            self.opened = line + window.count(b"\n", 0, int(at[opening][-1]))
        self._quotes += len(at)

    def _finish(self) -> None:
        if not self._clean:
            self._refuse_bytes(self._lines, self._decoder.getstate()[0][0])
        self._check_quotes(self._carry + b"\n", self._lines - self._carry.count(b"\n"))
        self._carry = b"\n"
        if self._quotes % 2:
            raise FileError(f"{self._name} ends inside quotes; those of line {self.opened:,} are never closed")


def read_header(text: CheckedText, name: str, separator: str) -> list[str]:
    """The names of the columns; the text then stands at the first row."""
    held = b""
    while True:
        block = text.read(1 << 16)
        held = (held + block).lstrip(b"\r\n")
        end = _end_of_record(held, last=not block)
        if end is not None:
            break
        if len(held) > _LONGEST_HEADER:
            raise FileError(f"{name} must begin with the names of its columns; its first line is longer than 1 MB")
    text.unread(held[end:])
    try:
        found = next(csv.reader([held[:end].decode()], delimiter=separator), [])
    except csv.Error as error:
        raise FileError(f"{name} must begin with the names of its columns; they cannot be read: {error}") from error
    if not found:
        raise FileError(f"{name} is empty")
    return found


def _end_of_record(held: bytes, *, last: bool) -> int | None:
    """Where the first line ends that ends outside of quotes; None where it is not there yet."""
    data = np.frombuffer(held, dtype=np.uint8)
    ends = ((data == _NEWLINE) | (data == _RETURN)) & _outside(data)
    at = int(ends.argmax()) if len(ends) else 0
    return at if len(ends) and ends[at] else len(held) if last else None


def _outside(data: Any) -> Any:
    """Which bytes stand outside of quotes, those at both ends not counted, in a byte for each."""
    return np.cumsum(data == _QUOTE, dtype=np.uint8) & 1 == 0


def read_rows(text: CheckedText, name: str, separator: str, width: int, places: Sequence[int]) -> Iterator[Any]:
    """Batches of the columns at these places, as texts; an empty field is null.

    Blocks are cut at ends of rows and parsed one by one: no thread of the parser reads ahead, so that none is left
    behind when something goes wrong.
    """
    pa, arrow_csv = load("pyarrow"), load("pyarrow.csv")
    wanted = [str(place) for place in places]
    converted = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(wanted, pa.string()),
        include_columns=wanted,
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
        check_utf8=False,
    )
    parsed = arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    names = [str(k) for k in range(width)]
    held = b""
    while True:
        block = text.read(BLOCK)
        held += block
        end = _end_of_rows(held) if block else len(held)
        rows = held[:end].lstrip(b"\r\n")
        if rows.startswith(codecs.BOM_UTF8):  # which Arrow would take away from a field
            rows = b"\n" + rows
        if rows:
            options = arrow_csv.ReadOptions(column_names=names, block_size=len(rows) + 1)
            try:
                table = arrow_csv.read_csv(reader_of(rows), options, parsed, converted)
            except pa.ArrowInvalid as error:
                raise RowFault(str(error)) from error
            yield from table.combine_chunks().to_batches()
        if not block:
            return
        held = held[end:]
        if len(held) > _LONGEST_ROW:
            raise FileError(
                f"{name} must have rows of at most {_LONGEST_ROW >> 20} MB; one is longer. Are the quotes of line "
                f"{text.opened:,} closed?"
            )


def _end_of_rows(held: bytes) -> int:
    """Where the last row ends that ends here; 0 where none does."""
    if b'"' not in held:
        end = held.rfind(b"\n")
        return (end if end >= 0 else held.rfind(b"\r", 0, -1)) + 1
    data = np.frombuffer(held, dtype=np.uint8)
    ends = data == _NEWLINE
    if not ends.any():
        ends = data == _RETURN
        ends[-1] = False  # the newline that belongs to it may follow
    ends &= _outside(data)
    back = int(ends[::-1].argmax())
    return len(data) - back if ends[len(data) - 1 - back] else 0


class RowFault(Exception):  # noqa: N818 - a turn of events, which becomes an error with a line
    """The parser refused a row; which one it was is found out by reading the file again."""


def find_fault(text: Any, name: str, separator: str, width: int, told: str) -> FileError:
    """The error for the first row that has more or fewer fields than the header, with its line."""
    for row, (line, fields) in enumerate(_records(text, separator)):
        if len(fields) != width:
            return FileError(
                f"{name} must have {width} fields in each row, as in its header; row {row:,} (line {line:,}) has "
                f"{len(fields)}"
            )
    return FileError(f"{name} could not be read as CSV: {told.splitlines()[0]}")


def line_of(text: Any, separator: str, row: int) -> int | None:
    """The line in which a row ends, for an editor to go to."""
    for found, (line, _) in enumerate(_records(text, separator)):
        if found == row:
            return line
    return None


def _records(text: Any, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows below the header with the lines in which they end."""
    reader = csv.reader(io.TextIOWrapper(text, encoding="utf-8-sig", newline=""), delimiter=separator)
    try:
        rows = ((reader.line_num, fields) for fields in reader if fields)
        next(rows, None)
        yield from rows
    except (csv.Error, UnicodeDecodeError):
        return
