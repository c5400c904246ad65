"""Files, stored once by the hash of their content."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

_CHUNK = 1 << 20  # bytes


class StoredContent(NamedTuple):
    """A stored file: its hash and its size in bytes."""

    hash: str
    size: int


class FileStore:
    """A folder of files. A file is complete or absent, also after a crash."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "files"
        self._folder.mkdir(0o700, parents=True, exist_ok=True)

    def path(self, hash: str) -> Path:
        """The path of a file."""
        if len(hash) != 64 or not set(hash) <= set("0123456789abcdef"):
            raise ValueError("a file is named by its hash")
        return self._folder / hash[:2] / hash[2:]

    def store(self, chunks: Iterable[bytes]) -> StoredContent:
        """Store a file, unless it exists."""
        digest, size = hashlib.sha256(), 0
        handle, name = tempfile.mkstemp(dir=self._folder, prefix=".part-")
        try:
            with os.fdopen(handle, "wb") as file:
                for chunk in chunks:
                    digest.update(chunk)
                    size += len(chunk)
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            path = self.path(digest.hexdigest())
            path.parent.mkdir(exist_ok=True)
            os.replace(name, path)
            _sync_folder(path.parent)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return StoredContent(digest.hexdigest(), size)

    def store_stream(self, stream: BinaryIO) -> StoredContent:
        """Store the content of a stream, from its beginning."""
        stream.seek(0)
        return self.store(iter(lambda: stream.read(_CHUNK), b""))

    def read(self, hash: str) -> bytes:
        """The content of a file."""
        return self.path(hash).read_bytes()

    def is_writable(self) -> bool:
        """Whether files can be written."""
        return os.access(self._folder, os.W_OK)


def _sync_folder(folder: Path) -> None:
    """Write the entries of a folder to disk, so that a new file survives a crash."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
