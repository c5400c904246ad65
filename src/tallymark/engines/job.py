"""What an engine is given: columns to read, and what to do with rows of them, wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

Progress = Callable[[int, int], None]
"""Told how many of how many are done: bytes of files, partitions or tasks of a cluster."""


class Job(Protocol):
    """Turns rows into a piece, and adds pieces. It can be pickled and sent to a worker, where a piece is bytes."""

    columns: tuple[str, ...]
    """The columns that are read."""

    def piece(self, batches: Iterable[Any]) -> Any:
        """The piece of some rows, in batches of Arrow."""

    def join(self, pieces: Sequence[Any]) -> Any:
        """The sum of pieces, which is the same in any order and grouping."""

    def fold(self, batches: Iterable[Any]) -> bytes:
        """The piece of some rows, as bytes."""

    def add(self, pieces: Sequence[bytes]) -> bytes:
        """The sum of pieces, as bytes."""


class Exchange(Protocol):
    """Deals rows to ranges, and closes a range where all its pieces have come together. It can be pickled."""

    columns: tuple[str, ...]
    """The columns that are read."""
    ranges: int
    """How many there are."""

    def deal(self, batches: Iterable[Any]) -> list[bytes]:
        """For every range the piece of some rows, in batches of Arrow; no bytes where none is in it."""

    def close(self, place: int, pieces: Iterable[bytes]) -> bytes:
        """The few bytes that are left of a range, whose pieces come in any order."""
