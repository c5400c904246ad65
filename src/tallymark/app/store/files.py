"""Files, stored once by the hash of their content."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

_PIECE = 1 << 20


class StoredContent(NamedTuple):
    """What was stored."""

    hash: str
    size: int


class FileStore:
    """A folder of files. A file is there whole or not at all, also after a crash."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "files"
        self._folder.mkdir(parents=True, exist_ok=True)

    def path(self, hash: str) -> Path:
        """Where a file is."""
        if len(hash) != 64 or not set(hash) <= set("0123456789abcdef"):
            raise ValueError("a file is named by its hash")
        return self._folder / hash[:2] / hash[2:]

    def store(self, pieces: Iterable[bytes]) -> StoredContent:
        """Store a file, unless it is there."""
        digest, size = hashlib.sha256(), 0
        handle, name = tempfile.mkstemp(dir=self._folder, prefix=".part-")
        try:
            with os.fdopen(handle, "wb") as file:
                for piece in pieces:
                    digest.update(piece)
                    size += len(piece)
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
            place = self.path(digest.hexdigest())
            place.parent.mkdir(exist_ok=True)
            os.replace(name, place)
            _sync(place.parent)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return StoredContent(digest.hexdigest(), size)

    def store_stream(self, stream: BinaryIO) -> StoredContent:
        """Store what a stream holds, from its beginning."""
        stream.seek(0)
        return self.store(iter(lambda: stream.read(_PIECE), b""))

    def read(self, hash: str) -> bytes:
        """The content of a file."""
        return self.path(hash).read_bytes()

    def works(self) -> bool:
        """Whether files can be written."""
        return os.access(self._folder, os.W_OK)


def _sync(folder: Path) -> None:
    """Make the name of a new file last, too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
