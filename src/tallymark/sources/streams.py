"""Bytes of files and pipes, which can be read more than once, and limits on their size."""

from __future__ import annotations

import io
import os
import re
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from tallymark.errors import BoundError, FileError, nearest
from tallymark.sources.arrow import load
from tallymark.sources.base import ProgressCallback

_MEMORY_COPY = 64 << 20  # bytes of a pipe that are kept in memory
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/", re.IGNORECASE)  # pathlib makes one slash of two
_ALWAYS_ALLOWED = 8 << 20  # unpacked bytes that any file may have, however small it is


class SizeLimits(NamedTuple):
    """How large a file may be, what it may unpack to, and to how many times its size; None for no limit."""

    bytes: int | None = None
    unpacked: int | None = None
    ratio: float | None = None

    def check_size(self, size: int, name: str) -> None:
        """Reject a file that is too large."""
        if self.bytes is not None and size > self.bytes:
            message = f"{name} must have at most {self.bytes:,} bytes; it has {size:,}"
            raise BoundError(message, "too_large", size=f"{size:,}", most=f"{self.bytes:,}")

    def check_unpacked(self, unpacked: int, size: int, name: str) -> None:
        """Reject a file that unpacks to too much."""
        most = [] if self.unpacked is None else [self.unpacked]
        most += [] if self.ratio is None else [max(_ALWAYS_ALLOWED, int(self.ratio * size))]
        if most and unpacked > min(most):
            message = f"{name} must unpack to at most {min(most):,} bytes; it has more"
            raise BoundError(message, "unpacks_too_large", most=f"{min(most):,}")


NO_SIZE_LIMITS = SizeLimits()


def open_bytes(path: str | BinaryIO, name: str, limits: SizeLimits = NO_SIZE_LIMITS) -> BinaryIO:
    """The file, or a copy of a pipe, since it may be read twice."""
    if not isinstance(path, str):
        return _copy_of_pipe(path, name, limits)
    if path == "-":
        if sys.stdin is None:
            raise FileError("standard input is closed; name a file instead of -")
        return _copy_of_pipe(sys.stdin.buffer, name, limits)
    try:
        if stat.S_ISREG(os.stat(path).st_mode):
            return open(path, "rb")
        if os.path.isdir(path):
            raise IsADirectoryError
        with open(path, "rb") as pipe:
            return _copy_of_pipe(pipe, name, limits)
    except FileNotFoundError as error:
        check_local(path)
        raise FileError(f"there is no file {name}", hint=_near(path)) from error
    except IsADirectoryError as error:
        raise FileError(f"{name} must be a file; it is a directory") from error
    except (OSError, ValueError) as error:
        raise FileError(f"{name} could not be opened: {getattr(error, 'strerror', None) or error}") from error


def check_local(path: str) -> None:
    """Reject the address of a file elsewhere, such as s3://bucket/rows.parquet."""
    found = _ADDRESS.match(path)
    if found is None:
        return
    if found[1].lower() == "file":
        raise FileError(f"`{path}` must be a path: leave out file://")
    address = path if "://" in path else path.replace(":/", "://", 1)
    opener = "pandas.read_csv" if found[1].lower() in ("http", "https") else "pyarrow.dataset.dataset"
    raise FileError(
        f"`{path}` must be a local file; got an address",
        hint=f"Download it, or open it in Python and pass the result, for example {opener}({address!r})",
    )


def _copy_of_pipe(pipe: Any, name: str, limits: SizeLimits) -> BinaryIO:
    copy = tempfile.SpooledTemporaryFile(max_size=_MEMORY_COPY)  # noqa: SIM115 - closed by the file that holds it
    try:
        _copy(pipe, copy, name, limits)
    except BaseException:
        copy.close()
        raise
    copy.seek(0)
    return copy  # type: ignore[return-value]


def _copy(pipe: Any, copy: Any, name: str, limits: SizeLimits) -> None:
    read = getattr(pipe, "read1", pipe.read)  # what is there, and no more: an interrupt must not wait for the rest
    most = max(_MEMORY_COPY, shutil.disk_usage(tempfile.gettempdir()).free // 2)  # others need room, too
    while block := read(1 << 20):
        block = block.encode() if isinstance(block, str) else block
        if not isinstance(block, bytes):
            raise FileError(f"{name} must be read as bytes or as text; it gave {type(block).__name__}")
        limits.check_size(copy.tell() + len(block), name)
        if copy.tell() + len(block) > most:
            raise FileError(f"{name} is a pipe of more than {most:,} bytes, which is half of the room for a copy")
        copy.write(block)


def _near(path: str) -> str | None:
    """A file of the same folder with a similar name, whatever the endings: those of all data are alike."""
    folder = Path(path).parent
    try:
        names = [each.name for each in folder.iterdir() if each.is_file()] if folder.is_dir() else []
    except OSError:
        return None
    alike = [name for name in names if nearest(Path(path).stem, [Path(name).stem], cutoff=0.7)]
    near = nearest(Path(path).name, alike, cutoff=0.0)
    return f"Did you mean `{folder / near[0]}`?" if near else None


class CountingStream(io.RawIOBase):
    """A stream that counts and reports how many bytes are read."""

    def __init__(self, stream: BinaryIO, size: int, progress: ProgressCallback | None) -> None:
        super().__init__()
        self._stream = stream
        self._size = size
        self.bytes_read = 0
        self._progress = progress

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        block = self._stream.read(size)
        self.bytes_read += len(block)
        if self._progress is not None and block:
            self._progress(self.bytes_read, self._size)
        return block


class LimitedStream(io.RawIOBase):
    """A stream of unpacked bytes that stops where they are more than a file may unpack to."""

    def __init__(self, source: Any, packed: CountingStream, name: str, limits: SizeLimits) -> None:
        super().__init__()
        self._source = source
        self._packed = packed
        self._name = name
        self._limits = limits
        self._done = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        block = bytes(self._source.read(size))
        self._done += len(block)
        self._limits.check_unpacked(self._done, self._packed.bytes_read, self._name)
        return block


class ReadableStream(io.RawIOBase):
    """Anything with `read` as a raw stream, around which a buffered one can be put."""

    def __init__(self, source: Any) -> None:
        super().__init__()
        self._source = source

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        block = self._source.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)


def reader_of(data: bytes) -> Any:
    """A reader for Arrow of a copy that is its own.

    Where a program ends while a thread of Arrow lets go of bytes that Python holds, it would end by a crash.
    """
    pa = load("pyarrow")
    buffer = pa.allocate_buffer(len(data))
    pa.FixedSizeBufferWriter(buffer).write(data)
    return pa.BufferReader(buffer)
