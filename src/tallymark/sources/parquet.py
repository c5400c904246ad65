"""Parquet, bounded by its number of values and by what its pages unpack to before any of it is read.

A small file can unpack to any size. Texts stay in dictionaries for the same reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from tallymark.errors import FileError
from tallymark.sources.arrow import load, reading_as
from tallymark.sources.streams import SizeLimits

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
            raise FileError("negative page size")
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


_ROWS = 1 << 16  # in a batch
_BUFFER = 1 << 20  # bytes of a column that are read at a time, where its rows are not all wanted at once


class ParquetRows:
    """The columns of a Parquet file."""

    def __init__(self, source: Any, name: str) -> None:
        self._name = name
        with reading_as("Parquet", self._name):
            self._file = load("pyarrow.parquet").ParquetFile(source)
            self.schema = schema = self._file.schema_arrow
            self.names: list[str] = list(schema.names)
            footer = self._file.metadata
            self.rows: int = footer.num_rows
            self.part_rows: list[int] = [footer.row_group(k).num_rows for k in range(footer.num_row_groups)]
            types = load("pyarrow").types
            texts = (types.is_string, types.is_large_string, types.is_string_view)
            bytewise = (*texts, types.is_binary, types.is_large_binary, types.is_binary_view)
            self._texts = [field.name for field in schema if any(fits(field.type) for fits in bytewise)]
        self._source = source
        self._readers: dict[tuple[tuple[str, ...], bool], Any] = {}

    def batches(self, names: Sequence[str], parts: Sequence[int] | None = None, rows: int = _ROWS) -> Iterator[Any]:
        """Batches of these columns, of all row groups or of some, by one thread each. Texts stay in
        dictionaries, so that they do not unpack to more."""
        with reading_as("Parquet", self._name):
            file = self._reader(tuple(name for name in self._texts if name in names), whole=parts is None)
            wanted = {"batch_size": rows, "columns": list(names)}
            if parts is not None:
                wanted |= {"row_groups": list(parts), "use_threads": False}
            for batch in file.iter_batches(**wanted):
                batch.validate(full=True)  # places in a dictionary that it does not have, and bytes that are no text
                yield batch.select(list(names))

    def _reader(self, texts: tuple[str, ...], *, whole: bool) -> Any:
        """What reads the file, with these columns in dictionaries; kept, since the parts are read one by one."""
        if (texts, whole) not in self._readers:
            how: dict[str, Any] = {"read_dictionary": texts, "metadata": self._file.metadata}
            if not whole:
                how |= {"pre_buffer": False, "buffer_size": _BUFFER}
            self._readers[texts, whole] = load("pyarrow.parquet").ParquetFile(self._source, **how)
        return self._readers[texts, whole]

    def check_unpacked(self, stream: BinaryIO, size: int, limits: SizeLimits, names: Sequence[str]) -> None:
        """Reject a file of this size whose columns of these names unpack to more than it may."""
        limits.check_unpacked(self.rows * max(len(names), 1) * 8, size, self._name)
        with reading_as("Parquet", self._name):
            total = 0
            for unpacked in unpacked_bytes(stream, self._file.metadata, list(names)):
                total += unpacked
                limits.check_unpacked(total, size, self._name)
