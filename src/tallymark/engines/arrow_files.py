"""Arrow IPC files (Feather) and streams, which hold their batches as they are in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tallymark.engines.packages import load, reading_as

FILE, STREAM = b"ARROW1", b"\xff\xff\xff\xff"  # how each begins


class ArrowRows:
    """The columns of an Arrow file. A part is one of its batches; a stream, which has no index of them, is one part."""

    def __init__(self, source: Any, name: str, *, stream: bool) -> None:
        self._source = source
        self._name = name
        self._stream = stream
        with reading_as("an Arrow file", self._name):
            self._file = self._open()
            self.schema = self._file.schema
            self.names: list[str] = list(self.schema.names)
            rows = [batch.num_rows for batch in self._read()]
        self.rows = sum(rows)
        self.parts: list[int] = [self.rows] if stream else rows

    def _open(self) -> Any:
        if isinstance(self._source, str):
            source = load("pyarrow").OSFile(self._source)
        else:
            source = self._source
            source.seek(0)
        ipc = load("pyarrow.ipc")
        return ipc.open_stream(source) if self._stream else ipc.open_file(source)

    def _read(self, parts: Sequence[int] | None = None) -> Iterator[Any]:
        if self._stream:
            yield from self._open()
            return
        for part in range(self._file.num_record_batches) if parts is None else parts:
            yield self._file.get_batch(part)

    def batches(self, names: Sequence[str], parts: Sequence[int] | None = None) -> Iterator[Any]:
        """Batches of these columns, of all parts or of some."""
        with reading_as("an Arrow file", self._name):
            for batch in self._read(parts):
                chosen = batch.select(list(names))
                chosen.validate(full=True)
                yield chosen
