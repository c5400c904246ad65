"""Jobs whose outcome shows which rows an engine gave, and in which types."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tallymark.errors import MissingValueError
from tallymark.sources.base import Chunk
from tests.waiting import until


class Rows:
    """All rows, sorted, and the types in which they came."""

    def __init__(self, *columns: str, before: Callable[[list[Any]], None] | None = None) -> None:
        self.columns = columns
        self.before = before

    def fold(self, chunks: Iterable[Chunk]) -> bytes:
        batches = [chunk.batch for chunk in chunks]
        rows = [list(map(repr, row.values())) for batch in batches for row in batch.to_pylist()]
        if self.before is not None:
            self.before(rows)
        types = {tuple(map(str, batch.schema.types)) for batch in batches}
        for batch in batches:
            assert tuple(batch.schema.names) == self.columns
            batch.validate(full=True)
        return _written(rows, types)

    def add(self, pieces: Sequence[bytes]) -> bytes:
        read = [json.loads(piece) for piece in pieces]
        return _written(
            [row for piece in read for row in piece["rows"]], {tuple(each) for piece in read for each in piece["types"]}
        )


def _written(rows: list[list[str]], types: set[tuple[str, ...]]) -> bytes:
    return json.dumps({"rows": sorted(rows), "types": sorted(types)}).encode()


def read(found: bytes) -> tuple[list[list[str]], list[list[str]]]:
    """The rows and the types of a job's outcome."""
    outcome = json.loads(found)
    return outcome["rows"], outcome["types"]


def as_rows(*columns: Sequence[Any]) -> list[list[str]]:
    """Rows of these columns as an outcome shows them."""
    return sorted([list(map(repr, row)) for row in zip(*columns, strict=True)])


class Refuses:
    """Where a row holds the number 13, it is refused."""

    def __call__(self, rows: list[list[str]]) -> None:
        if any("13" in row for row in rows):
            raise MissingValueError('`y_true` must hold numbers; "13" (dreizehn, тринадцать) was in row 3\n of many')


class FailsOnce:
    """The first attempt at the rows with the number 13 fails, or ends its process; a file remembers it."""

    def __init__(self, marker: Path, *, killed: bool = False) -> None:
        self.marker = marker
        self.killed = killed

    def __call__(self, rows: list[list[str]]) -> None:
        if any("13" in row for row in rows) and not self.marker.exists():
            self.marker.write_text("tried")
            if self.killed:
                os._exit(1)
            raise OSError("the disk has gone for a moment")


class Large:
    """Tallies of many bytes: those of the pieces, one after another in the order of their content."""

    columns = ("y",)

    def fold(self, chunks: Iterable[Chunk]) -> bytes:
        return b"".join(sorted(self._blown_up(chunk.batch) for chunk in chunks if chunk.batch.num_rows))

    def add(self, pieces: Sequence[bytes]) -> bytes:
        return b"".join(sorted(pieces))

    def _blown_up(self, batch: Any) -> bytes:
        return bytes([min(batch.column(0).to_pylist())]) * 100_000


class Slow:
    """Takes a minute for each partition, or as many seconds as it is told."""

    def __init__(self, seconds: float = 60) -> None:
        self.seconds = seconds

    def __call__(self, rows: list[list[str]]) -> None:
        time.sleep(self.seconds)


class Held:
    """Lets two partitions through, and holds the others until somebody was told of more than so many tasks."""

    def __init__(self, folder: Path, tasks: int = 0) -> None:
        self.folder = folder
        self.tasks = tasks
        self.seen: list[tuple[int, int]] = []

    def tell(self, done: int, of: int) -> None:
        """How far it is."""
        self.seen.append((done, of))
        if of > self.tasks:
            (self.folder / "told").touch()

    def __call__(self, rows: list[list[str]]) -> None:
        for place in ("first", "second"):
            with suppress(FileExistsError):
                return (self.folder / place).touch(exist_ok=False)
        until((self.folder / "told").exists)


class Digits:
    """A shuffle by the last digit of `y`: the result of a range is its numbers, in order."""

    columns = ("y",)
    ranges = 10

    def __init__(self, before: Callable[[list[Any]], None] | None = None, *, closing: bool = False) -> None:
        self.before = before
        self.closing = closing

    def split(self, chunks: Iterable[Chunk]) -> list[bytes]:
        held = [value for chunk in chunks for value in chunk.batch.column(0).to_pylist()]
        if self.before is not None and not self.closing:
            self.before([[str(value)] for value in held])
        return [_listed(value for value in held if value % 10 == place) for place in range(10)]

    def finish(self, place: int, pieces: Iterable[bytes]) -> bytes:
        held = [int(value) for piece in pieces for value in piece.split(b",")]
        if self.before is not None and self.closing:
            self.before([[str(value)] for value in held])
        assert all(value % 10 == place for value in held)
        return _listed(held)


def _listed(numbers: Iterable[int]) -> bytes:
    return ",".join(map(str, sorted(numbers))).encode()


BY_DIGIT = [_listed(range(place, 100, 10)) for place in range(10)]
