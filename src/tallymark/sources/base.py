"""What every source is given: a job, which says which columns to read and how to fold their rows.

A partition becomes a tally, tallies add, and the report is read from the sum: files, streams and clusters differ only
in who does the adding. A source does not know what a partial result (`piece`) is: in this process it is a tally, and on
workers the bytes of one. A job pickles to the bytes of an empty tally.

Where distinct scores are too many to be added up in one place, a source is given a `ShuffleJob` instead: it splits the
rows of a partition by ranges of the score, moves the pieces, and finishes each range where its pieces meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from tallymark.data.batch import RowPlaces

ProgressCallback = Callable[[int, int], None]
"""Called with how many of how many are done: bytes of files, partitions or tasks of a cluster."""


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
    """Folds rows into a piece, and adds pieces. It can be pickled and sent to a worker, where a piece is bytes."""

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


class ShuffleJob(Protocol):
    """Splits rows by ranges, and finishes a range where all its pieces have come together. It can be pickled."""

    columns: tuple[str, ...]
    """The columns that are read."""
    ranges: int
    """The number of ranges."""

    def split(self, chunks: Iterable[Chunk]) -> list[bytes]:
        """The piece of some rows for every range; no bytes for a range without rows."""

    def finish(self, place: int, pieces: Iterable[bytes]) -> bytes:
        """The result of a range, a few bytes; its pieces come in any order."""
