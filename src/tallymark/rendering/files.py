"""Files are written beside their place and then renamed, so that each is there whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from tallymark.data.arguments import check_path


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file at once: whoever looks sees the old one or the new one, and an interrupt leaves no half of it."""
    path = check_path(path)
    place = Path(os.path.realpath(path))  # a link goes on to lead to the file
    data = content if isinstance(content, bytes) else content.encode(errors="backslashreplace")  # as JSON has it
    if os.path.abspath(path).startswith("/dev/"):  # the output of this process, which nothing may take the place of
        with open(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as file:
            file.write(data)
        return
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a terminal has no place to be renamed to
        Path(path).write_bytes(data)
        return
    beside = place.with_name(f".{place.name[:100]}.{os.getpid()}-{os.urandom(4).hex()}.part")
    try:
        mode = place.stat().st_mode & 0o777 if place.exists() else 0o666  # less what the umask takes
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
        os.replace(beside, place)
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError):  # which would name a file that nobody asked for
            raise type(error)(error.errno, error.strerror, path) from error
        raise
