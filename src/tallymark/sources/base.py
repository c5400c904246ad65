"""What an engine is given: columns to read, and what to do with rows of them, wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from tallymark.data.batch import RowPlaces

ProgressCallback = Callable[[int, int], None]
"""Told how many of how many are done: bytes of files, partitions or tasks of a cluster."""


class Chunk(NamedTuple):
    """Some rows of a source as a batch of Arrow, and where they are in the source."""

    batch: Any
    places: RowPlaces


def chunks(batches: Iterable[Any], part: str = "") -> Iterator[Chunk]:
    """Batches of Arrow that follow each other, with their places in the source or in a part of it."""
    first = 0
    for batch in batches:
        yield Chunk(batch, RowPlaces(first, part, partial=True))
        first += batch.num_rows


class Job(Protocol):
    """Turns rows into a piece, and adds pieces. It can be pickled and sent to a worker, where a piece is bytes."""

    columns: tuple[str, ...]
    """The columns that are read."""

    def piece(self, chunks: Iterable[Chunk]) -> Any:
        """The piece of some rows."""

    def join(self, pieces: Sequence[Any]) -> Any:
        """The sum of pieces, which is the same in any order and grouping."""

    def fold(self, chunks: Iterable[Chunk]) -> bytes:
        """The piece of some rows, as bytes."""

    def add(self, pieces: Sequence[bytes]) -> bytes:
        """The sum of pieces, as bytes."""


class Exchange(Protocol):
    """Deals rows to ranges, and closes a range where all its pieces have come together. It can be pickled."""

    columns: tuple[str, ...]
    """The columns that are read."""
    ranges: int
    """How many there are."""

    def deal(self, chunks: Iterable[Chunk]) -> list[bytes]:
        """For every range the piece of some rows; no bytes where none is in it."""

    def close(self, place: int, pieces: Iterable[bytes]) -> bytes:
        """The few bytes that are left of a range, whose pieces come in any order."""
