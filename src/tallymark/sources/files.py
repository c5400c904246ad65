"""The one reader of files: CSV, plain or compressed, Parquet and Arrow, by what is in them.

Columns are read by name and with explicit types, in batches, so that memory holds no more than what was asked for. A
file may be read twice (`columns.py`), which a pipe cannot: it is copied first, in memory while it is small.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from tallymark.data.arguments import check_path
from tallymark.errors import BoundError, FileError, ParameterError, Text, brief, nearest
from tallymark.sources.arrow import FILE, STREAM, ArrowRows, load
from tallymark.sources.base import ProgressCallback
from tallymark.sources.columns import READ_AS, Column, ColumnBuilder, FoundText
from tallymark.sources.csv.fields import TEXT
from tallymark.sources.csv.reader import LONGEST_ROW, CheckedText, Malformed, read_csv_batches, read_header
from tallymark.sources.csv.tokenizer import RowLimits, find_rows, rows_of_width
from tallymark.sources.parquet import ParquetRows
from tallymark.sources.problems import ProblemList
from tallymark.sources.streams import NO_SIZE_LIMITS, CountingStream, LimitedStream, SizeLimits, open_bytes, reader_of

MAX_CELLS = 1 << 32
COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
UNSUPPORTED = {
    b"PK\x03\x04": "a zip archive or a spreadsheet; save it as CSV or Parquet",
    b"PARE": "an encrypted Parquet file; decrypt it first",
    b"\xd0\xcf\x11\xe0": "a spreadsheet; save it as CSV or Parquet",
    b"SQLite": "a database; export a table as CSV or Parquet",
}
UNBOUNDED = dict.fromkeys((FILE, STREAM), "an Arrow file; save it as Parquet")  # it may unpack to any size
PARQUET = b"PAR1"
_MAGIC_BY_ENDING = {  # by the endings of names
    (".parquet", ".pq"): ("a Parquet file", (PARQUET,)),
    (".arrow", ".arrows", ".feather", ".ipc"): ("an Arrow file", (FILE, STREAM)),
}


class File:
    """An open file of rows: the `names` of its columns, and its rows in batches.

    `path` is "-" for standard input, or something with `read`, of which a copy is made. `progress` is called now and
    then with how many of how many bytes are read. `size_limits` say how large the file may be. A `tolerant` file keeps
    what is wrong at its beginning as `fault`, and then has no names; its reader locates the error.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | BinaryIO,
        *,
        separator: str | None = None,
        progress: ProgressCallback | None = None,
        size_limits: SizeLimits = NO_SIZE_LIMITS,
        tolerant: bool = False,
    ) -> None:
        source = check_path(path) if isinstance(path, (str, os.PathLike)) else path
        self.path = source if isinstance(source, str) else str(getattr(source, "name", ""))
        self.name = "standard input" if self.path == "-" else f"`{self.path}`" if self.path else "the file"
        self.separator = parse_separator(separator, self.path)
        self._progress = progress
        self._size_limits = size_limits
        self._tolerant = tolerant
        self._reading_from: CountingStream | None = None
        self._stream = open_bytes(source, self.name, size_limits)
        try:
            self._size = self._stream.seek(0, os.SEEK_END)
            self._stream.seek(0)
            size_limits.check_size(self._size, self.name)
            start = self._stream.read(8)
            self._check_form(start)
            self._codec = next((codec for magic, codec in COMPRESSED.items() if start.startswith(magic)), None)
            self._typed = self._open_typed(start)
            self.fault: FileError | None = None
            self.names = self._typed.names if self._typed else self._first_names()
        except BaseException:
            self._stream.close()
            raise

    def _check_form(self, start: bytes) -> None:
        if not self._size:
            raise FileError(f"{self.name} is empty", code="empty_file")
        refused = UNSUPPORTED if self._size_limits == NO_SIZE_LIMITS else {**UNBOUNDED, **UNSUPPORTED}
        for magic, what in refused.items():
            if start.startswith(magic):
                raise FileError(f"{self.name} must be CSV or Parquet; it is {what}")
        for endings, (what, magics) in _MAGIC_BY_ENDING.items():
            if self.path.lower().endswith(endings) and not start.startswith(magics):
                raise FileError(f"{self.name} must be {what}, as its name says; it does not begin like one")

    def _open_typed(self, start: bytes) -> ParquetRows | ArrowRows | None:
        """The reader of a file whose columns have types; None for CSV, where fields are texts."""
        if start.startswith(PARQUET):
            return ParquetRows(self._source(), self.name)
        if start.startswith((FILE, STREAM)):
            return ArrowRows(self._source(), self.name, stream=start.startswith(STREAM))
        return None

    @property
    def schema(self) -> Any:
        """The types of the columns; None where fields are texts."""
        return None if self._typed is None else self._typed.schema

    @property
    def part_rows(self) -> list[int] | None:
        """The rows of each part that can be read by itself; None where the file has to be read from its beginning."""
        return None if self._typed is None else self._typed.part_rows

    @property
    def size(self) -> int:
        """The bytes of the file; of a compressed one, before it is unpacked."""
        return self._size

    @property
    def bytes_read(self) -> int:
        """The bytes that are read so far of a file that is read from its beginning."""
        return 0 if self._reading_from is None else self._reading_from.bytes_read

    def part_batches(self, part: int, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Batches of Arrow, of so many rows or fewer, of one part."""
        assert self._typed is not None
        found = [self.names[self.column_index(name)] for name in names]
        if isinstance(self._typed, ArrowRows):
            batches = self._typed.batches(found, [part])
        else:
            batches = self._typed.batches(found, [part], rows)
        return (batch.rename_columns(list(names)) for batch in batches)

    def text_batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Batches of Arrow whose fields are texts as they were written."""
        batches = self._csv_batches([self.column_index(name) for name in names])
        return (batch.rename_columns(list(names)) for batch in batches)

    def _source(self) -> Any:
        """What Parquet is read from, without a thread that would come back to Python."""
        if isinstance(self._stream, io.BufferedReader):
            return self.path
        self._stream.seek(0)
        return reader_of(self._stream.read())

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    @property
    def format(self) -> str:
        """CSV, Parquet or Arrow."""
        return "CSV" if self._typed is None else "Parquet" if isinstance(self._typed, ParquetRows) else "Arrow"

    def read(
        self, wanted: Mapping[str, str], *, max_cells: int = MAX_CELLS, max_rows: int | None = None
    ) -> dict[str, Column]:
        """All rows of the columns that are wanted, each as "number", "text" or, by what all its fields are, "auto"."""
        for name, kind in wanted.items():
            if kind not in READ_AS:
                raise ParameterError(f"column {name!r} must be read as one of {', '.join(READ_AS)}; got {kind!r}")
        columns, read_as = self._find(wanted), dict(wanted)
        non_numbers: dict[str, tuple[int, str] | None] = {}
        while True:
            builders = {
                name: ColumnBuilder(name, kind, self._describe_row, non_numbers.get(name))
                for name, kind in read_as.items()
            }
            try:
                for batch in self._arrow_batches(list(columns.values()), max_cells, max_rows):
                    self._add(builders, batch)
            except FoundText as found:
                read_as[found.name], non_numbers[found.name] = TEXT, found.non_number
                continue
            return {name: builder.finish() for name, builder in builders.items()}

    def _add(self, builders: Mapping[str, ColumnBuilder], batch: Any) -> None:
        for builder, piece in zip(builders.values(), batch.columns, strict=True):
            builder.add(piece, from_text=self._typed is None)

    def _arrow_batches(self, places: list[int], max_cells: int, max_rows: int | None = None) -> Iterator[Any]:
        """Batches of the columns at these places, in this order."""
        rows, each = 0, max(len(places), 1)
        if self._typed is not None:
            _check_rows(self.name, self._typed.rows, max_rows)
            names = [self.names[place] for place in places]
            if self._size_limits != NO_SIZE_LIMITS and isinstance(self._typed, ParquetRows):
                self._typed.check_unpacked(self._stream, self._size, self._size_limits, names)
            _check_cells(self.name, self._typed.rows * each, max_cells)
            batches = self._typed.batches(names)
        else:
            batches = self._csv_batches(places)
        for batch in batches:
            rows += batch.num_rows
            _check_rows(self.name, rows, max_rows)
            _check_cells(self.name, rows * each, max_cells)
            if self._progress is not None and self._typed is not None:
                self._progress(self._size * rows // max(self._typed.rows, 1), self._size)
            yield batch

    def _csv_batches(self, places: list[int]) -> Iterator[Any]:
        try:
            with self._reading():
                text = self._text(self._progress)
                read_header(text, self.name, self.separator)
                yield from read_csv_batches(text, self.separator, len(self.names), places)
        except Malformed as fault:
            raise self._csv_error(str(fault)) from fault

    def _csv_error(self, reason: str) -> FileError:
        """The error that lists all problems of the text with their places; a tolerant reader locates them itself."""
        found = ProblemList()
        if not self._tolerant:
            with self._reading():
                for _ in rows_of_width(self.content(), self.separator, found, RowLimits(characters=LONGEST_ROW)):
                    continue
        return FileError(f"{self.name} is not valid CSV: {found if found else reason}")

    def _first_names(self) -> list[str]:
        try:
            return self._header()
        except FileError as fault:
            if not self._tolerant or isinstance(fault, BoundError):
                raise
            self.fault = fault
            return []

    def _header(self) -> list[str]:
        try:
            with self._reading():
                return read_header(self._text(), self.name, self.separator)
        except Malformed as fault:
            raise self._csv_error(str(fault)) from fault

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """What the disk or the compression has to say is an error of the file."""
        try:
            yield
        except OSError as error:
            raise FileError(f"{self.name} could not be read: {str(error).splitlines()[0]}") from error

    def content(self, progress: ProgressCallback | None = None) -> Any:
        """The bytes of the file from its beginning, unpacked."""
        self._stream.seek(0)
        counted = self._reading_from = CountingStream(self._stream, self._size, progress)
        if self._codec is None:
            return counted
        pa = load("pyarrow")
        unpacked = pa.CompressedInputStream(pa.PythonFile(counted, mode="r"), self._codec)
        return (
            unpacked
            if self._size_limits == NO_SIZE_LIMITS
            else LimitedStream(unpacked, counted, self.name, self._size_limits)
        )

    def _text(self, progress: ProgressCallback | None = None) -> CheckedText:
        return CheckedText(self.content(progress), self.name, self.separator)

    def _describe_row(self, row: int) -> str:
        """A row in words, with its line in the file where it has one."""
        if self._typed is not None or self._tolerant:
            return f"row {row:,}"
        found = find_rows(self.content(), self.separator, {row}, len(self.names))
        return f"row {row:,} (line {found[row].lines[0]:,})" if found else f"row {row:,}"

    def _find(self, wanted: Mapping[str, str]) -> dict[str, int]:
        """The places of columns; blanks around their names may be left out."""
        places = [_positions(self.names), _positions([each.strip() for each in self.names])]
        return {name: self._find_among(places, name) for name in wanted}

    def column_index(self, name: str) -> int:
        """The place of a column."""
        return self._find({name: ""})[name]

    def _find_among(self, places: Sequence[Mapping[str, list[int]]], name: str) -> int:
        for found in places:
            at = found.get(name, [])
            if len(at) > 1:
                raise FileError(f"{self.name} must have the column {name!r} once; it appears {len(at)} times")
            if at:
                return at[0]
        raise FileError(f"{self.name} has no column {name!r}", hint=self._hint(name))

    def _hint(self, name: str) -> str | Text:
        likely = likely_separator(self.names, self.separator) if self._typed is None else None
        if likely is not None:
            return Text("Its header is {}: pass {} as {separator}", repr(_short(self.names[0])), likely)
        near = nearest(name, self.names)
        meant = f"Did you mean {near[0]!r}? " if near else ""
        more = f", … ({len(self.names):,} in all)" if len(self.names) > 10 else ""
        return f"{meant}Its columns are {', '.join(repr(_short(each)) for each in self.names[:10])}{more}"


def read_columns(
    path: str | os.PathLike[str],
    wanted: Mapping[str, str] | Sequence[str],
    *,
    separator: str | None = None,
    progress: ProgressCallback | None = None,
    max_cells: int = MAX_CELLS,
) -> dict[str, Column]:
    """All rows of some columns of a file, by name; each as "number", "text" or, where it says nothing else, "auto"."""
    read_as = wanted if isinstance(wanted, Mapping) else dict.fromkeys(wanted, "auto")
    with File(path, separator=separator, progress=progress) as file:
        return file.read(read_as, max_cells=max_cells)


def likely_separator(names: Sequence[str], separator: str) -> str | None:
    """The likely separator of a header that was read as one name, in words."""
    marks = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"} if len(names) == 1 else {}
    return next((shown for mark, shown in marks.items() if mark in names[0] and mark != separator), None)


def _positions(names: Sequence[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        found.setdefault(name, []).append(place)
    return found


def parse_separator(separator: str | None, path: str = "") -> str:
    """The field separator: the one given, or the usual one for the name of the file."""
    if separator is None:
        plain = path.lower().removesuffix(".gz")
        return "\t" if plain.endswith((".tsv", ".tab")) else ","
    if not isinstance(separator, str):
        raise ParameterError(argument="separator", expected="be one character, such as ';'", got=brief(separator))
    named = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}.get(separator, separator)
    if len(named) != 1 or not named.isascii() or named in '"\r\n\0':
        raise ParameterError(
            argument="separator", expected="be one character, such as ';', or the word tab", got=repr(separator)
        )
    return named


def _check_cells(name: str, cells: int, most: int) -> None:
    if cells > most:
        raise FileError(f"{name} must have at most {most:,} values in the columns that are read; it has {cells:,}")


def _check_rows(name: str, rows: int, most: int | None) -> None:
    if most is not None and rows > most:
        raise BoundError(f"{name} must have at most {most:,} rows; it has more", "too_many_rows", most=f"{most:,}")


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
