"""Many files, or one that is larger than memory: parts of them are read and folded by several threads at once.

Parts are row groups where a file has them; threads take one after the other, and each has a partial result of its own.
Where places of rows matter, as for resamples without keys, one thread reads in order. A part that fails stops the
others, and the error names its file.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from tallymark.data.batch import RowPlaces
from tallymark.errors import FileError, InputError, KindError, StateError, TallymarkError, TypeOfDataError
from tallymark.sources.arrow import load
from tallymark.sources.base import Chunk, Job, ProgressCallback, ShuffleJob
from tallymark.sources.columns import AUTO, ColumnBuilder, kind_of_type
from tallymark.sources.csv.fields import TEXT
from tallymark.sources.csv.inference import InferredTypes, Widened
from tallymark.sources.disk_shuffle import shuffle_on_disk
from tallymark.sources.files import File
from tallymark.sources.paths import find_files
from tallymark.threads import get_threads, single_threaded

_ROWS = 1 << 20  # in a batch


class FilePart(NamedTuple):
    """A part of a file that is read by itself: its place there, None for the whole, its first row, and its share of
    the bytes."""

    path: str
    place: int | None
    first: int
    bytes: int


class FileDataset:
    """Files of rows, which are read in parts. `read_as` names columns to read as numbers or as text; the types of
    others are inferred from all of their fields."""

    kind = "files"
    once = False

    def __init__(self, source: Any, separator: str | None = None, read_as: Mapping[str, str] | None = None) -> None:
        self._paths = find_files(source)
        for path in self._paths:
            if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
                raise FileError(f"`{path}` must be a file, since parts of it are read on demand; it is a pipe")
        self._separator = separator
        self._read_as = {name: kind for name, kind in (read_as or {}).items() if kind != AUTO}
        self._types = InferredTypes()
        self._resolved: set[str] = set()

    @property
    def non_numbers(self) -> dict[str, tuple[str, str]]:
        """For columns of CSV that were read as text, the first field that is not a number, and its place."""
        return self._types.non_numbers

    @property
    def uncertain(self) -> set[str]:
        """Columns of CSV that are numbers so far, some of them written as nan or inf, which may be words."""
        return self._types.uncertain

    def _open(self, path: str) -> File:
        return File(path, separator=self._separator)

    def empty(self, columns: Sequence[str]) -> Any:
        """A batch of no rows, which shows the types of the first file that has rows; without one, those of any."""
        found = None
        for path in self._paths:
            with self._open(path) as file:
                empty = self._empty(file, columns)
                if empty is not None and (file.part_rows is None or any(file.part_rows)):
                    return empty
            found = empty if found is None else found
        return found

    def _empty(self, file: File, columns: Sequence[str]) -> Any:
        """A batch of no rows; None where a file of texts has none to tell the types by."""
        if file.schema is None:
            first = next(file.text_batches(columns), None)
            return None if first is None or not first.num_rows else self._typed(first, file, 0).slice(0, 0)
        pa, places = load("pyarrow"), [file.column_index(name) for name in columns]
        fields = [file.schema.field(place).with_name(name) for place, name in zip(places, columns, strict=True)]
        columns_without_rows = [pa.nulls(0, field.type) for field in fields]
        return self._typed(pa.RecordBatch.from_arrays(columns_without_rows, schema=pa.schema(fields)), file, 0)

    def _typed(self, batch: Any, file: File, row: int) -> Any:
        """A batch with the types of its columns; it begins at that row of the file."""
        from_text = file.schema is None
        batch = _cast_columns(batch, self._read_as, file.name, row, from_text=from_text) if self._read_as else batch
        return self._types.cast(batch, file.name, row, skip=self._read_as) if from_text else batch

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

    def shuffle(self, job: ShuffleJob, progress: ProgressCallback | None) -> list[bytes]:
        """The result of every range."""
        return shuffle_on_disk(job, lambda splitting: self.fold(splitting, progress, in_order=False))

    def _infer_types(self, parts: list[FilePart], columns: Sequence[str]) -> bool:
        """Read all fields of CSV for their types, since each tells only of its own column; whether one changed."""
        before = self._types.snapshot()
        plain = [name for name in columns if name not in self._read_as and name not in self._resolved]
        for part in parts if plain else ():
            if part.place is None:
                with self._open(part.path) as file:
                    row = 0
                    for batch in file.text_batches(plain):
                        self._types.update(batch, file.name, row)
                        row += batch.num_rows
        self._resolved.update(plain)
        return self._types.snapshot() != before

    def _parts(self, columns: Sequence[str]) -> list[FilePart]:
        found, kinds = [], _ConsistentTypes()
        plain = [name for name in columns if name not in self._read_as]
        for path in self._paths:
            with self._open(path) as file:
                kinds.check(file, plain)
                if file.part_rows is None:
                    found.append(FilePart(path, None, 0, file.size))
                    continue
                rows, first = max(sum(file.part_rows), 1), 0
                for place, part_rows in enumerate(file.part_rows):
                    found.append(FilePart(path, place, first, file.size * part_rows // rows))
                    first += part_rows
        return found

    def _fold(self, parts: list[FilePart], job: Job, progress: ProgressCallback | None, threads: int) -> Any:
        queue, threads = _PartQueue(parts, progress), min(threads, len(parts))
        if threads < 2:
            return self._fold_parts(queue, job)
        with ThreadPoolExecutor(threads) as pool:
            try:
                return job.join(list(pool.map(lambda _: self._fold_in_thread(queue, job), range(threads))))
            except BaseException:
                queue.stop()  # so that the other threads end soon
                raise

    def _fold_in_thread(self, queue: _PartQueue, job: Job) -> Any:
        with single_threaded():
            return self._fold_parts(queue, job)

    def _fold_parts(self, queue: _PartQueue, job: Job) -> Any:
        opened: list[str] = []
        try:
            return job.piece(self._chunks(queue, job.columns, opened))
        except BaseException as error:
            queue.stop()
            if opened and _lacks_file(error):
                error.add_place(opened[0])
            raise

    def _chunks(self, queue: _PartQueue, columns: Sequence[str], opened: list[str]) -> Iterator[Chunk]:
        """The chunks of the parts that this thread takes; `opened` holds the name of the file that is read."""
        for path, parts in groupby(queue.parts(), key=lambda part: part.path):
            opened.clear()
            with self._open(path) as file:
                opened.append(file.name)
                for part in parts:
                    yield from self._part_chunks(file, part, queue, columns)

    def _part_chunks(self, file: File, part: FilePart, queue: _PartQueue, columns: Sequence[str]) -> Iterator[Chunk]:
        row = part.first
        for batch in (
            file.text_batches(columns) if part.place is None else file.part_batches(part.place, columns, _ROWS)
        ):
            if queue.stopped:
                return
            yield Chunk(self._typed(batch, file, row), RowPlaces(row, file.name, partial=True))
            row += batch.num_rows
            if part.place is None:
                queue.reach(part, file.bytes_read)
        queue.reach(part, part.bytes)


class _PartQueue:
    """The parts to read, which threads take one after the other."""

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


def _lacks_file(error: BaseException) -> TypeGuard[TallymarkError]:
    """Whether an error about rows does not name their file, as the place of a row and the errors of a file do."""
    if isinstance(error, FileError):
        return error.code == "column_type"
    return isinstance(error, (InputError, KindError, StateError)) and error.place is None


class _ConsistentTypes:
    """Checks that a column has numbers in all files, or texts in all files."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[bool, str, str]] = {}

    def check(self, file: File, columns: Sequence[str]) -> None:
        """Raise for a file whose column holds texts where another has numbers, or the other way round."""
        for column in columns if file.schema is not None and any(file.part_rows or ()) else ():
            shown = str(file.schema.field(file.column_index(column)).type)
            kind = kind_of_type(file.schema.field(file.column_index(column)).type)
            if not kind:
                continue
            text, first, before = self._known.setdefault(column, (kind == TEXT, file.name, shown))
            if (kind == TEXT) != text:
                raise TypeOfDataError(
                    f"column {column!r} must contain either numbers or text in all files; "
                    f"it is {before} in {first} and {shown} in {file.name}"
                )


def _cast_columns(batch: Any, read_as: Mapping[str, str], name: str, row: int, *, from_text: bool) -> Any:
    """A batch with some columns read as numbers or as text; it begins at that row of the file of this name.

    `from_text` where all fields are texts, as in a CSV file.
    """
    pa = load("pyarrow")
    arrays = [
        _cast_column(
            ColumnBuilder(each, read_as[each], lambda at: f"row {row + at:,} of {name}"), column, from_text=from_text
        )
        if each in read_as
        else column
        for each, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def _cast_column(builder: ColumnBuilder, column: Any, *, from_text: bool) -> Any:
    pa = load("pyarrow")
    builder.add(column, from_text=from_text)
    values = builder.finish().values
    if isinstance(values, np.ndarray):
        return pa.array(values.astype(np.float64) if values.dtype.kind == "O" else values)
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
