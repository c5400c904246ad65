"""A shuffle on one machine: the pieces of every range wait in a file until all rows are split."""

from __future__ import annotations

import errno
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tallymark.errors import FileError
from tallymark.sources.base import Chunk, Job, ShuffleJob

_LENGTH = 8  # bytes before a piece that say how long it is


def shuffle_on_disk(job: ShuffleJob, fold: Callable[[Job], Any]) -> list[bytes]:
    """The result of every range, given how rows are folded. Memory holds a batch or one range."""
    with tempfile.TemporaryDirectory(prefix="tallymark-") as folder, _explain_full_disk(folder):
        splitting = _SplitToFiles(job, Path(folder))
        fold(splitting)
        return [job.finish(place, splitting.pieces(place)) for place in range(job.ranges)]


class _SplitToFiles:
    """A job without a result: the pieces of its batches go to the files of their ranges."""

    def __init__(self, job: ShuffleJob, folder: Path) -> None:
        self.columns = job.columns
        self._job = job
        self._folder = folder
        self._lock = threading.Lock()

    def piece(self, chunks: Iterable[Chunk]) -> None:
        """Split some rows."""
        for chunk in chunks:
            by_range = self._job.split([chunk])
            with self._lock:
                for place, piece in enumerate(by_range):
                    if piece:
                        with open(self._folder / str(place), "ab") as file:
                            file.write(len(piece).to_bytes(_LENGTH, "little") + piece)

    def join(self, pieces: Sequence[None]) -> None:
        """There is nothing to add."""

    def fold(self, chunks: Iterable[Chunk]) -> bytes:
        """Split some rows; there is no result."""
        self.piece(chunks)
        return b""

    def add(self, pieces: Sequence[bytes]) -> bytes:
        """There is nothing to add."""
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
def _explain_full_disk(folder: str) -> Iterator[None]:
    """Explain a full disk with what to do about it."""
    try:
        yield
    except OSError as error:
        if not str(error.filename or "").startswith(folder) and error.errno != errno.ENOSPC:
            raise
        raise FileError(
            f"the scores could not be kept in {Path(folder).parent}, 8 bytes for each row: {error.strerror}",
            hint="Set TMPDIR to a folder with more room",
        ) from error
