"""An exchange on one machine: the pieces of every range wait in a file of their own until all rows were dealt."""

from __future__ import annotations

import errno
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tallymark.errors import FileError
from tallymark.sources.base import Chunk, Exchange, Job

_LENGTH = 8  # bytes before a piece that say how long it is


def exchange_here(job: Exchange, fold: Callable[[Job], Any]) -> list[bytes]:
    """What is left of every range, given how rows are folded. In memory are a batch and one range."""
    with tempfile.TemporaryDirectory(prefix="tallymark-") as folder, _with_room(folder):
        dealing = _Dealing(job, Path(folder))
        fold(dealing)
        return [job.close(place, dealing.pieces(place)) for place in range(job.ranges)]


class _Dealing:
    """A job that keeps nothing: the pieces of its batches go to the files of their ranges."""

    def __init__(self, job: Exchange, folder: Path) -> None:
        self.columns = job.columns
        self._job = job
        self._folder = folder
        self._lock = threading.Lock()

    def piece(self, chunks: Iterable[Chunk]) -> None:
        """Deal some rows."""
        for chunk in chunks:
            dealt = self._job.deal([chunk])
            with self._lock:
                for place, piece in enumerate(dealt):
                    if piece:
                        with open(self._folder / str(place), "ab") as file:
                            file.write(len(piece).to_bytes(_LENGTH, "little") + piece)

    def join(self, pieces: Sequence[None]) -> None:
        """Nothing is left to add."""

    def fold(self, chunks: Iterable[Chunk]) -> bytes:
        """Deal some rows; no bytes are left of them."""
        self.piece(chunks)
        return b""

    def add(self, pieces: Sequence[bytes]) -> bytes:
        """Nothing is left to add."""
        return b""

    def pieces(self, place: int) -> Iterator[bytes]:
        """The pieces of a range, one after the other."""
        path = self._folder / str(place)
        if path.exists():
            with open(path, "rb") as file:
                while length := file.read(_LENGTH):
                    yield file.read(int.from_bytes(length, "little"))
            path.unlink()


@contextmanager
def _with_room(folder: str) -> Iterator[None]:
    """A full disk is told with what to do about it."""
    try:
        yield
    except OSError as error:
        if not str(error.filename or "").startswith(folder) and error.errno != errno.ENOSPC:
            raise
        raise FileError(
            f"the scores could not be kept in {Path(folder).parent}, 8 bytes for each row: {error.strerror}",
            hint="Set TMPDIR to a folder with more room",
        ) from error
