"""Arrow: loaded when a file is first read; and the reader of its own files (Feather) and streams."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from tallymark.errors import FileError, TallymarkError
from tallymark.optional_packages import needed


@cache
def load(module: str) -> Any:
    """A module of Arrow, which reads files."""
    with needed("reading files", "pyarrow", extra="files"):
        return importlib.import_module(module)


@contextmanager
def reading_as(format: str, name: str) -> Iterator[None]:
    """Errors of Arrow while it reads a file in this format become errors of the file of this name."""
    try:
        yield
    except TallymarkError:
        raise
    except Exception as error:  # Arrow has many, and some are of no other kind
        if type(error) is MemoryError:  # Arrow's own says that the file asks for more than there is
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise FileError(f"{name} could not be read as {format}; it may be damaged: {reason}") from error


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
        self.part_rows: list[int] = [self.rows] if stream else rows

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
