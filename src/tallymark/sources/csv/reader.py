"""CSV read by Arrow, with checks for what Arrow accepts silently.

Arrow takes a quote that is never closed, and bytes in any encoding. So bytes are checked on their way to it: they must
be UTF-8 without NUL, and each quote must open a field, close one or be doubled, which follows from its two neighbours,
for a whole block at once. The check does not locate an error: `tokenizer.py` reads the file again to do so.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tallymark.errors import FileError
from tallymark.sources.arrow import load
from tallymark.sources.csv.tokenizer import tokenize
from tallymark.sources.problems import ProblemList
from tallymark.sources.streams import reader_of

BLOCK = 1 << 20
_LONGEST_HEADER = 1 << 20
LONGEST_ROW = 64 << 20
_QUOTE, _NEWLINE, _RETURN = ord('"'), ord("\n"), ord("\r")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Malformed(Exception):  # noqa: N818 - becomes an error with a line
    """The text breaks a rule of CSV; the tokenizer then reads it again to locate every error."""


class CheckedText(io.RawIOBase):
    """Bytes on their way to the parser, which must be UTF-8 without NUL and with every quote in its place."""

    def __init__(self, source: Any, name: str, separator: str) -> None:
        super().__init__()
        self._source = source
        self._name = name
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._clean = True  # no character is cut at the end of the last block
        self._allowed_beside_quote = np.zeros(256, dtype=bool)
        self._allowed_beside_quote[[ord(separator), ord("\n"), ord("\r"), _QUOTE]] = True
        self._tail = b"\n"
        self._quotes = 0
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
        self._check_quotes(self._tail + block)
        self._tail = (self._tail + block)[-2:]
        return block

    def unread(self, block: bytes) -> None:
        """Give back what belongs to the next reader."""
        self._unread = block + self._unread

    def _begin(self, block: bytes) -> bytes:
        self._at_start = False
        if block.startswith(_UTF16):
            raise FileError(f"{self._name} must be UTF-8 text; it is UTF-16", hint="Save it as UTF-8")
        if block.startswith(codecs.BOM_UTF8):
            block = block[len(codecs.BOM_UTF8) :]
            return block or bytes(self._source.read(BLOCK))
        return block

    def _check_text(self, block: bytes) -> None:
        if b"\0" in block:
            raise Malformed("NUL byte")
        if self._clean and block.isascii():
            return
        try:
            self._decoder.decode(block)
        except UnicodeDecodeError as error:
            raise Malformed(str(error)) from error
        self._clean = self._decoder.getstate()[0] == b""

    def _check_quotes(self, window: bytes) -> None:
        """Every quote opens a field, closes one or is doubled. Those at the ends wait for their neighbours."""
        if b'"' not in window:
            return
        data = np.frombuffer(window, dtype=np.uint8)
        at = np.flatnonzero(data == _QUOTE)
        at = at[(at > 0) & (at < len(data) - 1)]
        opening = (np.arange(len(at)) + self._quotes) % 2 == 0
        if not self._allowed_beside_quote[np.where(opening, data[at - 1], data[at + 1])].all():
            raise Malformed("a quote is out of place")
        self._quotes += len(at)

    def _finish(self) -> None:
        self._check_quotes(self._tail + b"\n")
        self._tail = b"\n"
        if self._quotes % 2 or not self._clean:
            raise Malformed("it ends inside quotes or in the middle of a character")


def read_header(text: CheckedText, name: str, separator: str) -> list[str]:
    """The names of the columns; the text is then at the first row."""
    buffered = b""
    while True:
        block = text.read(1 << 16)
        buffered = (buffered + block).lstrip(b"\r\n")
        end = _end_of_record(buffered, last=not block)
        if end is not None:
            break
        if len(buffered) > _LONGEST_HEADER:
            raise FileError(f"{name} must begin with the names of its columns; its first line is longer than 1 MB")
    text.unread(buffered[end:])
    if not end:
        raise FileError(f"{name} is empty", code="empty_file")
    return _header_fields(buffered[:end], separator)


def _header_fields(text: bytes, separator: str) -> list[str]:
    """The fields of a well-formed header."""
    if b'"' not in text:
        return text.decode().split(separator)
    # The byte order mark that the tokenizer takes away from the beginning of a file is not one of the text.
    return next(tokenize(io.BytesIO(codecs.BOM_UTF8 + text), separator, ProblemList())).fields


def _end_of_record(buffered: bytes, *, last: bool) -> int | None:
    """Where the first line ends that ends outside of quotes; None where it is not there yet."""
    data = np.frombuffer(buffered, dtype=np.uint8)
    ends = ((data == _NEWLINE) | (data == _RETURN)) & _outside_quotes(data)
    at = int(ends.argmax()) if len(ends) else 0
    return at if len(ends) and ends[at] else len(buffered) if last else None


def _outside_quotes(data: Any) -> Any:
    """Which bytes are outside of quotes, those at both ends not counted, in a byte for each."""
    return np.cumsum(data == _QUOTE, dtype=np.uint8) & 1 == 0


def read_csv_batches(text: CheckedText, separator: str, width: int, places: Sequence[int]) -> Iterator[Any]:
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
    buffered = b""
    while True:
        block = text.read(BLOCK)
        buffered += block
        end = _end_of_rows(buffered) if block else len(buffered)
        rows = buffered[:end].lstrip(b"\r\n")
        if rows.startswith(codecs.BOM_UTF8):  # which Arrow would take away from a field
            rows = b"\n" + rows
        if rows:
            options = arrow_csv.ReadOptions(column_names=names, block_size=len(rows) + 1)
            try:
                table = arrow_csv.read_csv(reader_of(rows), options, parsed, converted)
            except pa.ArrowInvalid as error:
                raise Malformed(str(error).splitlines()[0]) from error
            yield from table.combine_chunks().to_batches()
        if not block:
            return
        buffered = buffered[end:]
        if len(buffered) > LONGEST_ROW:
            raise Malformed(f"a row has more than {LONGEST_ROW >> 20} MB")


def _end_of_rows(buffered: bytes) -> int:
    """Where the last row ends that ends here; 0 where none does."""
    if b'"' not in buffered:
        end = buffered.rfind(b"\n")
        return (end if end >= 0 else buffered.rfind(b"\r", 0, -1)) + 1
    data = np.frombuffer(buffered, dtype=np.uint8)
    ends = data == _NEWLINE
    if not ends.any():
        ends = data == _RETURN
        ends[-1] = False  # the newline that belongs to it may follow
    ends &= _outside_quotes(data)
    back = int(ends[::-1].argmax())
    return len(data) - back if ends[len(data) - 1 - back] else 0
