"""Bytes of files and pipes, which can be read more than once."""

from __future__ import annotations

import io
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from tallymark.errors import FileError
from tallymark.nearest import nearest

Progress = Callable[[int, int], None]
"""Told how many of how many bytes are read."""
_SPOOLED = 64 << 20  # bytes of a pipe that are kept in memory


def open_bytes(path: str, name: str) -> BinaryIO:
    """The file, or a copy of a pipe, since types may need a second look."""
    if path == "-":
        if sys.stdin is None:
            raise FileError("standard input is closed; name a file instead of -")
        return _spooled(sys.stdin.buffer, name)
    try:
        if stat.S_ISREG(os.stat(path).st_mode):
            return open(path, "rb")
        if os.path.isdir(path):
            raise IsADirectoryError
        with open(path, "rb") as pipe:
            return _spooled(pipe, name)
    except FileNotFoundError as error:
        raise FileError(f"there is no file {name}{_near(path)}") from error
    except IsADirectoryError as error:
        raise FileError(f"{name} must be a file; it is a directory") from error
    except (OSError, ValueError) as error:
        raise FileError(f"{name} could not be opened: {getattr(error, 'strerror', None) or error}") from error


def _spooled(pipe: Any, name: str) -> BinaryIO:
    most = max(_SPOOLED, shutil.disk_usage(tempfile.gettempdir()).free // 2)  # others need room, too
    copy = tempfile.SpooledTemporaryFile(max_size=_SPOOLED)  # noqa: SIM115 - closed by the file that holds it
    while block := pipe.read1(1 << 20):  # what is there, and no more: an interrupt must not wait for the rest
        if copy.tell() + len(block) > most:
            copy.close()
            raise FileError(f"{name} is a pipe of more than {most:,} bytes, which is half of the room for a copy")
        copy.write(block)
    copy.seek(0)
    return copy  # type: ignore[return-value]


def _near(path: str) -> str:
    """A file of the same folder with a similar name."""
    folder = Path(path).parent
    try:
        names = [each.name for each in folder.iterdir() if each.is_file()] if folder.is_dir() else []
    except OSError:
        return ""
    near = nearest(Path(path).name, names)
    return f"; did you mean `{folder / near[0]}`?" if near else ""


class Counted(io.RawIOBase):
    """A stream that tells how far it is read."""

    def __init__(self, stream: BinaryIO, size: int, progress: Progress | None) -> None:
        super().__init__()
        self._stream = stream
        self._size = size
        self._done = 0
        self._progress = progress

    def readable(self) -> bool:
        """Whoever reads asks."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        block = self._stream.read(size)
        self._done += len(block)
        if self._progress is not None and block:
            self._progress(self._done, self._size)
        return block


class Raw(io.RawIOBase):
    """Anything with `read` as a raw stream that a buffer can stand on."""

    def __init__(self, source: Any) -> None:
        super().__init__()
        self._source = source

    def readable(self) -> bool:
        """Whoever reads asks."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        block = self._source.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)
