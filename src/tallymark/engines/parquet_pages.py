"""What the pages of a Parquet file unpack to, by their own headers: what the footer says of it may be forged.

Arrow has no limit that would serve instead: its own bound the footer alone, and a page is unpacked to the size in its
header, whatever the footer declares (one row of a file of 20 kB took 1.6 GB).

A header is a struct of Thrift's compact protocol. Its second and third fields are the sizes of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from tallymark.errors import FileError

_HEADER = 1 << 16  # bytes in which most headers fit
_LONGEST = 1 << 22
_DEEPEST = 8
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_VARINTS = (4, 5, 6)


def unpacked_bytes(stream: BinaryIO, metadata: Any, names: list[str]) -> Iterator[int]:
    """The unpacked sizes of all pages of these columns."""
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for place in range(row_group.num_columns):
            column = row_group.column(place)
            if column.path_in_schema in names:
                yield from _pages(stream, column)


def _pages(stream: BinaryIO, column: Any) -> Iterator[int]:
    first = column.dictionary_page_offset if column.has_dictionary_page else None
    starts = [offset for offset in (first, column.data_page_offset) if offset]  # a column without rows begins nowhere
    at = min(starts, default=0)
    end = at + column.total_compressed_size if starts else at
    while at < end:
        length, unpacked, packed = _header(stream, at)
        if unpacked < 0 or packed < 0:
            raise FileError("a page says that it has less than no bytes")
        yield unpacked
        at += length + packed


def _header(stream: BinaryIO, at: int) -> tuple[int, int, int]:
    """The length of the header of a page, and the sizes of the page, unpacked and packed."""
    size = _HEADER
    while True:
        stream.seek(at)
        reader = _Compact(stream.read(size))
        try:
            fields = reader.struct(0)
            return reader.at, fields[2], fields[3]
        except IndexError:
            if len(reader.data) < size or size >= _LONGEST:
                raise FileError("the header of a page is cut off") from None
            size *= 16
        except KeyError:
            raise FileError("the header of a page lacks its sizes") from None


class _Compact:
    """Reads Thrift's compact protocol; beyond the end is an IndexError."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def byte(self) -> int:
        found = self.data[self.at]
        self.at += 1
        return found

    def varint(self) -> int:
        found = shift = 0
        while shift < 70:
            byte = self.byte()
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                return found
            shift += 7
        raise FileError("the header of a page holds a number without an end")

    def number(self) -> int:
        found = self.varint()
        return (found >> 1) ^ -(found & 1)

    def struct(self, depth: int) -> dict[int, int]:
        """The whole numbers among the fields; all else is skipped."""
        fields: dict[int, int] = {}
        field = 0
        while kind := self.byte():
            field = field + (kind >> 4) if kind >> 4 else self.number()
            if kind & 15 in _VARINTS:
                fields[field] = self.number()
            else:
                self.skip(kind & 15, depth)
        return fields

    def skip(self, kind: int, depth: int) -> None:
        if depth > _DEEPEST:
            raise FileError("the header of a page is too deep")
        if kind in (_TRUE, _FALSE):
            return
        if kind in (_BYTE, _DOUBLE, _BINARY):
            length = {_BYTE: 1, _DOUBLE: 8}.get(kind) or self.varint()
            self.at += length
            if self.at > len(self.data):
                raise IndexError
        elif kind in _VARINTS:
            self.varint()
        elif kind in (_LIST, _SET):
            head = self.byte()
            for _ in range(self.varint() if head >> 4 == 15 else head >> 4):
                self.byte() if head & 15 in (_TRUE, _FALSE) else self.skip(head & 15, depth + 1)
        elif kind == _STRUCT:
            self.struct(depth + 1)
        else:
            raise FileError(f"the header of a page holds a field of the unknown type {kind}")
