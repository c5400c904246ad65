"""Files of Arrow itself (Feather), which hold their batches as they are in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tallymark.engines.packages import load, reading_as


class ArrowRows:
    """The columns of an Arrow file; a part is one of its batches."""

    def __init__(self, source: Any, name: str) -> None:
        self._name = name
        pa = load("pyarrow")
        with reading_as("an Arrow file", self._name):
            held = pa.OSFile(source) if isinstance(source, str) else source
            self._file = load("pyarrow.ipc").open_file(held)
            self.schema = self._file.schema
            self.names: list[str] = list(self.schema.names)
            self.parts: list[int] = [self._file.get_batch(k).num_rows for k in range(self._file.num_record_batches)]
        self.rows = sum(self.parts)

    def batches(self, names: Sequence[str], parts: Sequence[int] | None = None) -> Iterator[Any]:
        """Batches of these columns, of all parts or of some."""
        for part in range(len(self.parts)) if parts is None else parts:
            with reading_as("an Arrow file", self._name):
                batch = self._file.get_batch(part).select(list(names))
                batch.validate(full=True)
            yield batch
