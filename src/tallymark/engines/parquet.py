"""Parquet: bounded by what it would unfold to before any of it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from tallymark.engines.packages import load, reading_as
from tallymark.engines.parquet_pages import unpacked_bytes
from tallymark.engines.streams import Bounds

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
            self.parts: list[int] = [footer.row_group(k).num_rows for k in range(footer.num_row_groups)]
            types = load("pyarrow").types
            texts = (types.is_string, types.is_large_string, types.is_string_view)
            bytewise = (*texts, types.is_binary, types.is_large_binary, types.is_binary_view)
            self._texts = [field.name for field in schema if any(fits(field.type) for fits in bytewise)]
        self._source = source
        self._readers: dict[tuple[tuple[str, ...], bool], Any] = {}

    def batches(self, names: Sequence[str], parts: Sequence[int] | None = None, rows: int = _ROWS) -> Iterator[Any]:
        """Batches of these columns, of all row groups or of some, by one thread each. Texts that repeat are held once,
        so that they cannot unfold to much."""
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

    def check_unpacked(self, stream: BinaryIO, size: int, bounds: Bounds, names: Sequence[str]) -> None:
        """Refuse a file of this size whose columns of these names unpack to more than it may."""
        bounds.check_unpacked(self.rows * max(len(names), 1) * 8, size, self._name)
        with reading_as("Parquet", self._name):
            total = 0
            for unpacked in unpacked_bytes(stream, self._file.metadata, list(names)):
                total += unpacked
                bounds.check_unpacked(total, size, self._name)
