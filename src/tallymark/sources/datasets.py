"""Many files, or one that is larger than memory: parts of them are read and folded by several threads at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.batch import RowPlaces
from tallymark.errors import FileError, InputError, KindError, StateError, TypeOfDataError
from tallymark.sources.arrow import load
from tallymark.sources.base import Chunk, Exchange, Job, ProgressCallback
from tallymark.sources.columns import AUTO, Builder, kind_of
from tallymark.sources.csv.fields import TEXT
from tallymark.sources.csv.inference import Types, Widened
from tallymark.sources.exchange import exchange_here
from tallymark.sources.files import File
from tallymark.sources.paths import find_files
from tallymark.threads import get_threads, single_threaded

_ROWS = 1 << 20  # in a batch
_OF_ROWS = (InputError, KindError, StateError, FileError)  # errors that gain by the place of the rows


class FilePart(NamedTuple):
    """A part of a file that is read by itself: its place there, None for the whole, its first row, and its share of
    the bytes."""

    path: str
    place: int | None
    first: int
    bytes: int


class FileDataset:
    """Files of rows, which are read in parts. `ways` say of columns that they are read as numbers or as text; the
    others are what all their fields are."""

    kind = "files"
    once = False

    def __init__(self, source: Any, separator: str | None = None, ways: Mapping[str, str] | None = None) -> None:
        self._paths = find_files(source)
        for path in self._paths:
            if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
                raise FileError(
                    f"`{path}` must be a file, since pieces of it are read when they are needed; it is a pipe"
                )
        self._separator = separator
        self._ways = {name: way for name, way in (ways or {}).items() if way != AUTO}
        self._types = Types()
        self._resolved: set[str] = set()

    @property
    def odd(self) -> dict[str, tuple[str, str]]:
        """Fields that made texts of columns of CSV: what each holds, and where."""
        return self._types.odd

    @property
    def unsure(self) -> set[str]:
        """Columns of CSV that are numbers so far, some of them written as nan or inf, which may be words."""
        return self._types.unsure

    def _open(self, path: str) -> File:
        return File(path, separator=self._separator)

    def empty(self, columns: Sequence[str]) -> Any:
        """A batch of no rows, which shows the types of the first file that has rows; without one, those of any."""
        found = None
        for path in self._paths:
            with self._open(path) as file:
                held = self._empty(file, columns)
                if held is not None and (file.parts is None or any(file.parts)):
                    return held
            found = held if found is None else found
        return found

    def _empty(self, file: File, columns: Sequence[str]) -> Any:
        """A batch of no rows; None where a file of texts has none to tell the types by."""
        if file.schema is None:
            first = next(file.texts(columns), None)
            return None if first is None or not first.num_rows else self._typed(first, file, 0).slice(0, 0)
        pa, places = load("pyarrow"), [file.find(name) for name in columns]
        fields = [file.schema.field(place).with_name(name) for place, name in zip(places, columns, strict=True)]
        held = [pa.nulls(0, field.type) for field in fields]
        return self._typed(pa.RecordBatch.from_arrays(held, schema=pa.schema(fields)), file, 0)

    def _typed(self, batch: Any, file: File, row: int) -> Any:
        """A batch with the types of its columns; it begins at that row of the file."""
        written = file.schema is None
        shaped = _in_ways(batch, self._ways, file.name, row, written=written) if self._ways else batch
        return self._types.typed(shaped, file.name, row, but=self._ways) if written else shaped

    def infer_types(self, columns: Sequence[str]) -> bool:
        """Read all fields of CSV for their types; whether one changed."""
        return self._infer_types(self._parts(columns), columns)

    def fold(self, job: Job, progress: ProgressCallback | None, *, in_order: bool) -> Any:
        """The piece of all rows. `in_order` where their places matter, so that one thread reads."""
        parts, threads = self._parts(job.columns), 1 if in_order else get_threads()
        try:
            return self._fold(parts, job, progress, threads)
        except (Widened, TypeOfDataError) as found:
            if not self._infer_types(parts, job.columns) and not isinstance(found, Widened):
                raise
        return self._fold(parts, job, progress, threads)

    def exchange(self, job: Exchange, progress: ProgressCallback | None) -> list[bytes]:
        """What is left of every range."""
        return exchange_here(job, lambda dealing: self.fold(dealing, progress, in_order=False))

    def _infer_types(self, parts: list[FilePart], columns: Sequence[str]) -> bool:
        """Read all fields of CSV for their types, since each tells only of its own column; whether one changed."""
        before = self._types.copy()
        plain = [name for name in columns if name not in self._ways and name not in self._resolved]
        for part in parts if plain else ():
            if part.place is None:
                with self._open(part.path) as file:
                    row = 0
                    for batch in file.texts(plain):
                        self._types.learn(batch, file.name, row)
                        row += batch.num_rows
        self._resolved.update(plain)
        return self._types.copy() != before

    def _parts(self, columns: Sequence[str]) -> list[FilePart]:
        found, kinds = [], _SameKinds()
        plain = [name for name in columns if name not in self._ways]
        for path in self._paths:
            with self._open(path) as file:
                kinds.check(file, plain)
                if file.parts is None:
                    found.append(FilePart(path, None, 0, file.size))
                    continue
                rows, first = max(sum(file.parts), 1), 0
                for place, held in enumerate(file.parts):
                    found.append(FilePart(path, place, first, file.size * held // rows))
                    first += held
        return found

    def _fold(self, parts: list[FilePart], job: Job, progress: ProgressCallback | None, threads: int) -> Any:
        work, threads = _Work(parts, progress), min(threads, len(parts))
        if threads < 2:
            return self._piece(work, job)
        with ThreadPoolExecutor(threads) as pool:
            try:
                return job.join(list(pool.map(lambda _: self._piece_alone(work, job), range(threads))))
            except BaseException:
                work.stop()  # so that the other threads end soon
                raise

    def _piece_alone(self, work: _Work, job: Job) -> Any:
        with single_threaded():
            return self._piece(work, job)

    def _piece(self, work: _Work, job: Job) -> Any:
        opened: list[str] = []
        try:
            return job.piece(self._chunks(work, job.columns, opened))
        except BaseException as error:
            work.stop()
            if isinstance(error, _OF_ROWS) and opened and opened[0] not in str(error):
                error.add_place(opened[0])
            raise

    def _chunks(self, work: _Work, columns: Sequence[str], opened: list[str]) -> Iterator[Chunk]:
        """The chunks of the parts that this thread takes; `opened` holds the name of the file that is read."""
        for path, parts in groupby(work.parts(), key=lambda part: part.path):
            opened.clear()
            with self._open(path) as file:
                opened.append(file.name)
                for part in parts:
                    yield from self._part(file, part, work, columns)

    def _part(self, file: File, part: FilePart, work: _Work, columns: Sequence[str]) -> Iterator[Chunk]:
        row = part.first
        for batch in file.texts(columns) if part.place is None else file.part(part.place, columns, _ROWS):
            if work.stopped:
                return
            yield Chunk(self._typed(batch, file, row), RowPlaces(row, file.name, partial=True))
            row += batch.num_rows
            if part.place is None:
                work.reach(part, file.done)
        work.reach(part, part.bytes)


class _Work:
    """The parts that are left, which threads take one after the other."""

    def __init__(self, parts: list[FilePart], progress: ProgressCallback | None) -> None:
        self._left = iter(parts)
        self._total = sum(part.bytes for part in parts)
        self._done = 0
        self._reached: dict[FilePart, int] = {}
        self._progress = progress
        self._lock = threading.Lock()
        self.stopped = False

    def parts(self) -> Iterator[FilePart]:
        while not self.stopped:
            with self._lock:
                part = next(self._left, None)
            if part is None:
                return
            yield part

    def reach(self, part: FilePart, done: int) -> None:
        """So many bytes of a part are done."""
        with self._lock:
            self._done += done - self._reached.get(part, 0)
            self._reached[part] = done
            if self._progress is not None:
                self._progress(self._done, self._total)

    def stop(self) -> None:
        self.stopped = True


class _SameKinds:
    """What columns hold in the files so far: numbers or texts, and which file said so first."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[bool, str, str]] = {}

    def check(self, file: File, columns: Sequence[str]) -> None:
        """Refuse a file whose column holds texts where another has numbers, or the other way round."""
        for column in columns if file.schema is not None and any(file.parts or ()) else ():
            shown = str(file.schema.field(file.find(column)).type)
            kind = kind_of(file.schema.field(file.find(column)).type)
            if not kind:
                continue
            text, first, before = self._known.setdefault(column, (kind == TEXT, file.name, shown))
            if (kind == TEXT) != text:
                raise TypeOfDataError(
                    f"column {column!r} must hold numbers or texts in all files; it is {before} in {first} and "
                    f"{shown} in {file.name}"
                )


def _in_ways(batch: Any, ways: Mapping[str, str], name: str, row: int, *, written: bool) -> Any:
    """A batch with some columns read in the ways that are asked for; it begins at that row of the file of this name.

    `written` where all fields are texts, as in a CSV file.
    """
    pa = load("pyarrow")
    held = [
        _in_way(Builder(each, ways[each], lambda at: f"row {row + at:,} of {name}"), column, written=written)
        if each in ways
        else column
        for each, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(held, names=batch.schema.names)


def _in_way(builder: Builder, column: Any, *, written: bool) -> Any:
    pa = load("pyarrow")
    builder.add(column, written=written)
    values = builder.finish().values
    if isinstance(values, np.ndarray):
        return pa.array(values.astype(np.float64) if values.dtype.kind == "O" else values)
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
