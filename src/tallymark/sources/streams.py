"""Bytes of files and pipes, which can be read more than once."""

from __future__ import annotations

import io
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from tallymark.errors import BoundError, FileError, nearest

Progress = Callable[[int, int], None]
"""Told how many of how many bytes are read."""
_SPOOLED = 64 << 20  # bytes of a pipe that are kept in memory
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/", re.IGNORECASE)  # pathlib makes one slash of two
_FREE = 8 << 20  # unpacked bytes that any file may have, however small it is


class SizeLimits(NamedTuple):
    """How large a file may be, what it may unpack to, and to how many times its size; None is any."""

    bytes: int | None = None
    unpacked: int | None = None
    ratio: float | None = None

    def check_size(self, size: int, name: str) -> None:
        """Refuse a file that is too large."""
        if self.bytes is not None and size > self.bytes:
            told = f"{name} must have at most {self.bytes:,} bytes; it has {size:,}"
            raise BoundError(told, "too_large", size=f"{size:,}", most=f"{self.bytes:,}")

    def check_unpacked(self, unpacked: int, size: int, name: str) -> None:
        """Refuse a file that unpacks to too much."""
        most = [] if self.unpacked is None else [self.unpacked]
        most += [] if self.ratio is None else [max(_FREE, int(self.ratio * size))]
        if most and unpacked > min(most):
            told = f"{name} must unpack to at most {min(most):,} bytes; it has more"
            raise BoundError(told, "unpacks_too_large", most=f"{min(most):,}")


NO_BOUNDS = SizeLimits()


def open_bytes(path: str | BinaryIO, name: str, bounds: SizeLimits = NO_BOUNDS) -> BinaryIO:
    """The file, or a copy of a pipe, since types may need a second look."""
    if not isinstance(path, str):
        return _spooled(path, name, bounds)
    if path == "-":
        if sys.stdin is None:
            raise FileError("standard input is closed; name a file instead of -")
        return _spooled(sys.stdin.buffer, name, bounds)
    try:
        if stat.S_ISREG(os.stat(path).st_mode):
            return open(path, "rb")
        if os.path.isdir(path):
            raise IsADirectoryError
        with open(path, "rb") as pipe:
            return _spooled(pipe, name, bounds)
    except FileNotFoundError as error:
        check_local(path)
        raise FileError(f"there is no file {name}", hint=_near(path)) from error
    except IsADirectoryError as error:
        raise FileError(f"{name} must be a file; it is a directory") from error
    except (OSError, ValueError) as error:
        raise FileError(f"{name} could not be opened: {getattr(error, 'strerror', None) or error}") from error


def check_local(path: str) -> None:
    """Refuse the address of a file elsewhere, such as s3://bucket/rows.parquet."""
    found = _ADDRESS.match(path)
    if found is None:
        return
    if found[1].lower() == "file":
        raise FileError(f"`{path}` must be a path: leave out file://")
    address = path if "://" in path else path.replace(":/", "://", 1)
    opener = "pandas.read_csv" if found[1].lower() in ("http", "https") else "pyarrow.dataset.dataset"
    raise FileError(
        f"`{path}` must be a local file; it is an address",
        hint=f"Download it, or open it in Python and pass the result, for example {opener}({address!r})",
    )


def _spooled(pipe: Any, name: str, bounds: SizeLimits) -> BinaryIO:
    copy = tempfile.SpooledTemporaryFile(max_size=_SPOOLED)  # noqa: SIM115 - closed by the file that holds it
    try:
        _copy(pipe, copy, name, bounds)
    except BaseException:
        copy.close()
        raise
    copy.seek(0)
    return copy  # type: ignore[return-value]


def _copy(pipe: Any, copy: Any, name: str, bounds: SizeLimits) -> None:
    read = getattr(pipe, "read1", pipe.read)  # what is there, and no more: an interrupt must not wait for the rest
    most = max(_SPOOLED, shutil.disk_usage(tempfile.gettempdir()).free // 2)  # others need room, too
    while block := read(1 << 20):
        block = block.encode() if isinstance(block, str) else block
        if not isinstance(block, bytes):
            raise FileError(f"{name} must be read as bytes or as text; it gave {type(block).__name__}")
        bounds.check_size(copy.tell() + len(block), name)
        if copy.tell() + len(block) > most:
            raise FileError(f"{name} is a pipe of more than {most:,} bytes, which is half of the room for a copy")
        copy.write(block)


def _near(path: str) -> str | None:
    """A file of the same folder with a similar name."""
    folder = Path(path).parent
    try:
        names = [each.name for each in folder.iterdir() if each.is_file()] if folder.is_dir() else []
    except OSError:
        return None
    near = nearest(Path(path).name, names)
    return f"Did you mean `{folder / near[0]}`?" if near else None


class CountingStream(io.RawIOBase):
    """A stream that tells how far it is read; `done` are the bytes so far."""

    def __init__(self, stream: BinaryIO, size: int, progress: Progress | None) -> None:
        super().__init__()
        self._stream = stream
        self._size = size
        self.done = 0
        self._progress = progress

    def readable(self) -> bool:
        """Whoever reads asks."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        block = self._stream.read(size)
        self.done += len(block)
        if self._progress is not None and block:
            self._progress(self.done, self._size)
        return block


class LimitedStream(io.RawIOBase):
    """A stream of unpacked bytes that stops where they are more than a file may unpack to."""

    def __init__(self, source: Any, packed: CountingStream, name: str, bounds: SizeLimits) -> None:
        super().__init__()
        self._source = source
        self._packed = packed
        self._name = name
        self._bounds = bounds
        self._done = 0

    def readable(self) -> bool:
        """Whoever reads asks."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        block = bytes(self._source.read(size))
        self._done += len(block)
        self._bounds.check_unpacked(self._done, self._packed.done, self._name)
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
