"""Files of Arrow itself (Feather), which hold their batches as they are in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tallymark.engines.packages import load
from tallymark.errors import FileError, TallymarkError


class ArrowRows:
    """The columns of an Arrow file; a part is one of its batches."""

    def __init__(self, source: Any, name: str) -> None:
        self._name = name
        pa = load("pyarrow")
        with self._reading():
            held = pa.OSFile(source) if isinstance(source, str) else source
            self._file = load("pyarrow.ipc").open_file(held)
            self.schema = self._file.schema
            self.names: list[str] = list(self.schema.names)
            self.parts: list[int] = [self._file.get_batch(k).num_rows for k in range(self._file.num_record_batches)]
        self.rows = sum(self.parts)

    def batches(self, names: Sequence[str], parts: Sequence[int] | None = None) -> Iterator[Any]:
        """Batches of these columns, of all parts or of some."""
        for part in range(len(self.parts)) if parts is None else parts:
            with self._reading():
                batch = self._file.get_batch(part).select(list(names))
                batch.validate(full=True)
            yield batch

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (TallymarkError, MemoryError):
            raise
        except Exception as error:  # Arrow has many, and some are of no other kind
            told = (str(error).splitlines() or [type(error).__name__])[0]
            raise FileError(f"{self._name} could not be read as an Arrow file; it may be damaged: {told}") from error
